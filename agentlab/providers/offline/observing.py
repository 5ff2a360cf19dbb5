"""Reading observations: what was cut, how large the whole is, which times and hits stand in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from agentlab.printable import counted
from agentlab.truncate import find_marker

if TYPE_CHECKING:
    from collections.abc import Iterable

CLIPPED = re.compile(
    r"\n\n\[\.\.\.truncated: (\d+) characters(?: omitted(?: from the (middle|start|end))?)?[^\n]{0,20}(?:\n\n|$)"
)
PAGE = re.compile(
    r'\n?\[characters \d+-(\d+) of (\d+); read_result\("([^"\n]+)", start=(\d+), end=(\d+)\)[^\]\n]*\]\s*$'
)
LINES = re.compile(r'\[lines \d+-\d+ of (\d+); read_result\("([^"\n]+)", start=(\d+), end=(\d+)\) returns them\]')
POINTER = re.compile(r'read_result\("([^"]+)"')
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
LISTED = re.compile(
    r"^\s*(?:[-*•] )?(?:"
    r"(?P<folder>\S[^\n]*/)|(?P<file>\S[^\n]*) \((?P<bytes>\d+) bytes\)"
    r"|(?P<name>\S(?:[^\s]| (?![ (]))*)(?:\s+\(?(?P<size>\d+)?[^\n]*)?)$"
)
REMARK = re.compile(r"^\s*(?:\([^()]*\)|\[[^\[\]]*\]|\([^\n]* is an empty folder\))\s*$")  # a line that names nothing
HIT = re.compile(r"^(?:(?P<path>[^\s:][^:\n]*):)?(?P<line>\d+)[:\-]\s?(?P<text>.*)$")


class Gap(msgspec.Struct, frozen=True):
    """What a cut left out.

    `omitted` in characters; `start` and `end` are offsets in the whole text, None where the marker does not name
    them; `lines` is the number of lines of the whole, None where unknown; `id` names the stored text.
    """

    omitted: int
    place: str
    start: int | None = None
    end: int | None = None
    lines: int | None = None
    id: str = ""


class Document(msgspec.Struct, frozen=True):
    """A text as it was observed: all of it, or its two ends and what is missing between them."""

    head: str
    tail: str = ""
    gap: Gap | None = None

    @property
    def seen(self) -> str:
        """What can be read."""
        return self.head if self.gap is None else f"{self.head}\n{self.tail}" if self.tail else self.head

    @property
    def characters(self) -> int:
        """Size of the whole, also where only a part was seen."""
        return len(self.head) + len(self.tail) + (self.gap.omitted if self.gap else 0)

    @property
    def lines(self) -> int | None:
        """Lines of the whole, or None where that cannot be told."""
        return len(self.head.splitlines()) if self.gap is None else self.gap.lines

    def size(self) -> str:
        r"""The size in words.

        >>> Document("a\nb\n").size()
        '2 lines, 4 characters'
        """
        lines = "" if self.lines is None else f"{counted(self.lines, 'line')}, "
        return f"{lines}{counted(self.characters, 'character')}"

    def numbered(self) -> Iterable[tuple[int | None, str]]:
        """The lines that were seen, each with its number where it is known."""
        head = self.head.splitlines()
        yield from enumerate(head, 1)
        if self.gap is None or not self.tail:
            return
        tail = self.tail.splitlines()
        total = self.gap.lines
        first = None if total is None else total - len(tail) + 1
        for offset, line in enumerate(tail):
            yield (None if first is None else first + offset), line


def document(text: str) -> Document:
    r"""Read the text of an observation.

    >>> document('ab\n\n[...truncated: 6 characters omitted from the middle...]\n\nyz').characters
    10
    """
    gap = _marked(text) or _page(text) or _lines_alone(text) or _clipped(text)
    if gap is None:
        return Document(text)
    found, start, end = gap
    return Document(text[:start].removesuffix("\n\n"), text[end:].removeprefix("\n\n"), found)


def _marked(text: str) -> tuple[Gap, int, int] | None:
    """The marker of a cut."""
    info = find_marker(text)
    if info is None:
        return None
    start, end = info.missing or (None, None)
    lines = info.lines[2] if info.lines else None
    return Gap(info.omitted_chars, info.where, start, end, lines, info.ref or ""), *info.span


def _page(text: str) -> tuple[Gap, int, int] | None:
    """The last line of a page of a stored result, which says how to go on."""
    found = PAGE.search(text, max(0, len(text) - 300))
    if found is None:
        return None
    start, end = int(found[4]), int(found[5])
    return Gap(max(0, end - start), "end", start, end, None, found[3]), found.start(), found.end()


def _lines_alone(text: str) -> tuple[Gap, int, int] | None:
    """A marker's second line where there was no room for its first."""
    found = LINES.search(text)
    if found is None:
        return None
    start, end = int(found[3]), int(found[4])
    place = "start" if not text[: found.start()].strip() else "middle" if text[found.end() :].strip() else "end"
    return Gap(max(0, end - start), place, start, end, int(found[1]), found[2]), found.start(), found.end()


