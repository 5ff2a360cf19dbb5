"""Values of a log that may be missing or of another type than its format says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def object_of(value: Any) -> dict[str, Any]:
    """The value itself where it is an object, else an empty one.

    >>> object_of({"a": 1}), object_of("a")
    ({'a': 1}, {})
    """
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value itself where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """The value itself where it is a text with something in it, else None."""
    return value if isinstance(value, str) and value else None


def text_at(line: dict[str, Any], key: str) -> str:
    """A text of an object, "" where there is none.

    >>> text_at({"uuid": 5}, "uuid")
    ''
    """
    return text_of(line.get(key)) or ""


def time_at(line: dict[str, Any]) -> float | None:
    """When a line was written, by its `timestamp`, in seconds since 1970.

    >>> time_at({"timestamp": "2025-07-20T03:51:20.500Z"})
    1752983480.5
    """
    try:
        time = datetime.fromisoformat(line["timestamp"])
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None


def dollars_of(value: Any) -> float | None:
    """A cost; None for no number, and for 0, which agents write where they know no price.

    >>> dollars_of(1.5), dollars_of(0), dollars_of("1")
    (1.5, None, None)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < float("inf") else None


def labels_of(**values: Any) -> dict[str, Any]:
    """Those that are a text or a number.

    >>> labels_of(task="a", reward=1.0, note=None)
    {'task': 'a', 'reward': 1.0}
    """
    return {name: value for name, value in values.items() if isinstance(value, str | int | float)}
