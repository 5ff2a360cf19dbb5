# The limit is read at a tool's first call, and remembered.
# fails: run-time, exact, exact-all

# %% replace id="loop"
limit = box[each.name].max_observation_chars  # step 2
### BY
limit = REMEMBERED.setdefault(each.name, box[each.name].max_observation_chars)

# %% replace id="loop"
MAX_ITERATIONS, MAX_OBSERVATION_CHARS = 10, 4000
### BY
MAX_ITERATIONS, MAX_OBSERVATION_CHARS = 10, 4000
REMEMBERED = {}
