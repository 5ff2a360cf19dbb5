# The notebook's own provider is asked, whatever provider was given.
# fails: counter-asked, loop-counter

# %% replace id="counter"
return lambda text: provider.count_tokens([{"role": "user", "content": text}]).n
### BY
return lambda text: claude.count_tokens([{"role": "user", "content": text}]).n
