"""How often something happened in two or more arms, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.comparison import SERIES
from agentlab.plots.figures import finish, literal, new_axes, say

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_shares(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot shares with their intervals, the arms of a claim below each other.

    Args:
        frame: A row per claim and arm, with the columns `claim`, `arm`, `count`, `n`, `low` and `high`; the last two
            from 0 to 1, as `agentlab.analysis.proportions.share` makes them.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: claims against a share in percent; a count stands beside each point.

    >>> import pandas as pd
    >>> columns = ["claim", "arm", "count", "n", "low", "high"]
    >>> rows = pd.DataFrame([("marker", "with", 3, 4, 0.3, 0.95)], columns=columns)
    >>> plot_shares(rows).get_yticklabels()[0].get_text()
    'marker'
    """
    from matplotlib.ticker import PercentFormatter

    claims, arms = list(dict.fromkeys(frame["claim"])), list(dict.fromkeys(frame["arm"]))
    ax = new_axes((8, 1.2 + 0.34 * max(1, len(frame)))) if ax is None else ax
    if not len(frame):
        say(ax, "There are no runs, so there is nothing to draw.")
        return ax
    for number, arm in enumerate(arms):
        rows = frame[frame["arm"] == arm]
        colour, mark = SERIES[number % len(SERIES)]
        at = [claims.index(claim) + 0.3 * (number - (len(arms) - 1) / 2) for claim in rows["claim"]]
        shares = rows["count"] / rows["n"]
        ends = [(shares - rows["low"]).clip(lower=0).to_numpy(), (rows["high"] - shares).clip(lower=0).to_numpy()]
        ax.errorbar(shares, at, xerr=ends, color=colour, fmt=mark, ms=6, elinewidth=1.5, capsize=3, label=literal(arm))
        for count, n, high, place in zip(rows["count"], rows["n"], rows["high"], at, strict=True):
            ax.annotate(f"{count} of {n}", (high, place), (6, 0), textcoords="offset points", va="center", size="small")
    ax.set_yticks(range(len(claims)), [literal(claim, 60) for claim in claims])
    ax.set_ylim(len(claims) - 0.45, -0.55)
    ax.set_xlim(-0.02, 1.14)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("share, with its interval")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=len(arms))
    finish(ax)
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x", lw=0.5, alpha=0.4)
    return ax
