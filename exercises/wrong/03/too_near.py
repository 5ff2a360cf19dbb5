# Only a name with one letter too few or too many in a long one is near enough.
# fails: near-unseen

# %% replace id="loop"
close = difflib.get_close_matches(name, names, n=1)  # step 1
### BY
close = difflib.get_close_matches(name, names, n=1, cutoff=0.94)
