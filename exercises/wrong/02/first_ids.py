# The first ids are decoded: right for one tokenizer, and wrong for every other.
# fails: fits-all, loop-counter

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    return text if count(text) <= max_tokens else ENCODING.decode(ENCODING.encode_ordinary(text)[:max_tokens])
