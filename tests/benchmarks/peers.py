"""The peers' virtual environments: one each under `.cache/bench`, made when a peer is asked for the first time."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

from .rounds import ROOT, BenchError, say

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = {
    "llm": ["llm"],
    "smolagents": ["smolagents"],
    "pydantic-ai": ["pydantic-ai-slim"],
    "polars": ["polars"],
    "nbgrader": ["nbgrader"],
}
IMPORTS = {
    "llm": "import llm",
    "smolagents": "from smolagents import Tool, ToolCallingAgent",
    "pydantic-ai": "from pydantic_ai import Agent",
    "polars": "import polars",
}
READERS, GRADERS = ("polars",), ("nbgrader",)
"""Peers that read logs or grade, and run no loop."""
FOLDER = ROOT / ".cache" / "bench"


def asked_for(names: str) -> list[str]:
    """The peers in a list such as `llm,smolagents`.

    Raises:
        BenchError: One of them is not known.
    """
    peers = [name.strip() for name in names.split(",") if name.strip()]
    for name in peers:
        if name not in PACKAGES:
            raise BenchError(f"PEERS: there is no driver for {name!r}; there is one for {', '.join(PACKAGES)}")
    return peers


def python_of(peer: str) -> Path:
    """Python of a peer's environment, which is made where it is missing.

    Raises:
        BenchError: It cannot be made; the text says why.
    """
    folder = FOLDER / peer
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = folder / ".ready"
    if ready.exists():
        return python
    say(f"installing {' '.join(PACKAGES[peer])} from the package index into {folder.relative_to(ROOT)} (once)")
    venv.create(folder, with_pip=True, clear=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[peer]],
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise BenchError(f"{peer} could not be installed ({last}): run without it, or with access to a package index")
    ready.touch()
    return python
