"""What each policy sends or costs against what it keeps, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.comparison import SERIES
from agentlab.plots.figures import GREY, finish, literal, new_axes, say, text_colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COVERED = 0.9
"""Dollars are drawn where they are of more than this share of the tokens."""

MARKS = "osD^vP*"
"""One more than there are colours, so that both together do not repeat soon."""


def plot_frontier(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot each policy's bill against the cited names that it keeps; better is further up and to the left.

    The bill is in dollars where the frame has them, else in prompt tokens, as a share of the recorded one. A line goes
    from the optimistic end, with the mark, to the pessimistic one.

    Args:
        frame: As `agentlab.analysis.replay.Replay.by_policy` makes it.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: share of the recorded bill against share of the cited names.

    >>> from agentlab.analysis import read_messages, replay
    >>> from agentlab.policy import CHAPTER
    >>> plot_frontier(replay([read_messages([])], [CHAPTER]).by_policy()).texts[0].get_text()
    'No model call returned, so there is nothing to draw.'
    """
    from matplotlib.ticker import FuncFormatter

    drawn = len(frame) > 0 and int(frame["tokens"].max()) > 0
    ax = new_axes((8.5, 4.8 if drawn else 1.6)) if ax is None else ax
    ax.set_title("What each policy would have cost, and what of the evidence it keeps", loc="left")
    if not drawn:
        say(ax, "No model call returned, so there is nothing to draw.")
        return ax
    in_dollars = (frame["dollars_cover"] > COVERED).all()
    low, high = ("dollars_share", "dollars_share_high") if in_dollars else ("share", "share_high")
    rows = frame.assign(kept=frame["kept"].fillna(1.0)).to_dict("records")
    for number, row in enumerate(rows):
        colour = GREY if not number else SERIES[(number - 1) % len(SERIES)][0]
        mark = MARKS[number % len(MARKS)]
        ax.plot([row[low], row[high]], [row["kept"]] * 2, color=colour, lw=1.5, solid_capstyle="butt", zorder=2)
        ax.plot(row[high], row["kept"], color=colour, marker="|", ms=7, zorder=2)
        ax.plot(row[low], row["kept"], color=colour, marker=mark, ms=7, ls="", zorder=3, label=literal(row["policy"]))
    ax.axvline(1, color=text_colour(), lw=0.8, ls=":", zorder=1)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share * 100:.4g}%"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share * 100:.4g}%" if share < 1.001 else ""))
    what = "dollars at list price" if in_dollars else "prompt tokens"
    rough = "; rough" if frame["rough"].any() else ""
    ax.set_xlabel(f"{what}, of those recorded (mark: optimistic; bar: pessimistic{rough})")
    names = int(frame["names"].max())
    ax.set_ylabel(f"cited names still shown, of {names:,}" if names else "no name is cited that could be lost")
    ax.margins(0.06, 0.12)
    ax.set_ylim(top=min(ax.get_ylim()[1], 1.02))
    finish(ax)
    ax.grid(visible=True, axis="x", lw=0.5, alpha=0.4)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    return ax
