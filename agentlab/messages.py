"""The one message shape, and what a provider takes and returns.

Messages are plain dicts in the shape of OpenAI's chat messages. Adapters convert at their own edge and nowhere else.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Protocol, TypedDict

import msgspec

StopReason = Literal["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "context_window"]
ToolChoice = Literal["auto", "none", "any"]


class CallFunction(TypedDict):
    """The function of a call: its name and its arguments as JSON text."""

    name: str
    arguments: str


class CallDict(TypedDict):
    """A tool call inside an assistant message."""

    id: str
    type: Literal["function"]
    function: CallFunction


class Message(TypedDict):
    """One message; which keys it has depends on its role.

    `origin` is `"loop"` on a user message that the loop itself wrote in mid-turn: no reader counts it as a user turn,
    and adapters drop it. `is_error` is there only when true.
    """

    role: Literal["user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[CallDict]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]
    is_error: NotRequired[bool]
    origin: NotRequired[Literal["loop"]]


def begins_turn(message: Message) -> bool:
    """Whether a message is a user's own, not one that the loop wrote in mid-turn.

    >>> begins_turn({"role": "user", "content": "Go on.", "origin": "loop"})
    False
    """
    return message["role"] == "user" and "origin" not in message


class ToolCall(msgspec.Struct, frozen=True):
    """A call that the model asks for.

    `arguments` is the parsed object, or the raw text where it did not parse.

    >>> ToolCall("call_1", "now", {}).name
    'now'
    """

    id: str
    name: str
    arguments: dict[str, Any] | str


class Usage(msgspec.Struct, frozen=True):
    """What one call used, in tokens.

    `input_tokens` is the uncached part only. `exact` is True where a provider or a tokenizer said so, False for an
    estimate.

    >>> Usage(100, 20, cache_read_tokens=900).prompt_tokens
    1000
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    exact: bool = True

    @property
    def prompt_tokens(self) -> int:
        """All input of the call, cached included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        """Sum of two; exact only where both are."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.exact and other.exact,
        )


class Reply(msgspec.Struct, frozen=True):
    """What a provider returns for one call.

    `stop_reason` is one of `StopReason` where the provider's word has one of these meanings, else the provider's own
    word; None where it gave none. `usage` is None where the provider reports none: the loop then estimates it.

    >>> Reply("Hello.").tool_calls
    ()
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None


class ToolSpec(Protocol):
    """All that a provider knows of a tool: `parameters` is a JSON schema of type object."""

    @property
    def name(self) -> str:
        """What the model calls it by."""

    @property
    def description(self) -> str:
        """What the model reads about it."""

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of its arguments."""
