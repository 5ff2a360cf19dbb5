"""`agentlab demo`: the main job on real input, offline: ten turns over Python's own library."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from agentlab.cli.folders import clear_session, is_empty_folder, make_folder
from agentlab.cli.run import run_prompts
from agentlab.errors import InputError

PROMPTS = [
    "What time is it?",
    "List the files in the folder json.",
    "Read the biggest file.",
    "Which classes does argparse.py define?",
    "Find where 'def parse_args' is defined in argparse.py.",
    "Compare argparse.py with optparse.py: which is longer?",
    "Read turtel.py. What is at its end?",  # misspelt: an error observation, and a way out of it
    "Which methods does optparse.py define?",
    "Which of the files that you read was the largest?",
    "How long has it been since I asked for the time?",
]
DEFAULT_OUT = "runs/demo"


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "demo",
        help="ten turns over Python's own library: run, measured and plotted, offline",
        description="Run a ten-turn session over Python's standard library with the offline model, and measure it.",
        epilog="examples:\n  agentlab demo\n  agentlab demo --out runs/first --json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", metavar="DIR", default=DEFAULT_OUT, help=f"session folder (default {DEFAULT_OUT})")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; an earlier demo in the same folder is replaced, and what else is in it is left as it is."""
    from sysconfig import get_path

    from agentlab.providers.offline import OfflineModel
    from agentlab.transcript import MESSAGES

    out = Path(arguments.out)
    if os.path.lexists(out / MESSAGES):
        if not _is_demo(out):
            raise InputError("holds another session: name another folder with --out", path=out)
        clear_session(out)
    else:
        make_folder(out, exist_ok=is_empty_folder(out))
    library = get_path("stdlib")
    return run_prompts(
        PROMPTS,
        out,
        as_json=arguments.json,
        provider=OfflineModel(),
        workspace=library,
        settings={"demo": True, "workspace": "the standard library of Python"},
    )


def _is_demo(folder: Path) -> bool:
    from agentlab.transcript import read_session

    return bool(read_session(folder)[0].header.settings.get("demo"))
