r"""The note that stands where text was left out: written here, read here.

Its first line says how much is missing and from where, its second which lines, and how to read them back:

```
[...truncated: 4923 characters omitted from the middle...]
[lines 41-310 of 5000; read_result("0a1b2c3d4e5f", start=1800, end=6723) returns them]
```

`read_result` takes offsets in characters. The second line is there where it has room (`agentlab.truncate.cut`).
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import msgspec

Where = Literal["middle", "start", "end"]

MARKER: Final = (
    r"\[\.\.\.truncated: (?P<omitted>\d+) characters omitted from the (?P<where>middle|start|end)\.\.\.\]"
    r"(?:\n\[lines (?P<first>\d+)-(?P<last>\d+) of (?P<lines>\d+)"
    r'(?:; read_result\("(?P<ref>[^"\n]*)", start=(?P<start>\d+), end=(?P<end>\d+)\) returns them)?\])?'
)
"""The regular expression that reads a marker, for `re`; `find_marker` uses it."""

_OPENING: Final = "[...truncated: "
_CLIPPED: Final = r"\[\.\.\.truncated: \d+ characters"
_LISTS: Final = (list, tuple)  # a union in the test itself would be made anew at each call


class MarkerInfo(msgspec.Struct, frozen=True):
    """What a marker says.

    Attributes:
        omitted_chars: How many characters are missing.
        where: `middle`, `start` or `end`.
        span: Offsets of the marker in the text that it was found in.
        lines: First missing line, last missing line and lines in all, from 1; None where it does not say.
        ref: Id to read the text back by, or None.
        missing: Offsets of what is missing, in characters of the whole text, as `read_result` takes them, or None.
    """

    omitted_chars: int
    where: Where
    span: tuple[int, int]
    lines: tuple[int, int, int] | None = None
    ref: str | None = None
    missing: tuple[int, int] | None = None


def first_line(omitted: int, where: Where) -> str:
    """Write the marker's first line.

    >>> first_line(4923, "middle")
    '[...truncated: 4923 characters omitted from the middle...]'
    """
    return f"{_OPENING}{omitted} characters omitted from the {where}...]"


def second_line(lines: tuple[int, int, int], ref: str | None, missing: tuple[int, int]) -> str:
    """Write the marker's second line; without a `ref` it names the missing lines alone.

    >>> second_line((41, 310, 5000), "0a1b2c3d4e5f", (1800, 6723))
    '[lines 41-310 of 5000; read_result("0a1b2c3d4e5f", start=1800, end=6723) returns them]'
    """
    named = f"[lines {lines[0]}-{lines[1]} of {lines[2]}"
    if ref is None:
        return named + "]"
    return f'{named}; read_result("{ref}", start={missing[0]}, end={missing[1]}) returns them]'


def shortest_clip(omitted: int) -> int:
    """Length of the shortest beginning of a marker that still says how much is missing.

    >>> first_line(4923, "middle")[:shortest_clip(4923)]
    '[...truncated: 4923 characters'
    """
    return len(f"{_OPENING}{omitted} characters")


def find_marker(text: str, start: int = 0) -> MarkerInfo | None:
    r"""Read the first whole marker at or after an offset.

    Args:
        text: Any text, such as an observation.
        start: Offset in characters to look from. A cut text may hold markers that were in the text before the cut;
            the cut's own stands at `Cut.kept_head`.

    Returns:
        What it says, or None where there is no marker or only a clipped one.

    >>> find_marker("ab\n\n[...truncated: 6 characters omitted from the middle...]\n\nyz").omitted_chars
    6
    """
    if text.find(_OPENING, start) < 0:
        return None
    match = re.compile(MARKER).search(text, start)
    if match is None:
        return None
    where: Any = match["where"]
    return MarkerInfo(
        omitted_chars=int(match["omitted"]),
        where=where,
        span=match.span(),
        lines=None if match["first"] is None else (int(match["first"]), int(match["last"]), int(match["lines"])),
        ref=match["ref"],
        missing=None if match["start"] is None else (int(match["start"]), int(match["end"])),
    )


def carries_marker(value: Any) -> bool:
    """Whether a marker, whole or clipped, stands in any string of a JSON value, keys included.

    A model that copies a cut text into a call would write the marker into a file: such a call is refused.

    Args:
        value: Arguments of a call: an object, or any JSON value.

    >>> carries_marker({"path": "a.py", "lines": ["x = 1", "[...truncated: 80 characters omitted from the end...]"]})
    True
    >>> carries_marker({"path": "a.py", "text": "[...truncated...]"})
    False
    """
    waiting = [value]
    for one in waiting:  # which grows meanwhile
        if isinstance(one, str):
            if _OPENING in one and re.search(_CLIPPED, one):
                return True
        elif isinstance(one, dict):
            waiting += one
            waiting += one.values()
        elif isinstance(one, _LISTS):
            waiting += one
    return False
