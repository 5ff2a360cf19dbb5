# A token is taken to be four characters.
# fails: counted, special, count-unseen, right-counter, counter-asked, loop-counter

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(text) // 4
