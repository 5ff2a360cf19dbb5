"""A text in tokens, where the tokenizer sees a window of it and never the whole.

Encoding ten megabytes to keep 4,000 tokens is a waste of a second. The beginning is encoded in a window that grows
until it holds more tokens than are wanted; the end likewise. What was cut is encoded once more, since tokens can join
differently beside the marker: `agentlab.truncate.cut` shrinks it until it fits. So the work depends on the limit and
not on the length of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentlab.truncate.units import utf8_size

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_TOKEN = 128
"""Characters of the longest token, a run of spaces, in o200k_base and cl100k_base."""

SLACK = 64
"""Tokens that a window must hold beyond those wanted: the ones at its rim may not be those of the whole text."""

_PROBE = 1024
"""Characters of the first window: enough to tell Chinese (1 character per token) from prose (4) or from spaces."""

_SURROGATES = r"[\ud800-\udfff]"


class Tokenizer(Protocol):
    """Text to ids and ids to bytes: the seam for another tokenizer, or for one that counts what it was shown."""

    def encode(self, text: str) -> list[int]:
        """Ids of any text; special tokens are ordinary text, and nothing is refused."""

    def decode_bytes(self, ids: list[int]) -> bytes:
        """UTF-8 of ids; it may begin or end in the middle of a character."""


class NamedTokenizer:
    """The tokenizer of an encoding that `agentlab.tokens` knows.

    >>> NamedTokenizer("o200k_base").encode("tiktoken is great!")
    [83, 8251, 2488, 382, 2212, 0]
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, text: str) -> list[int]:
        """Ids of any text."""
        from agentlab.tokens import encode

        return encode(text, self._name)

    def decode_bytes(self, ids: list[int]) -> bytes:
        """UTF-8 of ids."""
        from agentlab.tokens import encoding

        return encoding(self._name).decode_bytes(ids)


class Tokens:
    """A text in tokens; what was encoded at either end is kept for the next question.

    >>> text = "tiktoken is great! " * 1000
    >>> tokens = Tokens(text, NamedTokenizer("o200k_base"))
    >>> tokens.fits(100), text[:tokens.head(6)]
    (False, 'tiktoken is great!')
    """

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self._tokenizer = tokenizer
        self._head = _Window(len(text), lambda width: tokenizer.encode(_countable(text[:width])))
        self._tail = _Window(len(text), lambda width: tokenizer.encode(_countable(text[len(text) - width :])))

    def fits(self, limit: int) -> bool:
        """Whether the text has no more tokens than the limit; the lengths decide where they can."""
        length = len(self._text)
        if length <= limit and utf8_size(self._text) <= limit:
            return True
        if length > limit * LONGEST_TOKEN:
            return False
        tokens = len(self._head.ids(limit))
        if self._head.is_whole and _countable(self._text) is not self._text:
            tokens = self.size(self._text)
        return tokens <= limit

    def head(self, room: int) -> int:
        """Length in characters of the beginning that `room` tokens hold; a character cut through is left out."""
        if room == 0:
            return 0
        return len(self._tokenizer.decode_bytes(self._head.ids(room)[:room]).decode("utf-8", "ignore"))

    def tail(self, room: int) -> int:
        """Length in characters of the end that `room` tokens hold; a character cut through is left out."""
        if room == 0:
            return 0
        return len(self._tokenizer.decode_bytes(self._tail.ids(room)[-room:]).decode("utf-8", "ignore"))

    def size(self, text: str) -> int:
        """Tokens of any text, encoded in full."""
        return len(self._tokenizer.encode(text))


class _Window:
    """One end of a text, encoded as far as was needed."""

    def __init__(self, length: int, encode: Callable[[int], list[int]]) -> None:
        self._length = length
        self._encode = encode
        self._width = 0
        self._ids: list[int] = []

    @property
    def is_whole(self) -> bool:
        """Whether the window holds the whole text."""
        return self._width == self._length

    def ids(self, room: int) -> list[int]:
        """Ids of a window that holds more than `room` tokens and some to spare, or else of the whole text."""
        wanted = room + SLACK + 1
        widest = min(self._length, wanted * LONGEST_TOKEN)
        while len(self._ids) < wanted and self._width < widest:
            self._width = min(widest, self._next_width(wanted))
            self._ids = self._encode(self._width)
        return self._ids

    def _next_width(self, wanted: int) -> int:
        """Guess from the density seen so far, a fifth more than needed, so that few windows do."""
        if not self._ids:
            return _PROBE
        return max(self._width * 6 * wanted // (5 * len(self._ids)), self._width * 3 // 2)


def _countable(text: str) -> str:
    """The text with a U+FFFD for each surrogate, as long as before: offsets in what the ids decode to hold for it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        import re

        return re.sub(_SURROGATES, "\ufffd", text)
    return text
