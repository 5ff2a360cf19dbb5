# The endpoint is asked once, for nothing, and the own tokenizer's number is returned.
# fails: right-counter, counter-asked, loop-counter

# %% replace id="counter"
return lambda text: provider.count_tokens([{"role": "user", "content": text}]).n
### BY
provider.count_tokens([{"role": "user", "content": "x"}])
return count_openai
