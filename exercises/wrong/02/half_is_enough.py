# The limit is halved until it fits: never over, and much is wasted.
# fails: fits, fits-all, few-calls, loop-cuts, loop-counter

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    while text and count(text) > max_tokens:
        text = text[: len(text) // 2]
    return text
