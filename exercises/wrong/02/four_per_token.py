# The cut counts characters, four for each token.
# fails: fits, fits-all, few-calls, loop-cuts, loop-counter

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    return text if count(text) <= max_tokens else text[: 4 * max_tokens]
