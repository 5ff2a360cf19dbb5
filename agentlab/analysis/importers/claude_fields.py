"""Fields of a Claude Code line, any of which may be missing or of another type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def text_of(line: dict[str, Any], key: str) -> str:
    """A text, "" where there is none.

    >>> text_of({"uuid": 5}, "uuid")
    ''
    """
    text = line.get(key)
    return text if isinstance(text, str) else ""


def object_of(value: Any) -> dict[str, Any]:
    """The value itself where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The value itself where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def time_of(line: dict[str, Any]) -> float | None:
    """When a line was written, in seconds since 1970.

    >>> time_of({"timestamp": "2025-07-20T03:51:20.500Z"})
    1752983480.5
    """
    try:
        time = datetime.fromisoformat(line["timestamp"])
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None


def merge_call(known: dict[str, Any], line: dict[str, Any], message: dict[str, Any]) -> None:
    """Add what a line says of its call: the usage with the largest output is kept, and the largest cost."""
    usage = message.get("usage")
    if isinstance(usage, dict) and _output(usage) >= _output(known.get("usage", {})):
        known["usage"] = usage
    known.update((key, message[key]) for key in ("stop_reason", "model") if text_of(message, key))
    cost = line.get("costUSD")
    if isinstance(cost, int | float) and 0 <= cost < float("inf"):
        known["cost"] = max(float(cost), known.get("cost", 0.0))


def _output(usage: dict[str, Any]) -> int:
    output = usage.get("output_tokens")
    return output if isinstance(output, int) else -1
