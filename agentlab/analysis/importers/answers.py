"""Results without a call before them, and calls without a result: what is missing of a conversation.

A call in the last message waits for nothing: the run ended there. Ids may come again once they were answered; messages
without an id tell nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Answers:
    """Which calls of which session wait for their result.

    Attributes:
        missing: Where something is missing, and what, as far as is known.

    >>> answers = Answers()
    >>> answers.spoken("s", 1)
    >>> answers.asked("s", 1, [("a", "read"), ("b", "look")])
    >>> answers.answered("s", 2, "a"), answers.answered("s", 3, "a")
    (None, None)
    >>> answers.spoken("s", 3)
    >>> for at, reason in answers.end():
    ...     print(at, reason)
    3 tool_call_id 'a': no call before it waits for a result
    1 tool_calls: the call 'b' of 'look' has no result
    """

    def __init__(self) -> None:
        self.missing: list[tuple[int, str]] = []
        self._waiting: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self._last: dict[str, int] = {}

    def asked(self, session: str, at: int, calls: Iterable[tuple[str, str]]) -> None:
        """Id and tool of the calls that a message makes."""
        for call_id, name in calls:
            if call_id:
                self._waiting.setdefault((session, call_id), []).append((at, name))

    def answered(self, session: str, at: int, call_id: str) -> None:
        """A result."""
        waiting = self._waiting.get((session, call_id))
        if waiting is not None:
            waiting.pop()
            if not waiting:
                del self._waiting[session, call_id]
        elif call_id:
            self.missing.append((at, f"tool_call_id {call_id!r:.60}: no call before it waits for a result"))

    def spoken(self, session: str, at: int) -> None:
        """The last message so far of a session."""
        self._last[session] = at

    def end(self) -> list[tuple[int, str]]:
        """What is missing, now that all is read."""
        for (session, call_id), waiting in self._waiting.items():
            for at, name in waiting:
                if self._last.get(session, at) > at:
                    reason = f"tool_calls: the call {call_id!r:.60} of {name!r:.60} has no result"
                    self.missing.append((at, reason))
        self._waiting = {}
        return self.missing
