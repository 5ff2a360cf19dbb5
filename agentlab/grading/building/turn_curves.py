"""The three curves of a recorded session: counted again for the checks, and drawn.

What a student's functions said is held against a count of the same requests; these functions say whether it agrees,
never what it should have been.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from math import isfinite, log
from typing import TYPE_CHECKING, Any

from agentlab.plots.figures import BLUE, GREY, finish, new_axes
from agentlab.tokens import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    Turns = Sequence[Sequence[Sequence[Mapping[str, Any]]]]

CURVES = ("last request", "sent per turn", "cumulative")
AROUND = 4
"""Tokens around a message, as the exercise tells it."""


def curves_agree(found: Any, turns: Turns, *, base: int, share: float) -> dict[str, list[bool]]:
    """Whether curves are those of a session, value by value.

    Args:
        found: What a student's function returned: a list of numbers by name.
        turns: For each turn its requests, for each request its messages.
        base: Tokens that each request carries besides its messages.
        share: By how much a value may be off, such as 0.02.

    >>> turns = [[[{"role": "user", "content": "Hi"}]]]
    >>> curves_agree({"last request": [14.9], "sent per turn": [14], "cumulative": []}, turns, base=10, share=0.02)
    {'last request': [True], 'sent per turn': [False], 'cumulative': [False]}
    """
    said = {}
    for name, wanted in _curves(turns, base).items():
        values = _numbers(found.get(name) if isinstance(found, dict) else None)
        padded = values if len(values) == len(wanted) else [float("nan")] * len(wanted)
        said[name] = [abs(value - want) <= share * want for value, want in zip(padded, wanted, strict=True)]
    return said


def shapes_agree(found: Any, turns: Turns, *, base: int) -> list[bool]:
    """Whether the shapes that somebody gave of the three curves are theirs.

    >>> turns = [[[{"role": "user", "content": "Hi"}] * n] for n in (1, 2, 3)]
    >>> shapes_agree({"last request": "linear", "cumulative": "linear"}, turns, base=0)
    [True, False, False]
    """
    return [
        isinstance(found, dict) and str(found.get(name)) == shape_of(values)
        for name, values in _curves(turns, base).items()
    ]


def jump_agrees(found: Any, turns: Turns) -> list[bool]:
    """Whether a turn and a cause are those of the largest jump of the last request.

    >>> long = {"role": "tool", "name": "read", "content": "far more than before"}
    >>> turns = [[[{"role": "user", "content": "Hi"}]], [[{"role": "user", "content": "Hi"}, long]]]
    >>> jump_agrees((2, "user"), turns)
    [True, False]
    """
    last = [turn[-1] for turn in turns]
    at = max(range(1, len(last)), key=lambda turn: _size(last[turn]) - _size(last[turn - 1]))
    tokens: dict[str, int] = {}
    for message in last[at][len(last[at - 1]) :]:
        who = message.get("name") or message["role"]
        tokens[who] = tokens.get(who, 0) + _tokens(message)
    wanted = (at + 1, max(tokens, key=tokens.__getitem__))
    if not isinstance(found, tuple | list) or len(found) != len(wanted):
        return [False, False]
    return [[*_numbers(found[:1])] == [wanted[0]], str(found[1]) == wanted[1]]


def shape_of(values: Sequence[float]) -> str:
    """The shape by the exercise's rule: the exponent of a power law, rounded to one decimal, is under, at or over 1.

    >>> shape_of([1, 4, 9, 16])
    'super-linear'
    """
    places = [log(place) for place in range(1, len(values) + 1)]
    middle = sum(places) / len(places)
    spread = sum((place - middle) ** 2 for place in places)
    power = sum((place - middle) * log(value) for place, value in zip(places, values, strict=True)) / spread
    rounded = round(power, 1)
    return "linear" if rounded == 1 else "super-linear" if rounded > 1 else "sub-linear"


def plot_curves(sessions: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> Axes:
    """Draw the three curves of some sessions: a row of pictures per session, a line per way to run it.

    Args:
        sessions: By title; of each, the curves by what they are, such as `before` and `after`.

    Returns:
        The first of the axes; their figure shows all.

    >>> curves = {name: [1, 2, 3] for name in CURVES}
    >>> plot_curves({"even": {"before": curves, "after": curves}}).get_xlabel()
    'user turn'
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    first = new_axes((9.5, 2.6 * len(sessions)))
    figure: Any = first.get_figure(root=True)
    grid = figure.add_gridspec(len(sessions), len(CURVES))
    for row, (title, ways) in enumerate(sessions.items()):
        for column, name in enumerate(CURVES):
            ax = first if row == column == 0 else figure.add_subplot(grid[row, column])
            ax.set_subplotspec(grid[row, column])
            for (way, curves), colour in zip(ways.items(), (GREY, BLUE), strict=False):
                values = list(curves[name])
                ax.plot(range(1, len(values) + 1), values, "o-", ms=3, color=colour, label=way)
            ax.set_title(f"{title}: {name}", loc="left", fontsize="medium")
            ax.set_xlabel("user turn")
            ax.set_ylabel("prompt tokens" if column == 0 else "")
            ax.set_ylim(bottom=0)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            finish(ax)
    first.legend(frameon=False, fontsize="small")
    return first


def _curves(turns: Turns, base: int) -> dict[str, list[int]]:
    sent = [[base + _size(request) for request in turn] for turn in turns]
    per_turn = [sum(turn) for turn in sent]
    return dict(zip(CURVES, ([turn[-1] for turn in sent], per_turn, list(accumulate(per_turn))), strict=True))


def _size(request: Iterable[Mapping[str, Any]]) -> int:
    return sum(map(_tokens, request))


def _tokens(message: Mapping[str, Any]) -> int:
    asked = [call["function"] for call in message.get("tool_calls") or ()]
    texts = [message["content"] or "", *(function[key] for function in asked for key in ("name", "arguments"))]
    return AROUND + sum(map(_counted, texts))


@cache
def _counted(text: str) -> int:
    return count_text(text, "o200k_base").n


def _numbers(values: Any) -> list[float]:
    """Plain numbers of what should be some, and NaN, which agrees with nothing, where one is none."""
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        return []
    return [value if isfinite(value) else float("nan") for value in numbers]
