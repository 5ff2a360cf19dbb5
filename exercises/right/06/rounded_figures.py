# On disk; every figure is rounded, and says so in its own way. Functions by hand, without comprehensions.

# %% answer id="measuring"
def tokens_per_turn(turns):
    totals = []
    for turn in turns:
        total = 0
        for request in turn:
            total += request.tokens
        totals.append(total)
    return totals


def survivors(pieces, request):
    everything = "\n\0\n".join(m["content"] for m in request.messages if m["role"] == "tool")
    return list(filter(everything.__contains__, pieces))

# %% answer id="decide"
decision = "on disk"


def measured(session, decision):
    turns = replay(session, decision)
    *_, (*_, last) = turns
    return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, last))}

# %% answer id="paragraph"
paragraph = '''
Yes, if files are large: what was cut can be had again, and nothing else that I know of gives that for a disk that I have anyway.
In the session with big files it even saves tokens (about 106k instead of roughly 146k, so 27 per cent less), since a file of
200,000 characters shows 1,200 of them. But the long session has no result above 16,000 characters. There nothing goes to disk,
results are just longer, and I pay 11 % more: some 3.1 million tokens where the chapter needed nearly 2.9 million; for that I get
all 1 322 lines and not 1\u2009267. A lower threshold would suit me better. Whether my model would use the way back, or read
the preview as if it were all, the replay does not show.
'''
