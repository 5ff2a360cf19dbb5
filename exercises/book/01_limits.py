# A reader who types the chapter and its first exercise to the letter: a field, its limits, the loop reads them, and the
# chapter's cut with 60 characters set aside for the note.

# %% answer id="loop"
MAX_ITERATIONS, MAX_OBSERVATION_CHARS = 10, 4000


@dataclass
class Tool:
    name: str
    description: str
    parameters: dict
    run: Callable[..., str]
    max_observation_chars: int = 4000


def _truncate_observation(text, max_chars=MAX_OBSERVATION_CHARS):
    if len(text) <= max_chars:
        return text
    head = max_chars // 2
    tail = max_chars - head - 60
    gone = len(text) - head - tail
    return f"{text[:head]}\n\n[...truncated: {gone} characters omitted from the middle...]\n\n{text[-tail:]}"


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        tools = {tool.name: tool for tool in TOOLS}
        for tc in reply.tool_calls:
            tool = tools.get(tc.name)
            if tool is None:
                observation = f"Error: there is no tool named {tc.name}"
            else:
                try:
                    observation = tool.run(**tc.arguments)
                except Exception as exc:
                    observation = f"Error: {type(exc).__name__}: {exc}"
                observation = _truncate_observation(observation, tool.max_observation_chars)
            messages.append({"role": "tool", "tool_call_id": tc.id, "name": tc.name, "content": observation})
    return ""
