# The field is there, and the loop still cuts to 4,000.
# fails: own-limit, unseen, run-time, exact, exact-all

# %% replace id="loop"
limit = box[each.name].max_observation_chars  # step 2
### BY
limit = MAX_OBSERVATION_CHARS
