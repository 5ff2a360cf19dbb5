# With a cutoff of 0 some tool is always suggested.
# fails: listed, listed-unseen

# %% replace id="loop"
close = difflib.get_close_matches(name, names, n=1)  # step 1
### BY
close = difflib.get_close_matches(name, names, n=1, cutoff=0)
