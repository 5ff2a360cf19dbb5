"""Reading back what a cut left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentlab.errors import ToolError
from agentlab.tools import Tool, tool
from agentlab.truncate import MAX_OBSERVATION_CHARS

if TYPE_CHECKING:
    from agentlab.store import Store

NOTE_ROOM = 120


def read_result_tool(store: Store, *, max_chars: int = MAX_OBSERVATION_CHARS) -> Tool:
    """Make the tool `read_result` over a store.

    It pages within its own limit, and what it returns is never stored again.

    Args:
        store: Where the full texts are.
        max_chars: Limit of one page with its closing note, in characters.
    """

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
        return read(store.get(id), id, start, end, room=max_chars)

    return read_result


def page(text: str, key: str, start: int, end: int | None, *, room: int) -> str:
    """Characters `start` to `end` of a text, as far as they fit into `room`, and how to go on.

    Raises:
        ToolError: The range is not one of the text.
    """
    stop = len(text) if end is None else min(end, len(text))
    if start < 0 or start >= max(1, len(text)) or stop < start:
        raise ToolError(f"the range {start} to {end} is not in the text: it has the characters 0 to {len(text)}")
    shown = text[start:stop]
    if len(shown) <= room:
        return shown
    shown = shown[: max(1, room - NOTE_ROOM)]
    nxt = start + len(shown)
    note = f'\n[characters {start}-{nxt} of {len(text)}; read_result("{key}", start={nxt}, end={stop}) goes on]'
    return (shown + note)[:room] if len(shown) + len(note) > room else shown + note


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
