"""A cut looked at: both ends, the gap between them with its lines, and what is lost there."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.analysis.key_lines import lines_of
from agentlab.show.look import CODE, clipped
from agentlab.truncate import Cut, cut, measure
from agentlab.truncate.units import Unit
from agentlab.widgets.drawing import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence


DRAWN: Final = 6_000
"""Characters of an end that are drawn; the middle of a longer end is left out of the picture, not of the cut."""

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
        errors: How many lines report an error.
        lost_errors: Those of them that are not shown whole: number and text.
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
    errors: int
    lost_errors: tuple[tuple[int, str], ...]

    def lost(self) -> list[str]:
        """What is lost, in sentences."""
        if not self.cut.was_cut:
            return [f"Nothing is lost: the text has {self.size:,} {self.unit}, and the limit is {self.limit:,}."]
        share = self.cut.omitted_chars / self.cut.original_chars
        said = [f"{self.cut.omitted_chars:,} of {self.cut.original_chars:,} characters are lost ({share:.0%})."]
        if self.cut.lines > 1:
            said.append(f"The gap is lines {self.cut.first_line:,} to {self.cut.last_line:,} of {self.cut.lines:,}.")
        if self.errors:
            named = "; ".join(f"line {n:,}: {clipped(text.strip(), 90)}" for n, text in self.lost_errors[:NAMED])
            more = len(self.lost_errors) - NAMED
            tail = f"; and {more:,} more" if more > 0 else ""
            which = f": {named}{tail}" if named else ""
            said.append(f"Of {self.errors:,} lines that report an error, {len(self.lost_errors):,} are lost{which}.")
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
    lost = [
        (text.count("\n", 0, start) + 1, text[start:end])
        for start, end in spans
        if made.was_cut and end > made.kept_head and start < len(text) - made.kept_tail
    ]
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
        text[made.kept_head : len(text) - made.kept_tail] if made.was_cut else "",
        len(spans),
        tuple(lost),
    )


def view_html(view: CutView) -> str:
    """One cut as HTML: a heading, the sentences, what the model sees, and the gap to unfold."""
    name = f"{view.strategy}, {view.limit:,} {view.unit}"
    lost = "".join(f"<li>{escape(sentence)}</li>" for sentence in view.lost())
    return (
        f'<section style="{TEXT};min-width:0" aria-label="{escape(name)}"><h4 style="margin:6px 0">{escape(name)}: '
        f"{view.shown:,} of {view.size:,} shown</h4>"
        f'<ul style="margin:0 0 6px;padding-left:18px" aria-live="polite">{lost}</ul>{_ends(view, name)}{_gap(view)}'
        "</section>"
    )


def side_by_side_html(*views: CutView) -> str:
    """Cuts beside each other, or below each other where it is narrow."""
    columns = "".join(map(view_html, views))
    return (
        f'<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:14px">{columns}</div>'
    )


def boxed(inside: str, name: str, height: int = 280, *, at_end: bool = False) -> str:
    """HTML of a text in a box that scrolls, with the keyboard too, and that may begin at its end."""
    pre = f"{CODE};{TEXT};white-space:pre-wrap;overflow-wrap:anywhere"
    box = f"max-height:{height}px;overflow:auto;border:1px solid var(--jp-border-color1,#888);padding:6px"
    box += ";display:flex;flex-direction:column-reverse" if at_end else ""  # a browser scrolls such a box from its end
    label = f'tabindex="0" role="region" aria-label="{escape(name)}"'
    return f'<div {label} style="{box}"><pre style="{pre};flex:0 0 auto">{inside}</pre></div>'


def _ends(view: CutView, name: str) -> str:
    """The head, seen at its end, the marker, and the tail: so what is seen first is the gap."""
    if not view.cut.was_cut:
        return boxed(escape(_drawn(view.head)), name)
    marker = f'<pre style="{CODE};{TEXT};white-space:pre-wrap;margin:6px"><b>{escape(view.marker.strip())}</b></pre>'
    head = boxed(escape(_drawn(view.head)), f"{name}: the head", 140, at_end=True) if view.head else ""
    tail = boxed(escape(_drawn(view.tail)), f"{name}: the tail", 140) if view.tail else ""
    return head + marker + tail


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
    numbered = [f"{first + at:>6}  {clipped(line, 400)}" for at, line in enumerate(lines)]
    if len(numbered) > 2 * GAP_LINES:
        skipped = len(numbered) - 2 * GAP_LINES
        numbered = [*numbered[:GAP_LINES], f"        … {skipped:,} lines …", *numbered[-GAP_LINES:]]
    name = f"The gap, lines {first:,} to {view.cut.last_line or first:,}"
    summary = f'<summary style="cursor:pointer">{name}: what the model does not see</summary>'
    return f'<details style="margin-top:6px">{summary}{boxed(escape(chr(10).join(numbered)), name)}</details>'
