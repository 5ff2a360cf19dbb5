"""Reading back what a cut left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentlab.errors import InputError, ToolError
from agentlab.tools import Tool, tool
from agentlab.truncate import MAX_OBSERVATION_CHARS

if TYPE_CHECKING:
    from agentlab.store import Store

SMALLEST_PAGE = 200  # characters: below that the closing note takes most of a page


def read_result_tool(store: Store, *, max_chars: int = MAX_OBSERVATION_CHARS) -> Tool:
    """Make the tool `read_result` over a store.

    It pages within its own limit, and what it returns is never stored again.

    Args:
        store: Where the full texts are.
        max_chars: Limit of one page with its closing note, in characters, at least 200.

    Raises:
        InputError: A limit under 200.
    """
    if max_chars < SMALLEST_PAGE:
        raise InputError(
            f"expected at least {SMALLEST_PAGE} characters, found {max_chars}: a page ends with a note on how to go on",
            field="max_chars",
        )

    @tool(max_observation_chars=max_chars, stored=False)
    def read_result(
        id: str,  # noqa: A002 - the name that stands in the note of a cut
        start: int = 0,
        end: int | None = None,
        by: Literal["characters", "lines"] = "characters",
    ) -> str:
        """Read a part of an earlier result that was cut. A long part comes in pages; the last line says how to go on.

        Args:
            id: The id in the note of the cut result.
            start: First character, from 0; with by="lines" the first line, from 1.
            end: Character before which to stop; with by="lines" the last line. Left out: to the end.
            by: Count in "characters" or in "lines".
        """
        read = page if by == "characters" else page_of_lines
        return read(store.get(id), id, start, end, room=read_result.max_observation_chars)

    return read_result


def page(text: str, key: str, start: int, end: int | None, *, room: int) -> str:
    """Characters `start` to `end` of a text, as far as they fit into `room`, and how to go on.

    Where there is no room for that note, the text alone fills it.

    Raises:
        ToolError: The range is not one of the text.
    """
    stop = len(text) if end is None else min(end, len(text))
    if start < 0 or start >= max(1, len(text)) or stop < start:
        raise ToolError(f"the range {start} to {end} is not in the text: it has the characters 0 to {len(text)}")
    if stop - start <= room:
        return text[start:stop]
    # No note is longer than that of the last page, which has the largest numbers.
    left = room - len(_note(start, stop, stop, len(text), key))
    if left <= 0:
        return text[start : start + room]
    nxt = start + left
    return text[start:nxt] + _note(start, nxt, stop, len(text), key)


def _note(start: int, nxt: int, stop: int, whole: int, key: str) -> str:
    """The last line of a page: what it holds, and the call that reads the next one."""
    return f'\n[characters {start}-{nxt} of {whole}; read_result("{key}", start={nxt}, end={stop}) goes on]'


def page_of_lines(text: str, key: str, first: int, last: int | None, *, room: int) -> str:
    """Lines `first` to `last` of a text, from 1, as far as they fit, and how to go on.

    Raises:
        ToolError: The range is not one of the text.
    """
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")]
    first = max(1, first)
    stop = len(lines) if last is None else min(last, len(lines))
    if first > max(1, len(lines)) or stop < first:
        raise ToolError(f"the lines {first} to {last} are not in the text: it has the lines 1 to {len(lines)}")
    start = sum(len(line) for line in lines[: first - 1])
    size = sum(len(line) for line in lines[first - 1 : stop])
    return page(text, key, start, start + size, room=room)
