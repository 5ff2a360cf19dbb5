"""Conversations of a log that has the whole prompt of each call: its messages once, and what each call was sent.

A call goes on with the conversation that begins like it, or that it shares messages with; what shares none is another
one, such as a sub-agent's. Within one, messages that are sent again keep their place, and those that are not are left
out from that call on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Sent(msgspec.Struct, frozen=True):
    """A message of a prompt.

    Attributes:
        key: Equal for the same message in another prompt: its id where the log has one, else what it says.
        message: In the chapter's shape.
        about: Further fields of its `Record`.
    """

    key: Hashable
    message: dict[str, Any]
    about: dict[str, Any] = {}


def key_of(message: dict[str, Any]) -> Hashable:
    """What tells a message without an id from others: role, text and calls.

    >>> key_of({"role": "user", "content": "Hi"})
    ('user', 'Hi', '', ())
    """
    calls = tuple((call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ()))
    return message["role"], message["content"], message.get("tool_call_id", ""), calls


def json_of(value: Any) -> str:
    """JSON text, also of what only Python's reader takes: NaN, lone surrogates, large numbers.

    >>> json_of({"path": "a.py"})
    '{"path":"a.py"}'
    """
    try:
        return msgspec.json.encode(value).decode()
    except (ValueError, OverflowError, RecursionError):
        import json

        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except RecursionError:
            return "{}"


class Prompts:
    """One conversation: the system prompt, and its calls one after the other.

    >>> prompts = Prompts()
    >>> ask = Sent(1, {"role": "user", "content": "Hi"})
    >>> prompts.call([ask], Sent(2, {"role": "assistant", "content": "Hello."}))
    >>> prompts.call([ask, Sent(2, {}), Sent(3, {"role": "user", "content": "Bye"})], None)
    >>> records, calls, _ = prompts.timeline.laid()
    >>> [record.text for record in records], [(call.turn, call.stop) for call in calls]
    (['Hi', 'Hello.', 'Bye'], [(1, 1), (2, 3)])
    """

    def __init__(self) -> None:
        self.timeline = Timeline()
        self._keys: list[Hashable] = []
        self._known: set[Hashable] = set()
        self._gone: dict[Hashable, list[int]] = defaultdict(list)

    def shares(self, messages: Iterable[Sent]) -> bool:
        """Whether one of the messages is sent already."""
        sent = {self._keys[index] for index in self.timeline.visible}
        return any(each.key in sent for each in messages)

    def knows(self, sent: Sent) -> bool:
        """Whether a message is among those of the conversation."""
        return sent.key in self._known

    def call(self, messages: Sequence[Sent], reply: Sent | None, *, same: int = 0, **call: Any) -> None:
        """Add a call.

        Args:
            messages: Its prompt from the `same`-th message on.
            reply: What it returned.
            same: So many messages at the beginning are known to be those of the call before.
            **call: Further fields of `agentlab.analysis.session.Call`.
        """
        visible = self.timeline.visible
        at = taken = 0
        while same + at < len(visible) and taken < len(messages):
            if self._keys[visible[same + at]] != messages[taken].key:
                break
            self._alter(visible[same + at], messages[taken])
            at, taken = at + 1, taken + 1
        if same + at < len(visible):
            taken = self._rearrange(same + at, messages, taken)
        for each in messages[taken:]:
            self.add(each)
        if reply is None:
            self.timeline.reply(None, **call)
        else:
            self._keys.append(reply.key)
            self._known.add(reply.key)
            self.timeline.reply(reply.message, reply.about, **call)

    def add(self, sent: Sent) -> int:
        """Add a message that the next call is sent; returns its index."""
        self._keys.append(sent.key)
        self._known.add(sent.key)
        add = self.timeline.say if sent.message["role"] == "assistant" else self.timeline.add
        return add(sent.message, **sent.about)

    def _alter(self, index: int, sent: Sent) -> None:
        if sent.message:
            self.timeline.alter(index, sent.message["content"])

    def _rearrange(self, kept: int, messages: Sequence[Sent], taken: int) -> int:
        """Leave out what is not sent any more, and bring back what is sent again; returns how many are taken."""
        timeline = self.timeline
        left: dict[Hashable, list[int]] = defaultdict(list)
        for index in reversed(timeline.visible[kept:]):
            left[self._keys[index]].append(index)
        leaving = set(timeline.visible[kept:])
        order: list[int | Sent] = list(timeline.visible[:kept])
        for each in messages[taken:]:
            known = left.get(each.key) or self._gone.get(each.key)
            if known:
                index = known.pop()
                leaving.discard(index)
                self._alter(index, each)
                order.append(index)
            else:
                order.append(each)
        for index in leaving:
            self._gone[self._keys[index]].append(index)
        timeline.show([each for each in order if isinstance(each, int)])
        timeline.visible = [each if isinstance(each, int) else self.add(each) for each in order]
        return len(messages)


class Talks:
    """The conversations of a log, and which of them a call goes on with."""

    def __init__(self) -> None:
        self.all: list[Prompts] = []
        self._begun: dict[Hashable, Prompts] = {}
        self._current: Prompts | None = None

    def of(self, messages: Sequence[Sent]) -> Prompts:
        """The conversation that a prompt goes on with, else a new one."""
        first = messages[0].key if messages else None
        known = self._begun.get(first)
        if known is None and self._current is not None and self._current.shares(messages):
            known = self._current
        if known is None:
            known = Prompts()
            self.all.append(known)
        self._begun.setdefault(first, known)
        self._current = known
        return known
