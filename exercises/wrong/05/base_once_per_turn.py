# The system prompt and the tools are counted once in each turn, whatever it sends.
# fails: three, curves-unseen, curves-mine, shape-mine

# %% replace id="curves"
per_turn = [sum(turn) for turn in sent]
### BY
per_turn = [sum(turn) - BASE * (len(turn) - 1) for turn in sent]
