"""What each call cost, and where the cache broke, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.figures import BLUE, GREEN, GREY, ORANGE, RED, finish, new_axes, say, text_colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PARTS = {
    "cache_read": ("read from the cache", BLUE),
    "cache_write": ("written to the cache", ORANGE),
    "uncached": ("uncached input", GREY),
    "output": ("output", GREEN),
}


def plot_cost(frame: pd.DataFrame, breaks: pd.DataFrame | None = None, ax: Axes | None = None) -> Axes:
    """Plot what each call cost at list price, by kind of token, and which calls broke the cache.

    Args:
        frame: As `agentlab.analysis.cost` makes it.
        breaks: As `agentlab.analysis.cache_breaks` makes it; they are marked.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: calls against US cents.

    >>> from agentlab.analysis import cost, read_messages
    >>> plot_cost(cost(read_messages([]))).texts[0].get_text()
    'No call has a list price, so there is nothing to draw.'
    """
    from matplotlib.ticker import MaxNLocator

    priced = frame[frame["total"].notna()]
    ax = new_axes((9.5, 4.2 if len(priced) else 1.6)) if ax is None else ax
    ax.set_title("What each model call cost", loc="left")
    if not len(priced):
        say(ax, "No call has a list price, so there is nothing to draw.")
        return ax
    calls = priced["call"].to_numpy()
    bottom = calls * 0.0
    for part, (label, colour) in PARTS.items():
        top = bottom + 100 * priced[part].to_numpy()
        if (top > bottom).any():
            ax.fill_between(calls, bottom, top, step="mid", color=colour, lw=0, label=label, zorder=2)
        bottom = top
    if breaks is not None and len(breaks):
        marked = priced.set_index("call")["total"].reindex(breaks["call"]) * 100
        label = "candidate for a break of the cache"
        ax.plot(breaks["call"], marked, color=RED, marker="v", ms=6, ls="", mec=text_colour(), mew=0.5, label=label)
    estimated = not (priced["measured"].all() and priced["output_measured"].all())
    ax.set_xlabel("model call")
    ax.set_ylabel(f"US cents, list price{' (partly estimated)' if estimated else ''}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(0.5, calls[-1] + 0.5)
    ax.set_ylim(bottom=0)
    finish(ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize="small")
    return ax
