"""What a scripted server says: replies, and the faults of real services.

A reply is `agentlab.messages.Reply`, or a plain string for its text. A fault is one of the small values below. A call
whose arguments are a string is sent as that very text, so that malformed or cut JSON can be scripted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentlab.messages import Reply, ToolCall

if TYPE_CHECKING:
    from typing import TypeAlias


class HttpFault(msgspec.Struct, frozen=True):
    """An answer with an error status.

    `kind` and `message` default to what the API says with that status. `retry_after` is in seconds.

    >>> HttpFault(429, retry_after=2).status
    429
    """

    status: int
    retry_after: float | None = None
    kind: str | None = None
    message: str | None = None


class ErrorEvent(msgspec.Struct, frozen=True):
    """A stream that starts well and then carries an error, after `after` pieces of content.

    A request that does not stream is answered with status 529 (Anthropic) or 503 (OpenAI).
    """

    reply: Reply | str = "This reply is not going to be finished."
    after: int = 1
    kind: str = "overloaded_error"
    message: str = "Overloaded"


class Cut(msgspec.Struct, frozen=True):
    """An answer that ends early, after `after` pieces of content.

    `how="early_end"` sends a body without a length that simply ends: the client sees a complete HTTP answer.
    `how="chunked"` breaks a chunked body off: the client sees a broken protocol. A request that does not stream gets
    half of the promised body.
    """

    reply: Reply | str = "This reply is not going to be finished."
    after: int = 1
    how: Literal["early_end", "chunked"] = "early_end"


class Slow(msgspec.Struct, frozen=True):
    """A reply with `first` seconds before the answer starts and `seconds` before each piece of content."""

    reply: Reply | str = "This reply takes its time."
    seconds: float = 0.1
    first: float = 0.0


class Dropped(msgspec.Struct, frozen=True):
    """The connection is closed before a single byte of the answer."""


RATE_LIMITED = HttpFault(429, retry_after=1)
OVERLOADED = HttpFault(529)
SERVER_ERROR = HttpFault(500)

if TYPE_CHECKING:
    Scripted: TypeAlias = Reply | str | HttpFault | ErrorEvent | Cut | Slow | Dropped
    Replies: TypeAlias = Scripted | Sequence[Scripted] | Callable[[Any], Scripted]


def cut_call(name: str, arguments: dict[str, Any], *, keep: int = 8, id: str = "") -> Reply:  # noqa: A002
    """Script a tool call that the output limit cuts in the middle of its arguments.

    Args:
        name: Tool.
        arguments: What the whole call would have been.
        keep: Characters of the arguments' JSON text that are sent.
        id: Id of the call; made up by the server when empty.

    Returns:
        A reply whose stop reason is `max_tokens`.

    >>> cut_call("write_file", {"path": "a.txt"}, keep=9).tool_calls[0].arguments
    '{"path": '
    """
    return Reply(tool_calls=(ToolCall(id, name, json.dumps(arguments)[:keep]),), stop_reason="max_tokens")


class Script:
    """Hands out one scripted answer per accepted request.

    Args:
        replies: One answer, repeated for ever; a sequence, each of them once; or a function of the request's body.

    >>> script = Script(["one", OVERLOADED])
    >>> script.next({}), script.next({}).status, script.next({}) is None
    ('one', 529, True)
    """

    def __init__(self, replies: Replies) -> None:
        self._replies = replies
        self._position = 0

    def next(self, body: Any) -> Scripted | None:
        """Answer for this request, or None where the script is at its end."""
        if isinstance(self._replies, str):
            return self._replies
        if isinstance(self._replies, Sequence):
            self._position += 1
            return self._replies[self._position - 1] if self._position <= len(self._replies) else None
        if callable(self._replies):
            return self._replies(body)
        return self._replies


def reply_of(scripted: Scripted) -> Reply:
    """Reply inside a scripted answer; an empty one for a fault that holds none.

    >>> reply_of("Hello.").text, reply_of(Slow("Hm.")).text
    ('Hello.', 'Hm.')
    """
    inner = scripted.reply if isinstance(scripted, ErrorEvent | Cut | Slow) else scripted
    if isinstance(inner, Reply):
        return inner
    return Reply(inner) if isinstance(inner, str) else Reply()


def arguments_text(call: ToolCall) -> str:
    """JSON text of a call's arguments, or the raw text where that is what was scripted.

    >>> arguments_text(ToolCall("", "now", {"zone": "UTC"}))
    '{"zone": "UTC"}'
    """
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
