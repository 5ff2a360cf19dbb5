"""The lines of an observation that may matter later: its first, its last, and those that report an error.

Each is a span of the full text. A cut keeps a span when all of it is shown.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]

EDGE = 200
"""Of a longer line this many characters count: its beginning for a first line, its end for a last one."""

_AFTER_LEVEL = r"(?=[]>|/[]|:[ \t]*+(?!['\"]\w+['\"],)\S|[ \t]+[^\s=,;)}])"
"""As in a log, not as in `if level == ERROR:`, `ERROR = 40` or `ERROR: "ERROR",`."""

ERROR_LINES = (
    # The exception line of a traceback, and its head.
    (("rror", "xception", "nterrupt"), r"^(?:E +)?(?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?=:|$)"),
    (("Traceback (most",), r"^ *Traceback \(most recent call last\)"),
    # error: ..., error[E0308]: ..., main.c:3:5: error: ..., npm error ...
    (
        ("rror", "RROR", "atal", "ATAL", "ailed", "AILED", "ailure", "AILURE", "anic", "ANIC"),
        r"^\W{0,4}(?i:error|fatal|failed|failure|panic|panicked)(?=[:\[])",
    ),
    (("rror: ", "anic: "), r"(?<![\w(])(?<!except )(?<!, )(?:[Ee]rror|[Pp]anic): (?![%{])"),
    (("npm ", "ERR!"), r"^npm error\b|\bERR!"),
    (("] Error ",), r"\*\*\* .*\bError \d"),
    (("FAILED",), r"\bFAILED\b"),
    (("panicked at ",), r"\bpanicked at "),
    # The level of a log's line: 11:00 ERROR ..., [ERROR] ..., ERROR:root:..., [error] 31#0: ..., "level":"error".
    (
        ("ERROR", "FATAL", "CRITICAL", "PANIC"),
        r"(?<![\w.$\"'`*-])(?<!\w\()(?<!case )(?<!import )(?<!define )(?:ERROR|FATAL|CRITICAL|PANIC)\b" + _AFTER_LEVEL,
    ),
    (("rror] ", "atal] ", "crit] ", "emerg] "), r"(?<!\S)\[(?:\w+:)?(?:error|fatal|crit|emerg)\] (?=\S)"),
    (
        ("level", "severity"),
        r"(?<![\w.(])(?<!, )(?:level|severity)[\"']? ?[=:] ?[\"']?(?i:error|fatal|critical|panic)\b",
    ),
    # What a shell says, and the system through it.
    (("Segmentation fault", "Bus error", "(core dumped)"), r"\bSegmentation fault|\bBus error|\(core dumped\)"),
    (("Killed",), r"^Killed$"),
    ((" not found",), r"\bcommand not found\b|: not found$"),
    (("No such file or directory",), r"\bNo such file or directory\b"),
    (
        (" denied", " refused", " not permitted", " left on device"),
        r"[:\]] (?:Permission denied|Connection refused|Operation not permitted|No space left on device)\b",
    ),
    # How it ended: exit code 1; 3 failed, 4 passed.
    (("xit",), r"\b(?i:exit(?:ed)?(?: with)? (?:code|status|value)|exited with):? -?\d"),
    ((" failed", " failure", " error"), r"\b[1-9]\d* (?:failed|failures?|errors?)\b"),
)
"""Lines that report an error, a failure or an exit code, not source code that handles one: for each kind its pattern,
and texts of which one stands in any such line. Looking for these first spares the pattern most lines."""


class Lines(msgspec.Struct, frozen=True):
    """Spans of an observation's lines; `first` and `last` are None for a text of white space."""

    first: Span | None
    last: Span | None
    errors: list[Span]


def lines_of(text: str) -> Lines:
    r"""Find the lines that may matter.

    >>> lines_of("start\n\nValueError: no\nend\n")
    Lines(first=(0, 5), last=(22, 25), errors=[(7, 21)])
    """
    body = text.strip()
    if not body:
        return Lines(None, None, [])
    begin = text.index(body[0])
    end = begin + len(body)
    first_end = _line_end(text, begin, end)
    last_start = text.rfind("\n", begin, end) + 1 or begin
    return Lines((begin, min(first_end, begin + EDGE)), (max(last_start, end - EDGE), end), list(_error_lines(text)))


def _error_lines(text: str) -> Iterator[Span]:
    """Spans of the lines that report an error; of a longer one `EDGE` / 2 characters on both sides of the word."""
    words: dict[Span, Span] = {}  # of each line: the first word in it that counts
    for hints, pattern in _error_patterns():
        for line in _lines_with(text, hints):
            match = pattern.search(text, *line)
            if match is not None:
                words[line] = min(match.span(), words.get(line, match.span()))
    for (start, stop), (begin, end) in sorted(words.items()):
        yield max(start, begin - EDGE // 2), min(stop, end + EDGE // 2)


@cache
def _error_patterns() -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    return [(hints, re.compile(pattern, re.MULTILINE)) for hints, pattern in ERROR_LINES]


def _lines_with(text: str, hints: Sequence[str]) -> Iterator[Span]:
    """The lines in which one of some texts stands; a line can come more than once."""
    for hint in hints:
        at = text.find(hint)
        while at >= 0:
            stop = _line_end(text, at, len(text))
            yield text.rfind("\n", 0, at) + 1, stop
            at = text.find(hint, stop)


def _line_end(text: str, start: int, most: int) -> int:
    end = text.find("\n", start, most)
    return most if end < 0 else end
