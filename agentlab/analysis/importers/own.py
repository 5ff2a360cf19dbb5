"""agentlab's own session folder, or one of its files; see `agentlab.transcript`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.decisions import Placed, sent_after, with_summaries
from agentlab.analysis.importers.shape import message_of, plausible, plausible_size, tools_of
from agentlab.analysis.session import Call, Record, Session
from agentlab.transcript import MESSAGES, SCHEMA, STORE, TRANSCRIPT, Problem, read_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis.importers.peek import Peek
    from agentlab.events import MessageAppended
    from agentlab.messages import Usage
    from agentlab.transcript import SessionRecord, TurnLine

NAME = "agentlab"
MOST_TURNS = 10**9  # turns and iterations: more is no number of one
EXPECTS = f"agentlab's session folder, with {MESSAGES} in it"


def recognises(peek: Peek) -> bool:
    """Whether it is a session folder, or a file of one."""
    if peek.is_folder:
        return any((peek.path / name).is_file() for name in (MESSAGES, TRANSCRIPT))
    if not peek.first_values:
        return peek.path.name in (MESSAGES, TRANSCRIPT)
    return any(_is_line(value) for value in peek.first_values)


def read(peek: Peek) -> list[Session]:
    """The one session of a folder."""
    path = peek.path
    beside = path.parent / MESSAGES
    if path.name == TRANSCRIPT and beside.is_file():
        path = beside
    if path.is_dir() and not (path / MESSAGES).is_file():
        path = path / TRANSCRIPT
    record, problems = read_session(path)
    peek.problems += problems
    if not record.lines:
        reason = f"there are no messages, only {TRANSCRIPT}: {MESSAGES} is needed to count what was sent"
        peek.problems.append(Problem(str(path), 1, reason))
    header, folder = record.header, record.path
    read = _records(record.lines, str(path / MESSAGES if path.is_dir() else path), peek.problems)
    record = _decided(record, str(folder / MESSAGES), peek.problems)
    records, marks = with_summaries(read, record)
    turns = _turns(record.turns, str(folder / TRANSCRIPT), peek.problems)
    calls, replaced = sent_after(marks, _calls(records, turns))
    return [
        Session(
            id=folder.resolve().name if path.name in (MESSAGES, TRANSCRIPT) else path.stem,
            format=NAME,
            path=path if path.is_dir() else folder if path.name == MESSAGES else path,
            records=tuple(each.record for each in records),
            calls=calls,
            provider=header.provider,
            model=header.model or next((each.line.model for each in read if each.line.model), None),
            system=header.system,
            tools=tools_of(header.tools),
            turns=tuple(turns),
            policy=header.policy,
            store_folder=folder / STORE if (folder / STORE).is_dir() else None,
            replaced=replaced,
            aside=tuple(each.usage for each in record.decisions if each.usage is not None),
        )
    ]


def _records(lines: Sequence[MessageAppended], path: str, problems: list[Problem]) -> list[Placed]:
    names: dict[str, str] = {}
    placed = []
    for number, line in enumerate(lines, 1):

        def report(reason: str, number: int = number) -> None:
            problems.append(Problem(path, number + 1, f"message {number}: {reason}"))

        if not _is_place(line.turn, line.iteration):
            report(f"skipped: turn {line.turn}, iteration {line.iteration} are no place in a session")
            continue
        message = message_of(line.message, report, names)
        if message is not None:
            size = plausible_size(line.original_chars, report)
            record = Record(message, line.turn, line.iteration, line.time, size, line.store_id)
            known = msgspec.structs.replace(line, usage=plausible(line.usage, report))
            placed.append(Placed(number - 1, record, known))
    return placed


def _turns(turns: Sequence[TurnLine], path: str, problems: list[Problem]) -> list[TurnLine]:
    placed = []
    for number, turn in enumerate(turns, 1):

        def report(reason: str, number: int = number) -> None:
            problems.append(Problem(path, number, f"turn {number}: {reason}"))

        if _is_place(turn.turn, turn.iterations):
            placed.append(msgspec.structs.replace(turn, usage=plausible(turn.usage, report)))
        else:
            report(f"skipped: turn {turn.turn} with {turn.iterations} iterations is no turn of a session")
    return placed


def _decided(record: SessionRecord, path: str, problems: list[Problem]) -> SessionRecord:
    """The record with the decisions that can have been made, and with what their summaries can have used."""
    after, decisions = [], []
    for number, (before, decision) in enumerate(zip(record.decided_after, record.decisions, strict=True), 1):

        def report(reason: str, line: int = before + number + 1, number: int = number) -> None:
            problems.append(Problem(path, line, f"decision {number}: {reason}"))

        if _is_place(decision.turn, decision.iteration):
            after.append(before)
            decisions.append(msgspec.structs.replace(decision, usage=plausible(decision.usage, report)))
        else:
            report(f"skipped: turn {decision.turn}, iteration {decision.iteration} are no place in a session")
    return msgspec.structs.replace(record, decisions=decisions, decided_after=after)


def _is_place(turn: int, iteration: int) -> bool:
    return 0 <= turn <= MOST_TURNS and 0 <= iteration <= MOST_TURNS


def _calls(records: Sequence[Placed], turns: Sequence[TurnLine]) -> tuple[Call, ...]:
    """A call for each iteration that the model answered; its prompt is all that stands before its first message."""
    endings = {turn.turn: turn for turn in turns}
    calls: list[Call] = []
    known: set[tuple[int, int]] = set()
    for index, (record, line) in enumerate((each.record, each.line) for each in records):
        place = (record.turn, record.iteration)
        if record.iteration < 1 or place in known:
            continue
        known.add(place)
        ending = endings.get(record.turn)
        if record.role != "assistant":
            calls.append(Call(*place, 0, index, None, time=record.time))
        elif line.usage is not None or record.tool_calls or ending is None or ending.status == "complete":
            calls.append(Call(*place, 0, index, index, line.usage, line.stop_reason, line.model, record.time))
        elif ending.reason in ("blank_reply", "output_limit"):
            calls.append(Call(*place, 0, index, None, time=record.time))
    return _with_lost_usage(calls, endings)


def _with_lost_usage(calls: list[Call], endings: dict[int, TurnLine]) -> tuple[Call, ...]:
    """Give a call whose reply was not kept its usage: the turn's, less that of the turn's other calls."""
    for number, turn in endings.items():
        own = [index for index, call in enumerate(calls) if call.turn == number]
        lost = [index for index in own if calls[index].usage is None]
        if turn.usage is None or len(lost) != 1 or len(own) != turn.iterations:
            continue
        usage = turn.usage
        for index in own:
            if (used := calls[index].usage) is not None:
                usage = _minus(usage, used)
        if usage.prompt_tokens > 0 and min(usage.input_tokens, usage.output_tokens) >= 0:
            calls[lost[0]] = msgspec.structs.replace(calls[lost[0]], usage=usage)
    return tuple(calls)


def _minus(whole: Usage, part: Usage) -> Usage:
    from agentlab.messages import Usage

    return Usage(
        whole.input_tokens - part.input_tokens,
        whole.output_tokens - part.output_tokens,
        whole.cache_read_tokens - part.cache_read_tokens,
        whole.cache_write_tokens - part.cache_write_tokens,
        whole.exact and part.exact,
    )


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "session":
        return str(value.get("schema", "")).startswith(SCHEMA.split("/")[0])
    if value.get("type") == "message":
        return isinstance(value.get("turn"), int) and isinstance(value.get("iteration"), int)
    return {"prompt", "reply", "iterations"} <= value.keys()
