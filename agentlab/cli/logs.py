"""What every command over session logs shares: how logs are named, how they are read, what is said of damage.

A command calls `add_arguments` in its `add`, and `read_logs` in its `run`; `chosen` where it shows one session only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentlab.cli.terminal import tell
from agentlab.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add PATH..., --format, --run, --model and --problems."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a session folder, a log file, or a folder of such")
    parser.add_argument("--format", metavar="F", help="read as this format, rather than look into each file")
    parser.add_argument("--run", metavar="N", type=int, dest="number", help="only the N-th session of them, from 1")
    parser.add_argument("--model", metavar="M", help="count as for this model, where the log names none")
    parser.add_argument("--problems", action="store_true", help=f"tell all that could not be read, not {TOLD} of it")


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
    for path in paths:
        try:
            some, troubles = load(path, format=arguments.format)
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
