"""`agentlab chat`: talk in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from agentlab.cli.models import add_model_arguments, open_model
from agentlab.errors import InputError


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "chat",
        help="talk in the terminal",
        description="Talk to an agent that reads the files of a folder. An empty line or Ctrl-D ends it.",
        epilog="examples:\n  agentlab chat\n  agentlab chat --workspace src --transcript transcript.jsonl\n"
        "  agentlab chat --provider anthropic --model claude-haiku-4-5\n",
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

    if not Path(arguments.workspace).is_dir():
        raise InputError("no such folder: name one with --workspace", path=arguments.workspace)
    provider, budget = open_model(arguments)
    tools = [now, wordcount, *workspace_tools(arguments.workspace)]
    chat(provider, transcript=arguments.transcript, tools=tools, budget=budget)
    return 0
