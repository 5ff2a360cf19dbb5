# A final reply is appended, without its text.
# fails: kept

# %% replace id="loop"
messages.append({"role": "assistant", "content": reply.text})
### BY
messages.append({"role": "assistant", "content": ""})
