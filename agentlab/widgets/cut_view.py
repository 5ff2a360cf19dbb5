"""A cut looked at: both ends, the gap between them with its lines, and what is lost there."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.analysis.key_lines import lines_of
from agentlab.plots.figures import BLUE, GREY, RED
from agentlab.show.look import CODE, clipped
from agentlab.truncate import Cut, cut, measure
from agentlab.truncate.units import Unit
from agentlab.widgets.drawing import TEXT, legend

if TYPE_CHECKING:
    from collections.abc import Sequence


DRAWN: Final = 6_000
"""Characters of an end that are drawn; the middle of a longer end is left out of the picture, not of the cut."""

WRAPPED: Final = f"{TEXT};white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal"
"""Of a text as it is: long lines go on below, between words where that is possible."""

GAP_LINES: Final = 30
NAMED: Final = 5


class CutView(msgspec.Struct, frozen=True):
    """A text under one strategy and limit.

    Attributes:
        strategy: As `agentlab.truncate.cut` takes it.
        unit: Of the limit and of both sizes.
        limit: The limit.
        size: Of the whole text.
        shown: Of what the model would see, marker included.
        cut: The cut.
        head: What is kept of the beginning.
        marker: What stands in the gap.
        tail: What is kept of the end.
        gap: What is lost.
        errors: Spans of the lines that report an error.
        lost_errors: How many of them are not shown whole.
        named: The first of those: number of the line, and its text.
    """

    strategy: str
    unit: Unit
    limit: int
    size: int
    shown: int
    cut: Cut
    head: str
    marker: str
    tail: str
    gap: str
    errors: tuple[tuple[int, int], ...]
    lost_errors: int
    named: tuple[tuple[int, str], ...]

    def lost(self) -> list[str]:
        """What is lost, in sentences."""
        if not self.cut.was_cut:
            return [f"Nothing is lost: the text has {self.size:,} {self.unit}, and the limit is {self.limit:,}."]
        share = self.cut.omitted_chars / self.cut.original_chars
        said = [f"{self.cut.omitted_chars:,} of {self.cut.original_chars:,} characters are lost ({share:.0%})."]
        if self.cut.lines > 1:
            said.append(f"The gap is lines {self.cut.first_line:,} to {self.cut.last_line:,} of {self.cut.lines:,}.")
        if self.errors:
            named = "; ".join(f"line {n:,}: {clipped(text.strip(), 90)}" for n, text in self.named)
            more = self.lost_errors - len(self.named)
            tail = f"; and {more:,} more" if more > 0 else ""
            which = f": {named}{tail}" if named else ""
            lines = "the 1 line that reports" if len(self.errors) == 1 else f"{len(self.errors):,} lines that report"
            lost = f"{self.lost_errors:,} {'is' if self.lost_errors == 1 else 'are'} lost"
            said.append(f"Of {lines} an error, {lost}{which}.")
        return said


def cut_view(
    text: str,
    limit: int,
    strategy: str,
    *,
    unit: Unit = "characters",
    ratio: float = 0.5,
    size: int | None = None,
    errors: Sequence[tuple[int, int]] | None = None,
) -> CutView:
    r"""Cut a text and look at what became of it.

    Args:
        text: Any.
        limit: At least 0, in `unit`.
        strategy: As `agentlab.truncate.cut` takes it.
        unit: `characters` or `tokens`.
        ratio: For `head_tail` alone.
        size: Of the text in `unit`, where it was measured already.
        errors: Spans of its lines that report an error, where they were looked for already.

    Raises:
        InputError: As `agentlab.truncate.cut`.

    >>> view = cut_view("\n".join(f"line {n}" for n in range(1, 1001)), 170, "middle_snip")
    >>> print(*view.lost(), sep="\n")
    8,807 of 8,892 characters are lost (99%).
    The gap is lines 7 to 996 of 1,000.
    """
    made = cut(text, limit, strategy, unit=unit, ratio=ratio)
    head, tail = text[: made.kept_head], text[len(text) - made.kept_tail :]
    if not made.was_cut:
        head, tail = text, ""
    spans = lines_of(text).errors if errors is None else errors
    gap = (made.kept_head, len(text) - made.kept_tail) if made.was_cut else (0, 0)
    lost = [(start, end) for start, end in spans if end > gap[0] and start < gap[1]]
    named = [(text.count("\n", 0, start) + 1, text[start:end]) for start, end in lost[:NAMED]]
    return CutView(
        strategy,
        unit,
        limit,
        measure(text, unit) if size is None else size,
        measure(made.text, unit),
        made,
        head,
        made.text[made.kept_head : len(made.text) - made.kept_tail] if made.was_cut else "",
        tail,
        text[slice(*gap)],
        tuple(spans),
        len(lost),
        tuple(named),
    )


def view_html(view: CutView) -> str:
    """One cut as HTML: a heading, a bar of the whole text, the sentences, what the model sees, the gap to unfold.

    These are the rows of a grid, so that those of two cuts stand at one height.
    """
    name = f"{view.strategy}, {view.limit:,} {view.unit}"
    lost = "".join(f"<li>{escape(sentence)}</li>" for sentence in view.lost())
    return (
        f'<section style="{TEXT};min-width:0;display:grid;grid-template-rows:subgrid;grid-row:span 5;row-gap:0;'
        f'grid-template-columns:minmax(0,1fr)" aria-label="{escape(name)}">'
        f'<h4 style="margin:6px 0;font-size:1em;font-weight:bold">{escape(view.strategy)}: {view.shown:,} of '
        f"{view.size:,} {view.unit} shown</h4>{_bar(view)}"
        f'<ul style="margin:4px 0 6px;padding-left:18px" aria-live="polite">{lost}</ul>'
        f"<div>{_ends(view, name)}</div><div>{_gap(view)}</div></section>"
    )


def side_by_side_html(*views: CutView) -> str:
    """Cuts beside each other, or below each other where it is narrow."""
    columns = "".join(map(view_html, views))
    grid = "display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:0 14px"
    kinds = [("shown to the model", BLUE), ("lost", GREY)]
    if any(view.errors for view in views):
        kinds.append(("a line that reports an error", RED))
    return f'<div style="{TEXT}"><div style="{grid}">{columns}</div>{legend(kinds)}</div>'


def boxed(inside: str, name: str, height: int = 280, *, at_end: bool = False) -> str:
    """HTML of a text in a box that scrolls, with the keyboard too, and that may begin at its end."""
    pre = f"{CODE};{WRAPPED}"
    box = f"max-height:{height}px;overflow:auto;border:1px solid var(--jp-border-color1,#888);padding:6px"
    box += ";display:flex;flex-direction:column-reverse" if at_end else ""  # a browser scrolls such a box from its end
    label = f'tabindex="0" role="region" aria-label="{escape(name)}"'
    return f'<div {label} style="{box}"><pre style="{pre};flex:0 0 auto">{inside}</pre></div>'


def _ends(view: CutView, name: str) -> str:
    """The head, seen at its end, the marker, and the tail: so what is seen first is the gap."""
    if not view.cut.was_cut:
        return boxed(escape(_drawn(view.head)), name)
    marker = f'<pre style="{CODE};{WRAPPED};margin:6px"><b>{escape(view.marker.strip())}</b></pre>'
    head = boxed(escape(_drawn(view.head)), f"{name}: the head", 140, at_end=True) if view.head else ""
    tail = boxed(escape(_drawn(view.tail)), f"{name}: the tail", 140) if view.tail else ""
    return head + marker + tail


def _bar(view: CutView) -> str:
    """The whole text as a bar: what is shown, what is lost, and where errors are reported."""
    whole = max(1, view.cut.original_chars)
    head, tail = 1000 * len(view.head) / whole, 1000 * len(view.tail) / whole
    shapes = [
        f'<path fill="{GREY}" d="M0 3H1000V13H0Z"/>',
        f'<path fill="{BLUE}" d="M0 3H{head:.1f}V13H0ZM1000 3H{1000 - tail:.1f}V13H1000Z"/>',
    ]
    if places := sorted({1000 * start // whole for start, _ in view.errors}):
        marks = "".join(f"M{place} 0V16" for place in places)
        shapes.append(f'<path stroke="{RED}" stroke-width="3" vector-effect="non-scaling-stroke" d="{marks}"/>')
    said = f"The text: {len(view.head):,} characters at its beginning and {len(view.tail):,} at its end are shown"
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 1000 16" preserveAspectRatio="none" '
        f'style="display:block;width:100%;height:16px">{"".join(shapes)}</svg>'
    )


def _drawn(text: str) -> str:
    if len(text) <= DRAWN:
        return text
    half = DRAWN // 2
    return (
        f"{text[:half]}\n… {len(text) - 2 * half:,} characters that are shown to the model, not here …\n{text[-half:]}"
    )


def _gap(view: CutView) -> str:
    """The lines of the gap with their numbers: the first and the last ones."""
    if not view.gap:
        return ""
    lines = view.gap.split("\n")
    first = view.cut.first_line or 1
    skipped = len(lines) - 2 * GAP_LINES
    places = range(len(lines)) if skipped <= 0 else [*range(GAP_LINES), *range(len(lines) - GAP_LINES, len(lines))]
    numbered = [f"{first + at:>6}  {clipped(lines[at], 400)}" for at in places]
    if skipped > 0:
        numbered.insert(GAP_LINES, f"        … {skipped:,} lines …")
    name = f"The gap, lines {first:,} to {view.cut.last_line or first:,}"
    summary = f'<summary style="cursor:pointer">{name}: what the model does not see</summary>'
    return f'<details style="margin-top:6px">{summary}{boxed(escape(chr(10).join(numbered)), name)}</details>'
