# The whole history is counted, so the number grows from turn to turn.
# fails: counted, count-unseen

# %% replace id="loop"
iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
### BY
iterations = sum(message["role"] == "assistant" for message in messages)
