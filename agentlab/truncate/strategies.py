r"""Strategies: which part of a text is kept when it is over its limit.

- `middle_snip` keeps both ends: imports and exports, an invocation and its exit code
- `tail_cut` keeps the head: what comes first matters most, and the model can ask for the rest
- `head_cut` keeps the tail: the end of a log
- `head_tail(ratio)` keeps both ends and says how much of each

Each is a plain function `(text, limit, *, unit, ref, encoding) -> str`. Without a `ref` their marker is the chapter's
one line, and no line is counted; `agentlab.truncate.cut` takes them by name and returns the counts as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from agentlab.errors import InputError
from agentlab.truncate.cutting import cut

if TYPE_CHECKING:
    from agentlab.truncate.tokens import Tokenizer
    from agentlab.truncate.units import Unit

MAX_OBSERVATION_CHARS: Final = 4000
"""Default limit of an observation, in characters."""


class Strategy(Protocol):
    """A function that cuts a text to a limit."""

    def __call__(
        self,
        text: str,
        limit: int,
        *,
        unit: Unit = "characters",
        ref: str | None = None,
        encoding: str | Tokenizer = "o200k_base",
    ) -> str:
        """Return the text, or what is kept of it with the marker in place of the rest.

        Args:
            text: Any text.
            limit: At least 0, in `unit`; no result is over it.
            unit: `characters`, `tokens`, `lines` or `bytes`.
            ref: Id of the whole text in the store, which the marker then cites.
            encoding: For tokens.

        Raises:
            InputError: A negative limit, or an unknown unit.
        """


def truncate_observation(text: str, max_chars: int = MAX_OBSERVATION_CHARS) -> str:
    r"""Snip the middle out of a text that is too long, and say so (chapter, "Truncating observations").

    Args:
        text: Any text.
        max_chars: Limit in characters, at least 0.

    Returns:
        The text if it fits. Else its two ends around a marker, at most `max_chars` characters in all, marker included.

    Raises:
        InputError: A negative limit.

    >>> truncate_observation("a" * 500 + "z" * 500, 70)
    'aaaaa\n\n[...truncated: 991 characters omitted from the middle...]\n\nzzzz'
    """
    return cut(text, max_chars, name_lines=False).text


def head_tail(ratio: float) -> Strategy:
    r"""Make a strategy that keeps both ends and gives the head its share of what is kept.

    Args:
        ratio: From 0 (`head_cut`) over 0.5 (`middle_snip`) to 1 (`tail_cut`).

    Raises:
        InputError: A ratio out of range.

    >>> head_tail(0.75)("a" * 500 + "z" * 500, 70)
    'aaaaaaa\n\n[...truncated: 991 characters omitted from the middle...]\n\nzz'
    """
    if not 0 <= ratio <= 1:
        raise InputError(f"a ratio is from 0 to 1, and {ratio} is not", field="ratio")

    def strategy(
        text: str,
        limit: int,
        *,
        unit: Unit = "characters",
        ref: str | None = None,
        encoding: str | Tokenizer = "o200k_base",
    ) -> str:
        return cut(text, limit, "head_tail", unit=unit, ratio=ratio, ref=ref, encoding=encoding, name_lines=False).text

    return strategy


def middle_snip(
    text: str,
    limit: int,
    *,
    unit: Unit = "characters",
    ref: str | None = None,
    encoding: str | Tokenizer = "o200k_base",
) -> str:
    r"""Keep both ends, omit the middle; arguments as in `Strategy`.

    >>> middle_snip("a" * 500 + "z" * 500, 70)
    'aaaaa\n\n[...truncated: 991 characters omitted from the middle...]\n\nzzzz'
    """
    return cut(text, limit, "middle_snip", unit=unit, ref=ref, encoding=encoding, name_lines=False).text


def tail_cut(
    text: str,
    limit: int,
    *,
    unit: Unit = "characters",
    ref: str | None = None,
    encoding: str | Tokenizer = "o200k_base",
) -> str:
    r"""Keep the head, omit the end; arguments as in `Strategy`.

    >>> tail_cut("a" * 500 + "z" * 500, 70)
    'aaaaaaaaaaaaaa\n\n[...truncated: 986 characters omitted from the end...]'
    """
    return cut(text, limit, "tail_cut", unit=unit, ref=ref, encoding=encoding, name_lines=False).text


def head_cut(
    text: str,
    limit: int,
    *,
    unit: Unit = "characters",
    ref: str | None = None,
    encoding: str | Tokenizer = "o200k_base",
) -> str:
    r"""Keep the tail, omit the start; arguments as in `Strategy`.

    >>> head_cut("a" * 500 + "z" * 500, 70)
    '[...truncated: 988 characters omitted from the start...]\n\nzzzzzzzzzzzz'
    """
    return cut(text, limit, "head_cut", unit=unit, ref=ref, encoding=encoding, name_lines=False).text


STRATEGIES: Final[dict[str, Strategy]] = {
    "middle_snip": middle_snip,
    "tail_cut": tail_cut,
    "head_cut": head_cut,
    "head_tail": head_tail(0.5),
}
"""Strategies by the names that `cut` and a policy take; `head_tail` stands here with a ratio of 0.5."""
