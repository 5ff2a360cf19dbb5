"""A course in nbgrader, run by Python of nbgrader's environment, which has no agentlab.

    python nbgrader_course.py COURSE < papers.json > scores.json

COURSE holds `source/NAME/NAME.ipynb` and `nbgrader_config.py`. Papers are texts by cell, by student, by exercise;
scores are points by check, by student, by exercise. One process does it all: importing nbgrader takes seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Release each exercise, hand in the papers, grade them."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config.loader import PyFileConfigLoader

    papers = json.load(sys.stdin)
    course = Path(sys.argv[1]).resolve()
    os.chdir(course)
    api = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", str(course)).load_config())
    with contextlib.redirect_stdout(sys.stderr):
        for name, students in papers.items():
            _must(api.generate_assignment(name))
            released = json.loads((course / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
            for student, answers in students.items():
                _hand_in(released, answers, course / "submitted" / student / name / f"{name}.ipynb")
            for student in students:
                _must(api.autograde(name, student))
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        scores = {name: _scores(book, name) for name in papers}
    json.dump(scores, sys.stdout)


def _must(done: dict) -> None:
    if not done["success"]:
        raise SystemExit(f"{done.get('error', '')}\n{done.get('log', '')}"[-2_000:])


def _hand_in(released: dict, answers: dict[str, str], target: Path) -> None:
    cells = []
    for cell in released["cells"]:
        ident = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cells.append(cell | {"source": answers[ident]} if cell["cell_type"] == "code" and ident in answers else cell)
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(released | {"cells": cells}), encoding="utf-8")


def _scores(book: object, name: str) -> dict[str, dict[str, float]]:
    found = {}
    for submission in book.assignment_submissions(name):
        notebook = submission.notebooks[0]
        # What a person has to mark has no score yet, or 0 where it is untouched.
        by_hand = {cell.name for cell in notebook.notebook.solution_cells}
        scores = {grade.name: grade.auto_score for grade in notebook.grades if grade.name not in by_hand}
        found[submission.student.id] = scores
    return found


if __name__ == "__main__":
    main()
