"""What each way of cutting keeps, as a picture: points beside each other at each limit, in a block for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.compare import FEW, nothing_cut
from agentlab.plots.figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    finish,
    new_axes,
    say,
    text_colour,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

KINDS = (
    ("first_lines", "first lines"),
    ("last_lines", "last lines"),
    ("error_lines", "error and exit lines"),
    ("names", "names cited later"),
)
SERIES = ((BLUE, "o"), (RED, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"), (SKY, "P"))
KEEPS = {
    "middle_snip": "keeps both ends",
    "tail_cut": "keeps head",
    "head_cut": "keeps tail",
    "head_tail": "keeps head and tail",
}
"""What a strategy leaves, since names of cuts are read both ways."""


class _Grid(msgspec.Struct, frozen=True):
    """A comparison as it is drawn: in each block the `across` from left to right, at each of them the `series`.

    Attributes:
        by_limit: Whether `across` are limits and `series` strategies; else policies by name, and one series.
    """

    frame: Any
    by_limit: bool
    across: list[Any]
    series: list[str]
    kinds: list[tuple[str, str, int]]

    @property
    def width(self) -> int:
        """Of a block, with the gap behind it."""
        return len(self.across) + 1

    def rows(self, name: str) -> Any:
        """The rows of one series, each named by its place across."""
        if not self.by_limit:
            return self.frame.set_index("policy")
        return self.frame[self.frame["strategy"] == name].set_index("limit")

    def shift(self, number: int) -> float:
        """How far a series stands from the middle of its place."""
        return 0.75 / len(self.series) * (number - (len(self.series) - 1) / 2)


def plot_comparison(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot what each way of cutting keeps, by limit: a block of points for each kind of evidence there is.

    Of fewer than `agentlab.analysis.compare.FEW` lines or names no share is drawn: they stand there as counts. Where
    nothing was cut at all, a sentence says so.

    Args:
        frame: As `agentlab.analysis.compare_cuts` makes it, or `compare`; policies without a default limit stand side
            by side by name.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: limits within each block against the share kept.

    >>> from agentlab.analysis import compare_cuts, read_messages
    >>> asks = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "read", "arguments": "{}"}}]}
    >>> talk = [{"role": "user", "content": "Go."}, asks, {"role": "tool", "tool_call_id": "1", "content": "ab " * 999}]
    >>> plot_comparison(compare_cuts(read_messages(talk * 9))).get_ylabel()
    'share still shown'
    """
    grid = _grid_of(frame)
    sentence = nothing_cut(frame) or ("" if grid.kinds else "The observations hold no line that could be lost.")
    if ax is None:
        ax = new_axes((9.5, 1.6) if sentence else (max(7.5, 1.5 + 2.4 * len(grid.kinds)), 4.8))
    ax.set_title("What a cut leaves of a session's observations", loc="left", pad=8 if sentence else 40)
    if sentence:
        say(ax, sentence)
        return ax
    for block, (column, title, n) in enumerate(grid.kinds):
        _head(ax, grid, block, f"{title}\nn = {n:,}")
        if n >= FEW:
            _draw_shares(ax, grid, block, column)
        else:
            _draw_counts(ax, grid, block, column, n)
        for at in _uncut(grid):
            place = block * grid.width + grid.across.index(at)
            ax.text(place, 0.5, "nothing cut", rotation=90, ha="center", va="center", fontsize="small", alpha=0.7)
    _label(ax, grid)
    finish(ax)
    if grid.by_limit:
        _legend(ax, grid)
    return ax


def _grid_of(frame: pd.DataFrame) -> _Grid:
    by_limit = bool(frame["limit"].notna().all() and frame["strategy"].notna().all())
    across = sorted(frame["limit"].unique()) if by_limit else list(frame["policy"])
    series = list(dict.fromkeys(frame["strategy"])) if by_limit else ["policy"]
    kinds = [(column, title, int(frame[column].max())) for column, title in KINDS if len(frame) and frame[column].any()]
    return _Grid(frame, by_limit, across, series, kinds)


