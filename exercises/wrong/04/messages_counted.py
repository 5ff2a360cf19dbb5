# All messages of the turn are counted.
# fails: counted, count-unseen

# %% replace id="loop"
iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
### BY
iterations = len(messages) - before
