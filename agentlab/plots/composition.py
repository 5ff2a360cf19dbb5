"""What prompts are made of, call by call, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    finish,
    how_counted,
    literal,
    new_axes,
    say,
    text_colour,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

KINDS = {
    "system": ("system prompt, tools, not in the log", GREY),
    "summaries": ("summaries", PURPLE),
    "user": ("user", GREEN),
    "loop": ("the loop's own words", RED),
    "assistant": ("assistant's text", SKY),
    "calls": ("tool calls", ORANGE),
    "results": ("tool results", BLUE),
}
"""From the bottom up: what changes least first."""

NAMED = 3
"""So many of the largest jumps carry a name."""


def plot_composition(frame: pd.DataFrame, jumps: pd.DataFrame | None = None, ax: Axes | None = None) -> Axes:
    """Plot what the prompt of each call is made of, and which calls made it jump.

    Args:
        frame: As `agentlab.analysis.composition_by_call` makes it.
        jumps: As `agentlab.analysis.jumps` makes it; the largest are named by what grew.
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: calls against prompt tokens. Their label says whether these were measured.

    >>> from agentlab.analysis import composition_by_call, read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> plot_composition(composition_by_call(read_messages(talk))).get_xlabel()
    'model call'
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax = new_axes((9.5, 4.6 if len(frame) else 1.6)) if ax is None else ax
    ax.set_title("What the prompt of each model call is made of", loc="left")
    if not len(frame):
        say(ax, "No model call returned, so there is nothing to draw.")
        return ax
    shown = [kind for kind in KINDS if frame[kind].any()]
    calls = frame["call"].to_numpy()
    bottom = calls * 0
    for kind in shown:
        label, colour = KINDS[kind]
        top = bottom + frame[kind].to_numpy()
        ax.fill_between(calls, bottom, top, step="mid", color=colour, lw=0, label=label, zorder=2)
        bottom = top
    _turns(ax, frame)
    ax.set_xlabel("model call")
    ax.set_ylabel(f"prompt tokens ({how_counted(frame['measured'])})")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_xlim(0.5, calls[-1] + 0.5)
    ax.set_ylim(0, float(frame["prompt_tokens"].max()) * (1.05 if jumps is None else 1.3))
    if jumps is not None:
        _jumps(ax, jumps.head(NAMED))
    finish(ax)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles[::-1], labels[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4, frameon=False, fontsize=9
    )
    return ax


def _turns(ax: Axes, frame: pd.DataFrame) -> None:
    """A thin line where a user turn begins, while they can be told apart."""
    starts = frame.loc[frame["turn"].diff().fillna(0) != 0, "call"]
    if 0 < len(starts) <= 40:
        for start in starts:
            ax.axvline(start - 0.5, color=text_colour(), lw=0.6, ls=":", zorder=3)


def _jumps(ax: Axes, jumps: pd.DataFrame) -> None:
    """Name the largest jumps above everything that is drawn, one below the other."""
    room, top = ax.get_ylim()[1], ax.get_xlim()[1]
    for number, jump in enumerate(jumps.sort_values("call").to_dict("records")):
        late = jump["call"] > top * 0.6
        ax.annotate(
            f"{literal(jump['grown_by'])} +{jump['growth']:,}".strip(),
            (jump["call"], jump["prompt_tokens"]),
            xytext=(jump["call"] + (-1 if late else 1) * top * 0.01, room * (0.97 - 0.07 * number)),
            va="top",
            ha="right" if late else "left",
            fontsize=8,
            color=text_colour(),
            arrowprops={"arrowstyle": "-", "color": text_colour(), "lw": 0.8, "shrinkB": 0},
            zorder=5,
        )
