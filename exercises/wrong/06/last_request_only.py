# The tokens of a turn are those of its last request.
# fails: per-turn, both-unseen, measured, numbers-right, measured-unseen, told, figures, paragraph-whole

# %% replace id="measuring"
return [sum(request.tokens for request in turn) for turn in turns]
### BY
return [turn[-1].tokens for turn in turns]
