# The history is counted once in each turn, as if a turn were one request.
# fails: three, curves-unseen, curves-mine, shape-mine

# %% replace id="curves"
per_turn = [sum(turn) for turn in sent]
### BY
per_turn = [turn[-1] for turn in sent]
