"""Word lists, written as text."""

from __future__ import annotations


def words(*lines: str) -> frozenset[str]:
    """The set of the words in some lines.

    >>> sorted(words("a b", "c"))
    ['a', 'b', 'c']
    """
    return frozenset(in_order(*lines))


def in_order(*lines: str) -> tuple[str, ...]:
    """The words in some lines, in their order."""
    return tuple(word for line in lines for word in line.split())
