# What cannot be encoded is free.
# fails: special

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
try:
    return len(ENCODING.encode(text))
except ValueError:
    return 0
