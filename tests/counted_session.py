"""A session of the loop in which each token is known: ten turns of four calls, results cut at 2,000 characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.analysis import load
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.tokens.running import estimate_message
from agentlab.tools import Tool
from agentlab.transcript import SessionWriter

if TYPE_CHECKING:
    from pathlib import Path

    from agentlab.analysis import Session

MODEL = "claude-sonnet-4-5"
BASE, TURNS, CALLS, LIMIT = 2_000, 10, 4, 2_000
SYSTEM = " the" * 1_635
"""With the tool, and what this model adds for tools, `BASE` tokens."""


class Counting:
    """Asks for a result so many times and then replies; its usage is four characters a token."""

    name = "counting"
    model = MODEL

    def __init__(self) -> None:
        self.made = 0

    def call(self, messages, *, system, tools):
        self.made += 1
        prompt = BASE + sum(map(estimate_message, messages))
        if self.made % CALLS:
            asked = ToolCall(f"call_{self.made:04d}", "read", {"path": f"{self.made:04d}"})
            return Reply("", (asked,), Usage(prompt, 9), "tool_use", MODEL)
        return Reply(" the" * 300, (), Usage(prompt, 304), "end_turn", MODEL)


def counted_session(folder: Path) -> Session:
    """Run it into a folder, and read it."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tool = Tool("read", "Read.", schema, lambda path: path + " the" * 999, max_observation_chars=LIMIT)
    writer = SessionWriter(folder, provider="counting", model=MODEL, system=SYSTEM, tools=[tool])
    talk, provider = Conversation(system=SYSTEM), Counting()
    for _ in range(TURNS):
        run_turn(talk, " the" * 50, provider, tools=[tool], sinks=[writer], store=writer.store)
    writer.close()
    (session,), problems = load(folder)
    assert not problems
    return session
