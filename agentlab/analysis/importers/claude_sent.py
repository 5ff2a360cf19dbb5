"""What each call of a Claude Code conversation was sent: its units in order, as messages and calls.

A call was sent the messages on its path. Those from `Call.start` to `Call.stop` that are not on it, because the user
went back to an earlier message or a compaction dropped them, are replaced by nothing from that call on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.blocks import one_hour_of, usage_of
from agentlab.analysis.importers.shape import plausible
from agentlab.analysis.session import Call, Record, Replaced
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agentlab.analysis.importers.claude_graph import Unit
    from agentlab.analysis.importers.claude_log import Log

LEAST_SHARE = 0.5
"""A log's counts of output are no counts where they come to less than this share of what is visible of it."""

CHARS_PER_TOKEN = 4
_FEW = 200  # visible tokens below which nothing is said about the counts


class Laid(msgspec.Struct, frozen=True):
    """A conversation as `agentlab.analysis.session.Session` has it."""

    records: tuple[Record, ...]
    calls: tuple[Call, ...]
    replaced: tuple[Replaced, ...]


def lay_out(units: Sequence[Unit], log: Log, counts: Callable[[Unit], bool], problems: list[Problem]) -> Laid:
    """Make messages and calls of units.

    Args:
        units: Of one conversation, none before what it follows.
        log: Where they are from.
        counts: Whether a reply is a call of this conversation, and not a copy of one that is counted elsewhere.
        problems: Takes what could not be read.
    """
    records, spans, places = _records(units, log)
    made = [unit for unit in units if unit.is_reply and counts(unit)]
    paths = _Paths(spans)
    calls = []
    for unit in made:
        index, _ = spans[id(unit)]
        low = paths.advance(unit, index)
        calls.append(_call(unit, places[id(unit)], low, index, _reporter(log, unit, problems)))
    starts = [call.start for call in calls]
    for number in range(len(starts) - 2, -1, -1):  # none may begin after a later one
        starts[number] = min(starts[number], starts[number + 1])
    calls = [msgspec.structs.replace(call, start=start) for call, start in zip(calls, starts, strict=True)]
    changes = [*_changed_results(log, made, records), *paths.changed]
    replaced = _replaced(records, [each for each in changes if each.index >= starts[each.call]])
    return Laid(tuple(records), tuple(_estimated(calls, made, records)), replaced)


class _Change(msgspec.Struct, frozen=True):
    """From a call on, a message is sent or not (`is_sent`); or, where that is None, with another text or none."""

    call: int
    index: int
    text: str | None = None
    is_sent: bool | None = None


class _Paths:
    """The path of one call after the other, and what changes between them."""

    def __init__(self, spans: dict[int, tuple[int, int]]) -> None:
        self.changed: list[_Change] = []
        self._spans = spans
        self._stack: list[Unit] = []
        self._at: dict[int, int] = {}
        self._taken_over: set[int] = set()
        self._off: set[int] = set()
        self._new: list[int] = []
        self._rest = iter(sorted((start, unit) for unit, (start, _) in spans.items()))
        self._next = next(self._rest, None)
        self._number = -1
        self._low = 0

    def advance(self, reply: Unit, stop: int) -> int:
        """Go on to the path of a reply's call; returns the first message on it."""
        self._number += 1
        before = self._walk(reply, stop)
        while self._next is not None and self._next[0] < stop:
            if self._next[1] not in self._at:
                self._switch(self._next[1], is_sent=False)
            self._next = next(self._rest, None)
        for each in before:
            if each not in self._at:
                self._switch(each, is_sent=False)
        return min(self._low, stop)

    def _walk(self, reply: Unit, stop: int) -> list[int]:
        """Make the stack the path of a reply; returns what was taken off it."""
        fresh: list[Unit] = []
        above, bridged = reply.parent, bool(reply.bridge)
        while above is not None and not bridged and (id(above) not in self._at or id(above) in self._taken_over):
            fresh.append(above)
            bridged = bool(above.bridge)
            above = above.parent
        if bridged:
            fresh, off = [each for each in dict.fromkeys(reply.path()) if id(each) in self._spans], self._cut(0)
            self._taken_over = {id(each) for unit in (reply, *fresh) for each in unit.bridge} & self._spans.keys()
        else:
            off = self._cut(0 if above is None else self._at[id(above)] + 1)
        for unit in reversed(fresh):
            self._at[id(unit)] = len(self._stack)
            self._stack.append(unit)
            if id(unit) in self._off:
                self._switch(id(unit), is_sent=True)
        if len(fresh) == len(self._stack):
            self._low = min((self._spans[id(unit)][0] for unit in fresh), default=stop)
        return off

    def _cut(self, length: int) -> list[int]:
        off = [id(unit) for unit in self._stack[length:]]
        del self._stack[length:]
        for each in off:
            del self._at[each]
            self._taken_over.discard(each)
        return off

    def _switch(self, unit: int, *, is_sent: bool) -> None:
        (self._off.discard if is_sent else self._off.add)(unit)
        self.changed += [_Change(self._number, index, is_sent=is_sent) for index in range(*self._spans[unit])]


