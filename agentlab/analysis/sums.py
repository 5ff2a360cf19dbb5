"""Sums over ranges of messages of which some change their size on the way."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Sums:
    """Sums over ranges of numbers of which some change: a change and a sum take time in the logarithm of their count.

    Args:
        values: The numbers.

    >>> sums = Sums([1, 2, 3])
    >>> sums.change(1, 10)
    >>> sums.between(0, 2), sums.between(2, 1)
    (11, 0)
    """

    def __init__(self, values: Sequence[int]) -> None:
        self._values = list(values)
        self._first = [0, *accumulate(values)]
        self._tree: list[int] = []  # a Fenwick tree of what was added since

    def change(self, index: int, value: int) -> None:
        """Set a number."""
        added, self._values[index] = value - self._values[index], value
        if not self._tree:
            self._tree = [0] * len(self._first)
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += added
            at += at & -at

    def between(self, start: int, stop: int) -> int:
        """The sum from `start` to before `stop`; 0 where that is no range."""
        return self._to(stop) - self._to(start) if stop > start else 0

    def _to(self, stop: int) -> int:
        total, at = self._first[stop], stop if self._tree else 0
        while at:
            total += self._tree[at]
            at -= at & -at
        return total
