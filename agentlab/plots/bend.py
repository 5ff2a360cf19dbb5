"""Whether a level bends, or only wanders as the same increments do in any other order, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.trend import bend, reordered
from agentlab.plots.figures import BLUE, GREY, RED, finish, new_axes, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

REORDERED, SHOWN = 199, 3
"""Other orders: so many make the band, and so many are drawn as lines, to show how far a single one wanders."""


def plot_bend(increments: Sequence[float], ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Plot a level less a straight line through its ends, its best hinge, and other orders of the same increments.

    The band holds 90 % of the other orders at each increment. A line that stays in it bends no more than chance does;
    one that is far outside is a finding.

    Args:
        increments: In order, such as the column `growth` of `agentlab.analysis.calls_frame` without its first value.
        ax: Where to draw; None makes a figure.
        seed: Of the other orders.

    Returns:
        The axes: number of the increment against tokens above or below the straight line.

    >>> plot_bend([1] * 30 + [10] * 30).get_xlabel()
    'increment'
    """
    from itertools import accumulate

    import numpy as np
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    found = bend(increments, seed=seed)
    ax = new_axes((9.5, 4 if found else 1.6)) if ax is None else ax
    ax.set_title("How far the prompt is from a straight line, in this and in other orders", loc="left")
    if found is None:
        say(ax, "There are too few increments to look for a bend.")
        return ax
    share = np.arange(found.n + 1) / found.n

    def wandering(steps: Sequence[float]) -> Any:
        level = np.array([0.0, *accumulate(steps)])
        return level - level[-1] * share

    others = np.array([wandering(order.tolist()) for order in reordered(increments, REORDERED, seed=seed)])
    band = np.quantile(others, (0.05, 0.95), axis=0)
    label = "9 of 10 other orders of the same increments"
    ax.fill_between(range(found.n + 1), *band, color=GREY, alpha=0.3, lw=0, label=label, zorder=1)
    for order in others[:SHOWN]:
        ax.plot(order, color=GREY, lw=0.8, zorder=2)
    own = wandering(increments)
    ax.plot(own, color=BLUE, lw=2, label="as recorded", zorder=3)
    said = f"best hinge: {found.chance:.1%} of the orders bend as much"
    ax.plot(found.at, own[found.at], color=RED, marker="o", ms=8, ls="", label=said, zorder=4)
    ax.set_xlabel("increment")
    ax.set_ylabel("tokens above or below a straight line")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    finish(ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False, fontsize="small")
    return ax
