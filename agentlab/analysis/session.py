"""A recorded session, whatever wrote it: its messages, its model calls, and what each call was sent.

An importer makes one from a log; everything else in `agentlab.analysis` reads it. A call names its prompt as a range of
messages, so a log in which earlier messages were replaced by a summary is a range that starts later.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import UnknownResultError
from agentlab.messages import Usage
from agentlab.printable import counted
from agentlab.store import Store
from agentlab.transcript import TurnLine
from agentlab.truncate import find_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Record(msgspec.Struct, frozen=True):
    """A message as it was logged, and where it stands.

    Attributes:
        message: In the chapter's shape; `content` is a text, and a role `system` may come in mid-session.
        turn: The user turn, from 1; 0 before the first user message. What the loop itself said opens no turn.
        iteration: The model call of the turn that it belongs to, from 1; 0 for the user's message.
        time: Seconds since 1970, or None.
        original_chars: Of a tool message, its size before it was cut, where that is known.
        store_id: Of a tool message, names the full text in the store.
        is_summary: Whether it stands for earlier messages that are not sent any more.
        image_tokens: Of the images in it, by the provider's rule for sizes; they are no part of the text.
        thinking: Of an assistant message, what it thought before it spoke; counted as output, and never as sent.
    """

    message: dict[str, Any]
    turn: int
    iteration: int
    time: float | None = None
    original_chars: int | None = None
    store_id: str | None = None
    is_summary: bool = False
    image_tokens: int = 0
    thinking: str = ""

    @property
    def role(self) -> str:
        """Who speaks."""
        return str(self.message["role"])

    @property
    def text(self) -> str:
        """The text of the message."""
        return str(self.message["content"])

    @property
    def opens_turn(self) -> bool:
        """Whether the user said it, and not the loop."""
        return self.message["role"] == "user" and "origin" not in self.message

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls that an assistant message makes."""
        return self.message.get("tool_calls") or []


class Call(msgspec.Struct, frozen=True):
    """A model call that returned.

    Its prompt is the messages from `start` to `stop`, but where `Session.replaced` says otherwise.

    Attributes:
        turn: The user turn, from 1.
        iteration: Which call of the turn, from 1.
        start: First message of its prompt, as an index into `Session.records`.
        stop: The message after the last one of its prompt.
        reply: The message that it returned; None where none was kept, as for a blank reply.
        usage: What it used, or None where the log does not say.
        stop_reason: Why the model stopped, where the log says.
        model: The model, where the log says.
        time: When the reply came, in seconds since 1970, or None.
        output_measured: False where the log's count of output tokens is no count of them.
        cache_write_1h_tokens: Of the usage's `cache_write_tokens`, those that are kept for an hour.
        cost: US dollars, where the log says.
    """

    turn: int
    iteration: int
    start: int
    stop: int
    reply: int | None
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None
    time: float | None = None
    output_measured: bool = True
    cache_write_1h_tokens: int = 0
    cost: float | None = None

    @property
    def measured(self) -> bool:
        """Whether the provider said how large the prompt was."""
        return self.usage is not None and self.usage.exact and self.usage.prompt_tokens > 0


class Replaced(msgspec.Struct, frozen=True):
    """From one call on, a message is sent with another text, or not at all.

    Attributes:
        call: The first such call, as an index into `Session.calls`.
        index: The message, as an index into `Session.records`.
        text: What is sent in its place; None where nothing is. Its own text brings it back.
    """

    call: int
    index: int
    text: str | None


class Observed(msgspec.Struct, frozen=True):
    """An observation, with as much of its text as there still is.

    Attributes:
        index: Of its message in `Session.records`.
        turn: The user turn.
        iteration: The model call that asked for it.
        tool: Name of the tool, "" where the log does not say.
        text: In full where it was kept so, else as the model saw it.
        whole: False where only a cut text is left.
        is_error: Whether the log marks it as an error.
        carried: How many calls were sent it: 1 for the first time, the rest are re-sent.
    """

    index: int
    turn: int
    iteration: int
    tool: str
    text: str
    whole: bool
    is_error: bool
    carried: int


