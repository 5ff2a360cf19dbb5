# The final reply is returned and never appended.
# fails: kept, kept-unseen

# %% replace id="loop"
messages.append({"role": "assistant", "content": reply.text})
### BY
