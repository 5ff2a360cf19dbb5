"""A session on the way, message by message: where each stands, and which of them the next call is sent.

A format says what is sent by `add`, `keep`, `show` and `alter`, and each call by `reply`. Calls keep ranges of
messages; what stands in a range and is not sent becomes an entry of `Session.replaced`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.session import Call, Record, Replaced

if TYPE_CHECKING:
    from collections.abc import Sequence


class Timeline:
    """Messages and calls of a conversation in the order in which they came.

    Attributes:
        visible: What the next call is sent: indices of messages, in the order of its prompt.
        turn: The user turn that is under way, 0 before the first.
        iteration: The model call of the turn that is under way, 0 before the first.

    >>> timeline = Timeline()
    >>> for text in ("Hi", "Bye"):
    ...     _ = timeline.add({"role": "user", "content": text})
    ...     timeline.reply({"role": "assistant", "content": "Hello."})
    >>> timeline.keep(1)
    >>> timeline.reply(None)
    >>> records, calls, replaced = timeline.laid()
    >>> [(call.turn, call.start, call.stop) for call in calls], [each.index for each in replaced]
    ([(1, 0, 1), (2, 0, 3), (2, 0, 4)], [1, 2, 3])
    """

    def __init__(self) -> None:
        self.visible: list[int] = []
        self.turn = self.iteration = 0
        self._records: list[Record] = []
        self._calls: list[Call] = []
        self._changes: list[Replaced] = []
        self._low: int | None = None
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        """How many messages there are."""
        return len(self._records)

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return len(self._calls)

    def record(self, index: int) -> Record:
        """A message."""
        return self._records[index]

    def add(self, message: dict[str, Any], **about: Any) -> int:
        """Add a message that is sent from now on; one of the user without `origin` opens a turn.

        Args:
            message: In the chapter's shape.
            **about: Further fields of its `Record`.

        Returns:
            Its index.
        """
        if message["role"] == "user" and "origin" not in message:
            self.turn, self.iteration = self.turn + 1, 0
        index = len(self._records)
        self._records.append(Record(message, self.turn, self.iteration, **about))
        self.visible.append(index)
        self._low = index if self._low is None else self._low
        return index

    def say(self, message: dict[str, Any], **about: Any) -> int:
        """Add what an assistant said without a call of this session, such as a copy; arguments as `add`."""
        self.iteration += 1
        return self.add(message, **about)

    def reply(self, message: dict[str, Any] | None, about: dict[str, Any] | None = None, **call: Any) -> None:
        """Add a call that was sent what is visible, and its reply.

        Args:
            message: What it returned; None where that was not kept.
            about: Further fields of the reply's `Record`.
            **call: Further fields of `Call`.
        """
        self.turn = max(self.turn, 1)
        stop = len(self._records)
        start = stop if self._low is None else min(self._low, stop)
        if message is None:
            self.iteration += 1
        else:
            self.say(message, **(about or {}))
        reply = None if message is None else stop
        self._calls.append(Call(self.turn, self.iteration, start, stop, reply, **call))

    def keep(self, count: int) -> None:
        """Send only the first messages from now on: so many of those that are visible."""
        self._changes += [Replaced(len(self._calls), index, None) for index in self.visible[count:]]
        del self.visible[count:]
        if not self.visible:
            self._low = None

    def show(self, indices: Sequence[int]) -> None:
        """Send these messages from now on."""
        before, now = set(self.visible), set(indices)
        number = len(self._calls)
        self._changes += [Replaced(number, index, None) for index in self.visible if index not in now]
        self._changes += [Replaced(number, index, self._shown(index)) for index in indices if index not in before]
        self.visible = list(indices)
        self._low = min(self.visible, default=None)

    def alter(self, index: int, text: str) -> None:
        """Send a visible message with another text from now on."""
        if text != self._shown(index):
            self._texts[index] = text
            self._changes.append(Replaced(len(self._calls), index, text))

    def complete(self, index: int, **about: Any) -> None:
        """Set fields of a message's `Record` that were not known when it was added."""
        self._records[index] = msgspec.structs.replace(self._records[index], **about)

    def laid(self) -> tuple[tuple[Record, ...], tuple[Call, ...], tuple[Replaced, ...]]:
        """Messages, calls and what is replaced, as a `Session` takes them."""
        starts = [call.start for call in self._calls]
        for number in range(len(starts) - 2, -1, -1):  # none may begin after a later one
            starts[number] = min(starts[number], starts[number + 1])
        calls = [msgspec.structs.replace(call, start=start) for call, start in zip(self._calls, starts, strict=True)]
        replaced = [each for each in self._changes if each.call < len(calls) and each.index >= starts[each.call]]
        return tuple(self._records), tuple(calls), tuple(replaced)

    def _shown(self, index: int) -> str:
        return self._texts.get(index, self._records[index].text)
