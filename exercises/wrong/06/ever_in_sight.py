# A line counts that was in sight now and then, not only at the end.
# fails: numbers-right, measured-unseen, paragraph-whole

# %% replace id="decide"
return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}
### BY
seen = {line for turn in [*turns[9::10], turns[-1]] for line in survivors(session.lines, turn[-1])}
return {"tokens": sum(tokens_per_turn(turns)), "lines": len(seen)}
