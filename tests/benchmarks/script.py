"""The scripted model and the tool that every subject drives.

The model asks for K calls of `echo`, one per iteration, then answers. Each result is a new string, so that no subject
can hide memory by sharing one. What goes over a wire, and the model's own time, is left out for all.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = "You are a helpful assistant. Call the tool echo as often as you need, then answer."
TASK = "Call echo as often as you need, then say that you are done."
FINAL = "All done."
FLOOR_LIMIT = 16_000
"""Where the floor cuts a result, in characters."""

_WORDS = """
the of and to in is that for it as was with be by on not this have from or had an they which one were all their
there been has when who will more if out so up said what about than into them can only other time new some could
these two may first then do any like my now over such our return self import print range value index array shape
Error Traceback line file cell kernel None True False lambda yield class module install version package
"""
_TEXT_CHARACTERS = 1 << 20


def prose(characters: int, seed: int = 7) -> str:
    """Mixed prose, code and numbers in lines; the same for a seed."""
    draw = random.Random(seed)
    words = _WORDS.split()
    parts: list[str] = []
    size = 0
    while size < characters:
        kind = draw.random()
        if kind < 0.82:
            part = draw.choice(words)
        elif kind < 0.92:
            part = f"{draw.random() * 1000:.3f}"
        else:
            part = draw.choice((".\n", ":\n    ", "\n\n", " -> ", f"x_{draw.randrange(1000)} = [1, 2]"))
        parts.append(part)
        size += len(part) + 1
    return " ".join(parts)[:characters]


def log_lines(characters: int, seed: int = 11) -> str:
    """A server's log of so many characters."""
    draw = random.Random(seed)
    parts: list[str] = []
    size = 0
    while size < characters:
        part = (
            f"2026-11-{draw.randint(1, 30):02d} 12:{draw.randint(0, 59):02d}:01 INFO worker-{draw.randint(0, 9)} "
            f"request id={draw.getrandbits(64):x} took {draw.randint(1, 900)} ms path=/api/v1/items/{len(parts)}\n"
        )
        parts.append(part)
        size += len(part)
    return "".join(parts)[:characters]


class Script:
    """What the model does next, and when it was asked.

    Args:
        size: Characters of a result.
        clock: Nanoseconds; where given, the time of each model call is kept in `stamps`.

    Attributes:
        asked: Model calls until now.
    """

    def __init__(self, size: int, clock: Callable[[], int] | None = None) -> None:
        self.size = size
        self.clock = clock
        self.stamps: list[int] = []
        self.left = 0
        self.calls = 0
        self.asked = 0
        self._text = prose(_TEXT_CHARACTERS)

    def start(self, iterations: int) -> None:
        """Ask for so many calls of `echo` from now on."""
        self.left = iterations
        self.stamps = []

    def next_call(self) -> int | None:
        """Number of the next call, or None for the final answer."""
        self.asked += 1
        if self.clock is not None:
            self.stamps.append(self.clock())
        if self.left <= 0:
            return None
        self.left -= 1
        self.calls += 1
        return self.calls

    def echo(self, n: int) -> str:
        """A string of `size` characters that is made for this call."""
        head = f"[{n:06d}] "
        start = n * 7919 % (_TEXT_CHARACTERS // 2)
        return (head + self._text[start : start + self.size - len(head)])[: self.size]
