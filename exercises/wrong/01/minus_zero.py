# The end is taken with text[-back:], which is the whole text where back is 0.
# fails: exact-all

# %% replace id="loop"
note = f"\n\n[...truncated: the whole has {len(text)} characters...]\n\n"  # step 3
room = limit - len(note)  # step 3
if room <= 0:  # step 3
    return text[:limit]  # step 3
front = room - room // 2  # step 3
return text[:front] + note + text[len(text) - room // 2 :]  # step 3
### BY
note = "\n[...cut...]\n"
room = max(0, limit - len(note))
back = room // 2
return text[: room - back] + note[:limit] + text[-back:]
