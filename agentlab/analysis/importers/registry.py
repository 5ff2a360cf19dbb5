"""Which format a log has, and `load`, which reads any of them.

A new format is a module with `NAME`, `EXPECTS`, `recognises(peek)` and `read(peek)`, and its entry here. The order
counts: the first that recognises a log reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentlab.analysis.importers import chat, own, taubench
from agentlab.analysis.importers.peek import Peek
from agentlab.errors import InputError
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.session import Session


class Importer(Protocol):
    """A module that reads one format."""

    NAME: str
    EXPECTS: str

    def recognises(self, peek: Peek) -> bool:
        """Whether a file or folder is of this format."""

    def read(self, peek: Peek) -> list[Session]:
        """Its sessions; what could not be read is added to `peek.problems`."""


IMPORTERS: dict[str, Importer] = {module.NAME: module for module in (own, taubench, chat)}

LOGS = (".json", ".jsonl")


def load(path: str | Path, *, format: str | None = None) -> tuple[list[Session], list[Problem]]:  # noqa: A002
    """Read session logs.

    Args:
        path: A session folder, a log file, or a folder of such.
        format: A name of `IMPORTERS`; None looks into each file.

    Returns:
        The sessions, and a problem for each thing that could not be read: file, line, reason.

    Raises:
        InputError: There is no such path or format, it cannot be read, or nothing in it is a session.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "talk.json")
    ...     _ = file.write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]')
    ...     load(file)
    ([<Session talk: chat, 2 messages, 1 call, 1 turn>], [])
    """
    path = Path(path)
    if format is not None and format not in IMPORTERS:
        raise InputError(f"unknown format {format!r}: one of {', '.join(IMPORTERS)}", field="format")
    if not path.exists():
        raise InputError("no such file or folder: name a session folder or a log file", path=path)
    peek = Peek(path)
    importer = _importer(peek, format)
    if importer is not None:
        return _checked(importer.read(peek), peek), peek.problems
    if peek.is_folder:
        return _load_folder(path, format)
    raise InputError(_unknown(peek, format), path=path)


def _importer(peek: Peek, format: str | None) -> Importer | None:  # noqa: A002 - as in `load`
    candidates = IMPORTERS.values() if format is None else (IMPORTERS[format],)
    return next((each for each in candidates if each.recognises(peek)), None)


def _checked(sessions: list[Session], peek: Peek) -> list[Session]:
    if not sessions:
        raise InputError("there is no session in it", path=peek.path)
    return sessions


def _load_folder(folder: Path, format: str | None) -> tuple[list[Session], list[Problem]]:  # noqa: A002 - as in `load`
    sessions: list[Session] = []
    problems: list[Problem] = []
    found = False
    for path in _logs(folder):
        found = True
        try:
            some, troubles = load(path, format=format)
        except InputError as error:
            problems.append(Problem(str(path), error.line or 1, error.problem))
            continue
        sessions += some
        problems += troubles
    if not sessions:
        what = f"none of its logs could be read ({problems[0]})" if found else "there is no log in it"
        raise InputError(f"{what}: name a session folder, or a file of {_formats()}", path=folder)
    return sessions, problems


def _logs(folder: Path) -> Iterator[Path]:
    """The session folders and log files below a folder, in order; what is in a session folder belongs to it."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=folder) from None
    for path in entries:
        if path.is_dir() and not path.is_symlink():
            if own.recognises(Peek(path)):
                yield path
            else:
                yield from _logs(path)
        elif path.suffix in LOGS and path.is_file():
            yield path


def _unknown(peek: Peek, format: str | None) -> str:  # noqa: A002 - as in `load`
    if not peek.head.strip():
        return "the file is empty: name a session folder or a log file"
    if format is not None:
        return f"not of the format {format!r}: expected {IMPORTERS[format].EXPECTS}"
    broken = f" ({peek.problems[0].reason})" if peek.problems else ""
    return f"no known format{broken}: expected {_formats()}"


def _formats() -> str:
    return "; or ".join(importer.EXPECTS for importer in IMPORTERS.values())
