"""Which format a log has, and `load`, which reads any of them.

A new format is a module with `NAME`, `EXPECTS`, `recognises(peek)` and `read(peek)`, and its entry here. The order
counts: the first that recognises a log reads it. Where its files get large, `scan(peek)` may give the facts of a log
without its sessions; the facts are the same, or it returns None, and the sessions are read.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from agentlab.analysis.executor import mapped
from agentlab.analysis.importers import (
    anthropic_messages,
    chat,
    claude_code,
    codex,
    completions,
    inspect_log,
    mini_swe_agent,
    nanobot,
    openhands,
    otel,
    own,
    pi,
    swe_agent,
    tau2,
    taubench,
)
from agentlab.analysis.importers.peek import Peek
from agentlab.errors import InputError
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from agentlab.analysis.executor import Progress
    from agentlab.analysis.session import Session


class Importer(Protocol):
    """A module that reads one format."""

    NAME: str
    EXPECTS: str

    def recognises(self, peek: Peek) -> bool:
        """Whether a file or folder is of this format."""

    def read(self, peek: Peek) -> list[Session]:
        """Its sessions; what could not be read is added to `peek.problems`."""


IMPORTERS: dict[str, Importer] = {
    module.NAME: module
    for module in (
        *(own, taubench, tau2, swe_agent, mini_swe_agent, openhands, claude_code, codex, pi, inspect_log),
        *(nanobot, otel, completions),
        *(anthropic_messages, chat),  # last: others' messages look like these
    )
}

LOGS = (".json", ".jsonl", ".traj", ".eval")

CORES = 4
"""From so many on, processes read a folder: sessions come back whole, which takes about as long as to read them."""


def load(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    executor: Executor | int | None = None,
    progress: Progress | None = None,
) -> tuple[list[Session], list[Problem]]:
    """Read session logs.

    Args:
        path: A session folder, a log file, or a folder of such.
        format: A name of `IMPORTERS`; None looks into each file.
        executor: Reads the logs of a folder; as in `agentlab.analysis.executor.mapped`.
        progress: Told the bytes of a folder's logs that are read, and of all.

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
    importer = importer_of(peek, format)
    with collector_paused():
        if importer is not None:
            return _checked(importer.read(peek), peek), peek.problems
        if peek.is_folder:
            return _load_folder(path, format, executor, progress)
    raise InputError(_unknown(peek, format), path=path)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Look for no unreachable cycles while a log is read: it makes none, and looking takes as long as reading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def importer_of(peek: Peek, format: str | None) -> Importer | None:  # noqa: A002 - as in `load`
    """The format that recognises a log; None where none does.

    Raises:
        InputError: There is no such format.
    """
    if format is not None and format not in IMPORTERS:
        raise InputError(f"unknown format {format!r}: one of {', '.join(IMPORTERS)}", field="format")
    candidates = IMPORTERS.values() if format is None else (IMPORTERS[format],)
    return next((each for each in candidates if each.recognises(peek)), None)


def _checked(sessions: list[Session], peek: Peek) -> list[Session]:
    if not sessions:
        raise InputError("there is no session in it", path=peek.path)
    return sessions


def _load_folder(
    folder: Path,
    format: str | None,  # noqa: A002 - as in `load`
    executor: Executor | int | None,
    progress: Progress | None,
) -> tuple[list[Session], list[Problem]]:
    sessions: list[Session] = []
    problems: list[Problem] = []
    logs = logs_below(folder, format)
    if executor is None and (os.cpu_count() or 1) < CORES:
        executor = 1
    reading = mapped(partial(load, format=format), logs, executor=executor, progress=progress, work=bytes_of)
    for path, value, error in map(msgspec.structs.astuple, reading):
        if value is not None:
            sessions += value[0]
            problems += value[1]
        else:
            problems.append(unread(path, error))
    if not sessions:
        what = f"none of its logs could be read ({problems[0]})" if logs else "there is no log in it"
        raise InputError(f"{what}: name a session folder, or {_formats()}", path=folder)
    return sessions, problems


def logs_below(folder: Path, format: str | None = None) -> list[Path]:  # noqa: A002 - as in `load`
    """The logs below a folder, in order: files, and folders that some format reads as one; of copies only one.

    Raises:
        InputError: A folder cannot be listed.
    """
    return codex.without_copies(_below(folder, format))


def _below(folder: Path, format: str | None) -> Iterator[Path]:  # noqa: A002 - as in `load`
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=folder) from None
    for path in entries:
        if path.is_dir() and not path.is_symlink():
            if importer_of(Peek(path), format) is not None:
                yield path
            else:
                yield from _below(path, format)
        elif path.suffix in LOGS and path.is_file():
            yield path


def bytes_of(path: Path) -> int:
    """How much there is to read of a log."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def unread(path: Path, error: BaseException) -> Problem:
    """The problem of a log that could not be read at all."""
    if isinstance(error, InputError):
        return Problem(str(path), error.line or 1, error.problem)
    return Problem(str(path), 1, f"skipped: reading it failed ({type(error).__name__}: {error})")


def _unknown(peek: Peek, format: str | None) -> str:  # noqa: A002 - as in `load`
    if not peek.head.strip():
        return "the file is empty: name a session folder or a log file"
    if format is not None:
        return f"not of the format {format!r}: expected {IMPORTERS[format].EXPECTS}"
    broken = f" ({peek.problems[0].reason})" if peek.problems else ""
    return f"no known format{broken}: expected {_formats()}"


def _formats() -> str:
    """What can be read, in a line; `--format NAME` then says what a format looks like."""
    return f"a log of {', '.join(IMPORTERS)}"
