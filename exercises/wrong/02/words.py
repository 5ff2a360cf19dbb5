# Words are counted.
# fails: counted, special, count-unseen, right-counter, counter-asked, loop-cuts, loop-counter

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(text.split())
