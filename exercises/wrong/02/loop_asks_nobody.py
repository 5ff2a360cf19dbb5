# The loop counts with OpenAI's tokenizer, whoever answers.
# fails: loop-counter

# %% replace id="loop"
observation = cut_to_tokens(observation, MAX_OBSERVATION_TOKENS, counter_for(provider))
### BY
observation = cut_to_tokens(observation, MAX_OBSERVATION_TOKENS, count_openai)
