"""Logs that hold the exact input of each call: what each input adds to the one before, leaves out, or shortens.

A message is looked at once for each input that holds it, as the log itself does, and made into a record once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.session import Replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AHEAD = 8  # messages that an input may leave out in one place
_Item = tuple[str, str, Any]


class Sent:
    """Follows the inputs of one conversation.

    Args:
        add: Makes the record of a message that is new, of role, text and the message itself; returns its index.

    >>> seen = []
    >>> inputs = Sent(lambda item: seen.append(item) or len(seen) - 1)
    >>> task, look, result = ("user", "Fix it.", None), ("assistant", "Look.", None), ("user", "a b c", None)
    >>> inputs.take(0, [task]), inputs.take(1, [task, look, result])
    ([0], [1, 2])
    >>> inputs.take(2, [task, look, ("user", "(old)", None)]), inputs.replaced
    ([], [Replaced(call=2, index=2, text='(old)')])
    """

    def __init__(self, add: Callable[[_Item], int]) -> None:
        self.replaced: list[Replaced] = []
        self._add = add
        self._live: list[int] = []
        self._role: dict[int, str] = {}
        self._own: dict[int, str] = {}
        self._shown: dict[int, str] = {}

    def take(self, call: int, items: Sequence[_Item], reply: _Item | None = None) -> list[int]:
        """Follow an input.

        Args:
            call: Which call it is of.
            items: Role, text and message, for each of its messages.
            reply: To the input before; where this one does not go on with a reply, it gets a record and is not sent.

        Returns:
            The indices of the records that are new.
        """
        kept: list[int] = []
        at = place = 0
        while at < len(items) and place < len(self._live):
            role, text, _ = items[at]
            index = self._live[place]
            if not self._is(index, role, text):
                later = self._live[place + 1 : place + 1 + _AHEAD]
                found = next((n for n, each in enumerate(later, 1) if self._is(each, role, text)), 0)
                if found:
                    self._drop(call, self._live[place : place + found])
                    place += found
                    continue
                if role == "assistant" or role != self._role[index]:
                    break
            self._show(call, index, text)
            kept.append(index)
            at, place = at + 1, place + 1
        self._drop(call, self._live[place:])
        unsent = [] if reply is None or (at < len(items) and items[at][0] == "assistant") else [self._new(reply)]
        self._drop(call, unsent)
        added = [self._new(item) for item in items[at:]]
        self._live = kept + added
        return unsent + added

    def _new(self, item: _Item) -> int:
        index = self._add(item)
        self._role[index], self._own[index], self._shown[index] = item[0], item[1], item[1]
        return index

    def _is(self, index: int, role: str, text: str) -> bool:
        return self._role[index] == role and text in (self._shown[index], self._own[index])

    def _show(self, call: int, index: int, text: str) -> None:
        if self._shown[index] != text:
            self._shown[index] = text
            self.replaced.append(Replaced(call, index, text))

    def _drop(self, call: int, indices: Sequence[int]) -> None:
        self.replaced += [Replaced(call, index, None) for index in indices]
