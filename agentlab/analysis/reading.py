"""Logs straight into the four grains: file by file, so that memory holds columns, and sessions of one file at most."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agentlab.analysis.executor import mapped
from agentlab.analysis.facts import Facts, facts_of, joined
from agentlab.analysis.grain_columns import GRAINS
from agentlab.analysis.grains import Grains, grain_of
from agentlab.analysis.importers.peek import Peek
from agentlab.analysis.importers.registry import (
    bytes_of,
    collector_paused,
    importer_of,
    load,
    logs_below,
    unread,
)
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from agentlab.analysis.executor import Progress
    from agentlab.transcript import Problem


def read_grains(
    paths: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002 - as in `load`
    executor: Executor | int | None = None,
    progress: Progress | None = None,
) -> tuple[Grains, list[Problem]]:
    r"""Read logs into frames at four grains, without keeping their sessions.

    Args:
        paths: Session folders, log files, or folders of such.
        format: A name of `IMPORTERS`; None looks into each file.
        executor: Reads the logs; as in `agentlab.analysis.executor.mapped`.
        progress: Told the bytes that are read, and of all.

    Returns:
        The same frames as `grains` of the sessions that `load` gives, and a problem for each thing that could not be
        read.

    Raises:
        InputError: There is no such path or format, or nothing could be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "talk.jsonl")
    ...     _ = file.write_text('{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Hello."}\n')
    ...     frames, problems = read_grains(folder)
    >>> list(frames.calls.prompt_tokens), problems
    ([1], [])
    """
    facts, problems = read_facts(paths, format=format, executor=executor, progress=progress)
    return Grains(*(grain_of(facts, name) for name in GRAINS)), problems


def read_facts(
    paths: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002 - as in `load`
    executor: Executor | int | None = None,
    progress: Progress | None = None,
) -> tuple[Facts, list[Problem]]:
    """Read logs into facts, of which `grain_of` makes one frame at a time; arguments and errors as `read_grains`."""
    given = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    problems: list[Problem] = []
    logs: list[Path] = []
    for path in given:
        try:
            logs += _logs_of(path, format)
        except InputError as error:
            if len(given) == 1 or error.field is not None:
                raise
            problems.append(unread(path, error))
    parts: list[Facts] = []
    reading = mapped(partial(scanned, format=format), logs, executor=executor, progress=progress, work=bytes_of)
    for outcome in reading:
        if outcome.value is not None:
            parts.append(outcome.value[0])
            problems += outcome.value[1]
        elif outcome.error is not None:
            if given == [outcome.item] and isinstance(outcome.error, InputError):
                raise outcome.error
            problems.append(unread(outcome.item, outcome.error))
    if not parts:
        reason = f"none of its logs could be read ({problems[0]})" if problems else "there is no log in it"
        raise InputError(reason, path=", ".join(map(str, given)))
    return joined(parts), problems


def scanned(path: Path, *, format: str | None = None) -> tuple[Facts, list[Problem]]:  # noqa: A002 - as in `load`
    """The facts of one log, by its format's `scan` where it has one, else from its sessions.

    Raises:
        InputError: It cannot be read, or there is no session in it.
    """
    peek = Peek(path)
    scan = getattr(importer_of(peek, format), "scan", None)
    with collector_paused():
        facts = None if scan is None else scan(peek)
        if facts is None:
            sessions, problems = load(path, format=format)
            return facts_of(sessions), problems
    return facts, peek.problems


def _logs_of(path: Path, format: str | None) -> list[Path]:  # noqa: A002 - as in `load`
    """The logs at a path: itself, or those below it."""
    if path.is_dir() and importer_of(Peek(path), format) is None:
        return list(logs_below(path, format))
    if not path.exists():
        raise InputError("no such file or folder: name a session folder or a log file", path=path)
    return [path]
