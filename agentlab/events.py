"""What the loop says while it runs: frozen events, handed to sinks in order.

A sink is a function of one event; where it has an attribute `hears`, it is given only events of these kinds. The
session folder, the progress line of the terminal and a widget are sinks.
A sink that raises ends the turn as failed; `messages` stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from agentlab.errors import SinkError
from agentlab.messages import Reply, ToolCall, Usage


class Event(msgspec.Struct, frozen=True):
    """Base of all events; `turn` counts from 1 within the session."""

    turn: int


class TurnStarted(Event, frozen=True):
    """A user turn begins."""

    prompt: str


class CallStarted(Event, frozen=True):
    """A model call is about to be made; `iteration` counts from 1 within the turn.

    `prompt_tokens` is what the running count expects.
    """

    iteration: int
    prompt_tokens: int


class CallFinished(Event, frozen=True):
    """A model call returned; `usage.exact` says whether the provider reported it."""

    iteration: int
    reply: Reply
    usage: Usage
    seconds: float


class CallRetried(Event, frozen=True):
    """A model call failed in a way that may pass; it is made again after `wait` seconds."""

    attempt: int
    wait: float
    reason: str


class ToolStarted(Event, frozen=True):
    """A tool is about to run."""

    iteration: int
    call: ToolCall


class ToolFinished(Event, frozen=True):
    """A tool call has its observation, whose text is `text`: `original_chars` before the cut, `chars` after it."""

    iteration: int
    call: ToolCall
    original_chars: int
    chars: int
    is_error: bool
    store_id: str | None
    text: str = ""


class MessageAppended(Event, frozen=True, omit_defaults=True, tag_field="type", tag="message"):
    """A message was appended; as JSON this is its line in `messages.jsonl`.

    `index` is its place in the list, `time` is in seconds since 1970. `tokens` is the running count's figure for this
    message alone. For a tool message `original_chars` is its size before the cut and `store_id` names the full text,
    where it was kept. For an assistant message `usage`, `model` and `stop_reason` are those of its call.
    """

    iteration: int
    index: int
    time: float
    message: dict[str, Any]
    tokens: int = 0
    exact: bool = False
    original_chars: int | None = None
    store_id: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None


class Repaired(Event, frozen=True, tag_field="type", tag="note"):
    """Something that would have made a provider reject the messages was put right; a line in `messages.jsonl` too."""

    note: str


class Cleared(msgspec.Struct, frozen=True):
    """A tool message whose text is no longer sent: its place in the list, and the text that stands there instead."""

    index: int
    text: str


class CompactionDecided(Event, frozen=True, omit_defaults=True, tag_field="type", tag="decision"):
    """From now on less is sent; the messages stay as they are. As JSON this is its line in `messages.jsonl`.

    Either `cleared` names results whose texts are replaced, or `cursor` says from which message on the list is still
    sent as it is: `summary` stands for all before it, at `place`, with the texts of the messages `pinned` in full.
    `policy` names the rule, `time` is in seconds since 1970, `tokens_saved` is an estimate, `usage` is what the summary
    cost.
    """

    iteration: int
    time: float
    policy: str
    tokens_saved: int = 0
    cleared: tuple[Cleared, ...] = ()
    cursor: int | None = None
    summary: str = ""
    place: Literal["message", "system"] = "message"
    pinned: tuple[int, ...] = ()
    usage: Usage | None = None


class CompactionFailed(Event, frozen=True):
    """A rule of compaction could not do its work, for `reason`: all is sent as before, and it is tried again later."""

    iteration: int
    policy: str
    reason: str


class TurnFinished(Event, frozen=True):
    """A user turn is over; see `agentlab.endings.TurnResult` for status and reason."""

    prompt: str
    reply: str
    status: str
    reason: str
    iterations: int
    usage: Usage
    tool_calls: list[dict[str, Any]]
    started_at: str
    finished_at: str


def moved(decision: CompactionDecided, places: dict[int, int], size: int) -> CompactionDecided:
    """A decision about messages that have other places now; what is not there any more is left out.

    Args:
        decision: As it was made.
        places: The old and the new place of each message that is left.
        size: How many messages there are now.

    >>> moved(CompactionDecided(1, 0, 0.0, "sliding", cleared=(Cleared(4, "gone"),)), {4: 6}, 9).cleared[0].index
    6
    """
    cursor = decision.cursor
    if cursor is not None:
        cursor = min((new for old, new in places.items() if old >= cursor), default=size)
    cleared = [replace(each, index=places[each.index]) for each in decision.cleared if each.index in places]
    pinned = [places[index] for index in decision.pinned if index in places]
    return replace(decision, cursor=cursor, cleared=tuple(cleared), pinned=tuple(pinned))


EVENTS: tuple[type[Event], ...] = (
    TurnStarted,
    CallStarted,
    CallFinished,
    CallRetried,
    ToolStarted,
    ToolFinished,
    MessageAppended,
    Repaired,
    CompactionDecided,
    CompactionFailed,
    TurnFinished,
)
Sink = Callable[[Event], None]


class Audience:
    """The sinks of a turn, each by the kinds of event that it hears.

    Args:
        sinks: In the order in which they are told.

    Attributes:
        error: The first failure of a sink.
        raises: Whether a failure is raised; a turn that is over only keeps it.

    >>> heard = []
    >>> audience = Audience([heard.append])
    >>> audience.tell(Repaired(1, "dropped a call"))
    >>> heard
    [Repaired(turn=1, note='dropped a call')]
    """

    def __init__(self, sinks: Iterable[Sink] = ()) -> None:
        self._listeners: dict[type[Event], list[Sink]] = {}
        self.error: SinkError | None = None
        self.raises = True
        for sink in sinks:
            for kind in getattr(sink, "hears", EVENTS):
                self._listeners.setdefault(kind, []).append(sink)

    def __contains__(self, kind: type[Event]) -> bool:
        return kind in self._listeners

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def tell(self, event: Event) -> None:
        """Hand an event to every sink that hears it; one that fails hears no more.

        Raises:
            SinkError: A sink failed, and `raises` is true.
        """
        for sink in self._listeners.get(type(event), ()):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a sink is foreign code; its failure is an ending
                self._drop(sink, error)
        if self.error is not None and self.raises:
            raise self.error

    def _drop(self, failed: Sink, error: Exception) -> None:
        self._listeners = {kind: [s for s in known if s is not failed] for kind, known in self._listeners.items()}
        if self.error is None:
            self.error = SinkError(f"{type(error).__name__}: {error}")
            self.error.__cause__ = error
