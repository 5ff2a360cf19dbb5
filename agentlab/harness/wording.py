"""The lines of the cycle log in words, for people and for models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.harness.records import (
    AgentCycleComplete,
    AgentCycleStart,
    BudgetExtended,
    BudgetRefused,
    Compaction,
    CycleComplete,
    CycleStart,
    LlmRequest,
    LlmResponse,
    LlmRetry,
    Record,
    ToolCalled,
    ToolResult,
    WatchdogFire,
    clip,
    type_of,
)
from agentlab.printable import counted

if TYPE_CHECKING:
    from collections.abc import Callable


def line_of(record: Record, allowed: int) -> str:
    """A line of the activity: turn and cap, who, what."""
    return f"turn {record.turn}/{allowed} {record.actor} {type_of(record)}: {in_words(record)}"


def in_words(record: Record) -> str:
    """What a line says, beside turn, actor and type."""
    return _WORDS[type(record)](record)


def _start(record: CycleStart) -> str:
    return f'"{clip(record.prompt, 80)}"'


def _request(record: LlmRequest) -> str:
    last = ", the last turn" if record.last else f", {counted(record.left, 'turn')} left after it"
    return f"{record.prompt_tokens:,} prompt tokens (estimated){last}"


def _response(record: LlmResponse) -> str:
    if record.is_error:
        return f"model call failed, {record.in_a_row} in a row: {record.error}"
    usage = record.usage
    return (
        f"reply of {counted(record.text_chars, 'character')} and {counted(record.calls, 'call')}, "
        f"{usage.prompt_tokens:,} + "
        f"{usage.output_tokens:,} tokens ({'measured' if usage.exact else 'estimated'}), {record.seconds:.2f} s"
    )


def _retry(record: LlmRetry) -> str:
    return f"retry {record.attempt} in {record.wait:.1f} s: {record.reason}"


def _call(record: ToolCalled) -> str:
    return f"call {record.name} {clip(record.arguments, 100)}{'' if record.run else ' (not run)'}"


def _result(record: ToolResult) -> str:
    size = f"{record.original_chars:,} cut to {record.chars:,}" if record.cut else f"{record.chars:,}"
    kept = f", kept as {record.store_id}" if record.store_id else ""
    error = f", error: {clip(record.error, 160)}" if record.is_error else ""
    return f"result of {record.name}: {size} characters{kept}{error}"


def _extended(record: BudgetExtended) -> str:
    asked = f" of the {record.requested} asked for" if record.in_part else ""
    return (
        f"budget {record.before} -> {record.after} turns ({record.granted}{asked}, ceiling {record.ceiling}): "
        f"{record.reason}"
    )


def _refused(record: BudgetRefused) -> str:
    return f"budget stays at {record.before} turns, asked for {record.requested}: {record.why}"


def _watchdog(record: WatchdogFire) -> str:
    work = "; ".join(
        f"{each.kind} {each.name} for {each.seconds:.1f} s{'' if each.stopped else ', could not be stopped'}"
        for each in record.running
    )
    return f"watchdog after {record.seconds:.1f} of {record.limit:g} s; running: {work or 'nothing'}"


def _compaction(record: Compaction) -> str:
    return f"compaction by {record.rule}: {record.messages} messages, {record.tokens_saved:,} tokens less"


def _complete(record: CycleComplete) -> str:
    why = f": {record.error}" if record.error else ""
    return (
        f"{record.status} ({record.reason}{why}) after {record.turns} turns, {record.left} of {record.allowed} left, "
        f"{record.seconds:.1f} s, {record.usage.prompt_tokens:,} + {record.usage.output_tokens:,} tokens"
        f"{'' if record.usage.exact else ' (estimated)'}"
    )


_WORDS: dict[type[Record], Callable[[Any], str]] = {
    CycleStart: _start,
    AgentCycleStart: _start,
    LlmRequest: _request,
    LlmResponse: _response,
    LlmRetry: _retry,
    ToolCalled: _call,
    ToolResult: _result,
    BudgetExtended: _extended,
    BudgetRefused: _refused,
    WatchdogFire: _watchdog,
    Compaction: _compaction,
    CycleComplete: _complete,
    AgentCycleComplete: _complete,
}
