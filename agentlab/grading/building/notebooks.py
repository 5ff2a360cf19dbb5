"""The notebooks of an exercise: the student's, and the solution, which is executed.

Cells have the ids of the source, so that the same source gives the same bytes. In the solution the checks are tagged
`nbval-check-output`, all else `nbval-ignore-output`: plain nbval runs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.grading.exercise import METADATA, Cell, Check, Exercise, code_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agentlab.grading.building.source import Part, Source

CELL_SECONDS = 60
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def text_cell(text: str, ident: str) -> Any:
    """A cell of text."""
    return _nbformat().v4.new_markdown_cell(text, id=ident)


def code_cell(text: str, ident: str, metadata: Mapping[str, Any] | None = None) -> Any:
    """A cell of code."""
    return _nbformat().v4.new_code_cell(text, id=ident, metadata=dict(metadata or {}))


def new_notebook(cells: Sequence[Any], exercise: str | None = None) -> Any:
    """A notebook of cells; an exercise's is known by its metadata."""
    ours = {} if exercise is None else {METADATA: {"exercise": exercise}}
    metadata = {**ours, "kernelspec": KERNEL, "language_info": {"name": "python"}}
    return _nbformat().v4.new_notebook(cells=list(cells), metadata=metadata)


def _nbformat() -> Any:
    """The module, which has no types."""
    from importlib import import_module

    return import_module("nbformat")


def exercise_of(source: Source) -> Exercise:
    """The exercise as the grader reads it, without expected outputs."""
    head = source.head
    cells = [_cell(source, part) for part in source.parts if part.kind != "text"]
    return Exercise(
        source.name,
        head.number,
        head.title,
        head.minutes,
        head.seams,
        cells,
        head.tasks,
        source.checks,
        head.paragraphs,
    )


def _cell(source: Source, part: Part) -> Cell:
    if part.kind == "setup":
        return Cell(part.id, "setup", setup_text(source, part))
    if part.kind == "answer":
        return Cell(part.id, "answer", part.student, part.solution)
    if part.kind == "check":
        return Cell(part.id, "check")
    return Cell(part.id, "given" if part.kind == "given" else "shown", part.text)


def setup_text(source: Source, part: Part) -> str:
    """A setup cell; the last one begins the exercise, which withholds the names that are its answer."""
    last = [each.id for each in source.parts if each.kind == "setup"][-1]
    if part.id != last:
        return part.text
    names = "".join(f"\n    {name!r}," for name in source.head.seams).replace("'", '"')
    withheld = f", withheld=[{names}\n]" if names else ""
    begun = f'from agentlab.grading.kernel import begin, show\n\nbegin("{source.name}"{withheld})'
    return f"{part.text.rstrip()}\n\n{begun}"


def check_text(exercise: Exercise, check: Check) -> str:
    """A check as a notebook shows it: one that passes says so."""
    code = code_of(exercise, check)
    if check.kind == "output":
        return code
    worth = f"{check.points:g} point{'' if check.points == 1 else 's'}"
    passes = f"passed: {check.name} ({worth})".replace('"', "'")
    return f'{code}\nprint("{passes}")'


def student_notebook(source: Source, exercise: Exercise) -> Any:
    """The notebook that a student gets: stubs, visible checks, nothing executed."""
    return _notebook(source, exercise, None)


def solution_notebook(source: Source, exercise: Exercise) -> Any:
    """The solution, not executed yet: hidden checks are in it, under the public seed."""
    notebook = _notebook(source, exercise, {p.id: p.solution for p in source.parts if p.kind == "answer"})
    kinds = {part.id: part.kind for part in source.parts}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            tag = "nbval-check-output" if kinds[cell.id] == "check" else "nbval-ignore-output"
            cell.metadata["tags"] = [tag]
    return notebook


def submission(source: Source, exercise: Exercise, answers: Mapping[str, str]) -> Any:
    """The student's notebook with answers in it, as it is handed in; a cell that is not among them is untouched."""
    notebook = student_notebook(source, exercise)
    for cell in notebook.cells:
        if cell.id in answers:
            cell.source = answers[cell.id]
    return notebook


def _notebook(source: Source, exercise: Exercise, solution: Mapping[str, str] | None) -> Any:
    cells = {cell.id: cell for cell in exercise.cells}
    made = []
    for part in source.parts:
        if part.kind == "text":
            made.append(text_cell(part.text, part.id))
            continue
        if part.kind == "check":
            check = exercise.check(part.id)
            if check.hidden and solution is None:
                continue
            text = check_text(exercise, check)
        elif part.kind == "answer" and solution is not None:
            text = solution[part.id]
        else:
            text = cells[part.id].source
        made.append(code_cell(text, part.id, {METADATA: {"id": part.id}}))
    return new_notebook(made, exercise.name)


def execute(notebook: Any) -> Any:
    """Run a notebook in an empty folder, and keep what it shows.

    Raises:
        CellExecutionError: A cell failed.
    """
    import tempfile

    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        settings: dict[str, Any] = {"timeout": CELL_SECONDS, "record_timing": False, "coalesce_streams": True}
        NotebookClient(notebook, resources=place, **settings).execute()
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def written(notebook: Any) -> bytes:
    """A notebook as its file."""
    nbformat = _nbformat()
    nbformat.validate(notebook)
    return (str(nbformat.writes(notebook)).rstrip("\n") + "\n").encode()


def read_notebook(path: Path) -> Any:
    """A notebook that was written."""
    return _nbformat().read(path, as_version=4)
