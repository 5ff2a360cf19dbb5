# A result that does not fit is dropped: never over the limit, and nothing is left of it.
# fails: own-limit, unseen, run-time, exact-all

# %% answer id="shorten"
def shorten(text, limit=MAX_OBSERVATION_CHARS):
    return text if len(text) <= limit else ""

# %% replace id="loop"
def shorten(text, limit=MAX_OBSERVATION_CHARS):
    if len(text) <= limit:
        return text
### BY
def shorten(text, limit=MAX_OBSERVATION_CHARS):
    return text if len(text) <= limit else ""
