"""What each call cost, and where the cache broke, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.figures import BLUE, GREEN, GREY, ORANGE, RED, finish, how_counted, new_axes, say, text_colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PARTS = {
    "cache_read": ("read from the cache", BLUE),
    "cache_write": ("written to the cache", ORANGE),
    "uncached": ("uncached prompt", GREY),
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

    drawn = bool(frame["total"].notna().any())
    ax = new_axes((9.5, 4.2 if drawn else 1.6)) if ax is None else ax
    ax.set_title("What each model call cost", loc="left")
    if not drawn:
        say(ax, "No call has a list price, so there is nothing to draw.")
        return ax
    edges = [0.5, *(frame["call"] + 0.5)]
    bottom = frame["call"].to_numpy() * 0.0
    for part, (label, colour) in PARTS.items():
        top = bottom + 100 * frame[part].fillna(0).to_numpy()
        if (top > bottom).any():
            ax.stairs(top, edges, baseline=bottom, fill=True, color=colour, lw=0, label=label, zorder=2)
        bottom = top
    if breaks is not None and len(breaks):
        marked = frame.set_index("call")["total"].reindex(breaks["call"]) * 100
        label = "candidate for a break of the cache"
        ax.plot(breaks["call"], marked, color=RED, marker="v", ms=6, ls="", mec=text_colour(), mew=0.5, label=label)
    ax.set_xlabel("model call")
    ax.set_ylabel(f"US cents, list price\n({_counted(frame)})")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom=0)
    finish(ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=5, frameon=False, fontsize="small")
    return ax


def _counted(frame: pd.DataFrame) -> str:
    """Whether the tokens were measured, in a few words."""
    prompts = how_counted(frame["measured"])
    if prompts == "measured" and not frame["output_measured"].all():
        return f"prompts measured, output {'partly ' if frame['output_measured'].any() else ''}estimated"
    return prompts
