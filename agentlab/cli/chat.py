"""`agentlab chat`: talk in the terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from agentlab.cli.folders import existing_folder
from agentlab.cli.models import add_model_arguments, close_model, open_model
from agentlab.cli.terminal import decoded, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.budgets import Budget


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "chat",
        help="talk in the terminal",
        description="Talk to an agent that reads the files of a folder. An empty line or Ctrl-D ends it.",
        epilog="examples:\n  agentlab chat\n  agentlab chat --workspace . --transcript transcript.jsonl\n"
        "  agentlab chat --provider anthropic --model claude-haiku-4-5\n"
        "  agentlab chat --provider local --model FILE.gguf\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--workspace", metavar="DIR", default=".", help="folder whose files the tools read (default .)")
    parser.add_argument("--transcript", metavar="FILE", help="append a JSON line per turn to this file")
    add_model_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.builtin_tools import now, wordcount, workspace_tools
    from agentlab.chat import chat

    workspace = existing_folder(arguments.workspace)
    provider, budget = open_model(arguments)
    tools = [now, wordcount, *workspace_tools(workspace)]
    try:
        chat(provider, read=reader(budget), transcript=arguments.transcript, tools=tools, budget=budget)
    finally:
        close_model(provider)
    return 0


def reader(budget: Budget | None, ask: Callable[[str], str] = input) -> Callable[[str], str]:
    """What asks for the user's lines; the chat is over, and says why, once the budget is used up.

    Args:
        budget: What the chat may spend, or None.
        ask: Asks for a line, as `input` does.
    """

    def read(prompt: str) -> str:
        if budget is not None and (limit := budget.reached()) is not None:
            tell(f"the budget is used up ({limit}): the chat ends here, and a new one starts with a new budget")
            raise EOFError
        return decoded(ask(prompt))

    return read
