"""agentlab with everything on: limits, a budget, checked arguments, events, a session folder, a running count."""

from __future__ import annotations

from typing import Any

from agentlab.budgets import Budget, Scope
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.policy import Limit, Policy
from agentlab.tools import tool
from agentlab.transcript import SessionWriter
from benchmarks.script import FINAL, FLOOR_LIMIT, SYSTEM, TASK
from benchmarks.subjects import Subject

USAGE = Usage(1000, 20)
PLENTY = 10**12


class Model:
    """The scripted model behind agentlab's provider seam."""

    native = True
    name, model = "scripted", None
    window: int | None = None

    def __init__(self, script: Any) -> None:
        self.script = script

    def call(self, messages: Any, **settings: Any) -> Reply:
        """The script's next step."""
        n = self.script.next_call()
        if n is None:
            return Reply(FINAL, (), USAGE, "end_turn")
        return Reply("", (ToolCall(f"call_{n}", "echo", {"n": n}),), USAGE, "tool_use")


class Ours(Subject):
    """Cut where the floor cuts, nothing stored beside the session."""

    policy = Policy(name="floor", default=Limit(FLOOR_LIMIT))
    stored = False
    seconds: float | None = None

    def build(self) -> None:
        """The model and the tool."""
        script = self.script

        @tool
        def echo(n: int) -> str:
            """Return the text for item n."""
            return script.echo(n)

        self.model, self.echo = Model(script), echo

    def run(self, iterations: int) -> Conversation:
        """One run in a session folder of its own."""
        self.start_session()
        self._turn(iterations + 1)
        self.end_session()
        return self.conversation

    def start_session(self) -> None:
        """A conversation and its session folder."""
        self.conversation = Conversation(system=SYSTEM)
        self.writer = SessionWriter(self.fresh_folder(), provider="scripted", system=SYSTEM, tools=[self.echo])
        self.sinks: list[Any] = [self.writer]
        self.store = self.writer.store if self.stored else None
        self.tools = [self.echo, read_result_tool(self.store)] if self.store is not None else [self.echo]
        self.budget = Budget(max_tokens=PLENTY, max_cost=float(PLENTY), price=lambda _usage: 0.0)

    def turn(self) -> None:
        """One call and a final text."""
        self._turn(10)

    def end_session(self) -> None:
        """Close the session folder."""
        self.writer.close()

    def _turn(self, max_iterations: int) -> None:
        result = run_turn(
            self.conversation,
            TASK,
            self.model,
            tools=self.tools,
            policy=self.policy,
            sinks=self.sinks,
            store=self.store,
            budget=self.budget,
            max_iterations=max_iterations,
            scope=None if self.seconds is None else Scope(self.seconds),
        )
        if result.text != FINAL:
            raise RuntimeError(f"the run ended otherwise: {result}")


class Stored(Ours):
    """Every result that is cut is kept in full too."""

    stored = True


class Timed(Stored):
    """The same, with a deadline: a tool that hangs would be left behind, so each runs on another thread."""

    seconds = 300.0


class DefaultLimit(Ours):
    """Cut at the chapter's 4,000 characters."""

    policy = Policy()


class DefaultLimitStored(DefaultLimit):
    """The same, and every result that is cut is kept in full too."""

    stored = True


class Uncut(Ours):
    """No result is cut: what memory the history takes."""

    policy = Policy(name="uncut", default=Limit(PLENTY))
