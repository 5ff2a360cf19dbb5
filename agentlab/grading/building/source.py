"""The source of an exercise: `exercises/source/NN_name.py`, in jupytext's percent format.

The header holds what `Head` names, under `agentlab`. The word after `# %%` says what a cell is:

- `setup` runs as it stands, whatever a student makes of it
- `answer` is written by the student: `### BEGIN SOLUTION` to `### END SOLUTION` is left out of the student's notebook,
  and what follows `### STUB` in between stands there instead, without its `#`
- `given` is there to be run and looked at
- `check` earns points; its attributes are those of `agentlab.grading.exercise.Check`
- `shown` is looked at when all is done, and never graded

A cell of text has `[markdown]`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentlab.errors import InputError
from agentlab.grading.exercise import Check, Paragraph, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
NOT_YET = 'raise NotImplementedError("your code here")'
KINDS = ("setup", "answer", "given", "check", "shown")
NAME = re.compile(r"\d\d_[a-z0-9_]+")

Kind = Literal["text", "setup", "answer", "given", "check", "shown"]


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the header of a source says.

    Attributes:
        number: Of the exercise in the chapter.
        title: Its title.
        minutes: How long it takes.
        tasks: Its steps, at most four.
        seams: Dotted names of the package that the student's kernel withholds, since they are the answer.
        paragraphs: Texts that a person marks.
    """

    number: int
    title: str
    minutes: int
    tasks: list[Task]
    seams: list[str] = []
    paragraphs: list[Paragraph] = []


class Part(msgspec.Struct, frozen=True):
    """A cell of a source.

    Attributes:
        id: Unique in the exercise, the same at every build.
        kind: What it is.
        text: As the source has it.
        task: Of an answer, the id of its step.
        check: Of a check cell, what it checks; `expected` is still empty.
        tags: Of the cell.
    """

    id: str
    kind: Kind
    text: str
    task: str = ""
    check: Check | None = None
    tags: tuple[str, ...] = ()

    @property
    def student(self) -> str:
        """What the student's notebook holds."""
        return unsolved(self.text)

    @property
    def solution(self) -> str:
        """What solves it."""
        return solved(self.text)


class Source(msgspec.Struct, frozen=True):
    """A source: where it is, its header, its cells."""

    path: Path
    name: str
    head: Head
    parts: list[Part]

    def refuse(self, cell: str, problem: str) -> InputError:
        """The error of a cell, in one line."""
        return InputError(problem, path=self.path, field=f"cell {cell}")

    @property
    def checks(self) -> list[Check]:
        """All checks, in order."""
        return [part.check for part in self.parts if part.check is not None]


def read_source(path: Path) -> Source:
    """Read a source; `refusals` says whether it may be built.

    Raises:
        InputError: It cannot be read, or a cell or the header is not what is said here.
    """
    if NAME.fullmatch(path.stem) is None:
        raise InputError("expected a name such as 03_errors.py: two digits, _, small letters", path=path)
    try:
        notebook = read_percent(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except ValueError as error:
        raise InputError(f"not a notebook in percent format: {' '.join(str(error).split())}", path=path) from None
    try:
        head = msgspec.convert(notebook.metadata.get("agentlab"), Head)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{error}: the header needs number, title, minutes, tasks", path=path, field="agentlab"
        ) from None
    parts = [_part(path, number, cell) for number, cell in enumerate(notebook.cells, 1)]
    return Source(path, path.stem, head, parts)


def read_percent(text: str) -> Any:
    """A notebook in jupytext's percent format.

    Raises:
        ValueError: Its header is no YAML.
    """
    from importlib import import_module

    jupytext: Any = import_module("jupytext")
    yaml: Any = import_module("yaml")
    try:
        return jupytext.reads(text, fmt="py:percent")
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _part(path: Path, number: int, cell: Any) -> Part:
    told = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
    ident = str(told.pop("id", f"cell-{number:02d}"))
    tags = tuple(told.pop("tags", ()))
    if cell.cell_type != "code":
        return Part(ident, "text", cell.source, tags=tags)
    kind = told.pop("title", "")
    where = f"cell {ident}"
    if kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of cell: one of {', '.join(KINDS)}", path=path, field=where)
    if kind in ("answer", "check") and ident == f"cell-{number:02d}":
        raise InputError(f'the cell of kind {kind} has no id: give it one, as id="loop"', path=path, field=where)
    _whole_regions(path, where, cell.source)
    if kind == "check":
        return Part(ident, kind, cell.source, check=_check(path, ident, told, cell.source), tags=tags)
    task = str(told.pop("task", ""))
    if told:
        raise InputError(f"unknown attribute {next(iter(told))!r}", path=path, field=where)
    return Part(ident, kind, cell.source, task=task, tags=tags)


def _check(path: Path, ident: str, told: dict[str, Any], code: str) -> Check:
    missing = [key for key in ("task", "name", "points", "because") if key not in told]
    if missing:
        example = {"task": 'task="loop"', "name": 'name="..."', "points": "points=1", "because": 'because="step 1"'}
        raise InputError(
            f"the check has no {missing[0]}: give it {example[missing[0]]}", path=path, field=f"cell {ident}"
        )
    told = {"kind": "assert", **told, "id": ident, "code": code}
    unknown = told.keys() - set(Check.__struct_fields__)
    if unknown:
        raise InputError(f"unknown attribute {min(unknown)!r}", path=path, field=f"cell {ident}")
    try:
        return msgspec.convert(told, Check)
    except msgspec.ValidationError as error:
        raise InputError(str(error), path=path, field=f"cell {ident}") from None


def _whole_regions(path: Path, where: str, text: str) -> None:
    """Refuse a BEGIN without its END.

    Raises:
        InputError: There is one, or an END without its BEGIN.
    """
    open_at = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == BEGIN:
            if open_at is not None:
                raise InputError(f"{BEGIN} in line {open_at} has no {END}", path=path, field=where)
            open_at = number
        elif line.strip() == END:
            if open_at is None:
                raise InputError(f"{END} in line {number} has no {BEGIN}", path=path, field=where)
            open_at = None
    if open_at is not None:
        raise InputError(f"{BEGIN} in line {open_at} has no {END}", path=path, field=where)


def solved(text: str) -> str:
    r"""A cell as the solution has it.

    >>> solved("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### STUB\n    # return 2\n    ### END SOLUTION")
    'def f():\n    return 1'
    """
    return "\n".join(line for line, place in _places(text) if place in ("outside", "solution"))


def unsolved(text: str) -> str:
    r"""A cell as the student finds it.

    >>> print(unsolved("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"))
    def f():
        raise NotImplementedError("your code here")
    """
    lines = []
    for line, place in _places(text):
        if place in ("outside", "not yet"):
            lines.append(line)
        elif place == "stub":
            indent = line[: len(line) - len(line.lstrip())]
            lines.append((indent + line.lstrip().removeprefix("#").removeprefix(" ")).rstrip())
    return "\n".join(lines)


def own_lines(text: str) -> int:
    """How many lines of a cell a student writes, blank lines and comments not counted."""
    lines = [line.strip() for line, place in _places(text) if place == "solution"]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Each line but the marks, and where it stands; a region without a stub ends in one of place `not yet`."""
    place, indent = "outside", ""
    for line in text.splitlines():
        mark = line.strip()
        if mark == BEGIN:
            place, indent = "solution", line[: len(line) - len(line.lstrip())]
        elif mark == STUB and place == "solution":
            place = "stub"
        elif mark == END:
            if place == "solution":
                yield f"{indent}{NOT_YET}", "not yet"
            place = "outside"
        else:
            yield line, place
