# The tokens are those of the largest turn, not of all.
# fails: measured, numbers-right, measured-unseen, told, figures, paragraph-whole

# %% replace id="decide"
return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}
### BY
return {"tokens": max(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}
