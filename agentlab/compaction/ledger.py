"""The results that may still be cleared, in the order in which they came; each is looked at once."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec

from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agentlab.messages import Message
    from agentlab.policy.specs import ResultRule

PLACEHOLDER_TOKENS = 60
"""What stands in place of a cleared text costs about so many."""


class Result(msgspec.Struct, frozen=True):
    """A tool result: its place in the messages, its size, and the tokens that clearing it would save."""

    index: int
    chars: int
    gain: int


class Ledger:
    """The results that a rule may still clear.

    Args:
        rule: Says which tools count.
        pinned: Names of tools whose results always stay.

    Attributes:
        waiting: Oldest first. What was cleared, or passed over as too small, is not among them.
        asked: Place of the newest assistant message with calls: results after it always stay.

    >>> from agentlab.policy import Sliding
    >>> ledger = Ledger(Sliding(), frozenset())
    >>> ledger.read([{"role": "tool", "tool_call_id": "a", "name": "grep", "content": "x" * 4_000}])
    >>> ledger.waiting[0]
    Result(index=0, chars=4000, gain=944)
    """

    def __init__(self, rule: ResultRule, pinned: frozenset[str]) -> None:
        self.rule = rule
        self.pinned = pinned
        self.waiting: deque[Result] = deque()
        self.asked = -1
        self._tools = None if rule.tools is None else frozenset(rule.tools)
        self._stays = pinned | frozenset(getattr(rule, "exclude", ()))
        self._read = 0

    def read(self, messages: Sequence[Message], cleared: Collection[int] = (), cursor: int = 0) -> None:
        """Take in what was appended since the last time.

        Args:
            messages: All messages of the conversation.
            cleared: Places of results that are cleared already.
            cursor: A summary stands for what is before it.
        """
        while self.waiting and self.waiting[0].index < cursor:
            self.waiting.popleft()
        for index in range(self._read, len(messages)):
            message = messages[index]
            if message["role"] == "tool":
                if index >= cursor and index not in cleared and self._counts(message["name"]):
                    tokens = estimate_message(message)
                    self.waiting.append(Result(index, len(message["content"]), max(0, tokens - PLACEHOLDER_TOKENS)))
            elif message.get("tool_calls"):
                self.asked = index
        self._read = len(messages)

    def take(self, count: int) -> list[Result]:
        """Take the oldest results out, but none of the newest calls."""
        taken: list[Result] = []
        while len(taken) < count and self.waiting and self.waiting[0].index < self.asked:
            taken.append(self.waiting.popleft())
        return taken

    def _counts(self, name: str) -> bool:
        return name not in self._stays and (self._tools is None or name in self._tools)
