# The end is taken with text[-back:], which is the whole text where back is 0.
# fails: exact-all

# %% answer id="shorten"
def shorten(text, limit=MAX_OBSERVATION_CHARS):
    if len(text) <= limit:
        return text
    note = "\n[...cut...]\n"
    room = max(0, limit - len(note))
    back = room // 2
    return text[: room - back] + note[:limit] + text[-back:]
