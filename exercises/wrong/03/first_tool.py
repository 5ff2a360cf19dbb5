# The first tool of the list is suggested, whatever was called.
# fails: near, near-unseen, listed, listed-unseen

# %% replace id="loop"
close = difflib.get_close_matches(name, names, n=1)  # step 1
### BY
close = names[:1]
