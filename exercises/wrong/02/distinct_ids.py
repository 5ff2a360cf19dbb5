# Each token is counted once, however often it comes.
# fails: counted, special, count-unseen, counter-asked, fits, loop-cuts, loop-counter

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(set(ENCODING.encode_ordinary(text)))
