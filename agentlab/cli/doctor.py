"""`agentlab doctor`: what is installed, and what to do about the rest."""

from __future__ import annotations

import argparse
import sys
from shutil import which
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.cli.terminal import write_json

if TYPE_CHECKING:
    from collections.abc import Callable

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Check(msgspec.Struct, frozen=True):
    """What was looked for: whether it is there, what was found, what to do where it is not."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    needed: bool = False


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "doctor",
        help="what is installed, and what to do about the rest",
        description="Look at what agentlab can use here. Exit code 1 where something that it needs is missing.",
        epilog="examples:\n  agentlab doctor\n  agentlab doctor --json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    checks = examine()
    if arguments.json:
        write_json(checks)
    else:
        for check in checks:
            mark = "ok     " if check.ok else "MISSING" if check.needed else "not there"
            sys.stdout.write(f"{mark:<10}{check.name}: {check.found}\n")
            if not check.ok and check.fix:
                sys.stdout.write(f"{'':<10}  {check.fix}\n")
    return 1 if any(check.needed and not check.ok for check in checks) else 0


def examine(find: Callable[[str], str | None] = which) -> list[Check]:
    """All checks.

    Args:
        find: Finds a program, as `shutil.which` does.
    """
    return [_python(), _ranks(), _kernel(), _key("anthropic"), _key("openai"), _local(), *_programs(find)]


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer", needed=True)


def _ranks() -> Check:
    from agentlab.errors import MissingRanksError
    from agentlab.tokens import encode

    try:
        ids = encode("tiktoken is great!")
    except MissingRanksError as error:
        return Check("tokenizer", ok=False, found="rank files are missing", fix=str(error), needed=True)
    return Check("tokenizer", ok=len(ids) == 6, found="o200k_base, rank files checked by sha256", needed=True)


def _kernel() -> Check:
    name = "notebook kernel"
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        return Check(name, ok=False, found="JupyterLab is missing", fix="pip install jupyterlab", needed=True)
    found = KernelSpecManager().find_kernel_specs()
    return Check(name, "python3" in found, ", ".join(sorted(found)) or "none", "pip install ipykernel", needed=True)


def _key(provider: str) -> Check:
    from agentlab.providers.keys import VARIABLES, find_key

    fix = f'set {VARIABLES[provider]}, or agentlab.use_key("{provider}") in a notebook; everything else works without'
    seen = find_key(provider) is not None
    return Check(f"key for {provider}", seen, "seen" if seen else "not set", fix)


def _local() -> Check:
    """Whether model files can be run here; which file is for the user to say."""
    from agentlab.providers.local.runtime import INSTALL, PACKAGE, installed

    fix = f"for --provider local --model FILE.gguf: {INSTALL}; everything else works without"
    there = installed()
    return Check("local models", there, f"{PACKAGE} is installed" if there else f"{PACKAGE} is not installed", fix)


def _programs(find: Callable[[str], str | None]) -> list[Check]:
    node, sandbox = find("node"), find("bwrap")
    browser = next((path for name in BROWSERS if (path := find(name))), None)
    return [
        Check("node", node is not None, node or "not found", "only for one of the wire tests: install Node.js 20"),
        Check(
            "browser", browser is not None, browser or "not found", "only for browser tests: apt-get install chromium"
        ),
        Check("sandbox", sandbox is not None, sandbox or "not found", "for grading: apt-get install bubblewrap"),
    ]
