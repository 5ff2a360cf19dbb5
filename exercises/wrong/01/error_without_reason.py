# Errors are short, since they say nothing.
# fails: says-why, says-why-unseen

# %% replace id="loop"
observation = f"Error: {type(error).__name__}: {error}"
### BY
observation = "Error: the tool failed"
