"""Writes a session until it is killed; run by `test_transcript`."""

from __future__ import annotations

import sys

from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tools import tool
from agentlab.transcript import SessionWriter


@tool
def lines(n: int) -> str:
    """Some lines."""
    return "".join(f"line {k} of {n}\n" for k in range(600))


def main() -> None:
    writer = SessionWriter(sys.argv[1], provider="scripted", system="Be brief.")
    talk = Conversation(system="Be brief.")
    tools = [lines, read_result_tool(writer.store)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for n in range(100_000):
        model = ScriptedModel([[call("lines", id="a", n=n), call("lines", id="b", n=-n)], "x" * 3_000])
        run_turn(talk, f"turn {n}", model, tools=tools, sinks=[writer], store=writer.store)


if __name__ == "__main__":
    main()
