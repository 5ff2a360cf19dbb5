# The tail alone is kept, by a guess that is corrected by its own error; the loop is of another shape.

# %% answer id="cut"
def cut_to_tokens(text, max_tokens, count):
    total = count(text)
    keep, low, high, best = len(text) * max_tokens // max(1, total), 0, len(text), ""
    if total <= max_tokens:
        return text
    for _ in range(30):
        shown = f"(the last {keep} characters)\n{text[len(text) - keep:]}"
        size = count(shown)
        if size <= max_tokens:
            low, best = keep, max(best, shown, key=len)
        else:
            high = keep
        if high - low < 2:
            break
        keep = (low + high) // 2
    return best

# %% answer id="loop"
MAX_OBSERVATION_TOKENS = 1_000


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    count = counter_for(provider)
    messages.append({"role": "user", "content": user_message})
    while True:
        reply = provider.call(messages, system=system, tools=TOOLS)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        for each in reply.tool_calls:
            seen = next(tool for tool in TOOLS if tool.name == each.name).run(**each.arguments)
            seen = cut_to_tokens(seen, MAX_OBSERVATION_TOKENS, count)
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": seen})


@described
def fetch(kind: str) -> str:
    """Return 5,000 characters of prose, code, log or JSON."""
    return TEXTS[kind]


TOOLS = [fetch]
