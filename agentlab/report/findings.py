"""What a report says of each session: small enough to come back from another process."""

from __future__ import annotations

from functools import partial
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.composition import composition
from agentlab.analysis.cost import Bill, bill
from agentlab.analysis.executor import mapped
from agentlab.analysis.growth import growth, jumps
from agentlab.analysis.importers import load
from agentlab.analysis.importers.peek import Peek
from agentlab.analysis.importers.registry import IMPORTERS, bytes_of, importer_of, logs_below, unread
from agentlab.analysis.replay import replay_one
from agentlab.analysis.replayed import Replayed
from agentlab.analysis.sizes import LENGTHS
from agentlab.errors import InputError
from agentlab.policy import Policy
from agentlab.tokens import models

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentlab.analysis.executor import Progress
    from agentlab.analysis.session import Session
    from agentlab.transcript import Problem

LONGEST = 2_000
"""Of a message that is shown, so many characters."""


class Wanted(msgspec.Struct, frozen=True):
    """What a report is about.

    Attributes:
        policies: What to ask of.
        format: A name of `IMPORTERS`, or None to look into each file.
        since: Seconds since 1970; sessions that ended before are left out, those without times are not.
        project: Only sessions whose project has this in its name.
        prices: A table in the format of `agentlab/tokens/models.json`; None takes that one.
        with_text: Whether the messages that made a prompt jump are shown.
    """

    policies: tuple[Policy, ...] = ()
    format: str | None = None
    since: float | None = None
    project: str | None = None
    prices: Path | None = None
    with_text: bool = False


class Jump(msgspec.Struct, frozen=True):
    """A call whose prompt grew much.

    Attributes:
        call: Its number, from 1.
        turn: Its user turn.
        tokens: By how much.
        by: What of the new messages takes most.
        later: Calls that were sent it again, up to the next compaction.
        text: The largest new message, where that is wanted.
    """

    call: int
    turn: int
    tokens: int
    by: str
    later: int
    text: str = ""


class Found(msgspec.Struct, frozen=True):
    """What is found out about a session.

    Attributes:
        id: Names it.
        format: Its format.
        path: Its log.
        project: The last part of the folder that the agent worked in, where the log says.
        parent: The session that started it.
        times: When it began and ended, in seconds since 1970; NaN where the log does not say.
        turns: User turns.
        calls: Model calls.
        measured: Of these, with recorded usage.
        tokens: Prompt tokens of all calls; estimated where they were not measured.
        largest: Prompt tokens of its largest call.
        kinds: By kind of message: sent once, and sent again.
        verdict: How its prompts grow.
        says: The sentences about it.
        jumps: The largest first.
        segments: Between compactions.
        bill: What it cost.
        replayed: Under the recorded policy and the others.
    """

    id: str
    format: str
    path: str
    project: str
    parent: str
    times: tuple[float, float]
    turns: int
    calls: int
    measured: int
    tokens: int
    largest: int
    kinds: dict[str, tuple[int, int]]
    verdict: str
    says: tuple[str, ...]
    jumps: tuple[Jump, ...]
    segments: int
    bill: Bill
    replayed: Replayed


def find(
    paths: Iterable[str | Path], wanted: Wanted, *, executor: Any = None, progress: Progress | None = None
) -> tuple[list[Found], list[Problem]]:
    """Look at all logs.

    Args:
        paths: Logs, and folders of them.
        wanted: What it is about.
        executor: Where to read them; as in `agentlab.analysis.executor.mapped`.
        progress: Told the bytes that are read, and of how many.

    Returns:
        What is found out about each session with a model call, and what could not be read.

    Raises:
        InputError: There is no log in any of the paths, no such format, or the prices cannot be read.
    """
    if wanted.prices is not None:
        models.all(wanted.prices)  # a table that is none is told once, and not of each log
    logs, problems = _logs_of([Path(path) for path in paths], wanted.format)
    found: list[Found] = []
    for outcome in mapped(partial(look, wanted=wanted), logs, executor=executor, progress=progress, work=bytes_of):
        if outcome.value is None:
            problems.append(unread(outcome.item, outcome.error or RuntimeError("nothing came back")))
        else:
            found += outcome.value[0]
            problems += outcome.value[1]
    return found, problems


def look(log: Path, wanted: Wanted) -> tuple[list[Found], list[Problem]]:
    """What is found out about the sessions of one log."""
    sessions, problems = load(log, format=wanted.format, executor=1)
    return of_sessions(sessions, wanted), problems


def of_sessions(sessions: Sequence[Session], wanted: Wanted) -> list[Found]:
    """What is found out about each session that has a model call and is wanted."""
    return [of_session(session, wanted) for session in sessions if session.calls and _is_wanted(session, wanted)]


def of_session(session: Session, wanted: Wanted) -> Found:
    """What is found out about a session."""
    kinds = composition(session, model=LENGTHS)
    grown = growth(session, model=LENGTHS)
    replayed = replay_one(session, wanted.policies, wanted.prices)
    return Found(
        id=session.id,
        format=session.format,
        path=str(session.path),
        project=Path(str(session.labels.get("project", ""))).name,
        parent=session.parent,
        times=_times(session),
        turns=len({record.turn for record in session.records if record.opens_turn}),
        calls=len(session.calls),
        measured=replayed.calibration.n,
        tokens=int(kinds["sent"].sum()),
        largest=grown.largest,
        kinds={row["kind"]: (row["once"], row["resent"]) for row in kinds.to_dict("records")},
        verdict=grown.verdict,
        says=grown.sentences,
        jumps=tuple(_jumps(session, grown.segments, with_text=wanted.with_text)),
        segments=len(grown.segments),
        bill=bill(session, prices=wanted.prices),
        replayed=replayed,
    )


def _logs_of(paths: Sequence[Path], format: str | None) -> tuple[list[Path], list[Problem]]:  # noqa: A002
    """The logs of all paths; where there are several, one without a log is a problem and no end."""
    logs: list[Path] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            logs += _logs(path, format)
        except InputError as error:
            if len(paths) == 1 or error.field is not None:
                raise
            problems.append(unread(path, error))
    return logs, problems


def _logs(path: Path, format: str | None) -> list[Path]:  # noqa: A002 - the word of `load`
    if not path.exists():
        raise InputError("no such file or folder: name a session folder or a log file", path=path)
    if format is not None and format not in IMPORTERS:
        raise InputError(f"unknown format {format!r}: one of {', '.join(IMPORTERS)}", field="format")
    if not path.is_dir() or importer_of(Peek(path), format) is not None:
        return [path]
    logs = list(logs_below(path, format))
    if not logs:
        raise InputError("there is no log in it: name a session folder or a log file", path=path)
    return logs


def _is_wanted(session: Session, wanted: Wanted) -> bool:
    project = str(session.labels.get("project", ""))
    if wanted.project is not None and wanted.project not in project and wanted.project not in str(session.path):
        return False
    return not (wanted.since is not None and _times(session)[1] < wanted.since)


def _times(session: Session) -> tuple[float, float]:
    times = [record.time for record in session.records if record.time is not None]
    return (min(times), max(times)) if times else (nan, nan)


def _jumps(session: Session, segments: Sequence[tuple[int, int]], *, with_text: bool) -> Iterator[Jump]:
    for row in jumps(session, 5, model=LENGTHS).to_dict("records"):
        text = ""
        if with_text and row["message"] == row["message"]:
            text = session.records[int(row["message"])].text[:LONGEST]
        later = next(stop for _, stop in segments if row["call"] <= stop) - row["call"]
        yield Jump(row["call"], row["turn"], row["growth"], row["grown_by"], later, text)
