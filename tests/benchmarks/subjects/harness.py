"""A cog of the harness: one cycle of many turns, each with one tool call, everything in the cycle log."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentlab.budgets import Budget
from agentlab.harness.actors import ACTORS
from agentlab.harness.session import COG, Harness
from benchmarks.script import FINAL, TASK
from benchmarks.subjects.ours import PLENTY, Stored

TURNS = 1_000_000


class Cog(Stored):
    """With its log and its session folder; the cap of turns is raised, the deadline is the cog's own."""

    remembers = True

    def prepare(self) -> None:
        """A harness in a folder of its own: its skills are read, its tools are made."""
        folder = self.fresh_folder()
        self.harness = Harness(
            self.model,
            workspace=folder,
            folder=folder / "session" if self.remembers else None,
            log=folder / "log",
            actors={**ACTORS, COG: replace(ACTORS[COG], turns=TURNS, ceiling=TURNS)},
            tools={COG: [self.echo]},
            policy=self.policy,
            budget=Budget(max_tokens=PLENTY, max_cost=float(PLENTY), price=lambda _usage: 0.0),
        )

    def start_session(self) -> None:
        """Nothing is left to do."""
        self.conversation = self.harness.runner.conversation

    def end_session(self) -> None:
        """Close the files."""
        self.harness.close()

    def _turn(self, max_iterations: int) -> Any:
        result = self.harness.send(TASK)
        if result.text != FINAL:
            raise RuntimeError(f"the cycle ended otherwise: {result}")


class CogInMemory(Cog):
    """With its log alone."""

    remembers = False
