"""`agentlab lab` and `agentlab start`: JupyterLab over the notebooks, here or copied to another folder."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from agentlab.errors import InputError

MATERIALS = ("notebooks", "exercises", "data")
FIRST = "notebooks/00_start_here.ipynb"


def add(commands: Any) -> None:
    """Describe the two commands."""
    lab = commands.add_parser(
        "lab",
        help="start JupyterLab on the notebooks",
        description="Start JupyterLab in a folder, showing its notebooks.",
        epilog="examples:\n  agentlab lab\n  agentlab lab course --no-browser --port 9000\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lab.add_argument("folder", metavar="DIR", nargs="?", default=".", help="folder that holds notebooks/ (default .)")
    lab.add_argument("--port", type=int, metavar="N", help="port to listen on (default 8888)")
    lab.add_argument("--no-browser", action="store_true", help="do not open a browser")
    lab.set_defaults(run=run_lab)
    start = commands.add_parser(
        "start",
        help="copy notebooks and exercises to a folder",
        description="Copy the notebooks, exercises and their data to a folder, for a hub or for yourself.",
        epilog="examples:\n  agentlab start course && agentlab lab course\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    start.add_argument("folder", metavar="DIR", help="folder to make; what is in it already is left as it is")
    start.set_defaults(run=run_start)


def run_lab(arguments: argparse.Namespace) -> int:
    """Start JupyterLab and wait for its end."""
    import subprocess

    folder = Path(arguments.folder)
    if not folder.is_dir():
        raise InputError("no such folder: make it with `agentlab start DIR`", path=folder)
    if not (folder / "notebooks").is_dir():
        raise InputError(
            "there is no notebooks/ in it: make a folder that has one with `agentlab start DIR`", path=folder
        )
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    command = lab_command(folder, port=arguments.port, browser=not arguments.no_browser, root=root)
    return subprocess.call(command)  # noqa: S603


def lab_command(folder: Path, *, port: int | None, browser: bool, root: bool) -> list[str]:
    """The command line of JupyterLab; the server's root is the folder, and it opens the first notebook or `notebooks/`.

    Without `--allow-root` it refuses to start for root, who is the user in most containers.
    """
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    command += [f"--LabApp.default_url=/lab/tree/{FIRST if (folder / FIRST).is_file() else 'notebooks'}"]
    command += [] if port is None else [f"--port={port}"]
    command += ["--allow-root"] if root else []
    return command if browser else [*command, "--no-browser"]


def run_start(arguments: argparse.Namespace) -> int:
    """Copy the materials."""
    target = Path(arguments.folder)
    if target.is_file():
        raise InputError("is a file: name a folder", path=target)
    source = materials()
    copied = kept = 0
    for part in MATERIALS:
        for file in sorted((source / part).rglob("*")):
            if file.is_dir() or _not_for_readers(file.relative_to(source)):
                continue
            place = target / file.relative_to(source)
            if os.path.lexists(place):
                kept += 1
                continue
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
            except OSError as error:
                raise InputError(f"cannot be written ({error.strerror}): name another folder", path=place) from None
            copied += 1
    left = f", {kept} that were there left as they are" if kept else ""
    sys.stdout.write(f"{copied} files copied to {target}/{left}; now: agentlab lab {target}\n")
    return 0


def materials() -> Path:
    """The folder that holds notebooks, exercises and data: in an installed package, or in a checkout.

    Raises:
        InputError: They are not there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "materials", package.parent):
        if (folder / "notebooks").is_dir():
            return folder
    raise InputError("the notebooks are not part of this installation: install agentlab-observe again")


def _not_for_readers(file: Path) -> bool:
    """Leftovers of a run, and what the notebooks are made from."""
    return any(part in ("__pycache__", ".ipynb_checkpoints") for part in file.parts) or file.parts[1:2] == ("source",)
