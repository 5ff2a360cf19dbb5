"""JSON results with only the fields that the model needs: smaller, and still JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def drop_fields(text: str, keep: Sequence[str]) -> str:
    r"""Keep only some fields of a JSON text.

    An object keeps the fields named; a list is gone through item by item, and items that are no objects stay. What is
    kept stands as it stood, numbers to the last digit. A text that is not JSON, or neither object nor list, comes back
    as it is.

    Args:
        text: A tool's result.
        keep: Names of fields, `"title"`, or paths into objects, `"user.name"`; lists on the way are gone through. A
            field whose own name has dots in it may be named as it is. None at all: the text comes back as it is.

    Returns:
        JSON text, no longer than `text`.

    Raises:
        InputError: `keep` is one string, or names an empty field.

    >>> drop_fields('[{"id": 1, "user": {"name": "Ada", "mail": "a@b.c"}, "raw": "..."}]', ["id", "user.name"])
    '[{"id":1,"user":{"name":"Ada"}}]'
    >>> drop_fields("no JSON", ["id"])
    'no JSON'
    """
    if isinstance(keep, str):
        raise InputError(f"expected a list of field names, found the text {keep!r}", field="keep_fields")
    if not all(keep):
        raise InputError("a field name is empty", field="keep_fields")
    if not keep or text.lstrip(" \t\r\n")[:1] not in {"{", "["}:
        return text
    try:
        kept = _kept(msgspec.Raw(text.encode()), list(keep))
        shown = msgspec.json.encode(kept).decode()
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text
    return shown if len(shown) <= len(text) else text


def _kept(value: msgspec.Raw, keep: list[str]) -> Any:
    """What is kept of a value: a `Raw` as it stood, or a dict or list of such."""
    opening = bytes(value).lstrip()[:1]
    if opening == b"[":
        return [_kept(item, keep) for item in msgspec.json.decode(value, type=list[msgspec.Raw])]
    if opening != b"{":
        return value
    kept = {}
    for name, inner in msgspec.json.decode(value, type=dict[str, msgspec.Raw]).items():
        if name in keep:
            kept[name] = inner
        elif below := [path.removeprefix(name + ".") for path in keep if path.startswith(name + ".")]:
            found = _kept(inner, below)
            if not isinstance(found, msgspec.Raw):
                kept[name] = found
    return kept
