"""`agentlab demo`: the main job on real input, offline: ten turns over Python's own library."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from agentlab.cli.run import run_prompts
from agentlab.errors import InputError

PROMPTS = [
    "What time is it?",
    "List the files in the folder json.",
    "Read json/decoder.py and tell me what it is for.",
    "Which classes does argparse.py define?",
    "Find where 'def parse_args' is defined in argparse.py.",
    "Compare argparse.py with optparse.py: which is longer?",
    "Read turtle.py. What is at its end?",
    "How many lines of turtle.py mention 'color'?",
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
    """Run the command; an earlier demo in the same folder is replaced."""
    from sysconfig import get_path

    from agentlab.providers.offline import OfflineModel

    out = Path(arguments.out)
    if (out / "messages.jsonl").exists():
        if not _is_demo(out):
            raise InputError("holds another session: name another folder with --out", path=out)
        shutil.rmtree(out)
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
