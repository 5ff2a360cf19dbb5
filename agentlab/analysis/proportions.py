"""How often something happened, with an interval, and by how much two such shares differ.

Intervals are Wilson's for a share and Newcombe's method 10 for a difference, which is made of two of Wilson's: both
stay within what is possible and say something where a count is 0 or all.

Sources: Wilson, JASA 22 (1927) 209; Newcombe, Statistics in Medicine 17 (1998) 873.
"""

from __future__ import annotations

from math import hypot

import msgspec

from agentlab.errors import InputError

CONFIDENCE = 0.95


class Share(msgspec.Struct, frozen=True):
    """How often something happened: `count` of `n`, with the ends of the interval of its share, each from 0 to 1."""

    count: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.count / self.n


class Difference(msgspec.Struct, frozen=True):
    """One share less another, with the ends of its interval, each from -1 to 1."""

    value: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether the interval leaves out 0: the counts tell which share is larger."""
        return self.low > 0 or self.high < 0


def share(count: int, n: int, *, confidence: float = CONFIDENCE) -> Share:
    """A share with Wilson's interval.

    Args:
        count: How often it happened, from 0 to `n`.
        n: How often it could have, from 1.
        confidence: Between 0 and 1.

    Raises:
        InputError: A number is not within its range.

    >>> seen = share(0, 20)
    >>> seen.share, seen.low, round(seen.high, 3)
    (0.0, 0.0, 0.161)
    """
    if n < 1 or not 0 <= count <= n:
        raise InputError(f"expected a count from 0 to n, and n from 1; found {count} of {n}", field="count")
    if not 0 < confidence < 1:
        raise InputError(f"expected a number between 0 and 1, found {confidence}", field="confidence")
    from scipy.stats import binomtest

    interval = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return Share(count, n, float(interval.low), float(interval.high))


def difference(first: Share, second: Share) -> Difference:
    """The first share less the second, with Newcombe's interval at the confidence of theirs.

    It takes the two for independent. Where they come from the same tasks, and these are easy or hard in both alike, it
    is wider than it had to be.

    >>> made = difference(share(56, 70), share(48, 80))  # Newcombe's first example
    >>> round(made.value, 4), round(made.low, 4), round(made.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    value = first.share - second.share
    below = hypot(first.share - first.low, second.high - second.share)
    above = hypot(first.high - first.share, second.share - second.low)
    return Difference(value, max(-1.0, value - below), min(1.0, value + above))
