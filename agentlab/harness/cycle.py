"""One cycle: a message handled by an actor within its budgets, from the first line of its log to the last.

The cycle that runs is known through a context variable, which threads that work for it inherit. So one set of tools and
one provider serve all cycles of a session, and a thread that was left behind still belongs to the cycle that began it.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.budgets import Extension
from agentlab.endings import TurnResult, ending_of
from agentlab.harness.cyclelog import CycleWriter, shown
from agentlab.harness.records import AgentCycleStart, CycleStart
from agentlab.harness.running import Running
from agentlab.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.budgets import Scope, TurnBudget
    from agentlab.events import Event
    from agentlab.harness.actors import Actor
    from agentlab.harness.cyclelog import CycleLog, OnRecord
    from agentlab.harness.records import InFlight
    from agentlab.runner import Runner

PROMPT_CHARS = 500
GRACE = 0.1
"""Seconds that work has to end after the watchdog fired; an agent's own work has as long within its caller's."""

CURRENT: ContextVar[Cycle | None] = ContextVar("cycle", default=None)


class CycleResult(msgspec.Struct, frozen=True):
    """What a cycle gave.

    Attributes:
        cycle: Its id in the log.
        actor: Who acted.
        result: How it ended, with the text.
        allowed: Turns allowed at its end.
        extensions: What was asked for and granted, in order.
        seconds: How long it took.
    """

    cycle: str
    actor: str
    result: TurnResult
    allowed: int
    extensions: list[Extension]
    seconds: float

    @property
    def text(self) -> str:
        """The reply, or the sentence in its place."""
        return self.result.text

    @property
    def status(self) -> str:
        """`complete`, `partial`, `failed` or `cancelled`."""
        return self.result.status

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.result.reason

    @property
    def turns(self) -> int:
        """Turns that were used."""
        return self.result.iterations


class Cycle:
    """The state of one cycle.

    Args:
        id: Its id.
        actor: Who acts.
        turns: Its turn budget.
        scope: Its deadline; work of the cycle runs in it.
        log: Where its lines go.
        parent: The cycle that it works for.
        on_record: Is given each line.

    Attributes:
        model: Who answers, as its first line says it: the model, or the provider where that has none.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the word of the log
        actor: Actor,
        *,
        turns: TurnBudget,
        scope: Scope,
        log: CycleLog,
        parent: Cycle | None = None,
        on_record: OnRecord,
    ) -> None:
        self.id = id
        self.actor = actor
        self.turns = turns
        self.scope = scope
        self.parent = parent
        self.running = Running(scope)
        self.extensions: list[Extension] = []
        self.model = ""
        self.began = scope.clock()
        self.writer = CycleWriter(
            log,
            cycle=id,
            parent=None if parent is None else parent.id,
            actor=actor.name,
            turns=turns,
            on_record=on_record,
        )
        self.writer.limit = actor.seconds
        self.writer.elapsed = self.elapsed
        self.writer.in_flight = self.in_flight

    @property
    def depth(self) -> int:
        """How many cycles it works for: 0, or 1 for an agent's."""
        return 0 if self.parent is None else 1 + self.parent.depth

    def elapsed(self) -> float:
        """Seconds since it began."""
        return self.scope.clock() - self.began

    def in_flight(self) -> list[InFlight]:
        """What was running when the watchdog fired; an agent answers first, so that its caller sees it stop."""
        return self.running.in_flight(grace=GRACE if self.depth else 2.5 * GRACE)

    def extend(self, additional: int, reason: str) -> Extension:
        """Ask for more turns; the answer is logged."""
        extension = self.turns.extend(additional, reason)
        self.extensions.append(extension)
        self.writer.extension(extension, additional)
        return extension

    def start(self, prompt: str, *, provider: str, model: str | None, with_context: bool = False) -> None:
        """Write its first line."""
        actor, self.model = self.actor, model or provider
        common = {
            "prompt": shown(prompt, PROMPT_CHARS),
            "prompt_chars": len(prompt),
            "provider": provider,
            "model": model,
            "turns": self.turns.allowed,
            "ceiling": self.turns.ceiling,
            "errors": actor.errors or 1,
            "seconds": actor.seconds,
            "extendable": self.turns.extendable,
        }
        if self.parent is None:
            self.writer.write(CycleStart, **common)
        else:
            turn = self.parent.writer.turn
            self.writer.write(AgentCycleStart, **common, parent_turn=turn, with_context=with_context)


class ToCurrentCycle:
    """A sink that hands events of the loop to the cycle that runs."""

    hears = CycleWriter.hears

    def __call__(self, event: Event) -> None:
        """Hand on an event."""
        cycle = CURRENT.get()
        if cycle is not None:
            cycle.writer(event)


def run_cycle(
    runner: Runner,
    cycle: Cycle,
    prompt: str,
    on_text_delta: Callable[[str], None] | None = None,
    *,
    with_context: bool = False,
) -> CycleResult:
    """Run one user message as a cycle; its terminal line is written before this returns.

    Args:
        runner: The session, whose sinks have `ToCurrentCycle` among them.
        cycle: A new cycle.
        prompt: What the user, or the caller of an agent, says.
        on_text_delta: Called with each piece of text as it arrives.
        with_context: Whether the caller gave an agent context.
    """
    before = CURRENT.set(cycle)
    result: TurnResult | None = None
    try:
        provider: Any = runner.provider
        cycle.start(
            prompt,
            provider=getattr(provider, "name", ""),
            model=getattr(provider, "model", None),
            with_context=with_context,
        )
        result = runner.send(prompt, on_text_delta, scope=cycle.scope, turns=cycle.turns)
    finally:
        cycle.scope.cancel("the cycle is over")  # whatever was left behind, at Ctrl-C for one, ends too
        _finish(cycle, result, sys.exc_info()[1])
        CURRENT.reset(before)
    return CycleResult(cycle.id, cycle.actor.name, result, cycle.turns.allowed, cycle.extensions, cycle.elapsed())


def _finish(cycle: Cycle, result: TurnResult | None, error: BaseException | None) -> None:
    """Write the terminal line where the loop could not: a sink failed, or there was a bug."""
    from contextlib import suppress

    if cycle.writer.ended:
        return
    with suppress(OSError):  # the disk that refused the other lines may refuse this one: the reader says "abandoned"
        if result is not None:
            cycle.writer.complete(result.status, result.reason, result.usage, result.text, len(result.tool_calls))
        elif error is not None:
            ending = ending_of(error)
            cycle.writer.complete(ending.status, ending.reason, Usage(), "", 0)
