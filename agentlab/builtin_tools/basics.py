"""The smallest tools: the time, a count of words, and a text that is too long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentlab.tools import Tool, tool

if TYPE_CHECKING:
    from collections.abc import Callable

LOREM_CHARS = 50_000
"""Length of the text that `lorem` returns, in characters."""

_WORDS = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna "
    "aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat"
)


def make_now(clock: Callable[[], float] = time.time) -> Tool:
    """The tool `now` on a clock of one's own.

    Args:
        clock: Returns the time in seconds since 1970, UTC.

    >>> make_now(lambda: 1_778_686_822.9).run()
    '2026-05-13T15:40:22Z'
    """

    @tool(max_observation_chars=100, polling=True)
    def now() -> str:
        """Return the current date and time in UTC, in ISO format such as 2026-05-13T15:40:22Z."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock()))

    return now


now = make_now()


@tool(max_observation_chars=50)
def wordcount(text: str) -> str:
    """Count the words of a text; words are separated by white space.

    Args:
        text: The text whose words are counted.
    """
    return str(len(text.split()))


@tool
def lorem() -> str:
    """Return 50,000 characters of placeholder text in numbered lines."""
    lines: list[str] = []
    words = _WORDS.split()
    length, word = 0, 0
    while length < LOREM_CHARS:
        line = f"{len(lines) + 1:04d}"
        while len(line) + len(words[word]) < 79:
            line = f"{line} {words[word]}"
            word = (word + 1) % len(words)
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[: LOREM_CHARS - 1] + "."
