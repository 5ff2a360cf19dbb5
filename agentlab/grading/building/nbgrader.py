"""The exercise for nbgrader: `source/NAME/NAME.ipynb`, which `nbgrader generate_assignment` makes a release of.

nbgrader compares no outputs, so a check of kind output becomes an assert between BEGIN and END HIDDEN TESTS. It gives
0 points to a cell that writes to stderr, so no check does. A student's starting text stands above the solution, which
replaces it here; the release keeps it.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

from agentlab.grading.building.notebooks import code_cell, new_notebook, text_cell
from agentlab.grading.building.source import BEGIN, END
from agentlab.grading.exercise import METADATA, code_of

if TYPE_CHECKING:
    from agentlab.grading.building.source import Part, Source
    from agentlab.grading.exercise import Check, Exercise

BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"

CONFIG = """\
# The settings under which nbgrader makes a release of these exercises: a student's starting text is above each
# solution, so nothing but a comment takes the solution's place.
c = get_config()  # noqa: F821
c.ClearSolutions.code_stub = {"python": "# your code here"}
"""


def nbgrader_notebook(source: Source, exercise: Exercise) -> Any:
    """The notebook with nbgrader's markers."""
    cells = {cell.id: cell for cell in exercise.cells}
    marked = {each.cell: each.points for each in exercise.paragraphs}
    made = []
    for part in source.parts:
        if part.kind == "text":
            made.append(text_cell(part.text, part.id))
            continue
        if part.kind == "check":
            check = exercise.check(part.id)
            text, told = check_cell(exercise, check), _grades(check.id, check.points)
        elif part.kind == "answer":
            text, told = _answer_cell(part), _solution(part.id, marked.get(part.id))
        else:
            text, told = cells[part.id].source, _locked(part.id)
        metadata = {METADATA: {"id": part.id}, "nbgrader": told}
        made.append(code_cell(text, part.id, metadata))
    return new_notebook(made, exercise.name)


def _answer_cell(part: Part) -> str:
    return f"{part.student}\n\n{BEGIN}\n{part.solution}\n{END}"


def check_cell(exercise: Exercise, check: Check) -> str:
    """A check as nbgrader runs it: visible asserts as they are, all else as hidden asserts."""
    code = code_of(exercise, check)
    if check.kind == "output":
        code = asserted(code, check.expected, check.hint or check.name)
    elif not check.hidden:
        return code
    return f"# {check.name}: {check.hint or 'hidden'}\n{BEGIN_HIDDEN}\n{code}\n{END_HIDDEN}"


def asserted(code: str, expected: str, hint: str) -> str:
    r"""A check that ends in `show(value)`, as one that asserts the value.

    >>> print(asserted("x = 1\nshow(x + 1)", "2\n", "add one"))
    x = 1
    import json as _json
    _shown = _json.loads(_json.dumps(x + 1))
    assert _shown == _json.loads('2'), 'add one'
    """
    last = ast.parse(code).body[-1]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        raise TypeError("a check of kind output ends in show(value)")
    value = ast.get_source_segment(code, last.value.args[0])
    before = "\n".join(code.splitlines()[: last.lineno - 1])
    said = json.dumps(json.loads(expected), sort_keys=True)
    ending = [
        "import json as _json",
        f"_shown = _json.loads(_json.dumps({value}))",
        f"assert _shown == _json.loads({said!r}), {hint!r}",
    ]
    return "\n".join([before, *ending] if before else ending)


def _cell(ident: str, *, grade: bool, solution: bool, locked: bool) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "grade": grade,
        "grade_id": ident,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }


def _grades(ident: str, points: float) -> dict[str, Any]:
    return {**_cell(ident, grade=True, solution=False, locked=True), "points": points}


def _solution(ident: str, points: float | None) -> dict[str, Any]:
    told = _cell(ident, grade=points is not None, solution=True, locked=False)
    return told if points is None else {**told, "points": points}


def _locked(ident: str) -> dict[str, Any]:
    return _cell(ident, grade=False, solution=False, locked=True)
