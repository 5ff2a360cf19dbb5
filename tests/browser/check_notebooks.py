"""Notebooks as a reader runs them: from top to bottom, and an exercise from red checks to green ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .lab import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from .lab import Notebook

    Opener = Callable[[str], AbstractContextManager[Notebook]]

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb") if "ChatLab(" in path.read_text("utf-8"))
"""Those in which somebody talks to an agent."""


def sources(folder: str) -> dict[str, str]:
    """The code cells of the first exercise, by id."""
    cells = json.loads((ROOT / "exercises" / folder / "01_limits.ipynb").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"}


def places() -> dict[str, int]:
    """Where the cells of the student's notebook stand, by id."""
    cells = json.loads((ROOT / "exercises" / "student" / "01_limits.ipynb").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: number for number, cell in enumerate(cells)}


def printed(notebook: Notebook, cell: int, text: str) -> Any:
    """Where a text stands in what a cell gave, and not in its source."""
    return notebook.cell(cell).locator(".jp-OutputArea-output").filter(has_text=text).first


def checked(notebook: Notebook, cell: Any) -> str:
    """What `%check` said in a cell."""
    cell.get_by_text("Hidden checks run at grading.").wait_for()
    return cell.locator(".jp-OutputArea-output").last.inner_text()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_all_cells_of_a_notebook_run_and_its_widgets_are_alive(opened: Opener, name: str) -> None:
    with opened(f"notebooks/{name}") as notebook:
        notebook.command("notebook:clear-all-cell-outputs")
        notebook.run_all()
        notebook.page.wait_for_function(
            "() => { const cells = (window.jupyterapp || window.jupyterlab).shell.currentWidget.content.model.cells; "
            "return [...cells].every(c => c.type !== 'code' || c.executionCount || !c.sharedModel.source.trim()); }"
        )
        assert notebook.errors() == []
        assert notebook.page.locator(".jupyter-widgets").count() > 3
        assert notebook.page.get_by_text("Error displaying widget").count() == 0
        assert notebook.problems == []


def test_an_exercise_is_solved_in_its_cells_and_check_says_so(opened: Opener) -> None:
    at, answers = places(), sources("solution")
    with opened("exercises/student/01_limits.ipynb") as notebook:
        notebook.run_all()
        printed(notebook, at["field-default"], "AssertionError: expected a Tool's max_observation_chars").wait_for()
        before = checked(notebook, notebook.append_cell("%load_ext agentlab\n%check"))
        assert before.count("✗") == 4
        assert "0 of 4 points" in before
        notebook.command("notebook:delete-cell")
        for cell in ("loop", "tools"):
            notebook.type_into(at[cell], answers[cell])
        notebook.run_all()
        printed(notebook, at["says-why"], "passed: a wrong call at a limit of 50 still says why").wait_for()
        assert notebook.errors() == []
        after = checked(notebook, notebook.append_cell("%check"))
        assert after.count("✓") == 4
        assert "4 of 4 points" in after
        assert notebook.problems == []
