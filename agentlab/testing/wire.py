"""What the server needs of an API, whichever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentlab.messages import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.testing.prompt import PromptCache, Segment
    from agentlab.testing.rejection import RejectedRequest
    from agentlab.testing.replies import HttpFault


class Answer(msgspec.Struct, frozen=True):
    """One reply on its way out: what the body or the events are made of.

    `number` counts the answers of a server from 1 and makes the ids; `piece` is the length in characters of the
    pieces in which texts and arguments are streamed.
    """

    reply: Reply
    usage: Usage
    model: str
    number: int
    piece: int
    options: dict[str, Any]

    def pieces(self, text: str) -> Iterator[str]:
        """Cut a text into the pieces that are streamed."""
        return (text[start : start + self.piece] for start in range(0, len(text), self.piece))


class Event(msgspec.Struct, frozen=True):
    """One server-sent event, ready to be written; `content` marks a piece of the reply."""

    data: bytes
    content: bool = False


class Wire(Protocol):
    """One API. The modules `wire_anthropic` and `wire_openai` are of this shape."""

    ID_HEADER: str
    BUSY: HttpFault

    def check_headers(self, headers: dict[str, str], key: str | None) -> None:
        """Raise `RejectedRequest` where the headers (names in lower case) do not carry the key, if one is asked for."""

    def check_body(self, body: Any, *, counting: bool, prefill: bool) -> None:
        """Raise `RejectedRequest` where the API would answer 400."""

    def not_json(self, problem: str) -> RejectedRequest:
        """Rejection of a body that does not parse."""

    def no_model(self, model: str) -> RejectedRequest:
        """Rejection of a model that is not on the list."""

    def too_long(self, tokens: int, window: int) -> RejectedRequest:
        """Rejection of a prompt that is larger than the window."""

    def failure(self, fault: HttpFault) -> RejectedRequest:
        """Error answer of a scripted fault."""

    def segments(self, body: dict[str, Any]) -> list[Segment]:
        """Prompt of a checked body."""

    def prompt_usage(self, cache: PromptCache, model: str, segments: list[Segment]) -> Usage:
        """Input side of the usage."""

    def complete(self, answer: Answer) -> dict[str, Any]:
        """Body of an answer that is not streamed."""

    def events(self, answer: Answer) -> Iterator[Event]:
        """Events of a streamed answer."""

    def error_event(self, kind: str, message: str) -> Event:
        """Event that reports an error within a stream."""

    def models(self, names: list[str]) -> dict[str, Any]:
        """Body of `GET /v1/models`."""
