"""Counts that say whether they are exact, and how they came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.errors import MissingRanksError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LENGTH: Final = "characters/4"
"""Method of an estimate by length."""


class TokenCount(msgspec.Struct, frozen=True):
    """A number of tokens, and where it comes from.

    Attributes:
        n: The number.
        exact: True where a tokenizer of this model, or its provider, said so; False for an estimate.
        method: How it was counted: an encoding, `"usage"`, `"characters/4"`, or several joined by `" + "`.

    >>> print(TokenCount(120, True, "o200k_base") + TokenCount(30, False, "characters/4"))
    ≈150
    """

    n: int
    exact: bool
    method: str

    def __int__(self) -> int:
        return self.n

    def __add__(self, other: TokenCount) -> TokenCount:
        """Sum of two; exact only where both are."""
        return TokenCount(self.n + other.n, self.exact and other.exact, join_methods(self.method, other.method))

    def __radd__(self, other: int) -> TokenCount:
        """Let `sum` start from its 0."""
        return self if other == 0 else NotImplemented

    def __str__(self) -> str:
        return str(self.n) if self.exact else f"≈{self.n}"


def join_methods(*methods: str) -> str:
    """Name several methods once each, in the order in which they come.

    >>> join_methods("usage", "characters/4", "", "usage + o200k_base")
    'usage + characters/4 + o200k_base'
    """
    parts = (part for method in methods for part in method.split(" + ") if part)
    return " + ".join(dict.fromkeys(parts))


def estimate_text(text: str) -> TokenCount:
    """Estimate from the length alone: a quarter of the characters, rounded up. Loads nothing, reads nothing.

    English prose and code come out a little high, base64 and CJK text far too low (1.5 and 1 characters per token).

    >>> estimate_text("tiktoken is great!")
    TokenCount(n=5, exact=False, method='characters/4')
    """
    return TokenCount((len(text) + 3) // 4, False, LENGTH)


def count_text(
    text: str,
    model_or_encoding: str = "o200k_base",
    *,
    allow_estimate: bool = False,
    search: Sequence[Path] | None = None,
) -> TokenCount:
    """Count the tokens of a text.

    Exact for OpenAI's encodings and models. Claude's tokenizer is not public: its count is that of o200k_base times a
    dated factor, an estimate and no bound. A model that is not in the table is counted by what is known of its family,
    as an estimate.

    Args:
        text: Any text; special tokens in it count as ordinary text.
        model_or_encoding: A model's name, dated or not, or an encoding's.
        allow_estimate: Where the rank files are missing, give the number of UTF-8 bytes: never too low for OpenAI's
            encodings.
        search: Folders to look for rank files in, as in `encoding`.

    Returns:
        The count of the bare text, without what a message adds to it.

    Raises:
        MissingRanksError: No rank file is there, and `allow_estimate` is False.

    >>> count_text("tiktoken is great!")
    TokenCount(n=6, exact=True, method='o200k_base')
    >>> print(count_text("tiktoken is great!", "claude-sonnet-4-5-20250929"))
    ≈9
    """
    from agentlab.tokens.encodings import encode_counting_cuts
    from agentlab.tokens.models import tokenizer_of

    tokenizer = tokenizer_of(model_or_encoding)
    try:
        ids, cuts = encode_counting_cuts(text, tokenizer.encoding, search=search)
    except MissingRanksError:
        if not allow_estimate:
            raise
        return TokenCount(len(text.encode("utf-8", "surrogatepass")), False, "UTF-8 bytes")
    method = f"{tokenizer.method} in chunks" if cuts else tokenizer.method
    return TokenCount(tokenizer.scale(len(ids)), tokenizer.exact and not cuts, method)
