# What the model wrote is said to enter the window in the turn that wrote it.
# fails: jump-unseen

# %% replace id="jump"
return at + 1, max(tokens, key=tokens.get)
### BY
cause = max(tokens, key=tokens.get)
return at + (cause != "assistant"), cause
