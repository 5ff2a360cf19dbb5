"""Plots of the frames that `agentlab.analysis` makes.

Each takes a frame and, where it goes into a figure of yours, an `ax`; it returns the `Axes` and sets no global style.
Without an `ax` a figure of its own is made, apart from pyplot: nothing to close, nothing that shows twice. Its axes
show as a picture where they are the last value of a notebook cell. Colours are those of Okabe and Ito, which
colour-blind readers can tell apart; texts follow matplotlib's style, so that a dark one stays readable.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, SKY, ORANGE, GREEN, RED, PURPLE, GREY = (
    "#0072B2",
    "#56B4E9",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#A6A6A6",
)

PARTS = (
    ("base", "system prompt and tools", GREY),
    ("resent_turns", "re-sent: earlier turns", BLUE),
    ("resent_single", "re-sent: earlier iterations", SKY),
    ("resent_parallel", "re-sent: parallel calls", ORANGE),
    ("new_tokens", "new", GREEN),
)
KEPT = (
    ("first_lines", "first lines"),
    ("last_lines", "last lines"),
    ("error_lines", "error and exit lines"),
    ("names", "names cited later"),
)
SERIES = ((BLUE, "o"), (RED, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"), (SKY, "P"))


def plot_curve(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the token curve: turn tokens as bars of their parts, the context, and both without continuation.

    Args:
        frame: As `agentlab.analysis.curve` makes it.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: user turns against prompt tokens. Their label says whether these were measured.

    >>> from agentlab.analysis import curve, read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> plot_curve(curve(read_messages(talk))).get_xlabel()
    'user turn'
    """
    from matplotlib import rcParams

    ax = _axes((9.5, 4.8)) if ax is None else ax
    text = rcParams["text.color"]
    turns = frame["turn"].to_numpy()
    shown = frame.assign(resent_single=frame["resent_iterations"] - frame["resent_parallel"])
    bottom = shown["base"].to_numpy() * 0
    for column, label, colour in PARTS:
        heights = shown[column].to_numpy()
        if column != "resent_parallel" or heights.any():
            ax.bar(turns, heights, 0.78, bottom=bottom, color=colour, label=label, linewidth=0)
        bottom = bottom + heights
    mark = "o" if len(turns) <= 60 else ""
    ax.plot(turns, frame["context"], color=text, marker=mark, ms=4, lw=1.6, label="context: last call")
    without: dict[str, Any] = {"color": RED, "ls": "--", "lw": 1.6}
    ax.plot(
        turns, frame["turn_tokens_without"], **without, marker="s" if mark else "", ms=4, label="turn, no continuation*"
    )
    ax.plot(
        turns,
        frame["context_without"],
        **{**without, "ls": ":"},
        marker="o" if mark else "",
        ms=3,
        label="context, no continuation*",
    )
    ax.set_xlabel("user turn")
    ax.set_ylabel(f"prompt tokens per user turn\n({_counted(frame)}; * always estimated)")
    _whole_turns(ax, list(turns))
    _finish(ax)
    _legend(ax)
    return ax


