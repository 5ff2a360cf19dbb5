"""Papers as they are handed in: a notebook whose answer cells hold what somebody wrote."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from agentlab.grading.building.trust import Paper, papers
from agentlab.grading.exercise import Exercise, read
from tests.course.places import EXERCISES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAMES = sorted(path.stem for path in (EXERCISES / "source").glob("[0-9][0-9]_*.py"))
"""All exercises of the course."""


def exercise(name: str) -> Exercise:
    """An exercise as it was built."""
    return read(EXERCISES / "tests" / f"{name}.json")


def course_papers(name: str) -> dict[str, Paper]:
    """All papers of an exercise, by a name of a student that a path can hold."""
    return {paper.name.replace("/", "-"): paper for paper in papers(EXERCISES, exercise(name))}


def their_papers(name: str) -> dict[str, Paper]:
    """What nbgrader is given of an exercise: all, or with `COURSE=quick` one in four of the wrong answers."""
    found = course_papers(name)
    wrong = sorted(who for who in found if who.startswith("wrong-"))
    left_out = {who for place, who in enumerate(wrong) if place % 4} if os.environ.get("COURSE") == "quick" else set()
    return {who: paper for who, paper in found.items() if who not in left_out}


def hand_in(notebook: Path, answers: Mapping[str, str], target: Path) -> None:
    """Write a notebook with answers in place of what its cells hold; one that is not there is untouched."""
    read: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in read["cells"]:
        ident = cell["metadata"].get("agentlab", {}).get("id")
        if cell["cell_type"] == "code" and ident in answers:
            cell["source"] = answers[ident]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(read), encoding="utf-8")
