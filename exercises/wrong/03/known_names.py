# The names stand in the function, as they are in this exercise.
# fails: near-unseen, listed-unseen, stops

# %% replace id="loop"
close = difflib.get_close_matches(name, names, n=1)  # step 1
### BY
names = ["now", "wordcount", "read_file", "find_order"]
close = difflib.get_close_matches(name, names, n=1)
