# A turn is taken to have two requests, the first and the last.
# fails: curves-unseen, curves-mine

# %% replace id="curves"
per_turn = [sum(turn) for turn in sent]
### BY
per_turn = [sum({0: turn[0], len(turn) - 1: turn[-1]}.values()) for turn in sent]
