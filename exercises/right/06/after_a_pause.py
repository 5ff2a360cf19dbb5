# Consolidation; the paragraph is put together from the numbers, in an f-string.

# %% answer id="decide"
decision = "consolidation"


def measured(session, decision):
    """What a session costs under a decision, and how many lines are in sight at its end."""
    turns = replay(session, decision)
    shown = set(survivors(session.lines, turns[-1][-1]))
    return dict(tokens=sum(map(sum, [[request.tokens for request in turn] for turn in turns])), lines=len(shown))

# %% answer id="paragraph"
before, after = (numbers["long"][each] for each in ("chapter", "mine"))
paragraph = f"""
A summary after a pause is worth having for an agent that I come back to, and of no use to one that I never leave alone. The
long session has one pause, of half an hour, and it costs {after["tokens"]:,} tokens instead of {before["tokens"]:,}, which is
{after["tokens"] / before["tokens"]:.2f} times as much, or {1 - after["tokens"] / before["tokens"]:.1%} less; the call that writes the
summary is counted. Nothing changes in the other two. What is lost is every old line: {after["lines"]} are left of
{before["lines"]:,}, and unlike a placeholder the summary decides what mattered, once and for all. How good a summary is, a stand-in
that takes first lines cannot tell.
"""
