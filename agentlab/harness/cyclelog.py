"""The cycle log: a line per event, in one file a day, and the sink that writes the lines of a cycle.

Each line is one append, so that a crash tears at most the last one; the next append starts on a fresh line.
"""

from __future__ import annotations

import os
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.events import (
    CallFinished,
    CallRetried,
    CallStarted,
    CompactionDecided,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agentlab.harness.actors import EXTEND
from agentlab.harness.records import (
    TERMINAL,
    AgentCycleComplete,
    BudgetExtended,
    BudgetRefused,
    Compaction,
    CycleComplete,
    LlmRequest,
    LlmResponse,
    LlmRetry,
    ToolCalled,
    ToolResult,
    WatchdogFire,
    clip,
)
from agentlab.messages import Usage
from agentlab.providers.masking import mask
from agentlab.repair import encodable
from agentlab.store import open_for_append, write_all
from agentlab.turn import iso

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.budgets import Extension, TurnBudget
    from agentlab.events import Event
    from agentlab.harness.records import InFlight, Record
    from agentlab.messages import ToolCall

    OnRecord = Callable[[Record], None]

ARGUMENT_CHARS = 500
ERROR_CHARS = 300


class CycleLog:
    """A folder of log files, `2026-05-13.jsonl` and so on, appended to and never rewritten.

    Any number of cycles, threads and processes may write into one folder.

    Args:
        folder: Made when the first line is written; None keeps no file.
        clock: Seconds since 1970; a day ends at midnight UTC.
    """

    def __init__(self, folder: str | Path | None, *, clock: Callable[[], float] = time.time) -> None:
        self.folder = None if folder is None else Path(folder)
        self.clock = clock
        self._encode = msgspec.json.Encoder().encode
        self._lock = threading.Lock()
        self._day = ""
        self._file = -1

    def append(self, record: Record) -> None:
        """Write a line.

        Raises:
            OSError: The disk refused.
        """
        if self.folder is None:
            return
        line = self._encode(record) + b"\n"
        day = record.timestamp[:10]
        with self._lock:
            try:
                if day != self._day or self._file < 0:
                    self._open(day)
                write_all(self._file, line)
            except OSError:
                self._close()  # the next line is then a fresh one
                raise

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        with self._lock:
            self._close()

    def _open(self, day: str) -> None:
        self._close()
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = open_for_append(self.folder / f"{day}.jsonl")
            self._day = day

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class CycleWriter:
    """Writes the lines of one cycle, numbered; a sink over the events of its loop.

    Args:
        log: Where the lines go.
        cycle: Id of the cycle; so are `parent` and `actor`.
        turns: The cycle's turn budget.
        on_record: Is given each line after it was written.

    Attributes:
        turn: The turn that runs.
        ended: Whether the terminal line was written; nothing is written after it.
        in_flight: Called when time was over: returns what was running.
    """

    hears = (
        CallStarted,
        CallRetried,
        CallFinished,
        ToolStarted,
        ToolFinished,
        TurnFinished,
        CompactionDecided,
    )

    def __init__(
        self, log: CycleLog, *, cycle: str, parent: str | None, actor: str, turns: TurnBudget, on_record: OnRecord
    ) -> None:
        self.log = log
        self.cycle, self.parent, self.actor = cycle, parent, actor
        self.turns = turns
        self.turn = 0
        self.ended = False
        self.limit = 0.0
        self.in_flight: Callable[[], list[InFlight]] = list
        self.elapsed: Callable[[], float] = float
        self._on_record = on_record
        self._lock = threading.RLock()
        self._seq = 0
        self._started: dict[str, float] = {}
        self._extended = False
        self._failure = ""
        self._tool_errors = 0
        self._handlers: dict[type[Event], Callable[[Any], None]] = {
            CallStarted: self._call_started,
            CallRetried: self._call_retried,
            CallFinished: self._call_finished,
            ToolStarted: self._tool_started,
            ToolFinished: self._tool_finished,
            TurnFinished: self._turn_finished,
            CompactionDecided: self._compacted,
        }

    def __call__(self, event: Event) -> None:
        """Write the line of an event.

        Raises:
            OSError: The disk refused.
        """
        self._handlers[type(event)](event)

    def write(self, kind: type[Record], **fields: Any) -> None:
        """Write a line of a type, with its own fields; nothing after the terminal line."""
        with self._lock:
            if self.ended:
                return
            self._seq += 1
            record = kind(
                seq=self._seq,
                cycle=self.cycle,
                parent=self.parent,
                actor=self.actor,
                turn=self.turn,
                timestamp=iso(self.log.clock()),
                **fields,
            )
            self.ended = kind in TERMINAL
            self.log.append(record)
        self._on_record(record)

    # -- what the cycle tells beside the loop

    def failed(self, in_a_row: int, reason: str) -> None:
        """A model call failed for good."""
        self._failure = shown(reason, ERROR_CHARS)
        self.write(
            LlmResponse,
            is_error=True,
            usage=Usage(),
            seconds=0.0,
            stop_reason=None,
            text_chars=0,
            calls=0,
            error=self._failure,
            in_a_row=in_a_row,
        )

    def extension(self, asked: Extension, requested: Any) -> None:
        """More turns were asked for: a grant or a refusal."""
        common = {
            "requested": _plain(requested),
            "granted": asked.granted,
            "before": asked.before,
            "after": asked.after,
            "ceiling": asked.ceiling,
            "reason": shown(asked.reason, ERROR_CHARS),
        }
        if asked.granted:
            self._extended = True
            self.write(BudgetExtended, **common, in_part=asked.granted < asked.requested)
        else:
            self.write(BudgetRefused, **common, why=asked.refused)

    # -- what the loop tells

    def _call_started(self, event: CallStarted) -> None:
        self.turn = event.iteration
        left, allowed = self.turns.left, self.turns.allowed
        self.write(LlmRequest, prompt_tokens=event.prompt_tokens, left=left, allowed=allowed, last=left <= 0)

    def _call_retried(self, event: CallRetried) -> None:
        self.write(LlmRetry, attempt=event.attempt, wait=round(event.wait, 3), reason=shown(event.reason, ERROR_CHARS))

    def _compacted(self, event: CompactionDecided) -> None:
        messages = len(event.cleared) if event.cursor is None else event.cursor
        self.write(Compaction, rule=event.policy, messages=messages, tokens_saved=event.tokens_saved, exact=False)

    def _call_finished(self, event: CallFinished) -> None:
        reply = event.reply
        self.write(
            LlmResponse,
            is_error=False,
            usage=event.usage,
            seconds=round(event.seconds, 6),
            stop_reason=reply.stop_reason,
            text_chars=len(reply.text),
            calls=len(reply.tool_calls),
            error="",
            in_a_row=0,
        )

    def _tool_started(self, event: ToolStarted) -> None:
        self._started[event.call.id] = time.perf_counter()
        self._called(event.call, run=True)

    def _called(self, call: ToolCall, *, run: bool) -> None:
        arguments = call.arguments if isinstance(call.arguments, str) else _json(call.arguments)
        self.write(
            ToolCalled,
            call_id=call.id,
            name=call.name,
            arguments=shown(arguments, ARGUMENT_CHARS),
            digest=digest(arguments),
            run=run,
        )

    def _tool_finished(self, event: ToolFinished) -> None:
        call = event.call
        began = self._started.pop(call.id, None)
        if began is None:
            self._called(call, run=False)
        if call.name == EXTEND and event.is_error and event.text.startswith("Error: ArgumentError"):
            self._refused_unread(call, event.text)
        self._tool_errors += event.is_error and began is not None
        self.write(
            ToolResult,
            call_id=call.id,
            name=call.name,
            run=began is not None,
            original_chars=event.original_chars,
            chars=event.chars,
            cut=event.chars < event.original_chars,
            is_error=event.is_error,
            error=shown(event.text, ERROR_CHARS) if event.is_error else "",
            seconds=0.0 if began is None else round(time.perf_counter() - began, 6),
            store_id=event.store_id,
        )

    def _refused_unread(self, call: ToolCall, error: str) -> None:
        """More turns were asked for with arguments that cannot be read: a refusal too."""
        sent = call.arguments if isinstance(call.arguments, dict) else {}
        self.write(
            BudgetRefused,
            requested=_plain(sent.get("additional", call.arguments)),
            granted=0,
            before=self.turns.allowed,
            after=self.turns.allowed,
            ceiling=self.turns.ceiling,
            reason=shown(str(sent.get("reason") or ""), ERROR_CHARS),
            why=shown(error, ERROR_CHARS),
        )

    def _turn_finished(self, event: TurnFinished) -> None:
        if event.reason == "deadline":
            running = self.in_flight()
            self.write(
                WatchdogFire,
                limit=self.limit,
                seconds=round(self.elapsed(), 3),
                running=running,
                all_stopped=all(work.stopped for work in running),
            )
        self.complete(event.status, event.reason, event.usage, event.reply, len(event.tool_calls))

    def complete(self, status: str, reason: str, usage: Usage, reply: str, tool_calls: int) -> None:
        """Write the terminal line, unless it is there."""
        self.write(
            CycleComplete if self.parent is None else AgentCycleComplete,
            status=status,
            reason=reason,
            turns=self.turns.used,
            allowed=self.turns.allowed,
            left=max(0, self.turns.left),
            ceiling=self.turns.ceiling,
            extended=self._extended,
            watchdog=reason == "deadline",
            usage=usage,
            seconds=round(self.elapsed(), 3),
            reply_chars=len(reply),
            tool_calls=tool_calls,
            tool_errors=self._tool_errors,
            error=self._failure if status == "failed" else "",
        )


def _json(arguments: Any) -> str:
    try:
        return msgspec.json.encode(arguments, order="sorted").decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        return repr(arguments)


def _plain(value: Any) -> Any:
    """A number as it is, anything else as short text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return shown(value if isinstance(value, str) else _json(value), 80)


def shown(text: str, size: int) -> str:
    """A text as the log shows it: on one line, clipped, without secrets, such as can be encoded."""
    return clip(mask(encodable(text)), size)


def digest(text: str) -> str:
    """Twelve hex digits that tell texts apart.

    >>> digest("{}")
    '44136fa355b3'
    """
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
