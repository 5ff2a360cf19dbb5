# All tools are listed, and none is singled out.
# fails: near, near-unseen

# %% replace id="loop"
if close:  # step 1
    return f"Error: there is no tool {name!r}. Did you mean {close[0]!r}?"  # step 1
### BY
