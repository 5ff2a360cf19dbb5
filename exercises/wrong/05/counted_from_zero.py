# Turns are counted from 0.
# fails: jump-known, jump-unseen, jump-mine

# %% replace id="jump"
return at + 1, max(tokens, key=tokens.get)
### BY
return at, max(tokens, key=tokens.get)
