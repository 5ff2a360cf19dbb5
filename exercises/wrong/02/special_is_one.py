# A special token in a log is taken for the real one.
# fails: special

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(ENCODING.encode(text, allowed_special="all"))
