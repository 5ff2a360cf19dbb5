"""A look at a file: enough to say which format it is, and its JSON once decoded."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_LINES = 20
_HEAD_BYTES = 1 << 20
_MARK = b"\xef\xbb\xbf"


class Peek:
    """A file or folder that some format may recognise.

    Args:
        path: It exists.

    Raises:
        InputError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_folder = path.is_dir()
        self.problems: list[Problem] = []
        if not self.is_folder and not path.is_file():
            raise InputError("neither a file nor a folder: name a session log", path=path)
        self.head = b"" if self.is_folder else _read(path, _HEAD_BYTES)

    @cached_property
    def first_values(self) -> list[Any]:
        """The JSON values of the first lines, those that are any."""
        values = []
        for line in self.head.split(b"\n")[:FIRST_LINES]:
            try:
                values.append(decode(line))
            except ValueError:
                continue
        return values

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value; None where it is none, or JSON lines.

        Of a list that breaks off, the whole items are there and a problem says so.
        """
        start = self.head.removeprefix(_MARK).lstrip()
        if not start.startswith((b"[", b"{")) or (start.startswith(b"{") and self.is_lines):
            return None
        data = _read(self.path)
        try:
            return decode(data)
        except ValueError as error:
            if not start.startswith(b"["):
                return None
            items, line = whole_items(data)
            reason = f"not whole JSON ({error}): read up to here, {len(items)} item{'' if len(items) == 1 else 's'}"
            self.problems.append(Problem(str(self.path), line, reason))
            return items or None

    @cached_property
    def is_lines(self) -> bool:
        """Whether it looks like JSON lines: more than one line, and the first or the second is an object."""
        lines = [line for line in self.head.split(b"\n") if line.strip()]
        return len(lines) > 1 and any(_is_object(line) for line in lines[:2])

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Number and value of each line; one that is no JSON becomes a problem."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    yield number, decode(line)
                except ValueError as error:
                    self.problems.append(unread_line(self.path, number, line, error))


def unread_line(path: Path, number: int, line: bytes, error: ValueError) -> Problem:
    """The problem of a line that is no JSON."""
    torn = "" if line.endswith(b"\n") else "the line is torn, as after a crash: "
    return Problem(str(path), number, f"{torn}skipped ({error})")


def decode(data: bytes) -> Any:
    """Decode JSON; a byte order mark, NaN and lone surrogates, which others write, are taken as they are.

    Raises:
        ValueError: It is no JSON, or nested too deep to read.

    >>> decode(b'{"reward": NaN}')
    {'reward': nan}
    """
    data = data.removeprefix(_MARK)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as first:
        import json

        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("nested too deep") from None
        except ValueError:
            raise ValueError(str(first)) from None


def whole_items(data: bytes) -> tuple[list[Any], int]:
    """The items of a JSON list that breaks off, and the line where it does.

    >>> whole_items(b'[{"a": 1}, {"a": 2}, {"a"')
    ([{'a': 1}, {'a': 2}], 1)
    """
    from json import JSONDecoder

    text = data.removeprefix(_MARK).decode("utf-8", "replace")
    read = JSONDecoder().raw_decode
    position = text.find("[") + 1
    items: list[Any] = []
    while True:
        start = (
            position + len(text[position : position + 4096]) - len(text[position : position + 4096].lstrip(" \r\n\t,"))
        )
        try:
            item, position = read(text, start)
        except (ValueError, RecursionError):
            return items, text.count("\n", 0, start) + 1
        items.append(item)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(decode(line), dict)
    except ValueError:
        return False


def _read(path: Path, size: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