def _head(ax: Axes, grid: _Grid, block: int, title: str) -> None:
    """Write the title of a block, and shade every other place in it."""
    left = block * grid.width
    middle = left + (len(grid.across) - 1) / 2
    ax.text(middle, 1.03, title, ha="center", va="bottom", transform=ax.get_xaxis_transform())
    for place in range(left, left + len(grid.across), 2):
        ax.axvspan(place - 0.5, place + 0.5, color=text_colour(), alpha=0.05, lw=0)
    if block:
        ax.axvline(left - 1, color=GREY, lw=0.8)


def _draw_shares(ax: Axes, grid: _Grid, block: int, column: str) -> None:
    for number, name in enumerate(grid.series):
        rows = grid.rows(name)
        rows = rows[rows["cut"] > 0]
        places = [block * grid.width + grid.across.index(at) + grid.shift(number) for at in rows.index]
        ax.plot(places, rows[f"{column}_kept"].astype(float), ls="", **_mark(ax, number), clip_on=False)


def _draw_counts(ax: Axes, grid: _Grid, block: int, column: str, n: int) -> None:
    """Write how many are still shown, a row for each series, on a ground without the lines of the shares."""
    left = block * grid.width
    ax.axvspan(left - 1, left + len(grid.across), color=ax.get_facecolor(), zorder=0.9, lw=0)
    middle = left + (len(grid.across) - 1) / 2
    ax.text(middle, 0.72, f"too few for a share: shown, of {n}", ha="center", fontsize="small")
    for number, name in enumerate(grid.series):
        rows, height = grid.rows(name), 0.6 - 0.1 * number
        rows = rows[rows["cut"] > 0]
        ax.plot([left - 0.7], [height], ls="", **_mark(ax, number))
        for at, kept in rows[f"{column}_kept"].items():
            ax.text(left + grid.across.index(at), height, f"{round(kept * n)}", ha="center", va="center")


def _mark(ax: Axes, number: int) -> dict[str, Any]:
    colour, mark = SERIES[number % len(SERIES)]
    return {"color": colour, "marker": mark, "ms": 7, "mec": ax.get_facecolor(), "mew": 0.8, "zorder": 3}


def _uncut(grid: _Grid) -> list[Any]:
    """Limits, or policies, that cut nothing."""
    cut = grid.frame.groupby("limit" if grid.by_limit else "policy")["cut"].max()
    return [at for at in grid.across if not cut[at]]


def _label(ax: Axes, grid: _Grid) -> None:
    from matplotlib.ticker import PercentFormatter

    places = [block * grid.width + i for block in range(len(grid.kinds)) for i in range(len(grid.across))]
    labels = [_short(at) if grid.by_limit else str(at) for at in grid.across] * len(grid.kinds)
    ax.set_xticks(places, labels, fontsize="small", rotation=0 if grid.by_limit else 90)
    ax.set_xlim(-1, len(grid.kinds) * grid.width - 1)
    ax.set_ylim(-0.04, 1.04)
    if any(n >= FEW for _, _, n in grid.kinds):
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylabel("share still shown")
    else:
        ax.set_yticks([])
        ax.set_ylabel("still shown")
    units = ", ".join(dict.fromkeys(str(unit) for unit in grid.frame["unit"])) if grid.by_limit else ""
    across = f"limit of an observation, {units}" if grid.by_limit else "policy"
    absent = [title for column, title in KINDS if column not in {kind[0] for kind in grid.kinds}]
    ax.set_xlabel(across + (f"\nnot in this session: {', '.join(absent)}" if absent else ""))


def _legend(ax: Axes, grid: _Grid) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], ls="", **_mark(ax, number)) for number in range(len(grid.series))]
    labels = [f"{name} ({KEEPS[name]})" if name in KEEPS else name for name in grid.series]
    ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize="small")


def _short(limit: Any) -> str:
    """A limit as a tick label: 500, 1k, 1.5k.

    >>> _short(500), _short(16000), _short(1500)
    ('500', '16k', '1.5k')
    """
    number = int(limit)
    return str(number) if number < 1000 else f"{number / 1000:g}k"
