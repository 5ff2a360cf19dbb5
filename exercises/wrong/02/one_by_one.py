# A hundred characters are taken away at a time, and the rest is counted again.
# fails: few-calls, loop-counter

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    while text and count(text) > max_tokens:
        text = text[:-max(1, min(100, len(text) // 50))]
    return text
