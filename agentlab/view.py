"""What a request sends of a conversation: the same dicts, but where a decision put something in their place.

The view is extended as messages come, and touched at no other place until the next decision, so that a provider's
cached prefix holds. A message that a decision shortens is a new dict; the conversation's own is never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.errors import InputError
from agentlab.messages import begins_turn
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from agentlab.events import CompactionDecided
    from agentlab.messages import Message

HEADING = (
    "[Summary of the first {count} messages of this conversation. They are no longer shown; what they asked for was "
    "answered.]\n{summary}"
)
PINNED = "\n\n[What {name} returned, in full]\n{text}"


class View:
    """What is sent of a list of messages, after any number of decisions.

    Args:
        source: The messages; only read.

    Attributes:
        cursor: Messages before it are not sent; a summary stands for them.
        cleared: Places of the messages whose text was replaced.
        summary: The text for the messages before `cursor`, without what is pinned.
        pinned: Places of results that stand in full behind the summary.
        system_part: What the decisions add to the system prompt.

    >>> from agentlab.events import Cleared, CompactionDecided
    >>> view = View([{"role": "tool", "tool_call_id": "a", "name": "f", "content": "x" * 400}])
    >>> view.apply(CompactionDecided(1, 1, 0.0, "sliding", cleared=(Cleared(0, "(gone)"),)))
    >>> view.messages()[0]["content"]
    '(gone)'
    """

    def __init__(self, source: list[Message]) -> None:
        self.source = source
        self.cursor = 0
        self.cleared: set[int] = set()
        self.summary = ""
        self.pinned: tuple[int, ...] = ()
        self.system_part = ""
        self._sent: list[Message] = []
        self._head = 0  # messages of `_sent` that stand for the summary
        self._read = 0  # messages of `source` that `_sent` has taken in

    def messages(self) -> list[Message]:
        """The messages to send, brought up to date."""
        if self._read < len(self.source):
            self._sent.extend(self.source[self._read :])
            self._read = len(self.source)
        return self._sent

    def apply(self, decision: CompactionDecided) -> None:
        """Carry out a decision that was checked."""
        sent = self.messages()
        if decision.cursor is not None:
            head, cut = self._folded(decision, decision.cursor)
            self._sent, self._head = [*head, *sent[cut:]], len(head)
            self.cursor, self.summary, self.pinned = decision.cursor, decision.summary, decision.pinned
            self.system_part = "" if head else standing_in(decision, decision.cursor, self.source)
            return
        for place, message in self._changed(decision):
            sent[place] = message
        self.cleared.update(each.index for each in decision.cleared)

    def saving(self, decision: CompactionDecided) -> int:
        """Tokens that the messages lose by a decision that was checked and not carried out yet, an estimate."""
        sent = self.messages()
        if decision.cursor is None:
            return sum(estimate_message(sent[place]) - estimate_message(m) for place, m in self._changed(decision))
        head, cut = self._folded(decision, decision.cursor)
        return sum(map(estimate_message, sent[:cut])) - sum(map(estimate_message, head))

    def check(self, decision: CompactionDecided) -> None:
        """Look whether a decision can be carried out on these messages.

        Raises:
            InputError: It names a message that is no tool result, or a cursor that is not at an earlier user turn.
        """
        size = len(self.source)
        for index in (*(each.index for each in decision.cleared), *decision.pinned):
            if not 0 <= index < size or self.source[index]["role"] != "tool":
                raise InputError(f"message {index} is no tool result: only these can be cleared or pinned")
        cursor = decision.cursor
        if cursor is None:
            return
        if not self.cursor < cursor < size or not begins_turn(self.source[cursor]):
            raise InputError(f"the cursor {cursor} is not at a user message after {self.cursor}")
        if not decision.summary.strip():
            raise InputError(f"there is no summary for the messages before {cursor}")

    def _changed(self, decision: CompactionDecided) -> list[tuple[int, Message]]:
        """Places in what is sent and the messages that come there; what a summary stands for is passed over."""
        shift = self._head - self.cursor
        return [
            (each.index + shift, {**self.source[each.index], "content": each.text})
            for each in decision.cleared
            if each.index >= self.cursor
        ]

    def _folded(self, decision: CompactionDecided, cursor: int) -> tuple[list[Message], int]:
        """What comes in front, and how many of the sent messages it stands for."""
        cut = cursor - self.cursor + self._head
        if decision.place == "system":
            return [], cut
        return [{"role": "user", "content": standing_in(decision, cursor, self.source), "origin": "loop"}], cut


def standing_in(decision: CompactionDecided, cursor: int, source: list[Message]) -> str:
    """The text that stands for the messages before the cursor."""
    return HEADING.format(count=cursor, summary=decision.summary) + "".join(
        PINNED.format(name=source[index].get("name"), text=source[index]["content"]) for index in decision.pinned
    )
