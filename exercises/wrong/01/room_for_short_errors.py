# An error has a little more room than its tool allows, which is enough for short ones alone.
# fails: says-why-unseen

# %% replace id="loop"
limit = 2000  # step 4: of an error
### BY
limit = 75
