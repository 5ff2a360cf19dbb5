"""The course's papers through `agentlab grade`, boxed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.course.handed_in import course_papers, hand_in
from tests.course.places import EXERCISES, ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Paid = dict[str, dict[str, float]]
"""Points by check, by student."""


def grade(names: Sequence[str], place: Path) -> dict[str, Paid]:
    """Hand in all papers of some exercises, and grade them in one run; by exercise."""
    for name in names:
        for who, paper in course_papers(name).items():
            notebook = EXERCISES / "student" / f"{name}.ipynb"
            hand_in(notebook, paper.cells, place / "inbox" / f"{name}-{who}" / f"{name}.ipynb")
    run(place / "inbox", place / "out")
    paid: dict[str, Paid] = {name: {} for name in names}
    for handed in json.loads((place / "out" / "grades.json").read_text(encoding="utf-8"))["submissions"]:
        name, _, who = handed["id"].partition("-")
        paid[name][who] = {mark["id"]: mark["earned"] for mark in handed["marks"]}
    return paid


def run(inbox: Path, out: Path, *options: str) -> str:
    """Run the grader on a folder with a folder for each student; returns what it printed."""
    command = [sys.executable, "-m", "agentlab", "grade", inbox, "--out", out, "--exercises", EXERCISES / "tests"]
    done = subprocess.run([*map(str, command), *options], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"agentlab grade: {done.stderr[-2_000:]}")
    return done.stdout
