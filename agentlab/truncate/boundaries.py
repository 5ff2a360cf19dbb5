"""Where a text may be cut: never inside what a reader sees as one character.

A cut between two characters is bad where they belong together: a letter and its combining mark, the parts of a ZWJ
emoji or of a flag, CR and LF, the halves of a surrogate pair, the jamo of a decomposed Korean syllable. This covers
what tools return in practice with a few comparisons per cut; it is not the whole of Unicode's grapheme rules.
"""

from __future__ import annotations

MAX_STEPS = 64
"""How far a cut moves at most: a letter under a thousand marks is cut through."""

_ZWJ = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def head_end(text: str, end: int) -> int:
    r"""Largest offset up to `end` where the text may be cut; what is before it is kept.

    >>> head_end("cafe\u0301!", 4), head_end("cafe!", 4)
    (3, 4)
    """
    for offset in range(end, max(end - MAX_STEPS, 0), -1):
        if not joined(text, offset):
            return offset
    if end <= MAX_STEPS:
        return 0
    return end - 1 if _in_pair(text, end) else end


def tail_start(text: str, start: int) -> int:
    r"""Smallest offset from `start` on where the text may be cut; what is after it is kept.

    >>> tail_start("a\r\nb", 2)
    3
    """
    for offset in range(start, min(start + MAX_STEPS, len(text))):
        if not joined(text, offset):
            return offset
    if start + MAX_STEPS >= len(text):
        return len(text)
    return start + 1 if _in_pair(text, start) else start


def joined(text: str, offset: int) -> bool:
    r"""Whether the characters on both sides of an offset belong together.

    >>> joined("\r\n", 1), joined("ab", 1), joined("\N{WOMAN}\u200d\N{ROCKET}", 2)
    (True, False, True)
    """
    if not 0 < offset < len(text):
        return False
    left, right = text[offset - 1], text[offset]
    if right < "\u0300":
        return (left == "\r" and right == "\n") or left == _ZWJ
    if left == _ZWJ or _extends(right) or _in_pair(text, offset):
        return True
    return left in _FLAG_LETTERS and right in _FLAG_LETTERS and _flag_letters_before(text, offset) % 2 == 1


def _extends(character: str) -> bool:
    """Whether a character only adds to the one before it: a mark, a joiner, a skin tone, a tag, a trailing jamo."""
    from unicodedata import category

    return (
        character == _ZWJ
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or "\u1160" <= character <= "\u11ff"
        or category(character) in {"Mn", "Me", "Mc"}
    )


def _in_pair(text: str, offset: int) -> bool:
    """Whether an offset lies between two halves of a surrogate pair that stand as two characters."""
    return "\ud800" <= text[offset - 1] <= "\udbff" and "\udc00" <= text[offset] <= "\udfff"


def _flag_letters_before(text: str, offset: int) -> int:
    """How many regional indicators end at an offset; two make a flag. Longer runs than 100,000 are not counted out."""
    before = text[max(offset - 100_000, 0) : offset]
    return len(before) - len(before.rstrip(_FLAG_LETTERS))
