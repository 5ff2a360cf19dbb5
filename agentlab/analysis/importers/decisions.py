"""Decisions of compaction in agentlab's own log: from which call on something else was sent.

A decision takes effect with the first call whose reply stands behind it in the file. A summary becomes a message of its
own at that place.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.session import Call, Record, Replaced
from agentlab.events import CompactionDecided, MessageAppended
from agentlab.view import standing_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.transcript import SessionRecord


class Placed(msgspec.Struct, frozen=True):
    """A message, the line that it is from, and which line that is; a summary stands before that line."""

    place: int
    record: Record
    line: MessageAppended


class Mark(msgspec.Struct, frozen=True):
    """A decision in terms of the session's records.

    Attributes:
        index: Where it stands among the records: calls whose prompt ends there or later follow it.
        start: The first message that is still sent; None where it only replaces texts.
        summary: Index of the summary's record; None where there is none.
        texts: Messages by index, and what is sent in their place.
    """

    index: int
    start: int | None
    summary: int | None
    texts: tuple[tuple[int, str], ...]


def with_summaries(read: Sequence[Placed], record: SessionRecord) -> tuple[list[Placed], list[Mark]]:
    """Put a record for each summary where it was decided, and say what each decision does to the records."""
    made: list[tuple[int, CompactionDecided, Placed | None]] = []
    for after, decision in zip(record.decided_after, record.decisions, strict=True):
        made.append((after, decision, _summary(after, decision, record)))
    summaries = [summary for _, _, summary in made if summary is not None]
    whole = sorted([*read, *summaries], key=lambda each: (each.place, not each.record.is_summary))
    position = {id(each): index for index, each in enumerate(whole)}
    of_line = {each.place: position[id(each)] for each in read}
    places = sorted(of_line)

    def at(place: int) -> int:
        """Index of the message of a line, or of the next one where that could not be read."""
        later = bisect_left(places, place)
        return of_line[places[later]] if later < len(places) else len(whole)

    marks = []
    for after, decision, summary in made:
        texts = tuple((of_line[each.index], each.text) for each in decision.cleared if each.index in of_line)
        start = None if decision.cursor is None else at(decision.cursor)
        mine = None if summary is None else position[id(summary)]
        marks.append(Mark(at(after) if mine is None else mine, start, mine, texts))
    return whole, marks


def sent_after(marks: Iterable[Mark], calls: Sequence[Call]) -> tuple[tuple[Call, ...], tuple[Replaced, ...]]:
    """Carry decisions out on the calls that follow them."""
    sent = list(calls)
    stops = [call.stop for call in calls]
    replaced: list[Replaced] = []
    standing: int | None = None
    for mark in marks:
        first = bisect_left(stops, mark.index + (mark.summary is not None))
        if first == len(sent):
            break
        replaced += [Replaced(first, index, text) for index, text in mark.texts]
        if mark.start is None:
            continue
        if standing is not None and standing >= mark.start:
            replaced.append(Replaced(first, standing, None))
        standing = mark.summary
        for number in range(first, len(sent)):
            sent[number] = msgspec.structs.replace(sent[number], start=mark.start)
    return tuple(sent), tuple(replaced)


def _summary(after: int, decision: CompactionDecided, record: SessionRecord) -> Placed | None:
    """The message that stands for those before the decision's cursor."""
    if decision.cursor is None:
        return None
    source = [line.message for line in record.lines]
    text = standing_in(decision, decision.cursor, source)  # type: ignore[arg-type]  # dicts that a log held
    message = {"role": "user", "content": text, "origin": "loop"}
    if decision.place == "system":
        message = {"role": "system", "content": text}
    placed = Record(message, decision.turn, 0, decision.time, is_summary=True)
    return Placed(after, placed, MessageAppended(decision.turn, 0, -1, decision.time, message, 0, False))
