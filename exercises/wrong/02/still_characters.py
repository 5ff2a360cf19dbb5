# The loop still cuts to 4,000 characters.
# fails: loop-cuts, loop-counter

# %% replace id="loop"
observation = cut_to_tokens(observation, MAX_OBSERVATION_TOKENS, counter_for(provider))
### BY
observation = observation[:MAX_OBSERVATION_CHARS]
