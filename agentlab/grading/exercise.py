"""What the grader knows of an exercise: `exercises/tests/NN_name.json`, written by the builder.

The file holds the stubs, the solution, all checks and their expected outputs: it never reaches a student or a kernel.

A notebook's cell is known by `metadata.agentlab.id`, which is the `id` of the `Cell` here; the notebook itself by
`metadata.agentlab.exercise`, which is the `name` of the `Exercise`. From `cells` the grader makes the notebook that it
runs: setup and check cells as they stand here, the student's own text in place of the others.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = "agentlab-exercise/1"

METADATA = "agentlab"
"""Key of the metadata of a notebook (`{"exercise": NAME}`) and of a cell (`{"id": ID}`) that are ours."""

PUBLIC_SECRET = b"agentlab public seed"
"""Draws the hidden inputs where no secret is given: whoever reads the repository knows them."""


class Cell(msgspec.Struct, frozen=True, omit_defaults=True):
    """A code cell of the exercise, or the place of a hidden check.

    Attributes:
        id: Unique in the exercise; of a check cell, the id of its check.
        kind: What the grader does with it.
            `setup`: runs as it stands here, whatever the student made of it.
            `answer`: the student's text runs; where the cell is missing, nothing does.
            `given`: the student's text runs, and the text here where the cell is missing (sessions, plots).
            `check`: the check of that id runs, visible or hidden.
            `shown`: never runs in grading (the package's source beside the student's, at the end).
        source: What the student's notebook holds at first; empty for checks, whose code is in `Check.code`.
        solution: Of an answer, the text that solves it.
    """

    id: str
    kind: Literal["setup", "answer", "given", "check", "shown"]
    source: str = ""
    solution: str = ""


class Task(msgspec.Struct, frozen=True):
    """A step of the exercise; its points are those of its checks and paragraphs."""

    id: str
    title: str


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """A check: code of ours that runs in the student's kernel and earns points.

    Attributes:
        id: Unique in the exercise.
        task: Id of its task.
        name: What it checks, as the student reads it: "stops on stop".
        kind: `assert`: passes where the code raises nothing. `output`: the code ends in `show(value)`, and what it
            prints is compared outside the kernel. Only an `output` check cannot be forged from within the kernel.
        points: More than 0.
        code: Plain Python, no magics. In a seeded check the integer `seed` is defined above the code.
        because: "step N": the sentence of the notebook that asks for it.
        hint: Where to look. For a hidden check it is all that the student is told.
        hidden: It is not in the student's notebook and runs at grading alone.
        seeded: Its inputs are drawn from `seed`, which comes from the instructor's secret. Only hidden checks.
        expected: Of an `output` check, the text that `show` prints on the solution under the public seed, line break
            included.
    """

    id: str
    task: str
    name: str
    kind: Literal["assert", "output"]
    points: float
    code: str
    because: str
    hint: str = ""
    hidden: bool = False
    seeded: bool = False
    expected: str = ""


class Paragraph(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text that a person marks; whatever of it a machine can check is a `Check`.

    Attributes:
        id: Unique in the exercise.
        task: Id of its task.
        name: What it is.
        points: The most that a person may give.
        cell: Id of the cell that it is in: a markdown cell, or a code cell that assigns it to `variable`.
        variable: The name in a code cell; empty for a markdown cell.
        rubric: What the person who marks looks for.
    """

    id: str
    task: str
    name: str
    points: float
    cell: str
    variable: str = ""
    rubric: str = ""


class Exercise(msgspec.Struct, frozen=True, omit_defaults=True):
    """An exercise as the grader reads it.

    Attributes:
        name: `NN_name`, as its files are called.
        number: Its number in the chapter.
        title: Its title.
        minutes: How long it takes.
        seams: Dotted names of the package that raise ImportError in the student's kernel, since they are the answer.
            The setup cell withholds them: `from agentlab.grading.kernel import begin; begin(NAME, withheld=[...])`.
        cells: Code cells and hidden checks in the order in which they run.
        tasks: Its steps.
        checks: Each has a cell of kind `check`.
        paragraphs: Texts that a person marks.
    """

    name: str
    number: int
    title: str
    minutes: int
    seams: list[str]
    cells: list[Cell]
    tasks: list[Task]
    checks: list[Check]
    paragraphs: list[Paragraph] = []
    schema: str = SCHEMA

    @property
    def points(self) -> float:
        """All points that can be had, a person's included."""
        return sum(check.points for check in self.checks) + sum(text.points for text in self.paragraphs)

    def check(self, ident: str) -> Check:
        """The check of an id.

        Raises:
            KeyError: There is none.
        """
        for check in self.checks:
            if check.id == ident:
                return check
        raise KeyError(ident)


