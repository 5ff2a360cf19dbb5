"""Line numbers of what is missing, each character counted about once."""

from __future__ import annotations

from functools import partial


class Numbering:
    r"""The lines of one text, asked for again and again at places that lie close together.

    >>> numbering = Numbering("one\ntwo\nthree\nfour\n")
    >>> numbering.lines, numbering.missing(5, 9)
    (4, (2, 3))
    """

    def __init__(self, text: str, head: int = 0, tail: int = 0) -> None:
        """Count once: up to where the gap may begin, in it, and behind it, so that no part is counted again later.

        Args:
            text: Any text.
            head: About how many characters will be kept of its beginning.
            tail: About how many of its end; both together at most the text.
        """
        self._text = text
        # Bytes are counted twice as fast as characters, and in ASCII both stand at the same places.
        self._count = partial(text.encode().count, b"\n") if text.isascii() else partial(text.count, "\n")
        end = len(text) - tail
        # Two known places, one for each end of the gap: an offset, and the newlines before it.
        self._start = (head, self._count(0, head))
        self._end = (end, self._start[1] + self._count(head, end))
        self.lines = self._end[1] + self._count(end) + (text != "" and not text.endswith("\n"))

    def missing(self, start: int, end: int) -> tuple[int, int]:
        r"""First and last line of which something is missing when `text[start:end]` is.

        A line that lacks only its newline is not missing, unless that is all there is.

        >>> Numbering("one\ntwo\nthree\n").missing(3, 8)
        (2, 2)
        """
        if start == 0 and end == len(self._text):
            first, last = 1, self.lines
        else:
            self._start = self._move(*self._start, start)
            self._end = self._move(*self._end, end - 1)
            first, last = self._start[1] + 1, self._end[1] + 1
        return (first + 1 if end - start > 1 and self._text[start] == "\n" else first), last

    def _move(self, place: int, newlines: int, offset: int) -> tuple[int, int]:
        """Count from a known place to a new one."""
        if offset == place:
            return place, newlines
        if offset < place:
            return offset, newlines - self._count(offset, place)
        return offset, newlines + self._count(place, offset)
