"""Whether a level bends, or only wanders as the same increments do in any other order, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.trend import bend, reordered
from agentlab.plots.figures import BLUE, GREY, RED, finish, new_axes, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

SHOWN = 30
"""Reorderings that are drawn: so many that their usual width shows."""


def plot_bend(increments: Sequence[float], ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Plot a level less a straight line through its ends, its best hinge, and other orders of the same increments.

    A line that lies among the others bends no more than chance does; one that leaves them is a finding.

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
    ax = new_axes((9.5, 4.2 if found else 1.6)) if ax is None else ax
    ax.set_title("How far the prompt is from a straight line, in this and in other orders", loc="left")
    if found is None:
        say(ax, "There are too few increments to look for a bend.")
        return ax
    share = np.arange(found.n + 1) / found.n

    def wandering(steps: Sequence[float]) -> Any:
        level = np.array([0.0, *accumulate(steps)])
        return level - level[-1] * share

    for number, order in enumerate(reordered(increments, SHOWN, seed=seed)):
        label = f"{SHOWN} other orders of the same increments" if not number else None
        ax.plot(wandering(order.tolist()), color=GREY, lw=0.7, alpha=0.6, label=label, zorder=1)
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
