"""Where the course lies, and Python of the environment that holds nbgrader."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ROOT / "exercises"
READY = ROOT / ".cache" / "bench" / "nbgrader" / ".ready"
"""It is there once nbgrader is installed, which `python -m tests.course` does, as the benchmarks do."""
NBGRADER = READY.parent / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
