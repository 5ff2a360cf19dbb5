"""What messages and tools cost around their texts, by the formulas of OpenAI's cookbook.

The formulas are exact for the models for which the cookbook confirms them, plain text messages and flat tool schemas.
What goes beyond (tool calls, results, parts, nested schemas, other models) is counted the same way and said to be an
estimate. No provider publishes how it lays those out.

Source: openai-cookbook, "How to count tokens with tiktoken", sections 6 and 7; for calls inside messages
hmarr/openai-chat-tokens; for Claude's overhead the tool-use page of platform.claude.com.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentlab.tokens.count import TokenCount, join_methods
from agentlab.tokens.encodings import DEFAULT_ENCODING, encode_counting_cuts
from agentlab.tokens.models import Tokenizer, find, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from agentlab.messages import ToolSpec

PER_REPLY: Final = 3
PER_MESSAGE: Final = 3
PER_NAME: Final = 1
PER_CALL: Final = 3

_PER_TOOL_BY_DEFAULT: Final = 7
_PER_TOOL_LIST: Final = 12
_PER_PROPERTIES: Final = 3
_PER_PROPERTY: Final = 3
_PER_ENUM: Final = -3
_PER_ENUM_ITEM: Final = 3

# Keys of a message that the cookbook's examples have; with any other the count is an estimate.
_CONFIRMED_KEYS: Final = frozenset({"role", "content", "name"})
_CONFIRMED_ROLES: Final = frozenset({"system", "user", "assistant"})


class _Tally:
    """Counts texts with one tokenizer, and remembers whether all that it counted is covered."""

    __slots__ = ("exact", "n", "search", "tokenizer")

    def __init__(self, tokenizer: Tokenizer, search: Sequence[Path] | None, *, exact: bool) -> None:
        self.tokenizer = tokenizer
        self.search = search
        self.n = 0
        self.exact = exact and tokenizer.exact

    def text(self, text: str) -> None:
        ids, cuts = encode_counting_cuts(text, self.tokenizer.encoding, search=self.search)
        self.n += len(ids)
        if cuts:
            self.exact = False

    def json(self, value: object) -> None:
        """Count a JSON value as its compact text: how a provider lays it out is not known."""
        import msgspec

        self.exact = False
        self.text(msgspec.json.encode(value).decode())

    def total(self, extra: int = 0) -> TokenCount:
        method = join_methods(self.tokenizer.method, "" if self.exact else "message format")
        return TokenCount(self.tokenizer.scale(self.n) + extra, self.exact, method)


def count_messages(
    messages: Iterable[Mapping[str, Any]],
    model: str = "gpt-4o",
    *,
    system: str = "",
    search: Sequence[Path] | None = None,
) -> TokenCount:
    """Count the prompt that these messages make, without tools.

    Args:
        messages: Messages in the chapter's shape; `content` may also be None or a list of parts. Keys that no provider
            sees (`origin`, `is_error`) count nothing, nor do parts without text, such as images.
        model: A model's name, or an encoding's.
        system: The system prompt.
        search: Folders to look for rank files in, as in `encoding`.

    Returns:
        The count, with what opens the reply. Exact where the cookbook covers the model and every message.

    Raises:
        MissingRanksError: No rank file is there.

    >>> count_messages([{"role": "user", "content": "tiktoken is great!"}])
    TokenCount(n=13, exact=True, method='o200k_base')
    """
    tally = _Tally(tokenizer_of(model), search, exact=_per_tool(model) is not None)
    tally.n = PER_REPLY
    if system:
        _tally_message(tally, {"role": "system", "content": system})
    for message in messages:
        _tally_message(tally, message)
    return tally.total()


def message_counter(
    model: str = DEFAULT_ENCODING, *, search: Sequence[Path] | None = None
) -> Callable[[Mapping[str, Any]], TokenCount]:
    """Make a function that counts one message, for `RunningCount(counter=...)`.

    The counts of several messages and `PER_REPLY` add up to `count_messages`.

    Args:
        model: A model's name, or an encoding's.
        search: Folders to look for rank files in, as in `encoding`.

    Returns:
        A function from a message to its count.

    >>> message_counter("gpt-4o")({"role": "user", "content": "tiktoken is great!"}).n
    10
    """
    tokenizer = tokenizer_of(model)
    confirmed = _per_tool(model) is not None

    def count(message: Mapping[str, Any]) -> TokenCount:
        tally = _Tally(tokenizer, search, exact=confirmed)
        _tally_message(tally, message)
        return tally.total()

    return count


def count_tools(
    tools: Iterable[ToolSpec | Mapping[str, Any]],
    model: str = "gpt-4o",
    *,
    tool_choice: str = "auto",
    search: Sequence[Path] | None = None,
) -> TokenCount:
    """Count what sending these tools adds to a prompt.

    Args:
        tools: Objects with `name`, `description` and `parameters`, or OpenAI's tool dicts.
        model: A model's name, or an encoding's.
        tool_choice: `"auto"`, `"none"` or `"any"`; matters for Claude, whose added system prompt depends on it.
        search: Folders to look for rank files in, as in `encoding`.

    Returns:
        The count; 0 without tools. Exact where the cookbook covers the model and every schema is flat.

    Raises:
        MissingRanksError: No rank file is there.

    >>> tool = {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {}}}
    >>> count_tools([tool])
    TokenCount(n=22, exact=True, method='o200k_base')
    """
    per_tool = _per_tool(model)
    tally = _Tally(tokenizer_of(model), search, exact=per_tool is not None)
    described = [_describe(tool) for tool in tools]
    if not described:
        return tally.total()
    found = find(model)
    if found is not None and found.provider == "anthropic":
        overhead = found.tool_overhead
        for name, description, schema in described:
            tally.json({"name": name, "description": description, "input_schema": schema})
        if overhead is None:
            return tally.total()
        return tally.total(overhead.any if tool_choice not in ("auto", "none") else overhead.auto)
    for name, description, schema in described:
        tally.n += _PER_TOOL_BY_DEFAULT if per_tool is None else per_tool
        tally.text(f"{name}:{description.removesuffix('.')}")
        _tally_properties(tally, schema)
    tally.n += _PER_TOOL_LIST
    return tally.total()


def _per_tool(model: str) -> int | None:
    """Tokens that start a tool, where the cookbook confirms its formulas for this model or encoding."""
    found = find({"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}.get(model, model))
    return None if found is None else found.tool_init


def _tally_message(tally: _Tally, message: Mapping[str, Any]) -> None:
    role = message["role"]
    tally.n += PER_MESSAGE
    tally.text(role)
    _tally_content(tally, message.get("content"))
    name = message.get("name")
    if name:
        tally.text(name)
        tally.n += PER_NAME
    for call in message.get("tool_calls") or ():
        tally.n += PER_CALL
        tally.text(call["function"]["name"])
        tally.text(call["function"]["arguments"])
    if role not in _CONFIRMED_ROLES or not message.keys() - {"origin", "is_error"} <= _CONFIRMED_KEYS:
        tally.exact = False


def _tally_content(tally: _Tally, content: object) -> None:
    if isinstance(content, str):
        tally.text(content)
        return
    tally.exact = False
    if isinstance(content, list):
        for part in content:
            text = part if isinstance(part, str) else part.get("text")
            if isinstance(text, str):
                tally.text(text)


def _describe(tool: ToolSpec | Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    """Name, description and schema of a tool in either form."""
    from collections.abc import Mapping as AnyMapping

    if isinstance(tool, AnyMapping):
        function = tool.get("function", tool)
        return function["name"], function.get("description") or "", function.get("parameters") or {}
    return tool.name, tool.description, tool.parameters


def _tally_properties(tally: _Tally, schema: Mapping[str, Any]) -> None:
    properties = schema.get("properties")
    if not properties:
        return
    tally.n += _PER_PROPERTIES
    for key, value in properties.items():
        tally.n += _PER_PROPERTY
        kind, described = value.get("type"), value.get("description")
        if not (
            isinstance(kind, str) and isinstance(described, str) and value.keys() <= {"type", "description", "enum"}
        ):
            tally.text(key)
            tally.json(value)
            continue
        if "enum" in value:
            tally.n += _PER_ENUM
            for item in value["enum"]:
                tally.n += _PER_ENUM_ITEM
                tally.text(str(item))
        tally.text(f"{key}:{kind}:{described.removesuffix('.')}")
