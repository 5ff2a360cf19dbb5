"""agentlab while it forgets: a session under each policy that compacts, with prompts that grow until it has to.

The tool has the name of one whose results every policy takes out. No usage is reported, so that the prompt is what the
running count says it is; a request without tools is the summariser's.
"""

from __future__ import annotations

from typing import Any

from agentlab.events import CompactionDecided
from agentlab.messages import Reply, ToolCall
from agentlab.tools import tool
from benchmarks.policies import POLICIES, WINDOW
from benchmarks.script import FINAL
from benchmarks.subjects.ours import PLENTY, Model, Stored

NAME = "read_file"


class Reader(Model):
    """Reads on and on; summarises where it is sent no tools."""

    window = WINDOW

    def call(self, messages: Any, **settings: Any) -> Reply:
        """The script's next step, or a summary."""
        if not settings["tools"]:
            return Reply("What was read so far, in short. " * 20)
        n = self.script.next_call()
        if n is None:
            return Reply(FINAL)
        return Reply("", (ToolCall(f"call_{n}", NAME, {"n": n}),))


class Decisions:
    """A sink that notes before which of the script's model calls something was decided, counted from 0."""

    hears = (CompactionDecided,)

    def __init__(self, script: Any) -> None:
        self.script, self.begun = script, script.asked
        self.before: set[int] = set()

    def __call__(self, event: CompactionDecided) -> None:
        """Take note."""
        self.before.add(self.script.asked - self.begun)


class Forgetting(Stored):
    """A session that is compacted; its policy is set by `forgetting`."""

    def build(self) -> None:
        """The model and the tool."""
        script = self.script

        @tool(name=NAME)
        def read(n: int) -> str:
            """Return the text for item n."""
            return script.echo(n)

        self.model, self.echo = Reader(script), read

    def start_session(self) -> None:
        """A conversation and its session folder; nothing is decided yet."""
        super().start_session()
        self.decisions = Decisions(self.script)
        self.sinks.append(self.decisions)

    def turn(self) -> None:
        """As many calls as the script asks for, and a final text."""
        self._turn(PLENTY)


def forgetting(name: str) -> type[Forgetting]:
    """The subject that runs under one of `POLICIES`."""
    return type("Forgetting", (Forgetting,), {"policy": POLICIES[name]})
