# The cause is whatever came last.
# fails: jump-unseen

# %% replace id="jump"
return at + 1, max(tokens, key=tokens.get)
### BY
return at + 1, who
