# The turn that sends most more than the one before.
# fails: jump-known, jump-unseen, jump-mine

# %% replace id="jump"
size = [sum(map(tokens_of, request)) for request in last]
### BY
size = [sum(sum(map(tokens_of, request)) for request in turn) for turn in turns]
