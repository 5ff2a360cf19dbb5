# A result that does not fit is dropped: never over the limit, and nothing is left of it.
# fails: own-limit, unseen, run-time, exact-all

# %% replace id="loop"
note = f"\n\n[...truncated: the whole has {len(text)} characters...]\n\n"  # step 3
room = limit - len(note)  # step 3
if room <= 0:  # step 3
    return text[:limit]  # step 3
front = room - room // 2  # step 3
return text[:front] + note + text[len(text) - room // 2 :]  # step 3
### BY
return ""
