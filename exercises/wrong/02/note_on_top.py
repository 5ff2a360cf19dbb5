# The text is cut to the limit, and then a note is added.
# fails: fits, fits-all, few-calls, loop-cuts, loop-counter

# %% replace id="cut"
tried = text[: keep - keep // 2] + note + text[len(text) - keep // 2 :]
### BY
tried = text[:keep]

# %% replace id="cut"
return best
### BY
return best + note
