"""Names for JSON values: digests of what may be written, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.providers.keys import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIGEST_DIGITS = 32


def chain(before: str, added: str) -> str:
    """Digest of a list of messages: that of the list before its last message, with that message's digest added."""
    return _sha256((before + added).encode())


def digest(value: Any) -> str:
    """Digest of a JSON value, whatever the order of its keys.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return _sha256(encode(value))


def encode(value: Any) -> bytes:
    """A JSON value as bytes, keys in order."""
    return msgspec.json.encode(value, order="deterministic")


def clean(value: Any, then: Callable[[str], str] | None = None) -> Any:
    """A JSON value as it may be written: no secrets, no lone surrogates.

    Args:
        value: Any JSON value; it is not changed.
        then: What else is done to every text in it.

    >>> clean({"content": "Bearer abc.123", "n": 1})
    {'content': 'Bearer [key]', 'n': 1}
    """
    joined = "\0".join(_texts(value))
    # Looking through all texts at once is much cheaper; what a seam between two makes up is sorted out one by one.
    hide = redact if redact(joined) != joined else None
    valid = joined.isascii() or joined.encode("utf-8", "replace").decode() == joined
    if hide is None and valid and then is None:
        return value

    def change(text: str) -> str:
        if hide is not None:
            text = hide(text)
        if not valid:
            text = text.encode("utf-8", "backslashreplace").decode()
        return text if then is None else then(text)

    return _changed(value, change)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a JSON value with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_changed(key, change): _changed(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_changed(item, change) for item in value]
    return value


class Digests:
    """Digests of cleaned values; a value that was seen before is not cleaned again.

    Args:
        then: What is done to every text besides, before it counts.
    """

    def __init__(self, then: Callable[[str], str] | None = None) -> None:
        self.then = then
        self._seen: dict[bytes, str] = {}

    def __call__(self, value: Any) -> str:
        """Digest of a value as `clean` leaves it."""
        try:
            raw = encode(value)
        except UnicodeEncodeError:
            return digest(clean(value, self.then))
        key = _sha256(raw).encode()
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = digest(clean(value, self.then))
        return found


def _sha256(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()[:DIGEST_DIGITS]
