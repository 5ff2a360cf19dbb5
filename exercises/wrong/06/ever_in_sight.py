# A line counts that was in sight at any time, not at the end.
# fails: numbers-right, measured-unseen, paragraph-whole

# %% replace id="decide"
return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}
### BY
ever = {line for turn in turns for line in survivors(session.lines, turn[-1])}
return {"tokens": sum(tokens_per_turn(turns)), "lines": len(ever)}
