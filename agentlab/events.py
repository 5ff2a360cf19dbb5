"""What the loop says while it runs: frozen events, handed to sinks in order.

A sink is a function of one event; where it has an attribute `hears`, it is given only events of these kinds. The
session folder, the progress line of the terminal and a widget are sinks.
A sink that raises ends the turn as failed; `messages` stays valid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

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
    """A tool call has its observation: `original_chars` before the cut, `chars` after it."""

    iteration: int
    call: ToolCall
    original_chars: int
    chars: int
    is_error: bool
    store_id: str | None


class MessageAppended(Event, frozen=True, omit_defaults=True, tag_field="type", tag="message"):
    """A message was appended; as JSON this is its line in `messages.jsonl`.

    `time` is in seconds since 1970. `tokens` is the running count's figure for this message alone. For a tool message
    `original_chars` is its size before the cut and `store_id` names the full text, where it was kept. For an assistant
    message `usage`, `model` and `stop_reason` are those of its call.
    """

    iteration: int
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


class TurnFinished(Event, frozen=True):
    """A user turn is over; see `agentlab.loop.TurnResult` for status and reason."""

    prompt: str
    reply: str
    status: str
    reason: str
    iterations: int
    usage: Usage
    tool_calls: list[dict[str, Any]]
    started_at: str
    finished_at: str


EVENTS: tuple[type[Event], ...] = (
    TurnStarted,
    CallStarted,
    CallFinished,
    CallRetried,
    ToolStarted,
    ToolFinished,
    MessageAppended,
    Repaired,
    TurnFinished,
)
Sink = Callable[[Event], None]
