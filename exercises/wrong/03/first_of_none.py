# The first match is taken without asking whether there is one.
# fails: listed, listed-unseen

# %% replace id="loop"
if close:  # step 1
    return f"Error: there is no tool {name!r}. Did you mean {close[0]!r}?"  # step 1
### BY
return f"Error: there is no tool {name!r}. Did you mean {close[0]!r}?"
