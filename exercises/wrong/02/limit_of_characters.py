# The limit of characters is taken for one of tokens.
# fails: loop-cuts, loop-counter

# %% replace id="loop"
observation = cut_to_tokens(observation, MAX_OBSERVATION_TOKENS, counter_for(provider))
### BY
observation = cut_to_tokens(observation, MAX_OBSERVATION_CHARS, counter_for(provider))
