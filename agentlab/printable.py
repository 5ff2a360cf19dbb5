r"""Names from a log as a terminal, a page and a picture can show them.

A tool, a model and a file are named by whoever wrote the log. An escape sequence in such a name would colour the
terminal or set its title, a mark of direction would turn the line around, and a byte that is no UTF-8 cannot be
written at all.
"""

from __future__ import annotations

import re

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line feed, marks that change the direction of a line, lone surrogates."""


def printable(text: str) -> str:
    r"""A text with U+FFFD for each character that would do something rather than be seen.

    >>> printable("\x1b[31mred") == "\ufffd[31mred", printable("naïve, two\nlines")
    (True, 'naïve, two\nlines')
    """
    return UNSEEN.sub("\ufffd", text)


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters: its beginning and its end, with an ellipsis between.

    Args:
        text: Such as the name of a tool.
        most: Characters, at least 3.

    >>> shortened("mcp__a_server__a_tool", 11), shortened("Bash", 11)
    ('mcp__…_tool', 'Bash')
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "line"), counted(12_473, "character"), counted(0, "entry", "entries")
    ('1 line', '12,473 characters', '0 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"