def _clipped(text: str) -> tuple[Gap, int, int] | None:
    """A marker that was clipped because the limit was small."""
    found = CLIPPED.search(text) if "[...truncated: " in text else None
    return None if found is None else (Gap(int(found[1]), found[2] or "middle"), found.start(), found.end())


def placeholder(text: str) -> str | None:
    """The id of a stored result whose text was taken out of the request, or None."""
    if len(text) > 600 or find_marker(text) or not text.lstrip().startswith(("[", "(", "<")):
        return None
    found = POINTER.search(text)
    return found[1] if found else None


def stamps(text: str) -> list[datetime]:
    """The timestamps in a text, in order; those without a zone are taken as UTC.

    >>> stamps("at 2026-05-13T15:40:22Z")[0].isoformat()
    '2026-05-13T15:40:22+00:00'
    """
    times = []
    for found in STAMP.finditer(text):
        try:
            time = datetime.fromisoformat(found[0])
        except ValueError:
            continue
        times.append(time if time.tzinfo else time.replace(tzinfo=UTC))
    return times


class Hit(msgspec.Struct, frozen=True):
    """A line that a search found."""

    path: str
    line: int
    text: str


def hits(text: str, path: str = "") -> list[Hit]:
    r"""The lines `path:number:text` or `number:text` of a search result.

    >>> hits("a.py:3:class A:\nno more")
    [Hit(path='a.py', line=3, text='class A:')]
    """
    found = (HIT.match(line) for line in text.splitlines())
    return [Hit(m["path"] or path, int(m["line"][:12]), m["text"]) for m in found if m]


class Entry(msgspec.Struct, frozen=True):
    """A name in a folder's listing, with its size where the listing has it."""

    name: str
    size: int | None = None


def entries(text: str) -> list[Entry]:
    r"""The names in a folder's listing: one per line, or a JSON array.

    >>> [e.name for e in entries("json/\nargparse.py (101661 bytes)\n(and 3 more)")]
    ['json/', 'argparse.py']
    >>> [e.name for e in entries("[red] a.txt (3 bytes)\n(1).txt (2 bytes)\n(. is an empty folder)")]
    ['[red] a.txt', '(1).txt']
    """
    text = document(text).seen.strip()
    if text.startswith("[") and text.endswith("]"):
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError):
            value = None
        if isinstance(value, list):
            return [Entry(str(item.get("name", item)) if isinstance(item, dict) else str(item)) for item in value]
    found = (LISTED.match(line) for line in text.splitlines() if not REMARK.match(line))
    return [_entry(m) for m in found if m]


def _entry(found: re.Match[str]) -> Entry:
    size = found["bytes"] or found["size"]
    return Entry(found["folder"] or found["file"] or found["name"], int(size[:18]) if size else None)