def plot_comparison(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot what each way of cutting keeps, by limit: a block of lines for each kind of evidence.

    Args:
        frame: As `agentlab.analysis.compare_cuts` makes it, or `compare`; policies without a default limit stand side
            by side by name.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: limits within each block against the share kept.

    >>> from agentlab.analysis import compare_cuts, read_messages
    >>> plot_comparison(compare_cuts(read_messages([]))).get_ylabel()
    'share still shown'
    """
    ax = _axes((11, 4.6)) if ax is None else ax
    by_limit = bool(frame["limit"].notna().all() and frame["strategy"].notna().all())
    across = sorted(frame["limit"].unique()) if by_limit else list(frame["policy"])
    series = list(dict.fromkeys(frame["strategy"])) if by_limit else ["policy"]
    width = len(across) + 1
    for block, (column, title) in enumerate(KEPT):
        for number, name in enumerate(series):
            rows = frame[frame["strategy"] == name].set_index("limit") if by_limit else frame.set_index("policy")
            colour, mark = SERIES[number % len(SERIES)]
            shift = 0.18 * (number - (len(series) - 1) / 2)
            places = [block * width + across.index(at) + shift for at in rows.index]
            label = name if block == 0 else None
            style: dict[str, Any] = {"color": colour, "marker": mark, "ms": 5.5, "lw": 1.4, "label": label}
            ax.plot(places, rows[f"{column}_kept"].astype(float), **{**style, "ls": "-" if by_limit else ""})
        n = int(frame[column].max()) if len(frame) else 0
        middle = block * width + (len(across) - 1) / 2
        ax.text(middle, 1.06, f"{title}\nn = {n:,}", ha="center", va="bottom", transform=ax.get_xaxis_transform())
        if not n:
            ax.text(middle, 0.5, "nothing to keep", ha="center", transform=ax.get_xaxis_transform(), color=GREY)
        if block:
            ax.axvline(block * width - 1, color=GREY, lw=0.8)
    _label_blocks(ax, across, unit=_unit(frame) if by_limit else "")
    _finish(ax)
    if by_limit and series:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=len(series), frameon=False)
    return ax


def save(ax: Axes, path: str | Path, *, dpi: int = 150) -> None:
    """Write the figure of some axes; the ending of the path names the format.

    Args:
        ax: Of the figure.
        path: Such as `curve.png` or `curve.svg`.
        dpi: Dots per inch, for PNG.

    Raises:
        InputError: The file cannot be written, or the format is not known.
    """
    from agentlab.errors import InputError

    try:
        _figure(ax).savefig(path, dpi=dpi, bbox_inches="tight")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None
    except ValueError as error:
        raise InputError(f"{str(error).splitlines()[0]}: name a .png, .svg or .pdf", path=path) from None


@cache
def _shown_axes() -> type[Axes]:
    """Axes that a notebook shows as a picture, as it does with pyplot's figures."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        """Axes of a figure that pyplot does not know."""

        def _repr_png_(self) -> bytes:
            from io import BytesIO

            picture = BytesIO()
            _figure(self).savefig(picture, format="png", dpi=100, bbox_inches="tight")
            return picture.getvalue()

    return ShownAxes


def _axes(size: tuple[float, float]) -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot(axes_class=_shown_axes())


def _figure(ax: Axes) -> Figure:
    figure: Any = ax.get_figure(root=True)
    return figure  # type: ignore[no-any-return]


def _counted(frame: pd.DataFrame) -> str:
    """Whether the totals were measured, in a word or two."""
    measured = frame["measured"]
    if not len(frame) or measured.all():
        return "measured"
    return "partly estimated" if measured.any() else "estimated"


def _whole_turns(ax: Axes, turns: Sequence[int]) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_ylim(bottom=0)
    if len(turns):
        ax.set_xlim(min(turns) - 0.7, max(turns) + 0.7)
    else:
        ax.text(0.5, 0.5, "no model call returned", ha="center", transform=ax.transAxes)


def _label_blocks(ax: Axes, across: Sequence[Any], unit: str) -> None:
    from matplotlib.ticker import PercentFormatter

    width = len(across) + 1
    places = [block * width + i for block in range(len(KEPT)) for i in range(len(across))]
    labels = [_short(at) if unit else str(at) for at in across] * len(KEPT)
    ax.set_xticks(places, labels, fontsize="small", rotation=0 if unit else 90)
    ax.set_xlim(-1, len(KEPT) * width - 1)
    ax.set_ylim(-0.03, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylabel("share still shown")
    ax.set_xlabel(f"limit of an observation, {unit}" if unit else "policy")


def _short(limit: Any) -> str:
    """A limit as a tick label: 500, 1k, 1.5k.

    >>> _short(500), _short(16000), _short(1500)
    ('500', '16k', '1.5k')
    """
    number = int(limit)
    return str(number) if number < 1000 else f"{number / 1000:g}k"


def _unit(frame: pd.DataFrame) -> str:
    return ", ".join(dict.fromkeys(str(unit) for unit in frame["unit"]))


def _finish(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis="y", lw=0.5, alpha=0.4)
    ax.set_axisbelow(True)


def _legend(ax: Axes) -> None:
    """Put the legend beside the axes: the lines first, then the bars from top to bottom, as they stand."""
    handles, labels = ax.get_legend_handles_labels()
    lines = [pair for pair in zip(handles, labels, strict=True) if hasattr(pair[0], "get_linestyle")]
    bars = [pair for pair in zip(handles, labels, strict=True) if not hasattr(pair[0], "get_linestyle")]
    ordered = [*lines, *reversed(bars)]
    ax.legend(
        [handle for handle, _ in ordered],
        [label for _, label in ordered],
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        frameon=False,
        fontsize="small",
    )
