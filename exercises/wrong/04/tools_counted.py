# Tool results are counted: two tools at once are taken for two iterations.
# fails: count-unseen

# %% replace id="loop"
iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
### BY
iterations = 1 + sum(message["role"] == "tool" for message in messages[before:])
