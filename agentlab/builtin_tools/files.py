"""What `read_file` and `list_dir` do, in a `Workspace`."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, TextIO

from agentlab.builtin_tools.workspace import Workspace, printable, quoted
from agentlab.errors import ToolError

if TYPE_CHECKING:
    from typing import BinaryIO

    from agentlab.budgets import Scope

MAX_WHOLE_BYTES = 20_000_000
"""The largest file that is read whole, and the largest range of lines, in bytes."""

MAX_ENTRIES = 2_000
"""How many names of a folder are listed."""

_SNIFFED = 8_192
_PIECE = 1 << 20
_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read_text(
    workspace: Workspace, path: str, start_line: int | None, end_line: int | None, scope: Scope | None = None
) -> str:
    """Read a text file, or a range of its lines.

    Lines end at a line feed and keep what they end in, so that consecutive ranges put together are the whole. A
    range is streamed: no more than itself is held.

    Args:
        workspace: Where the path must lie.
        path: Relative to the workspace, or absolute inside it.
        start_line: First line, from 1; None is the first.
        end_line: Last line, included; None is the last, and a later one is clipped to it.
        scope: Ends the reading.

    Returns:
        The text as it is in the file. A byte-order mark is left out; bytes that are not UTF-8 become U+FFFD, and a
        first line says so.

    Raises:
        ToolError: No text file there, a range that the file has not, or more than 20 MB asked for.
        ScopeEnded: The scope ended.
    """
    with workspace.open(path) as raw:
        shown = workspace.shown(workspace.resolve(path))
        size = os.fstat(raw.fileno()).st_size
        stream = text_stream(raw)
        if stream is None:
            raise ToolError(f"{quoted(shown)} is a binary file of {size} bytes: it has no text to read")
        if start_line is None and end_line is None and size > MAX_WHOLE_BYTES:
            raise ToolError(
                f"{quoted(shown)} has {size} bytes, too many to read at once: ask for a part of it, such as "
                "start_line=1, end_line=200"
            )
        text = _lines(stream, shown, 1 if start_line is None else start_line, end_line, scope)
    return _valid(text, shown) if text else f"({shown} is empty)"


def text_stream(raw: BinaryIO) -> TextIO | None:
    """The text of an opened file, or None where it is binary: a NUL byte, or mostly bytes that are not text.

    Bytes that are not UTF-8 come as lone surrogates. Files in UTF-16 are known by their byte-order mark.
    """
    head = raw.peek(_SNIFFED)[:_SNIFFED] if isinstance(raw, io.BufferedReader) else b""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return io.TextIOWrapper(raw, encoding, errors="replace", newline="\n")
    if b"\0" in head or head.decode("utf-8", "replace").count("\ufffd") > 0.3 * len(head):
        return None
    return io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="\n")


def _lines(stream: TextIO, shown: str, start: int, end: int | None, scope: Scope | None) -> str:
    """Lines `start` to `end` of a stream, both included."""
    pieces: list[str] = []
    kept = done = 0
    inside = False  # of a line whose end has not come yet
    wrong = start < 1 or (end is not None and end < start)
    while piece := stream.readline(_PIECE):
        if not wrong and done + 1 >= start:
            pieces.append(piece)
            kept += len(piece)
            if kept > MAX_WHOLE_BYTES:
                raise ToolError(
                    f"lines {start} to {end or 'the end'} of {quoted(shown)} have more than {MAX_WHOLE_BYTES} "
                    "characters: ask for fewer lines"
                )
        inside = not piece.endswith("\n")
        done += not inside
        if scope is not None and (inside or done % 4_096 == 0):
            scope.check()
        if not wrong and done == end:
            return "".join(pieces)
    count = done + inside
    if wrong or (start > count > 0):
        asked = f"start_line={start}" + (f", end_line={end}" if end is not None else "")
        raise ToolError(
            f"{asked} is no range of {quoted(shown)}, which has {count} line{'s' * (count != 1)}: lines count from 1, "
            "and start_line is not after end_line"
        )
    return "".join(pieces)


def _valid(text: str, shown: str) -> str:
    """The text, with U+FFFD for what was not UTF-8 and a first line that says so."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        readable = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"({shown} is not all UTF-8: \ufffd stands for what could not be read)\n{readable}"
    return text


def list_folder(workspace: Workspace, path: str) -> str:
    """What a folder holds, one name per line in order: `name/` is a folder, files have their size.

    Raises:
        ToolError: There is no such folder inside the workspace.
    """
    entries = workspace.scan(path)
    real = workspace.resolve(path)
    if not entries:
        return f"({workspace.shown(real)} is an empty folder)"
    lines = []
    for entry in entries[:MAX_ENTRIES]:
        name = printable(entry.name)
        if entry.kind == "file":
            lines.append(f"{name} ({entry.size} bytes)")
        elif entry.kind == "folder":
            lines.append(f"{name}/")
        elif entry.kind == "link":
            lines.append(f"{name} ({_target(workspace, f'{real}{os.sep}{entry.name}')})")
        else:
            lines.append(f"{name} (not a regular file)")
    if len(entries) > MAX_ENTRIES:
        lines.append(f"(and {len(entries) - MAX_ENTRIES} more: {len(entries)} names in all)")
    return "\n".join(lines)


def _target(workspace: Workspace, link: str) -> str:
    """Where a link leads, as far as the model may know."""
    try:
        return f"link to {workspace.shown(workspace.resolve(link))}"
    except ToolError:
        return "link that leads outside the workspace"
