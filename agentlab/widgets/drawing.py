"""Small pictures that follow a slider: stacked columns as SVG, in the colours of the plots and of the notebook's theme.

matplotlib takes longer for a picture than a slider has; this draws the few shapes that the widgets need as text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 600, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 8, 34
APART: Final = 30
"""Between the middles of two numbers below the columns."""
MOST: Final = 150
"""Columns that are drawn; of more, neighbours share one, which is the highest of them."""

TEXT: Final = "color:var(--jp-content-font-color1,inherit);line-height:1.45"
"""Of all HTML here: the theme's colour, and the lines of a text, which ipywidgets sets as far apart as controls."""


class Series(msgspec.Struct, frozen=True):
    """Values of one colour, a value per column."""

    label: str
    colour: str
    values: tuple[float, ...]


def stacked(
    series: Sequence[Series],
    *,
    title: str,
    across: str,
    up: str,
    line: Series | None = None,
    mark: int | None = None,
) -> str:
    """Draw columns of stacked values.

    Args:
        series: From the bottom up; all of one length.
        title: What screen readers say of the picture.
        across: What the columns are; they are numbered from 1.
        up: What the values are.
        line: Drawn over the columns.
        mark: Number of a column to point at.

    Returns:
        HTML: the picture and its legend. Neither needs a script or a style sheet.

    >>> picture = stacked([Series("new", "#009E73", (1, 2))], title="Two calls", across="call", up="tokens")
    >>> picture.count('fill="#009E73"'), "Two calls" in picture
    (1, True)
    """
    count = len(series[0].values) if series else 0
    if not count:
        return f'<p style="{TEXT}">{escape(title)}: nothing to draw yet.</p>'
    totals = [sum(each.values[at] for each in series) for at in range(count)]
    drawn = _drawn(totals)
    top = max([*totals, *(line.values if line else ()), 1])
    bottoms = [0.0] * len(drawn)
    shapes = []
    for each in series:
        shapes.append(_columns(each, drawn, bottoms, top))
        bottoms = [below + each.values[at] for below, at in zip(bottoms, drawn, strict=True)]
    if line is not None:
        shapes.append(_line(line, drawn, top))
    if mark is not None:
        x = _middle(mark, drawn)
        shapes.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="4 3"/>')
    shared = f", the highest of each {-(-count // MOST)}" if count > len(drawn) else ""
    axes = _heights(top, up) + _numbers(drawn, count, across + shared)
    return (
        f'<div style="{TEXT}"><svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'style="width:100%;max-width:680px;height:auto;font:12px sans-serif">{axes}{"".join(shapes)}</svg>'
        f"{legend([(each.label, each.colour) for each in series], line)}</div>"
    )


def legend(kinds: Iterable[tuple[str, str]], line: Series | None = None) -> str:
    """What the colours mean: a square for each kind of column, a stroke for a line.

    >>> legend([("new", "#009E73")]).count("background:#009E73")
    1
    """
    marks = [(label, f"height:11px;background:{colour}") for label, colour in kinds]
    if line is not None:
        marks.append((line.label, f"height:0;border-top:3px solid {line.colour};vertical-align:middle"))
    return '<div style="font-size:12px;line-height:1.7;padding-left:8px">{}</div>'.format(
        "".join(
            '<span style="white-space:nowrap;margin-right:14px"><span style="display:inline-block;width:11px;'
            f'margin-right:5px;{mark}"></span>{escape(label)}</span>'
            for label, mark in marks
        )
    )


def beside(wide: str, narrow: str) -> str:
    """HTML of a picture and of what stands beside it, or below it where there is no room."""
    return (
        f'<div style="{TEXT};display:flex;flex-wrap:wrap;gap:4px 16px">'
        f'<div style="flex:2 1 420px;min-width:0">{wide}</div>'
        f'<div style="flex:1 1 320px;min-width:0;overflow-x:auto">{narrow}</div></div>'
    )


def short(number: float) -> str:
    """A number for an axis.

    >>> short(500), short(2_500), short(40_000), short(1_500_000)
    ('500', '2.5k', '40k', '1.5M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.4g}{letter}"
    return f"{number:.4g}"


def _drawn(totals: Sequence[float]) -> list[int]:
    """Which columns are drawn: all, or of each group of neighbours the highest."""
    size = -(-len(totals) // MOST)
    groups = [range(at, min(at + size, len(totals))) for at in range(0, len(totals), size)]
    return [max(group, key=totals.__getitem__) for group in groups]


def _step(top: float) -> float:
    """How far apart the lines of the grid are: 1, 2 or 5 and zeros, about four to the top."""
    size = 1.0
    while True:
        for digit in (1, 2, 5):
            if top / (digit * size) <= 5:
                return digit * size
        size *= 10


def _x(place: float, columns: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * place / columns


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _columns(each: Series, drawn: Sequence[int], bottoms: Sequence[float], top: float) -> str:
    """All columns of one colour as one path."""
    n = len(drawn)
    gap = 0.12 if n <= 60 else 0.0
    steps = []
    for place, (at, below) in enumerate(zip(drawn, bottoms, strict=True)):
        if each.values[at]:
            left, right = _x(place + gap, n), _x(place + 1 - gap, n)
            low, high = _y(below, top), _y(below + each.values[at], top)
            steps.append(f"M{left:.1f} {low:.1f}V{high:.1f}H{right:.1f}V{low:.1f}Z")
    return f'<path fill="{each.colour}" d="{"".join(steps)}"/>' if steps else ""


def _line(each: Series, drawn: Sequence[int], top: float) -> str:
    points = [f"{_x(place + 0.5, len(drawn)):.1f},{_y(each.values[at], top):.1f}" for place, at in enumerate(drawn)]
    return f'<polyline fill="none" stroke="{each.colour}" stroke-width="2" points="{" ".join(points)}"/>'


def _middle(number: int, drawn: Sequence[int]) -> float:
    """Where the column of a number stands, or the one that is drawn for it."""
    place = min(range(len(drawn)), key=lambda at: abs(drawn[at] + 1 - number))
    return _x(place + 0.5, len(drawn))


def _heights(top: float, up: str) -> str:
    """Lines across, each with its value, and what the values are."""
    step = _step(top)
    parts = []
    for number in range(int(top // step) + 1):
        y = _y(number * step, top)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="currentColor" stroke-opacity="0.2"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{short(number * step)}</text>'
        )
    parts.append(
        f'<text transform="translate(12 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" '
        f'fill="currentColor">{escape(up)}</text>'
    )
    return "".join(parts)


def _numbers(drawn: Sequence[int], count: int, across: str) -> str:
    """The numbers of the first and the last column and of round ones between, and what the columns are."""
    step = max(1, round(_step(count)))
    ends = _middle(1, drawn), _middle(count, drawn)
    between = [n for n in range(step, count, step) if all(abs(_middle(n, drawn) - end) > APART for end in ends)]
    numbers = [1, *between, *([count] if count > 1 else [])]
    floor = HEIGHT - BOTTOM
    words = "".join(
        f'<text x="{_middle(n, drawn):.1f}" y="{floor + 15}" text-anchor="middle" fill="currentColor">{n:,}</text>'
        for n in numbers
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'{words}<text x="{middle}" y="{floor + 29}" text-anchor="middle" fill="currentColor">{escape(across)}</text>'
    )
