"""What a limit counts: characters, bytes or lines (and tokens, in `tokens`).

Each unit is one class that answers, for one text, the four questions a cut asks. A cut takes the rest from there.
"""

from __future__ import annotations

from typing import Literal, Protocol

Unit = Literal["characters", "tokens", "lines", "bytes"]


class Measured(Protocol):
    """A text seen in one unit."""

    def fits(self, limit: int) -> bool:
        """Whether the text is no larger than the limit."""

    def head(self, room: int) -> int:
        """Length in characters of the longest beginning that takes at most `room`."""

    def tail(self, room: int) -> int:
        """Length in characters of the longest end that takes at most `room`."""

    def size(self, text: str) -> int:
        """Size of any text in this unit."""


class Characters:
    """A text in characters: Python's, which are code points."""

    def __init__(self, text: str) -> None:
        self._length = len(text)

    def fits(self, limit: int) -> bool:
        """Whether it has at most `limit` characters."""
        return self._length <= limit

    def head(self, room: int) -> int:
        """Characters of the longest beginning of `room` characters."""
        return min(room, self._length)

    def tail(self, room: int) -> int:
        """Characters of the longest end of `room` characters."""
        return min(room, self._length)

    def size(self, text: str) -> int:
        """Characters of any text."""
        return len(text)


class Bytes:
    """A text in bytes of UTF-8; a lone surrogate, which UTF-8 does not know, counts 3.

    >>> Bytes("naïve").head(3), Bytes("naïve").head(4)
    (2, 3)
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def fits(self, limit: int) -> bool:
        """Whether it has at most `limit` bytes."""
        return len(self._text) <= limit and utf8_size(self._text) <= limit

    def head(self, room: int) -> int:
        """Characters of the longest beginning of `room` bytes."""
        data = _utf8(self._text[:room])
        end = min(room, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        return len(data[:end].decode("utf-8", "surrogatepass"))

    def tail(self, room: int) -> int:
        """Characters of the longest end of `room` bytes."""
        data = _utf8(self._text[max(len(self._text) - room, 0) :])
        start = max(len(data) - room, 0)
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        return len(data[start:].decode("utf-8", "surrogatepass"))

    def size(self, text: str) -> int:
        """Bytes of any text."""
        return utf8_size(text)


class Lines:
    r"""A text in lines, which "\n" ends; a last line needs none.

    The head ends before the newline of its last line, so that one blank line sets it apart from the marker.

    >>> lines = Lines("one\ntwo\nthree\n")
    >>> lines.head(2), lines.tail(2), lines.size("one\ntwo")
    (7, 10, 2)
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def fits(self, limit: int) -> bool:
        """Whether it has at most `limit` lines."""
        return len(self._text) <= limit or line_count(self._text) <= limit

    def head(self, room: int) -> int:
        """Characters of the longest beginning of `room` lines."""
        end = -1
        for _ in range(room):
            end = self._text.find("\n", end + 1)
            if end < 0:
                return len(self._text)
        return max(end, 0)

    def tail(self, room: int) -> int:
        """Characters of the longest end of `room` lines."""
        if room == 0:
            return 0
        end = len(self._text)
        start = end - self._text.endswith("\n")
        for _ in range(room):
            start = self._text.rfind("\n", 0, start)
            if start < 0:
                return end
        return end - start - 1

    def size(self, text: str) -> int:
        """Lines of any text."""
        return line_count(text)


def line_count(text: str) -> int:
    r"""Count lines; one that "\n" does not end counts too.

    >>> line_count(""), line_count("a"), line_count("a\n"), line_count("a\nb")
    (0, 1, 1, 2)
    """
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8.

    >>> utf8_size("naïve")
    6
    """
    return len(text) if text.isascii() else len(_utf8(text))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
