# The arguments of get_close_matches have changed places, which finds nothing and raises nothing.
# fails: near, near-unseen

# %% replace id="loop"
close = difflib.get_close_matches(name, names, n=1)  # step 1
### BY
close = difflib.get_close_matches(names, name, n=1)
