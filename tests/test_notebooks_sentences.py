"""Before every cell of code stands a sentence, in notebooks and in students' exercises.

In an exercise one sentence announces a student's cell and the checks below it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ALL = [*sorted((ROOT / "notebooks").glob("*.ipynb")), *sorted((ROOT / "exercises" / "student").glob("*.ipynb"))]
SENTENCE = re.compile(r"\w[^\n]*[.:?!)](?:\*\*|\*|`|\|)*\s*$", re.MULTILINE)


def checks_of(path: Path) -> set[str]:
    """The ids of the checks of an exercise; none for a notebook."""
    tests = path.parents[1] / "tests" / f"{path.stem}.json"
    if not tests.exists():
        return set()
    return {each["id"] for each in json.loads(tests.read_text(encoding="utf-8"))["checks"]}


def without_a_sentence(path: Path) -> list[str]:
    """First lines of the cells of code that no sentence announces."""
    found, before, checks = [], "", checks_of(path)
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            before = text
            continue
        prose = "\n".join(line for line in before.splitlines() if not line.startswith("#"))
        check = cell.get("metadata", {}).get("agentlab", {}).get("id") in checks
        if not SENTENCE.search(prose) and not (check and not before):
            found.append(text.partition("\n")[0])
        before = ""
    return found


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_sentence_stands_before_every_cell_of_code(path: Path) -> None:
    assert without_a_sentence(path) == []


def test_a_heading_alone_and_a_cell_behind_a_cell_are_noticed(tmp_path: Path) -> None:
    cells = [("markdown", "# Title"), ("code", "a"), ("markdown", "# Title\n\nRun it."), ("code", "b"), ("code", "c")]
    notebook = {"cells": [{"cell_type": kind, "source": [text]} for kind, text in cells]}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    assert without_a_sentence(tmp_path / "a.ipynb") == ["a", "c"]


def test_a_check_may_follow_what_it_checks(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": ["Step 1."]}]
    cells += [{"cell_type": "code", "source": [name], "metadata": {"agentlab": {"id": name}}} for name in "abc"]
    for folder, text in (("student", {"cells": cells}), ("tests", {"checks": [{"id": "b"}]})):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"x.{'ipynb' if folder == 'student' else 'json'}").write_text(json.dumps(text))
    assert without_a_sentence(tmp_path / "student" / "x.ipynb") == ["c"]
