"""Secret values that this process knows, kept out of every text that is shown, sent or written.

>>> keep("example", "not-a-real-key")
>>> mask("sent with not-a-real-key")
'sent with [key]'
>>> drop("example")
"""

from __future__ import annotations

import os
import time

MASK = "[key]"
SHORTEST = 8
NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
FRESH_SECONDS = 1.0

_kept: dict[str, str] = {}
_known: tuple[str, ...] = ()
_read_at = float("-inf")


def keep(owner: str, secret: str) -> None:
    """Remember a secret of this process, and whose it is."""
    _kept[owner] = secret
    refresh()


def drop(owner: str) -> None:
    """Forget a secret that was kept."""
    _kept.pop(owner, None)
    refresh()


def kept(owner: str) -> str | None:
    """The secret that was kept for somebody."""
    return _kept.get(owner)


def secrets() -> tuple[str, ...]:
    """Values that must not be shown, the longest first: those kept, and those of the environment by their names.

    The environment is read anew once a second, or after `refresh`.
    """
    global _known, _read_at
    now = time.monotonic()
    if now - _read_at > FRESH_SECONDS:
        named = (value.strip() for name, value in os.environ.items() if name.endswith(NAMES))
        found = {*_kept.values(), *(value for value in named if len(value) >= SHORTEST)}
        _known, _read_at = tuple(sorted(found, key=len, reverse=True)), now
    return _known


def refresh() -> None:
    """Read the environment again at the next look."""
    global _read_at  # noqa: PLW0603 - see `secrets`
    _read_at = float("-inf")


def mask(text: str) -> str:
    """The text without known secrets; the same object where it has none."""
    for secret in secrets():
        if secret in text:
            text = text.replace(secret, MASK)
    return text
