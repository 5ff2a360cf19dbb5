"""Whole answers to an exercise, kept in files: wrong ones, unusual right ones, and the book's.

`exercises/wrong/NN/NAME.py`, `exercises/right/NN/NAME.py` and `exercises/book/NN_name.py` hold answer cells in percent
format, as `# %% answer id="loop"`; a cell that a file leaves out is the solution's. `# %% replace id="loop"` changes
the solution's cell instead: the lines above `### BY` are replaced by those below. A file begins with a comment
that says what it is; a wrong one says which checks it must not get, as `# fails: exact, says-why`. The points that the
book's answer is owed stand beside it, in `exercises/book/NN_name.json`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError
from agentlab.grading.building.source import read_percent
from agentlab.grading.building.trial import solution_of

if TYPE_CHECKING:
    from agentlab.grading.exercise import Exercise


BY = "### BY"


class Answer(msgspec.Struct, frozen=True):
    """An answer: its file, what it says it is, the checks that it must fail, its texts by cell."""

    path: Path
    says: str
    fails: tuple[str, ...]
    cells: dict[str, str]


def read_answer(path: Path, exercise: Exercise) -> Answer:
    """Read an answer; cells that it leaves out are the solution's.

    Raises:
        InputError: It names a cell or a check that the exercise has not, or says nothing of itself.
    """
    text = path.read_text(encoding="utf-8")
    notebook = read_percent(text)
    cells = solution_of(exercise)
    for cell in notebook.cells:
        kind, ident = cell.metadata.get("title"), cell.metadata.get("id", "")
        if cell.cell_type != "code" or kind not in ("answer", "replace"):
            continue
        if ident not in cells:
            raise InputError(f"there is no answer cell {ident!r}: one of {', '.join(cells)}", path=path)
        cells[ident] = cell.source if kind == "answer" else _replaced(path, ident, cells[ident], cell.source)
    said = re.findall(r"^# ?(.*)$", text.partition("# %%")[0], re.MULTILINE)
    fails: tuple[str, ...] = ()
    words = []
    for line in said:
        if line.startswith("fails:"):
            fails = tuple(each.strip() for each in line.removeprefix("fails:").split(",") if each.strip())
        else:
            words.append(line)
    known = {check.id for check in exercise.checks}
    if set(fails) - known:
        raise InputError(f"there is no check {min(set(fails) - known)!r}: one of {', '.join(sorted(known))}", path=path)
    if not " ".join(words).strip():
        raise InputError("says nothing of itself: begin it with a comment", path=path)
    return Answer(path, " ".join(words).strip(), fails, cells)


def _replaced(path: Path, ident: str, text: str, change: str) -> str:
    """A cell with one of its lines, or some in a row, replaced; they keep the indentation that they have there.

    Raises:
        InputError: The lines are not there exactly once.
    """
    old, by, new = (change + "\n").partition(f"{BY}\n")
    wanted = [line.strip() for line in old.strip("\n").splitlines()]
    lines = text.splitlines()
    found = [
        start
        for start in range(len(lines) - len(wanted) + 1)
        if [line.strip() for line in lines[start : start + len(wanted)]] == wanted
    ]
    if not by or not wanted or len(found) != 1:
        raise InputError(f"what stands above {BY} is there {len(found)} times in the cell {ident!r}", path=path)
    start = found[0]
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    instead = [f"{indent}{line}".rstrip() for line in new.rstrip("\n").splitlines()]
    return "\n".join([*lines[:start], *instead, *lines[start + len(wanted) :]])


def answers_in(folder: Path, exercise: Exercise) -> list[Answer]:
    """The answers of a folder, by name."""
    return [read_answer(path, exercise) for path in sorted(folder.glob("*.py"))]


def owed(path: Path) -> dict[str, float]:
    """The points that the book's answer is owed, by check.

    Raises:
        InputError: The file is not there or not an object of numbers.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except msgspec.DecodeError as error:
        raise InputError(f"expected points by check: {error}", path=path) from None
