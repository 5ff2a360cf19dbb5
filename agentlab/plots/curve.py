"""The token curve as a picture.

What was sent is filled, what would have been sent without continuation is hollow; bars are whole turns, circles are
contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.plots.figures import BLUE, GREEN, GREY, ORANGE, RED, SKY, finish, how_counted, new_axes, say, text_colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

PARTS = (
    ("base", "system prompt and tools", GREY),
    ("resent_turns", "re-sent: earlier turns", BLUE),
    ("resent_single", "re-sent: earlier iterations", SKY),
    ("resent_parallel", "re-sent: parallel calls", ORANGE),
    ("new_tokens", "new", GREEN),
)
FILLED, HOLLOW = (-0.13, 0.52), (0.27, 0.22)
"""Where the two bars of a turn stand beside its number, and how wide they are, in turns."""

FEW, MANY = 3, 60
"""Up to `FEW` turns a line would suggest a trend; over `MANY` turns marks would run into each other."""


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
    ax = new_axes((9.5, 5.2 if len(frame) else 1.6)) if ax is None else ax
    ax.set_title("Prompt tokens of each user turn, with and without continuation", loc="left")
    if not len(frame):
        say(ax, "No model call returned, so there is nothing to draw.")
        return ax
    _draw_contexts(ax, frame)
    _draw_bars(ax, frame)
    ax.set_xlabel("user turn")
    ax.set_ylabel(f"prompt tokens per user turn\n({how_counted(frame['measured'])}; * always estimated)")
    _whole_turns(ax, list(frame["turn"]))
    finish(ax)
    _legend(ax)
    return ax


def _draw_contexts(ax: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.patheffects import Normal, Stroke

    turns = frame["turn"].to_numpy()
    paper, text = ax.get_facecolor(), text_colour()
    few_enough = len(turns) <= MANY
    size = 5.5 if len(turns) <= MANY / 3 else 4
    ax.plot(
        turns + FILLED[0],
        frame["context"],
        color=text,
        ls="-" if len(turns) > FEW else "",
        lw=1.8,
        marker="o" if few_enough else "",
        ms=size,
        mew=0,
        label="context: last call",
        zorder=4,
        path_effects=[Stroke(linewidth=3.4, foreground=paper), Normal()],  # apart from bars of any colour
    )
    ax.plot(
        turns + HOLLOW[0],
        frame["context_without"],
        color=RED,
        mfc=paper,
        ls="",
        marker="o",
        ms=size if few_enough else 2,
        mew=1 if few_enough else 0.5,
        label="context, no continuation*",
        zorder=4,
    )


def _draw_bars(ax: Axes, frame: pd.DataFrame) -> None:
    shown = frame.assign(resent_single=frame["resent_iterations"] - frame["resent_parallel"])
    turns = frame["turn"].to_numpy()
    outline: dict[str, Any] = {"fc": "none", "ec": RED, "lw": 1.3 if len(turns) <= MANY else 0.6}
    label = "turn, no continuation*"
    ax.bar(turns + HOLLOW[0], frame["turn_tokens_without"], HOLLOW[1], **outline, label=label, zorder=3)
    bottom = shown["base"].to_numpy() * 0
    for column, label, colour in PARTS:
        heights = shown[column].to_numpy()
        if column != "resent_parallel" or heights.any():
            ax.bar(turns + FILLED[0], heights, FILLED[1], bottom=bottom, color=colour, label=label, lw=0, zorder=2)
        bottom = bottom + heights


def _whole_turns(ax: Axes, turns: Sequence[int]) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
    if len(turns) <= FEW:
        ax.set_xticks(turns)
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_ylim(bottom=0)
    middle, half = (turns[0] + turns[-1]) / 2, max((turns[-1] - turns[0]) / 2 + 0.7, 2)
    ax.set_xlim(middle - half, middle + half)


def _legend(ax: Axes) -> None:
    """Put the legend below the axes: the contexts first, then the bars from top to bottom, as they stand."""
    handles, labels = ax.get_legend_handles_labels()
    pairs = list(zip(handles, labels, strict=True))
    lines = [pair for pair in pairs if hasattr(pair[0], "get_linestyle")]
    bars = [pair for pair in pairs if not hasattr(pair[0], "get_linestyle")]
    ordered = [*lines, bars[0], *reversed(bars[1:])]
    ax.legend(
        [handle for handle, _ in ordered],
        [label for _, label in ordered],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.13),
        ncols=4,
        frameon=False,
        fontsize="small",
    )
