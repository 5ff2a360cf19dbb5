"""The cut: keep a head and a tail of a text, and say between them what is missing.

One procedure serves every strategy and every unit. A strategy is the share of the kept text that its head gets; a
unit is a class that measures (`units`, `tokens`). What is kept is found, the marker written, the whole measured and,
where it is too large, shrunk and measured again: so no result is ever over its limit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.errors import InputError
from agentlab.truncate import boundaries
from agentlab.truncate.marker import first_line, second_line, shortest_clip
from agentlab.truncate.numbering import Numbering
from agentlab.truncate.units import Bytes, Characters, Lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.truncate.marker import Where
    from agentlab.truncate.tokens import Tokenizer
    from agentlab.truncate.units import Measured, Unit

    Block = Callable[[int, int], str]

HEAD_SHARES: Final[dict[str, float | None]] = {"middle_snip": 0.5, "tail_cut": 1.0, "head_cut": 0.0, "head_tail": None}
"""Share of the kept text that the head gets, by strategy; None: the `ratio` of the cut."""

UNITS: Final = ("characters", "tokens", "lines", "bytes")


class Cut(msgspec.Struct, frozen=True):
    """A text that was cut to a limit, or one that fitted.

    Attributes:
        text: What is shown: the head, the marker, the tail.
        original_chars: Length of the text before.
        omitted_chars: How many of its characters are not shown; 0 where it fitted.
        kept_head: Characters kept of its beginning. The three add up to `original_chars`.
        kept_tail: Characters kept of its end.
        first_line: First line, from 1, of which something is missing; 0 where nothing is or lines were not counted.
        last_line: Last such line.
        lines: Lines of the text before; 0 likewise.
    """

    text: str
    original_chars: int
    omitted_chars: int
    kept_head: int
    kept_tail: int
    first_line: int = 0
    last_line: int = 0
    lines: int = 0

    @property
    def was_cut(self) -> bool:
        """Whether anything is missing."""
        return self.omitted_chars > 0


def cut(
    text: str,
    limit: int,
    strategy: str = "middle_snip",
    *,
    unit: Unit = "characters",
    ratio: float = 0.5,
    ref: str | Callable[[], str] | None = None,
    encoding: str | Tokenizer = "o200k_base",
    name_lines: bool = True,
) -> Cut:
    r"""Cut a text to a limit; a text that fits comes back as it is.

    The marker counts inside the limit. Its second line is there where both lines together take at most half of the
    limit. Where not even the first line and something of the text fit, the marker is clipped; where its number would
    be lost, only the head stays (the tail for `head_cut`). No result is longer than the text, and cutting a result to
    the same limit again changes nothing.

    Args:
        text: Any text.
        limit: At least 0, in `unit`.
        strategy: `middle_snip` keeps both ends, `tail_cut` the head, `head_cut` the tail; `head_tail` keeps both ends
            and gives the head the share `ratio`.
        unit: `characters`, `tokens`, `lines` or `bytes` (of UTF-8).
        ratio: From 0 to 1, for `head_tail` alone.
        ref: Id of the whole text in the store, or a function that stores the text and gives its id, called only where
            the text does not fit. The marker then says how to read back what is missing.
        encoding: For tokens: `o200k_base`, `cl100k_base`, or a `Tokenizer`.
        name_lines: Whether to count lines, and to name the missing ones in the marker of a text of several lines,
            without a `ref` too. With a `ref` they are always named.

    Raises:
        InputError: A negative limit, an unknown strategy or unit, or a ratio out of range.
        MissingRanksError: For tokens: the tokenizer's rank files are not there.

    >>> made = cut("\n".join(f"line {n}" for n in range(1, 1001)), 170)
    >>> print(made.text)
    line 1
    line 2
    line 3
    line 4
    line 5
    line 6
    l
    <BLANKLINE>
    [...truncated: 8807 characters omitted from the middle...]
    [lines 7-996 of 1000]
    <BLANKLINE>
    e 996
    line 997
    line 998
    line 999
    line 1000
    >>> made.was_cut, made.omitted_chars, made.kept_head, made.kept_tail, made.lines
    (True, 8807, 43, 42, 1000)
    """
    share = _head_share(limit, strategy, ratio)
    if unit == "characters" and len(text) <= limit:
        return Cut(text, len(text), 0, len(text), 0)
    measured = _measured(text, unit, encoding)
    if measured.fits(limit):
        return Cut(text, len(text), 0, len(text), 0)
    numbering = None
    if name_lines or ref is not None:
        kept = min(limit, len(text))
        numbering = Numbering(text, head := round(kept * share), kept - head)
    job = _Job(text, limit, share, measured, numbering)
    if made := job.with_marker(ref() if callable(ref) else ref):
        return made
    marker = first_line(len(text), job.where)[: len(text)]
    return job.clipped(marker, _measured(marker, unit, encoding)) or job.bare()


def measure(text: str, unit: Unit = "characters", *, encoding: str | Tokenizer = "o200k_base") -> int:
    r"""Size of a text in a unit; of tokens this encodes the whole text.

    >>> measure("naïve"), measure("naïve", "bytes"), measure("a\nb", "lines"), measure("hello world", "tokens")
    (5, 6, 2, 2)
    """
    return _measured("", unit, encoding).size(text)


class _Job:
    """One text on its way to one limit, which it is over."""

    def __init__(
        self, text: str, limit: int, share: float, measured: Measured, numbering: Numbering | None = None
    ) -> None:
        self.text = text
        self.limit = limit
        self.share = share
        self.measured = measured
        self.numbering = numbering
        self.where: Where = "end" if share == 1 else "start" if share == 0 else "middle"

    def with_marker(self, ref: str | None) -> Cut | None:
        """Cut with the longest marker there is room for, or None where no room is left for the text."""
        if self.numbering is not None and (ref is not None or self.numbering.lines > 1):
            block = partial(self._block, ref=ref, numbering=self.numbering)
            if 2 * self.measured.size(block(0, 0)) <= self.limit and (made := self._fit(block, self.share)):
                return made
        return self._fit(self._block, self.share)

    def clipped(self, marker: str, measured: Measured) -> Cut | None:
        """Show only the marker that says that all is missing, clipped to the limit, unless that clips its number."""
        shown = marker if measured.fits(self.limit) else _Job(marker, self.limit, 1.0, measured).bare().text
        return self._made(shown, 0, 0) if len(shown) >= shortest_clip(len(self.text)) else None

    def bare(self) -> Cut:
        """Keep the head alone, or the tail where the strategy keeps only that."""
        made = self._fit(lambda _head, _tail: "", 0.0 if self.share == 0 else 1.0)
        return made or self._made("", 0, 0)

    def _fit(self, block: Block, share: float) -> Cut | None:
        """Keep as much as fits around a block, or None where nothing does."""
        text, length = self.text, len(self.text)
        most = length - 1
        guess = min(round(self.limit * share), most)
        # The x stands for the head: what a block costs beside a text, whose last line its first newline ends.
        room = self.limit + 1 - self.measured.size("x" + block(guess, min(self.limit - guess, most - guess)))
        while room > 0 and most > 0:
            head, tail = self._ends(room, share, most)
            if head == tail == 0:
                return None
            shown = text[:head] + block(head, tail) + text[length - tail :]
            if len(shown) > length:
                most = head + tail - (len(shown) - length)
                continue
            size = self.measured.size(shown)
            if size <= self.limit:
                return self._made(shown, head, tail)
            room = min(room - 1, room * self.limit // size)
        return None

    def _ends(self, room: int, share: float, most: int) -> tuple[int, int]:
        """Characters to keep of the head and of the tail: `room` in the unit, and `most` characters in all."""
        head_room = int(room * share + 0.5)
        head, tail = self.measured.head(head_room), self.measured.tail(room - head_room)
        if head + tail > most:
            head = min(head, max(int(most * share + 0.5), most - tail))
            tail = min(tail, most - head)
        length = len(self.text)
        return boundaries.head_end(self.text, head), length - boundaries.tail_start(self.text, length - tail)

    def _block(self, head: int, tail: int, *, ref: str | None = None, numbering: Numbering | None = None) -> str:
        """Write the marker between its blank lines; with a numbering, its second line too."""
        end = len(self.text) - tail
        marker = first_line(end - head, self.where)
        if numbering is not None:
            marker += "\n" + second_line((*numbering.missing(head, end), numbering.lines), ref, (head, end))
        return ("" if self.where == "start" else "\n\n") + marker + ("" if self.where == "end" else "\n\n")

    def _made(self, shown: str, head: int, tail: int) -> Cut:
        """Put together what the caller gets."""
        length = len(self.text)
        omitted = length - head - tail
        if self.numbering is None:
            return Cut(shown, length, omitted, head, tail)
        first, last = self.numbering.missing(head, length - tail)
        return Cut(shown, length, omitted, head, tail, first, last, self.numbering.lines)


def _head_share(limit: int, strategy: str, ratio: float) -> float:
    """Check the arguments that are no text; returns the head's share."""
    if limit < 0:
        raise InputError(f"a limit is at least 0, and {limit} is not", field="limit")
    if strategy not in HEAD_SHARES:
        raise InputError(f"unknown strategy {strategy!r}: one of {', '.join(HEAD_SHARES)}", field="strategy")
    if not 0 <= ratio <= 1:
        raise InputError(f"a ratio is from 0 to 1, and {ratio} is not", field="ratio")
    share = HEAD_SHARES[strategy]
    return ratio if share is None else share


def _measured(text: str, unit: str, encoding: str | Tokenizer) -> Measured:
    """See a text in a unit."""
    if unit == "characters":
        return Characters(text)
    if unit == "bytes":
        return Bytes(text)
    if unit == "lines":
        return Lines(text)
    if unit == "tokens":
        from agentlab.truncate.tokens import NamedTokenizer, Tokens

        return Tokens(text, NamedTokenizer(encoding) if isinstance(encoding, str) else encoding)
    raise InputError(f"unknown unit {unit!r}: one of {', '.join(UNITS)}", field="unit")
