"""How a series of counts grows: a power of its index, a trend in its increments, a bend.

All functions take plain numbers. A level that is a sum of increments wanders even when no increment depends on the one
before, and then a line with one hinge fits it better than a straight one nearly always. So a bend is no finding until
the same increments in another order are shown to bend less: `bend` says how often they do not. `trend` asks the
increments themselves.
"""

from __future__ import annotations

from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]

FEWEST = 8
"""Of fewer values nothing is said."""

LEFT_OUT = 0.1
"""Share of a series that an exponent leaves out at its beginning, where a constant part outweighs all else."""

RESAMPLES = 999
KNOTS = 40
SIGNIFICANT = 0.05


class Exponent(msgspec.Struct, frozen=True):
    """`value` is the power of its index with which a series grows; 95 % of resamples are from `low` to `high`."""

    value: float
    low: float
    high: float
    n: int


class Trend(msgspec.Struct, frozen=True):
    """Kendall's tau of increments against their order: from -1, ever smaller, to 1; `p` is two-sided."""

    tau: float
    p: float
    n: int

    @property
    def direction(self) -> int:
        """1 where the increments grow, -1 where they shrink, 0 where neither can be told at 5 %."""
        return 0 if not self.p < SIGNIFICANT else (1 if self.tau > 0 else -1)


class Bend(msgspec.Struct, frozen=True):
    """The best hinge of a level.

    Attributes:
        at: The value, from 1, after which the slope is another.
        explained: Share of the squared error of a straight line that the hinge takes away.
        chance: Share of reorderings of the same increments that bend as much; a small one is a finding.
        n: Values.
    """

    at: int
    explained: float
    chance: float
    n: int


def exponent(series: Sequence[float], *, seed: int = 0) -> Exponent | None:
    """Fit a power law, `log y` against `log` of the index from 1, by least squares.

    The first tenth is left out. The interval is a moving-block bootstrap of the residuals, with blocks of the square
    root of their number, since what follows one another is alike.

    Args:
        series: Positive numbers, in order.
        seed: Of the resamples; the same one gives the same interval.

    Returns:
        The exponent, or None for fewer than `FEWEST` values or one that is not positive and finite.

    >>> exponent([n**2 for n in range(1, 50)]).value
    2.0
    """
    import numpy as np

    if len(series) < FEWEST or not all(value > 0 and isfinite(value) for value in series):
        return None
    first = int(len(series) * LEFT_OUT)
    x, y = np.log(np.arange(first + 1, len(series) + 1)), np.log(np.asarray(series[first:], dtype=float))
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    residuals = y - y.mean() - slope * centred
    slopes = slope + _blocks(residuals, ceil(sqrt(len(x))), seed) @ centred / spread
    low, high = np.quantile(slopes, (0.025, 0.975))
    return Exponent(round(slope, 4), round(float(low), 4), round(float(high), 4), len(series))


def trend(increments: Sequence[float]) -> Trend | None:
    """Test whether increments grow or shrink with their order.

    Returns:
        Kendall's tau with its two-sided p value; None for fewer than `FEWEST` increments or one that is not finite.

    >>> trend([1, 2, 3, 4, 5, 6, 7, 8]).direction
    1
    """
    from scipy.stats import kendalltau

    if len(increments) < FEWEST or not all(map(isfinite, increments)):
        return None
    if len(set(increments)) == 1:
        return Trend(0.0, 1.0, len(increments))
    found = kendalltau(range(len(increments)), increments)
    return Trend(float(found.statistic), float(found.pvalue), len(increments))


