# Of several calls in one reply only the first is run and kept.
# fails: kept-unseen

# %% replace id="loop"
for each in reply.tool_calls:
### BY
for each in reply.tool_calls[:1]:
