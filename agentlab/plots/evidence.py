"""How many of the names that later calls cite a cut would still have shown, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.plots.comparison import KEEPS, SERIES
from agentlab.plots.figures import BLUE, finish, literal, new_axes, say

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_evidence(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the share of cited names that each policy still shows, with 95 % intervals where there are any.

    Policies that differ by strategy and limit are lines over limits; others stand below each other by name.

    Args:
        frame: As `agentlab.analysis.evidence.Evidence.by_policy` makes it, all tools together.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: limits, or policies, against a share in percent.

    >>> from agentlab.analysis import evidence, read_messages
    >>> plot_evidence(evidence([read_messages([])]).by_policy()).texts[0].get_text()
    'No call cites a name that only an observation had, so there is nothing to draw.'
    """
    n = int(frame["n"].max()) if len(frame) else 0
    ax = new_axes((8, 4.4 if n else 1.6)) if ax is None else ax
    ax.set_title("Cited names that are still shown: exposure to loss, no rate of success", loc="left")
    if not n:
        say(ax, "No call cites a name that only an observation had, so there is nothing to draw.")
        return ax
    clusters = int(frame["clusters"].max())
    of = f"of {n:,} names from {clusters:,} task{'' if clusters == 1 else 's'} or sessions"
    by_limit = frame["limit"].notna().all() and frame["unit"].nunique() == 1 and frame["limit"].nunique() > 1
    (_over_limits if by_limit else _by_name)(ax, frame, of)
    finish(ax)
    return ax


def _over_limits(ax: Axes, frame: pd.DataFrame, of: str) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter, StrMethodFormatter

    strategies = list(dict.fromkeys(frame["strategy"]))
    for number, strategy in enumerate(strategies):
        rows = frame[frame["strategy"] == strategy].sort_values("limit")
        colour, mark = SERIES[number % len(SERIES)]
        limits = rows["limit"].astype(float) * 1.03 ** (number - (len(strategies) - 1) / 2)
        label = f"{strategy} ({KEEPS[strategy]})" if strategy in KEEPS else strategy
        ax.errorbar(limits, rows["kept"], yerr=_ends(rows), color=colour, lw=0, elinewidth=1.2, capsize=2)
        ax.plot(limits, rows["kept"], color=colour, marker=mark, ms=5, lw=1.5, label=label)
    limits = sorted(frame["limit"].unique())
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([float(each) for each in limits]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_ylim(0, 1.04)
    ax.set_xlabel(f"limit of an observation ({frame['unit'].iloc[0]}, marker included)")
    ax.set_ylabel(f"still shown, {of}")
    ax.legend(frameon=False, fontsize="small", loc="lower right")


def _by_name(ax: Axes, frame: pd.DataFrame, of: str) -> None:
    from matplotlib.ticker import PercentFormatter

    places = range(len(frame))
    ax.errorbar(frame["kept"], places, xerr=_ends(frame), color=BLUE, fmt="o", ms=6, elinewidth=1.2, capsize=2)
    ax.set_yticks(places, [literal(name) for name in frame["policy"]])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.04)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel(f"still shown, {of}")


def _ends(rows: pd.DataFrame) -> Any:
    """Lengths of the error bars; none where there is no interval."""
    ends = [rows["kept"] - rows["low"], rows["high"] - rows["kept"]]
    return [end.fillna(0).clip(lower=0).to_numpy() for end in ends]
