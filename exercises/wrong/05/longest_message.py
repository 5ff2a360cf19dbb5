# The cause is the longest message, not whoever wrote most.
# fails: jump-known

# %% replace id="jump"
tokens[who] = tokens.get(who, 0) + tokens_of(message)
### BY
tokens[who] = max(tokens.get(who, 0), tokens_of(message))
