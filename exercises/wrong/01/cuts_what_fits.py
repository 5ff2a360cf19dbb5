# A text exactly as long as the limit is cut.
# fails: exact-all

# %% replace id="loop"
if len(text) <= limit:
### BY
if len(text) < limit:
