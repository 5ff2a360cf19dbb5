"""What a local model reads: its tools in the system prompt, a few worked turns, the conversation as JSON replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.providers.wire import parse_arguments, sendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.messages import Message, ToolSpec

FORMAT = """\
Reply with one JSON object and nothing else:
{"tool": NAME, "arguments": {...}} calls a tool. Its result comes back in the next message.
{"answer": TEXT} answers the user.
Call a tool when you need something that you have not read in this conversation; otherwise answer.
The first turns are examples with other tools; they have nothing to do with this user. Your tools:"""

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("user", "Hello!"),
    ("assistant", '{"answer": "Hello! What can I do for you?"}'),
    ("user", "How warm is it in Oslo?"),
    ("assistant", '{"tool": "weather", "arguments": {"city": "Oslo"}}'),
    ("user", "Result of weather:\n4 degrees, rain"),
    ("assistant", '{"answer": "It is 4 degrees in Oslo, and it rains."}'),
    ("user", "And in Rome and Cairo?"),
    ("assistant", '{"tool": "weather", "arguments": {"city": "Rome"}}'),
    ("user", "Result of weather:\n17 degrees, clear"),
    ("assistant", '{"tool": "weather", "arguments": {"city": "Cairo"}}'),
    ("user", "Result of weather:\n28 degrees, clear"),
    ("assistant", '{"answer": "It is 17 degrees in Rome and 28 degrees in Cairo, both clear."}'),
)
"""Worked turns: an answer, one call, two calls in a row. None shows an error, a cut or a cleared result, so that what
a model does with those is its own."""


def to_local(
    messages: Sequence[Message], system: str, tools: Sequence[ToolSpec], examples: Iterable[tuple[str, str]] = EXAMPLES
) -> list[dict[str, str]]:
    """Convert messages to what every chat template takes: system, then user and assistant in turns.

    Calls become the JSON that the model would have written, results the user's words. Several calls of one message
    stand one after another, each with its result.

    Args:
        messages: The conversation.
        system: The system prompt.
        tools: What the model may call; without any it answers in plain text and there are no examples.
        examples: Worked turns as pairs of role and text.

    >>> to_local([{"role": "user", "content": "Hi"}], "Be brief.", [])
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}]
    """
    sent: list[dict[str, str]] = []
    head = "\n\n".join(filter(None, (sendable(system, ""), _described(tools))))
    if head:
        sent.append({"role": "system", "content": head})
    for role, text in examples if tools else ():
        _add(sent, role, text)
    open_calls: dict[str, str] = {}
    for message in messages:
        if message["role"] == "tool":
            name = message.get("name") or "the tool"
            asked = open_calls.pop(message.get("tool_call_id", ""), None)
            if asked is not None:
                _add(sent, "assistant", asked)
            result = sendable(message.get("content"), f"({name} returned nothing)")
            _add(sent, "user", f"Result of {name}:\n{result}")
        elif message["role"] == "assistant":
            calls = message.get("tool_calls") or []
            _add_assistant(sent, message.get("content"), calls=bool(calls), structured=bool(tools))
            open_calls = {call["id"]: as_call(call["function"]) for call in calls}
        else:
            _add(sent, "user", sendable(message.get("content"), "(empty message)"))
    return sent


def as_call(function: Mapping[str, Any]) -> str:
    """A call as the model writes it.

    >>> as_call({"name": "now", "arguments": "{}"})
    '{"tool": "now", "arguments": {}}'
    """
    return f'{{"tool": {_json(function["name"])}, "arguments": {_json(parse_arguments(function["arguments"]))}}}'


def _add_assistant(sent: list[dict[str, str]], text: str | None, *, calls: bool, structured: bool) -> None:
    """The text of an assistant message; what stood beside calls is kept before them."""
    if calls and not (text or "").strip():
        return
    said = sendable(text, "(no text)")
    _add(sent, "assistant", f'{{"answer": {_json(said)}}}' if structured and not calls else said)


def _add(sent: list[dict[str, str]], role: str, text: str) -> None:
    """Add a text; two of one role become one message, since some templates refuse them."""
    if sent and sent[-1]["role"] == role:
        sent[-1]["content"] += f"\n\n{text}"
    else:
        sent.append({"role": role, "content": text})


def _described(tools: Sequence[ToolSpec]) -> str:
    """The tools, a line each, below what a reply looks like."""
    return "\n".join([FORMAT, *map(_line, tools)]) if tools else ""


def _line(tool: ToolSpec) -> str:
    """A tool as a call with its arguments, and what it does.

    The whole schema would cost a small model ten times the tokens.
    """
    required = tool.parameters.get("required", ())
    named = tool.parameters.get("properties", {})
    arguments = ", ".join(f"{name}: {_kind(each)}{'' if name in required else '?'}" for name, each in named.items())
    return f"{tool.name}({arguments}): {' '.join(tool.description.split())}"


def _kind(schema: Any) -> str:
    """The type of an argument in a word, or its choices."""
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return " or ".join(map(_json, schema["enum"]))
    kind = schema.get("type", "any")
    return kind if isinstance(kind, str) else " or ".join(map(str, kind))


def _json(value: Any) -> str:
    """JSON with the spaces that models put: the tokens are then the ones that they write themselves."""
    from json import dumps

    return dumps(value, ensure_ascii=False)


def calls_in(messages: Iterable[Message]) -> int:
    """How many calls a conversation has, so that the next one gets an id of its own."""
    return sum(len(message.get("tool_calls") or ()) for message in messages)
