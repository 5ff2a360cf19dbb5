# An error is cut to its tool's limit, like a result.
# fails: says-why, says-why-unseen

# %% replace id="loop"
observation = f"Error: {type(error).__name__}: {error}"
### BY
observation = f"Error: {type(error).__name__}: {error}"
limit = box[each.name].max_observation_chars