def _records(
    units: Sequence[Unit], log: Log
) -> tuple[list[Record], dict[int, tuple[int, int]], dict[int, tuple[int, int, int | None]]]:
    """The messages; where each unit's begin and end; and of each reply its turn, iteration and message."""
    records: list[Record] = []
    spans: dict[int, tuple[int, int]] = {}
    places: dict[int, tuple[int, int, int | None]] = {}
    turn = iteration = 0
    for number, unit in enumerate(units):
        first, opens = len(records), unit.kind == "typed" or _starts_call(units, number)
        if opens:
            turn, iteration = turn + 1, 0
        if unit.is_reply:
            turn, iteration = max(turn, 1), iteration + 1
            reply = _reply(unit, turn, iteration)
            places[id(unit)] = (turn, iteration, None if reply is None else first)
            records += [] if reply is None else [reply]
        for piece in unit.pieces:
            message, chars = dict(piece.said.message), piece.original_chars
            if message["role"] == "tool":
                message["name"] = message["name"] or log.blocks.names.get(message["tool_call_id"], "")
                shown = log.shown.get(message["tool_call_id"])
                if shown is not None:
                    chars = max(chars or 0, len(message["content"]))
                    message["content"] = shown
            elif not opens:
                message["origin"] = "loop"
            images = piece.said.image_tokens
            is_summary = unit.is_summary and message["role"] == "user"
            at = iteration if unit.is_reply or not opens else 0
            records.append(Record(message, turn, at, piece.time, chars, None, is_summary, images))
        spans[id(unit)] = (first, len(records))
    return records, spans, places


def _starts_call(units: Sequence[Unit], number: int) -> bool:
    """Whether a command of the user is answered by a model call, before anything else is said."""
    if units[number].kind not in ("command", "shell"):
        return False
    quiet = ("loop",) if units[number].kind == "command" else ("loop", "output")
    for unit in units[number + 1 :]:
        if unit.kind not in quiet:
            return unit.is_reply
    return False


def _reply(unit: Unit, turn: int, iteration: int) -> Record | None:
    """The message of a reply, of its lines; None where it is blank."""
    texts = [said.message["content"] for said in unit.reply if said.message["content"]]
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts)}
    calls = {call["id"]: call for said in unit.reply for call in said.message.get("tool_calls", ())}
    if calls:
        message["tool_calls"] = list(calls.values())
    thinking = "\n".join(said.thinking for said in unit.reply if said.thinking)
    images = sum(said.image_tokens for said in unit.reply)
    if not (texts or calls or thinking or images):
        return None
    return Record(message, turn, iteration, unit.time, image_tokens=images, thinking=thinking)


def _reporter(log: Log, unit: Unit, problems: list[Problem]) -> Callable[[str], None]:
    return lambda reason: problems.append(Problem(str(log.path), unit.number, reason))


def _call(unit: Unit, place: tuple[int, int, int | None], start: int, stop: int, report: Callable[[str], None]) -> Call:
    turn, iteration, reply = place
    raw = unit.raw
    usage = plausible(usage_of(raw.get("usage")), report)
    return Call(
        turn,
        iteration,
        start,
        stop,
        reply,
        usage,
        raw.get("stop_reason"),
        raw.get("model"),
        unit.time,
        cache_write_1h_tokens=0 if usage is None else min(max(one_hour_of(raw["usage"]), 0), usage.cache_write_tokens),
        cost=raw.get("cost"),
    )


def _changed_results(log: Log, made: Sequence[Unit], records: Sequence[Record]) -> list[_Change]:
    """From which call on tool results were sent otherwise, or not at all."""
    if not log.changed:
        return []
    of_call = {record.message["tool_call_id"]: n for n, record in enumerate(records) if record.role == "tool"}
    numbers = [unit.number for unit in made]
    latest = list(accumulate(numbers, max))
    changes = []
    for line, ids, text in log.changed:
        call = bisect_right(latest, line)
        if call < len(made):
            changes += [_Change(call, of_call[each], text) for each in ids if each in of_call]
    return changes


def _replaced(records: Sequence[Record], changes: Iterable[_Change]) -> tuple[Replaced, ...]:
    """All that is sent differently from some call on, in the order of the calls."""
    shown: dict[int, str | None] = {}
    off: set[int] = set()
    replaced = []
    for change in sorted(changes, key=lambda each: each.call):
        index = change.index
        if change.is_sent is None:
            shown[index] = change.text
        elif change.is_sent:
            off.discard(index)
        else:
            off.add(index)
        replaced.append(Replaced(change.call, index, None if index in off else shown.get(index, records[index].text)))
    return tuple(replaced)


def _estimated(calls: Sequence[Call], made: Sequence[Unit], records: Sequence[Record]) -> list[Call]:
    """Estimate the output of calls where the log's counts are none, version by version of the program.

    Some versions log the count with which the reply began, a few tokens, and never the last one. Their sum is then far
    below what the visible text, arguments and thinking take at four characters a token.
    """
    visible = [ceil(_visible(records[call.reply]) / CHARS_PER_TOKEN) if call.reply is not None else 0 for call in calls]
    reported: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for call, unit, tokens in zip(calls, made, visible, strict=True):
        if call.usage is not None:
            reported[unit.raw["version"]] += call.usage.output_tokens
            seen[unit.raw["version"]] += tokens
    wrong = {version for version in seen if seen[version] >= _FEW and reported[version] < LEAST_SHARE * seen[version]}
    estimated = []
    for call, unit, tokens in zip(calls, made, visible, strict=True):
        if call.usage is not None and unit.raw["version"] in wrong:
            usage = msgspec.structs.replace(call.usage, output_tokens=max(tokens, call.usage.output_tokens))
            estimated.append(msgspec.structs.replace(call, usage=usage, output_measured=False))
        else:
            estimated.append(call)
    return estimated


def _visible(record: Record) -> int:
    calls = (call["function"] for call in record.tool_calls)
    return len(record.text) + len(record.thinking) + sum(len(each["name"]) + len(each["arguments"]) for each in calls)
