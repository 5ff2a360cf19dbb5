"""Text to token ids: tiktoken's encodings, built from rank files that are already on the machine."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

from agentlab.tokens.ranks import EncodingSpec, read_ranks, search_paths, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import tiktoken

DEFAULT_ENCODING: Final = "o200k_base"

CHUNK_CHARACTERS: Final = 400_000
"""Longest text handed to tiktoken at once: a run of about a million spaces makes its regular expression panic."""

PIECE_END: Final = r"(?<=[A-Za-z])(?=[\x00-&(-@\[-`{-\x7f])|(?<=[0-9])(?=[\x00-/:-\x7f])|(?<=\n)(?=[^\s/])"
"""Where a token of either encoding always ends, whatever comes before or after.

An ASCII letter before an ASCII character that is neither a letter nor an apostrophe (contractions), an ASCII digit
before an ASCII character that is none, and a newline before anything but white space and "/" (which o200k_base joins
to it). A text cut at such a place has the ids of both parts.
"""

# Most texts have such a place within a line; only then is the longer stretch searched.
_LOOK_BACK: Final = (200, 10_000)

_built: dict[tuple[str, tuple[Path, ...] | None], tiktoken.Encoding] = {}
_building = Lock()


def encoding(name: str = DEFAULT_ENCODING, *, search: Sequence[Path] | None = None) -> tiktoken.Encoding:
    """Give tiktoken's encoding of that name, built once per process and without the network.

    Args:
        name: `"o200k_base"` (gpt-4o and later) or `"cl100k_base"` (gpt-4, gpt-3.5).
        search: Folders to look for rank files in; None for `agentlab.tokens.ranks.search_paths()`.

    Returns:
        A `tiktoken.Encoding`. Prefer `encode`, which no text can stop.

    Raises:
        InputError: No such encoding.
        MissingRanksError: No intact rank file is there; the text names the fix.

    >>> encoding("o200k_base").encode_ordinary("tiktoken is great!")
    [83, 8251, 2488, 382, 2212, 0]
    """
    key = (name, None if search is None else tuple(search))
    built = _built.get(key)
    if built is None:
        with _building:
            built = _built.get(key)
            if built is None:
                built = _built[key] = _build(spec_of(name), search_paths() if search is None else search)
    return built


def encode(
    text: str,
    encoding_name: str = DEFAULT_ENCODING,
    *,
    search: Sequence[Path] | None = None,
    chunk: int = CHUNK_CHARACTERS,
) -> list[int]:
    """Encode any text, special tokens as ordinary text.

    The text goes to the tokenizer in chunks. A chunk ends where a token always ends, if there is such a place in its
    last 10,000 characters; then the ids are those of the whole text. Else (a run of spaces, of emoji or of one letter
    that long) it is cut where it stands, which can move a few tokens per 400,000 characters.

    Args:
        text: Any text. Surrogates are made valid as in `valid_text`.
        encoding_name: `"o200k_base"` or `"cl100k_base"`.
        search: As in `encoding`.
        chunk: Longest chunk in characters, at least 1.

    Returns:
        Token ids.

    Raises:
        InputError: No such encoding.
        MissingRanksError: No intact rank file is there.

    >>> encode("<|endoftext|>")
    [27, 91, 419, 1440, 919, 91, 29]
    """
    return _encode(text, encoding(encoding_name, search=search), chunk)[0]


def encode_counting_cuts(
    text: str, encoding_name: str, *, search: Sequence[Path] | None = None
) -> tuple[list[int], int]:
    """Encode as `encode` does, and say at how many places a chunk ended where a token might not.

    >>> ids, cuts = encode_counting_cuts("a" * 400_001, "o200k_base")
    >>> cuts
    1
    """
    return _encode(text, encoding(encoding_name, search=search), CHUNK_CHARACTERS)


def valid_text(text: str) -> str:
    r"""Make text valid Unicode: a surrogate pair becomes its character, a lone surrogate U+FFFD.

    Valid text is returned as it is.

    >>> valid_text("a\ud83d\ude00b\ud83d") == "a😀b\ufffd"
    True
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _encode(text: str, tokenizer: tiktoken.Encoding, chunk: int) -> tuple[list[int], int]:
    text = valid_text(text)
    if len(text) <= chunk:
        return tokenizer.encode_ordinary(text), 0
    ids: list[int] = []
    cuts = 0
    for part, clean in _chunks(text, chunk):
        ids += tokenizer.encode_ordinary(part)
        cuts += not clean
    return ids, cuts


def _chunks(text: str, size: int) -> Iterator[tuple[str, bool]]:
    """Cut a text into chunks of at most `size` characters; True where a chunk ends at the certain end of a token."""
    import re

    piece_end = re.compile(PIECE_END)
    start = 0
    while len(text) - start > size:
        end = start + size
        for stretch in _LOOK_BACK:
            # The look-ahead needs the character after the last place, hence one more than the chunk may hold.
            ends = [match.start() for match in piece_end.finditer(text, max(start + 1, end - stretch), end + 1)]
            if ends:
                break
        cut = ends[-1] if ends else end
        yield text[start:cut], bool(ends)
        start = cut
    yield text[start:], True


def _build(spec: EncodingSpec, search: Sequence[Path]) -> tiktoken.Encoding:
    from binascii import a2b_base64

    import tiktoken

    fields = read_ranks(spec, search).split()
    return tiktoken.Encoding(
        name=spec.name,
        pat_str=spec.pattern,
        mergeable_ranks=dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True)),
        special_tokens=spec.special_tokens,
    )
