# The history is still copied: all that the turn appends is gone when it ends.
# fails: kept, kept-unseen

# %% replace id="loop"
messages.append({"role": "user", "content": user_message})
### BY
messages = list(messages)
messages.append({"role": "user", "content": user_message})
