# The hint repeats the name that was called.
# fails: near, near-unseen, stops

# %% replace id="loop"
return f"Error: there is no tool {name!r}. Did you mean {close[0]!r}?"  # step 1
### BY
return f"Error: there is no tool {name!r}. Did you mean {name!r}?"