def seed_of(exercise: str, check: str, secret: bytes = PUBLIC_SECRET) -> int:
    """The seed of a seeded check: from 0 to 2**32 - 1, the same for all students of a secret.

    >>> seed_of("01_limits", "unseen") == seed_of("01_limits", "unseen")
    True
    >>> seed_of("01_limits", "unseen") == seed_of("01_limits", "unseen", b"ours")
    False
    """
    digest = hmac.new(secret, f"{exercise}\n{check}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:4], "big")


def code_of(exercise: Exercise, check: Check, secret: bytes = PUBLIC_SECRET) -> str:
    """The code of a check as it runs in a kernel: the seed is defined above it where its inputs are drawn.

    >>> check = Check("c", "t", "sum", "output", 1, "show(seed % 10)", "step 1", hidden=True, seeded=True)
    >>> print(code_of(Exercise("01_a", 1, "A", 5, [], [], [], [check]), check, b"ours"))
    seed = 4289162451
    show(seed % 10)
    """
    return f"seed = {seed_of(exercise.name, check.id, secret)}\n{check.code}" if check.seeded else check.code


def encode(exercise: Exercise) -> bytes:
    """The text of `exercises/tests/NN_name.json`: indented, in the same order at every build."""
    return msgspec.json.format(msgspec.json.encode(exercise), indent=2) + b"\n"


def read(path: Path) -> Exercise:
    """Read an exercise and see that it holds together.

    Raises:
        InputError: It cannot be read, is of another schema, or names what is not there.
    """
    try:
        exercise = msgspec.json.decode(path.read_bytes(), type=Exercise)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): build it with `agentlab exercises build`", path=path
        ) from None
    except msgspec.DecodeError as error:
        raise InputError(
            f"not an exercise ({error}): build it again with `agentlab exercises build`", path=path
        ) from None
    for problem in problems(exercise):
        raise InputError(f"{problem}: mend its source and build it again", path=path)
    return exercise


def problems(exercise: Exercise) -> Iterator[str]:
    """What does not hold together in an exercise, one line each.

    >>> list(problems(Exercise("01_a", 1, "A", 5, [], [Cell("x", "check")], [], [])))
    ["cell 'x' is of kind check and there is no check of that id"]
    """
    if exercise.schema != SCHEMA:
        yield f"is of schema {exercise.schema!r}, expected {SCHEMA!r}"
    marked: list[Check | Paragraph] = [*exercise.checks, *exercise.paragraphs]
    for what, idents in (
        ("cell", [cell.id for cell in exercise.cells]),
        ("task", [task.id for task in exercise.tasks]),
        ("check or paragraph", [item.id for item in marked]),
    ):
        yield from (f"two of kind {what} have the id {ident!r}" for ident, n in Counter(idents).items() if n > 1)
    places = {cell.id for cell in exercise.cells if cell.kind == "check"}
    tasks = {task.id for task in exercise.tasks}
    checks = {check.id for check in exercise.checks}
    yield from (
        f"cell {ident!r} is of kind check and there is no check of that id" for ident in sorted(places - checks)
    )
    yield from (f"check {i!r} has no cell of kind check" for i in sorted(checks - places))
    for item in marked:
        if item.task not in tasks:
            yield f"{item.id!r} belongs to the task {item.task!r}, which is not there"
        if not item.points > 0:
            yield f"{item.id!r} is worth {item.points:g} points, expected more than 0"
    for check in exercise.checks:
        yield from _check_problems(check)


def _check_problems(check: Check) -> Iterator[str]:
    if check.seeded and not check.hidden:
        yield f"check {check.id!r} is seeded and visible: only a hidden check has a seed"
    if check.kind == "output" and not check.expected:
        yield f"check {check.id!r} compares its output, and no output is expected"
    if not check.because.startswith("step "):
        yield f"check {check.id!r} says {check.because!r} for because, expected 'step N'"
