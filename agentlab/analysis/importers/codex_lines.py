"""The lines of a Codex rollout that count, one after the other: items, counts of tokens, and what ends a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.codex_items import CALLS, ITEMS, SILENT, totals_of, usage_of
from agentlab.analysis.importers.fields import object_of, text_at, time_at
from agentlab.analysis.importers.shape import plausible
from agentlab.messages import Usage
from agentlab.printable import counted
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

COPY_SECONDS = 2.0
"""A fork writes its parent's lines at once: those that are no later than this after its first one are copies."""

_NOTES = ("world_state", "tool_manifest", "sampling_boundary", "inter_agent_communication_metadata", "transaction")
_TOTALS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")


class Line(msgspec.Struct, frozen=True):
    """A line that counts.

    Attributes:
        number: In the file, from 1.
        kind: The type of its item, or token_count, compacted or rolled_back.
        payload: What it says.
        time: When it was written, in seconds since 1970.
        model: The model that was set then.
        is_copy: Whether a fork took it over from its parent.
        usage: Of a token_count.
    """

    number: int
    kind: str
    payload: dict[str, Any]
    time: float | None
    model: str
    is_copy: bool
    usage: Usage | None = None


class Lines:
    """Reads the lines of one file.

    Attributes:
        meta: The payload of its `session_meta`.
        model: The last model that was set.
        all: What counts, in order; of equal counts that follow each other only the first.
    """

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.meta: dict[str, Any] = {}
        self.model = ""
        self.all: list[Line] = []
        self._path = str(path)
        self._problems = problems
        self._number = 0
        self._total: tuple[int, ...] | None = None
        self._first_time: float | None = None
        self._is_fork = False
        self._odd: dict[str, tuple[int, int]] = {}
        self._added: list[tuple[int, int, int]] = []

    def read(self, lines: Iterable[tuple[int, Any]]) -> None:
        """Read all lines."""
        for number, value in lines:
            self._number = number
            payload = value.get("payload") if isinstance(value, dict) else None
            if isinstance(payload, dict):
                time = time_at(value)
                self._first_time = time if self._first_time is None else self._first_time
                self._line(str(value.get("type")), payload, time)
            else:
                self.report("skipped: expected an object with type and payload")
        self._report_odd()

    def report(self, reason: str, number: int | None = None) -> None:
        """Say what could not be taken as it is, of the line that is read or of another one."""
        self._problems.append(Problem(self._path, number or self._number, reason))

    def counts_come_first(self) -> bool:
        """Whether most counts stand before the items that they are of, as early versions wrote them."""
        after = before = 0
        kind = ""
        for line in self.all:
            if line.kind == "message":
                kind = str(line.payload.get("role"))
            elif line.kind != "token_count":
                kind = line.kind
            elif kind in (*CALLS, "reasoning", "assistant"):
                after += 1
            elif kind:
                before += 1
        return before > after

    def _line(self, kind: str, payload: dict[str, Any], time: float | None) -> None:
        of = payload.get("type")
        if kind == "session_meta":
            self._header(payload)
        elif kind == "turn_context":
            self.model = text_at(payload, "model") or self.model
        elif kind == "event_msg":
            self._event(payload, time)
        elif kind == "compacted":
            self._keep(kind, payload, time)
        elif kind == "response_item" and of in ITEMS:
            self._keep(str(of), payload, time)
        elif kind == "inter_agent_communication":
            self._keep("message", {"role": "developer", "content": text_at(payload, "content")}, time)
        elif kind not in _NOTES and of not in SILENT:
            what = f"an item of type {of!r}" if kind == "response_item" else f"a line of type {kind!r}"
            first, known = self._odd.get(what, (self._number, 0))
            self._odd[what] = (first, known + 1)

    def _event(self, payload: dict[str, Any], time: float | None) -> None:
        """Of the events only two say something of what is sent."""
        if payload.get("type") == "token_count":
            self._count(payload, time)
        elif payload.get("type") == "thread_rolled_back":
            self._keep("rolled_back", payload, time)

    def _header(self, payload: dict[str, Any]) -> None:
        if not self.meta:
            self.meta = payload
            self._is_fork = bool(text_at(payload, "forked_from_id"))
        elif payload.get("id") != self.meta.get("id"):
            self._is_fork = True  # the parent's header stands among what was copied

    def _keep(self, kind: str, payload: dict[str, Any], time: float | None, **more: Any) -> None:
        known = self._is_fork and time is not None and self._first_time is not None
        is_copy = known and (time or 0) <= (self._first_time or 0) + COPY_SECONDS
        self.all.append(Line(self._number, kind, payload, time, more.pop("model", self.model), is_copy, **more))

    def _count(self, payload: dict[str, Any], time: float | None) -> None:
        """Keep a count, unless the total is what it was."""
        info = object_of(payload.get("info"))
        last, total = info.get("last_token_usage"), info.get("total_token_usage")
        known = totals_of(total if isinstance(total, dict) else last)
        if known == self._total or not any(known):
            return
        before, self._total = self._total or (0,) * len(known), known
        if not isinstance(last, dict):
            grown = all(now >= then for now, then in zip(known, before, strict=True))
            last = dict(zip(_TOTALS, (n - t * grown for n, t in zip(known, before, strict=True)), strict=True))
        sent, _, output, _, whole = totals_of(last)
        if whole and whole != sent + output:
            self._added.append((self._number, whole, sent + output))
        usage = plausible(usage_of(last), self.report)
        self._keep("token_count", {}, time, model=text_at(info, "model") or self.model, usage=usage)

    def _report_odd(self) -> None:
        for what, (first, count) in self._odd.items():
            self.report(f"{what} is not known: {counted(count, 'line')} not read", first)
        if self._added:
            number, whole, parts = self._added[0]
            reason = (
                f"token_count: total_tokens is {whole:,}, but input and output come to {parts:,}: reasoning, which is "
                "in the output already, seems to be added; total_tokens is not used "
                f"({counted(len(self._added), 'such count')})"
            )
            self.report(reason, number)
