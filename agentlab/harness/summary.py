"""Many cycles at a glance: turns, extensions and their reasons, repeated calls, tools that fail."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from agentlab.harness.records import BudgetExtended, BudgetRefused, ToolCalled, ToolResult, WatchdogFire
from agentlab.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.harness.reading import CycleView


class Summary(msgspec.Struct, frozen=True):
    """Many cycles at a glance.

    Attributes:
        cycles: How many.
        endings: How many by actor, status and reason.
        turns: By actor: how many cycles used so many turns.
        extendable: Cycles that could ask for more turns.
        extended: Those of them that were granted some; `extended_share` is their share of these.
        extension_reasons: The reasons given for what was granted, with how often.
        refusals: Requests that were refused.
        repeats: Calls that repeated a failed one of the same cycle unchanged, by tool.
        calls: Tool calls that were run, by tool.
        failures: Those of them that failed, the most first.
        watchdogs: Cycles that the watchdog ended.
        usage: Tokens of all calls.
    """

    cycles: int
    endings: dict[str, int]
    turns: dict[str, dict[int, int]]
    extendable: int
    extended: int
    extended_share: float
    extension_reasons: dict[str, int]
    refusals: int
    repeats: dict[str, int]
    calls: dict[str, int]
    failures: dict[str, int]
    watchdogs: int
    usage: Usage


def summarise(cycles: Sequence[CycleView]) -> Summary:
    """Count what happened over many cycles."""
    turns: dict[str, Counter[int]] = {}
    for view in cycles:
        turns.setdefault(view.actor, Counter())[view.turns] += 1
    extendable = [view for view in cycles if view.start is not None and view.start.extendable]
    extended = [view for view in extendable if view.of(BudgetExtended)]
    results = [result for view in cycles for result in view.of(ToolResult) if result.run]
    return Summary(
        len(cycles),
        dict(Counter(f"{view.actor} {view.status} ({view.reason})" for view in cycles).most_common()),
        {actor: dict(sorted(counted.items())) for actor, counted in turns.items()},
        len(extendable),
        len(extended),
        len(extended) / len(extendable) if extendable else 0.0,
        dict(Counter(each.reason for view in cycles for each in view.of(BudgetExtended)).most_common()),
        sum(len(view.of(BudgetRefused)) for view in cycles),
        dict(Counter(name for view in cycles for name in repeats(view)).most_common()),
        dict(Counter(result.name for result in results).most_common()),
        dict(Counter(result.name for result in results if result.is_error).most_common()),
        sum(bool(view.of(WatchdogFire)) for view in cycles),
        sum((view.usage for view in cycles[1:]), cycles[0].usage) if cycles else Usage(),
    )


def repeats(view: CycleView) -> list[str]:
    """The tools of the calls that repeated a failed call of the cycle with the same arguments."""
    made: dict[tuple[int, str], tuple[str, str]] = {}
    failed: set[tuple[str, str]] = set()
    repeated = []
    for record in view.records:
        if isinstance(record, ToolCalled) and record.run:
            call = (record.name, record.digest)
            if call in failed:
                repeated.append(record.name)
            made[record.turn, record.call_id] = call
        elif isinstance(record, ToolResult) and (record.turn, record.call_id) in made:
            call = made.pop((record.turn, record.call_id))
            failed.add(call) if record.is_error else failed.discard(call)
    return repeated
