"""All that is made of a source, written, or compared with what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.errors import InputError
from agentlab.grading.building.nbgrader import CONFIG, nbgrader_notebook
from agentlab.grading.building.notebooks import (
    execute,
    exercise_of,
    read_notebook,
    solution_notebook,
    student_notebook,
    written,
)
from agentlab.grading.building.proof import prove
from agentlab.grading.building.refusals import refuse
from agentlab.grading.building.source import Source, read_source
from agentlab.grading.exercise import Exercise, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

GENERATED = ("student", "solution", "tests", "nbgrader/source")


def sources(root: Path, names: Sequence[str] = ()) -> list[Path]:
    """The sources in `root/source`, by number: all, or those whose names begin with one of `names`.

    Raises:
        InputError: There is none.
    """
    found = sorted((root / "source").glob("[0-9][0-9]_*.py"))
    chosen = [path for path in found if not names or path.stem.startswith(tuple(names))]
    if not chosen:
        wanted = f" that begins with {' or '.join(names)}" if names else ""
        raise InputError(f"there is no source/NN_name.py{wanted} in it", path=root)
    return chosen


def read_and_prove(path: Path) -> tuple[Source, Exercise]:
    """A source that may be built, and its exercise with the outputs of its solution.

    Raises:
        InputError: It may not be built; one line, with the file and the cell.
    """
    source = read_source(path)
    refuse(source)
    return source, prove(source, exercise_of(source))


def build(path: Path) -> list[Path]:
    """Write all that is made of a source; returns the files.

    Raises:
        InputError: It may not be built. Nothing was written then.
    """
    from nbclient.exceptions import CellExecutionError

    source, exercise = read_and_prove(path)
    root = path.parents[1]
    try:
        solution = execute(solution_notebook(source, exercise))
    except CellExecutionError as error:
        raise InputError(f"the solution fails in its notebook: {error.ename}: {error.evalue}", path=path) from None
    files = dict(_without_outputs(root, source, exercise))
    files[root / "solution" / f"{source.name}.ipynb"] = written(solution)
    for target, content in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return list(files)


def _without_outputs(root: Path, source: Source, exercise: Exercise) -> Iterator[tuple[Path, bytes]]:
    """The files that hold nothing that only a kernel says."""
    name = source.name
    yield root / "student" / f"{name}.ipynb", written(student_notebook(source, exercise))
    yield root / "tests" / f"{name}.json", encode(exercise)
    yield root / "nbgrader" / "source" / name / f"{name}.ipynb", written(nbgrader_notebook(source, exercise))
    yield root / "nbgrader" / "nbgrader_config.py", CONFIG.encode()


def stale(path: Path) -> Iterator[str]:
    """Files that are not what a build of a source would write, one line each.

    Of the solution its cells are compared and what its checks printed; nbval runs it for the rest.

    Raises:
        InputError: The source may not be built.
    """
    source, exercise = read_and_prove(path)
    root = path.parents[1]
    again = "run `agentlab exercises build`"
    for target, content in _without_outputs(root, source, exercise):
        if not target.is_file():
            yield f"{target}: is not there: {again}"
        elif target.read_bytes() != content:
            yield f"{target}: is not what {path.name} makes: {again}"
    target = root / "solution" / f"{source.name}.ipynb"
    if not target.is_file():
        yield f"{target}: is not there: {again}"
    elif not _is_solution(target, source, exercise):
        yield f"{target}: is not what {path.name} makes: {again}"


def _is_solution(target: Path, source: Source, exercise: Exercise) -> bool:
    there, wanted = read_notebook(target), solution_notebook(source, exercise)
    said = [(cell.id, cell.cell_type, cell.source, cell.metadata.get("tags")) for cell in there.cells]
    if said != [(cell.id, cell.cell_type, cell.source, cell.metadata.get("tags")) for cell in wanted.cells]:
        return False
    printed = {cell.id: "".join(o.get("text", "") for o in cell.get("outputs", ())) for cell in there.cells}
    return all(printed[check.id].endswith(check.expected) for check in exercise.checks if check.kind == "output")


def orphans(root: Path) -> Iterator[str]:
    """Generated files whose source is gone, one line each."""
    names = {path.stem for path in (root / "source").glob("[0-9][0-9]_*.py")}
    for folder in GENERATED:
        for path in sorted((root / folder).glob("[0-9][0-9]_*")):
            if path.stem not in names:
                yield f"{path}: there is no source/{path.stem}.py: remove it"
