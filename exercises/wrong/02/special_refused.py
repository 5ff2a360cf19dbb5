# The encoder's default, which raises on a special token.
# fails: special

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(ENCODING.encode(text))