def bend(increments: Sequence[float], *, shuffles: int = 199, seed: int = 0) -> Bend | None:
    """Find the best hinge of the level that increments sum to, and how often chance bends as much.

    Args:
        increments: In order.
        shuffles: Reorderings, in blocks of the cube root of their number.
        seed: Of the reorderings.

    Returns:
        The bend, or None for fewer than twice `FEWEST` increments or one that is not finite.

    >>> bend([1] * 30 + [10] * 30).at
    30
    """
    import numpy as np

    n = len(increments)
    if n < 2 * FEWEST or not all(map(isfinite, increments)):
        return None
    steps = np.asarray(increments, dtype=float)
    bases = _hinges(n)
    at, explained = _best_hinge(steps, bases)
    as_much = sum(_best_hinge(order, bases)[1] >= explained for order in reordered(steps, shuffles, seed=seed))
    return Bend(at, explained, (as_much + 1) / (shuffles + 1), n)


def reordered(increments: Sequence[float] | Floats, times: int, *, seed: int = 0) -> Iterator[Floats]:
    """Put the same increments into other orders, in blocks of the cube root of their number.

    In blocks, since what follows one another is alike: single increments in any order would wander less.

    Args:
        increments: In order.
        times: How many orders.
        seed: Of the orders; the same one gives the same orders.

    >>> [sorted(order.tolist()) for order in reordered([3, 1, 2], 2)]
    [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
    """
    import numpy as np

    steps = np.asarray(increments, dtype=float)
    size = ceil(len(steps) ** (1 / 3)) or 1
    blocks = [steps[start : start + size] for start in range(0, len(steps), size)]
    generator = np.random.default_rng(seed)
    for _ in range(times):
        order = generator.permutation(len(blocks))
        yield np.concatenate([blocks[i] for i in order])


def concentration(increments: Sequence[float], share: float = 0.1) -> float:
    """What share of all growth the largest increments carry.

    Args:
        increments: Those that are not positive count as no growth.
        share: Of the increments, those that count as the largest; at least one.

    Returns:
        From 0 to 1; NaN where nothing grew.

    >>> concentration([10] + [0] * 9)
    1.0
    """
    grown = sorted((step for step in increments if step > 0), reverse=True)
    if not grown:
        return float("nan")
    return sum(grown[: max(1, round(share * len(increments)))]) / sum(grown)


def doubling(value: Exponent) -> float:
    """By what factor a series grows when its index doubles.

    >>> doubling(Exponent(2.0, 1.9, 2.1, 100))
    4.0
    """
    return float(2**value.value)


def _blocks(residuals: Floats, size: int, seed: int) -> Table:
    """Resamples of residuals, made of blocks that follow one another; a row each, with the mean taken out."""
    import numpy as np

    n = len(residuals)
    starts = np.random.default_rng(seed).integers(0, n - size + 1, (RESAMPLES, ceil(n / size)))
    taken = (starts[:, :, None] + np.arange(size)).reshape(RESAMPLES, -1)[:, :n]
    drawn = residuals[taken]
    return drawn - drawn.mean(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _hinges(n: int) -> list[tuple[int, Floats]]:
    """For each place of a hinge, the part of its ramp that no straight line has, of length 1."""
    import numpy as np

    x = np.arange(1, n + 1, dtype=float)
    line = np.column_stack([np.ones(n), x])
    orthogonal, _ = np.linalg.qr(line)
    places = np.unique(np.linspace(FEWEST // 2, n - FEWEST // 2, min(KNOTS, n - FEWEST + 1)).astype(int))
    made = []
    for place in places:
        ramp = np.maximum(x - place, 0)
        ramp = ramp - orthogonal @ (orthogonal.T @ ramp)
        made.append((int(place), ramp / np.linalg.norm(ramp)))
    return made


def _best_hinge(steps: Floats, hinges: list[tuple[int, Floats]]) -> tuple[int, float]:
    """The place whose hinge takes most of a straight line's squared error away, and the share that it takes."""
    import numpy as np

    level = np.cumsum(steps)
    x = np.arange(1, len(level) + 1, dtype=float)
    slope, constant = np.polyfit(x, level, 1)
    rest = level - slope * x - constant
    whole = float(rest @ rest)
    if whole <= 1e-9 * float(level @ level):
        return hinges[0][0], 0.0
    return max(((place, float(ramp @ rest) ** 2 / whole) for place, ramp in hinges), key=lambda found: found[1])
