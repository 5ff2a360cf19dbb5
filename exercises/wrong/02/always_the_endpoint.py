# Anthropic's endpoint counts for OpenAI as well.
# fails: right-counter, counter-asked, loop-cuts, loop-counter

# %% replace id="counter"
return count_openai
### BY
return lambda text: claude.count_tokens([{"role": "user", "content": text}]).n
