# The cut is made in a wrapper around each tool's function, by lines from the end; the loop knows nothing of limits.

# %% answer id="loop"
MAX_ITERATIONS, MAX_OBSERVATION_CHARS = 10, 4000


@dataclass
class Tool:
    name: str
    description: str
    parameters: dict
    run: Callable[..., str]
    max_observation_chars: int = 4000

    def __post_init__(self):
        plain = self.run
        self.run = lambda **arguments: shorten(plain(**arguments), self.max_observation_chars)


def shorten(text, limit):
    return text if len(text) <= limit else text[len(text) - limit :]


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages += [{"role": "user", "content": user_message}]
    reply = provider.call(messages, system=system, tools=TOOLS)
    while reply.tool_calls:
        messages += [as_message(reply)]
        for each in reply.tool_calls:
            try:
                seen = next(tool for tool in TOOLS if tool.name == each.name).run(**each.arguments)
            except StopIteration:
                seen = f"there is no {each.name}"
            except Exception as error:
                seen = repr(error)
            messages += [{"role": "tool", "tool_call_id": each.id, "name": each.name, "content": seen}]
        reply = provider.call(messages, system=system, tools=TOOLS)
    messages += [{"role": "assistant", "content": reply.text}]
    return reply.text
