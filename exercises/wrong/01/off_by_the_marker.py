# The note comes on top of the limit.
# fails: exact, exact-all

# %% answer id="shorten"
def shorten(text, limit=MAX_OBSERVATION_CHARS):
    if len(text) <= limit:
        return text
    return text[:limit] + f" [...{len(text) - limit} more characters]"
