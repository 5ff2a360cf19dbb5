# Messages with tool calls are counted, and one for the answer: a turn that is stopped has eleven.
# fails: count-unseen

# %% replace id="loop"
iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
### BY
iterations = 1 + sum("tool_calls" in message for message in messages[before:])