class Session(msgspec.Struct, frozen=True):
    """A recorded session.

    Attributes:
        id: Names it among those of one load.
        format: Name of the importer that read it.
        path: The file or folder.
        records: The messages, in order; the system prompt is not among them.
        calls: The model calls, in order; neither `start` nor `stop` ever decreases.
        provider: Who answered, where the log says.
        model: Which model, where the log says.
        system: The system prompt.
        tools: What the model could call: name, description, parameters.
        turns: How each turn ended, where the log says.
        policy: How observations were cut, where the log says.
        labels: What else the log says of the whole, such as a task and a reward.
        store_folder: Where results are kept in full.
        replaced: What was sent differently from some call on, in the order of `call`.
        parent: The `id` of the session whose tool call started this one, as of a sub-agent.
        aside: What calls beside the conversation used, such as those that wrote its summaries.
        usage: Of all calls, where the log gives only the sum.
        cost: US dollars for all calls, where the log says.

    >>> session = Session("a", "chat", Path("a.json"), (), ())
    >>> session
    <Session a: chat, 0 messages, 0 calls, 0 turns>
    """

    id: str
    format: str
    path: Path
    records: tuple[Record, ...]
    calls: tuple[Call, ...]
    provider: str = ""
    model: str | None = None
    system: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    turns: tuple[TurnLine, ...] = ()
    policy: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    store_folder: Path | None = None
    replaced: tuple[Replaced, ...] = ()
    parent: str = ""
    aside: tuple[Usage, ...] = ()
    usage: Usage | None = None
    cost: float | None = None

    def __repr__(self) -> str:
        """A line, not the whole session."""
        turns = len({record.turn for record in self.records if record.opens_turn})
        sizes = (counted(len(self.records), "message"), counted(len(self.calls), "call"), counted(turns, "turn"))
        return f"<Session {self.id}: {self.format}, {', '.join(sizes)}>"

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages alone."""
        return [record.message for record in self.records]

    def carried(self) -> list[int]:
        """For each message, how many calls were sent it with its own text."""
        steps = [0] * (len(self.records) + 1)
        for call in self.calls:
            steps[call.start] += 1
            steps[call.stop] -= 1
        counts = list(accumulate(steps))[:-1]
        starts, stops = [call.start for call in self.calls], [call.stop for call in self.calls]
        altered: set[int] = set()
        for call, index, text in map(msgspec.structs.astuple, self.replaced):
            own = text == self.records[index].text
            if own == (index in altered):
                later = bisect_right(starts, index) - max(call, bisect_right(stops, index))
                counts[index] += max(0, later) if own else -max(0, later)
                altered ^= {index}
        return counts

    def observations(self) -> list[Observed]:
        """The observations in order, in full where the store has them."""
        store = None if self.store_folder is None else Store(self.store_folder)
        carried = self.carried()
        return [
            _observed(index, record, store, carried[index])
            for index, record in enumerate(self.records)
            if record.role == "tool"
        ]


def by_iteration(observations: Iterable[Observed]) -> Iterator[list[Observed]]:
    """The observations of each iteration together: those beyond the first came from parallel calls."""
    for _, group in groupby(observations, key=lambda seen: (seen.turn, seen.iteration)):
        yield list(group)


def _observed(index: int, record: Record, store: Store | None, carried: int) -> Observed:
    text = full = record.text
    whole = record.original_chars is None or record.original_chars <= len(text)
    if record.store_id is not None and store is not None:
        try:
            full = store.get(record.store_id)
        except UnknownResultError:
            whole = False
        else:
            whole = True
    elif record.original_chars is None:
        whole = find_marker(text) is None
    return Observed(
        index,
        record.turn,
        record.iteration,
        str(record.message.get("name") or ""),
        full,
        whole,
        bool(record.message.get("is_error")),
        carried,
    )
