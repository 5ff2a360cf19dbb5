"""What each request carried, policy by policy: the part that a provider's cache could have kept, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.plots.figures import GREY, ORANGE, SKY, finish, how_counted, literal, new_axes, say

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EVERY = 10
"""Calls between the ticks of a block."""


def plot_requests(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the prompt tokens of each call, in a block for each policy.

    A prompt begins with what it has in common with the prompt before it, byte for byte. No provider's cache can keep
    more than this part. What comes after it is new, or was changed, or stands behind a change.

    Args:
        frame: A row per call, in the order of the calls: `policy` (its name), `call` (from 1), `prompt_tokens`,
            `unchanged_tokens` (of these, the common beginning) and `measured` (False where they are estimates).
        ax: Where to draw; None makes a figure.

    Returns:
        The axes: calls against prompt tokens. Above each block stand the policy, its sum and the unchanged share of it.

    >>> import pandas as pd
    >>> row = {"policy": "none", "call": 1, "prompt_tokens": 90, "unchanged_tokens": 0, "measured": True}
    >>> plot_requests(pd.DataFrame([row])).get_ylabel()
    'prompt tokens per call (measured)'
    """
    blocks = [(str(name), rows) for name, rows in frame.groupby("policy", sort=False)]
    ax = new_axes((max(6.0, 1.0 + 2.1 * len(blocks)), 4.2) if blocks else (9.5, 1.6)) if ax is None else ax
    ax.set_title("Prompt tokens of each call, and what of them a cache could have kept", loc="left", pad=52)
    if not blocks:
        say(ax, "No model was called, so there is nothing to draw.")
        return ax
    left = 0
    ticks: list[tuple[int, int]] = []
    for number, (name, rows) in enumerate(blocks):
        places = range(left, left + len(rows))
        _bars(ax, list(places), rows, labelled=not number)
        _head(ax, left + (len(rows) - 1) / 2, name, rows)
        ticks += [(left + n - 1, n) for n in _ticks(len(rows))]
        left += len(rows) + 3
        if number < len(blocks) - 1:
            ax.axvline(left - 2, color=GREY, lw=0.8)
    _label(ax, frame, ticks, left - 3)
    return ax


def _bars(ax: Axes, places: list[int], rows: pd.DataFrame, *, labelled: bool) -> None:
    same, whole = rows["unchanged_tokens"].to_numpy(), rows["prompt_tokens"].to_numpy()
    labels = ("as in the request before it", "new, changed, or behind a change") if labelled else ("", "")
    ax.bar(places, same, 0.86, color=SKY, lw=0, label=labels[0] or None)
    ax.bar(places, whole - same, 0.86, bottom=same, color=ORANGE, lw=0, label=labels[1] or None)


def _head(ax: Axes, middle: float, name: str, rows: pd.DataFrame) -> None:
    whole, same = int(rows["prompt_tokens"].sum()), int(rows["unchanged_tokens"].sum())
    name = literal(name)
    said = f"{name}\n{whole:,} tokens\n{same / whole:.0%} unchanged" if whole else f"{name}\n0 tokens"
    ax.text(middle, 1.02, said, ha="center", va="bottom", fontsize="small", transform=ax.get_xaxis_transform())


def _ticks(calls: int) -> list[int]:
    """The first call and every tenth.

    >>> _ticks(25)
    [1, 10, 20]
    """
    return [1, *range(EVERY, calls + 1, EVERY)]


def _label(ax: Axes, frame: pd.DataFrame, ticks: list[tuple[int, int]], width: int) -> None:
    from matplotlib.ticker import StrMethodFormatter

    ax.set_xticks([place for place, _ in ticks], [str(n) for _, n in ticks], fontsize="small")
    ax.set_xlim(-1.5, width + 0.5)
    ax.set_xlabel("model call")
    ax.set_ylabel(f"prompt tokens per call ({how_counted(frame['measured'])})")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_ylim(bottom=0)
    finish(ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize="small")
