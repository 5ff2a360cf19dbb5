"""What every command over session logs shares: how logs are named, how they are read, what is said of damage.

A command calls `add_arguments` in its `add`, and `read_logs` in its `run`; `chosen` where it shows one session only.
What maps over logs by itself takes its executor from `executor_of`, and its progress from `progress_bar`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from agentlab.cli.terminal import tell
from agentlab.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from agentlab.analysis.executor import Progress
    from agentlab.analysis.session import Session
    from agentlab.transcript import Problem

TOLD = 20
"""So many problems are told before the rest is counted."""


class Logs(NamedTuple):  # a struct would import the sessions' module for `--help`
    """What was read.

    Attributes:
        sessions: Of all paths, in their order; with `--run N` the one.
        problems: What could not be read, all of it.
        held: How many sessions the paths hold, whichever were taken.
    """

    sessions: list[Session]
    problems: list[Problem]
    held: int


def add_arguments(parser: argparse.ArgumentParser, *, one: bool = True, counts: bool = True) -> None:
    """Add PATH..., --format, --problems, --workers and --dask; with `one` also --run, and with `counts` --model."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a session folder, a log file, or a folder of such")
    parser.add_argument("--format", metavar="F", help="read as this format, rather than look into each file")
    if one:
        parser.add_argument("--run", metavar="N", type=int, dest="number", help="only the N-th session of them, from 1")
    if counts:
        parser.add_argument("--model", metavar="M", help="count as for this model, where the log names none")
    parser.add_argument("--problems", action="store_true", help=f"tell all that could not be read, not {TOLD} of it")
    parser.add_argument("--workers", metavar="N", type=int, help="read with so many processes; 1 starts none")
    parser.add_argument("--dask", metavar="ADDRESS", help="read on a cluster, such as tcp://host:8786")


def read_logs(arguments: argparse.Namespace) -> Logs:
    """Read the logs that were named, and tell what could not be read on standard error.

    Raises:
        InputError: Nothing could be read, or there is no such session or format.
    """
    from agentlab.analysis import load
    from agentlab.transcript import Problem

    paths: list[str] = arguments.paths
    sessions: list[Session] = []
    problems: list[Problem] = []
    with executor_of(arguments) as executor, progress_bar("reading") as progress:
        for path in paths:
            try:
                some, troubles = load(path, format=arguments.format, executor=executor, progress=progress)
            except InputError as error:
                if len(paths) == 1 or error.field is not None:
                    raise
                some, troubles = [], [Problem(str(error.path or path), error.line or 1, error.problem)]
            sessions += some
            problems += troubles
    tell_problems(problems, every=arguments.problems)
    if not sessions:
        raise InputError("there is no session in them that can be read", path=", ".join(paths))
    taken = sessions if arguments.number is None else [chosen(sessions, arguments.number, paths)]
    return Logs(taken, problems, len(sessions))


def chosen(sessions: Sequence[Session], number: int | None, paths: Sequence[str]) -> Session:
    """The session that was asked for; of several the first, which is told.

    Raises:
        InputError: There is no such number.
    """
    where = ", ".join(paths)
    if number is None:
        number = 1
        if len(sessions) > 1:
            holds = "holds" if len(paths) == 1 else "hold"
            tell(f"{where} {holds} {len(sessions)} sessions; this is the first, --run N takes another")
    if not 1 <= number <= len(sessions):
        raise InputError(f"--run is 1 to {len(sessions)}, and {number} is not", path=where)
    return sessions[number - 1]


def tell_problems(problems: Sequence[Problem], *, every: bool = False) -> None:
    """Tell problems on standard error, one a line; of many the first, and how many more there are."""
    told = problems if every else problems[:TOLD]
    for problem in told:
        tell(str(problem))
    if len(told) < len(problems):
        tell(f"and {len(problems) - len(told):,} more; --problems tells all of them")


@contextmanager
def executor_of(arguments: argparse.Namespace) -> Iterator[Executor | int | None]:
    """What `--workers` and `--dask` ask for, as `executor=` takes it.

    Raises:
        InputError: The number is none, no scheduler answers, or the extra `cluster` is not installed.
    """
    if arguments.workers is not None and arguments.workers < 1:
        raise InputError(f"--workers is a number from 1, and {arguments.workers} is not")
    if arguments.dask is None:
        yield arguments.workers
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--dask needs dask: pip install 'agentlab-observe[cluster]'") from None
    try:
        client = Client(arguments.dask, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        reason = f"no scheduler of dask answers there ({error}): start one with `dask scheduler`"
        raise InputError(reason, path=arguments.dask) from None
    with client:
        yield client.get_executor()  # type: ignore[no-untyped-call]


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A bar of bytes on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from agentlab.cli.terminal import plain_console

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
