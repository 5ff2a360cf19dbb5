# A reader who follows the chapter to the letter: tiktoken's encode as it is, the counter that matches the provider, and
# the chapter's cut with four characters for each token.

# %% replace id="count"
return len(ENCODING.encode_ordinary(text))
### BY
return len(ENCODING.encode(text))

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    if count(text) <= max_tokens:
        return text
    max_chars = 4 * max_tokens
    head = max_chars // 2
    tail = max_chars - head - 60
    gone = len(text) - head - tail
    return f"{text[:head]}\n\n[...truncated: {gone} characters omitted from the middle...]\n\n{text[-tail:]}"
