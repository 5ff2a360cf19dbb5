# A twelfth is taken away at a time, and the rest is counted again.
# fails: few-calls

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    while text and count(text) > max_tokens:
        text = text[: -max(1, len(text) // 12)]
    return text
