"""Runs cycles until it is killed; run by `test_harness_log`."""

from __future__ import annotations

import sys

from agentlab.harness.session import Harness
from agentlab.providers.scripted import ScriptedModel, call


def main() -> None:
    def cog(messages: list[dict[str, str]]) -> object:
        turn = sum(message["role"] == "tool" for message in messages) % 3
        if turn == 0:
            return call("agent_researcher", instruction="Look. " + "x" * 400)
        return [call("wordcount", text="y" * 700), call("wordcount", text="z")] if turn == 1 else "Done."

    def researcher(messages: list[dict[str, str]]) -> object:
        return call("list_dir") if len(messages) < 4 else "Found."

    harness = Harness(
        ScriptedModel(cog), providers={"researcher": ScriptedModel(researcher)}, folder=sys.argv[1], workspace="."
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for n in range(100_000):
        harness.send(f"Message {n}.")


if __name__ == "__main__":
    main()
