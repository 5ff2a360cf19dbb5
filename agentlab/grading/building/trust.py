"""Whether checks can be trusted: what they pay answers whose worth is known.

Each exercise has papers: its solution and the untouched notebook, the wrong answers, the unusual right ones and the
book's. A check that pays one of them too much lets something through; one that pays too little does somebody wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.grading.building.answers import answers_in, owed, read_answer
from agentlab.grading.building.trial import passed, solution_of, try_answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agentlab.grading.building.answers import Answer
    from agentlab.grading.exercise import Exercise

WRONG_PER_STEP = 3


class Paper(msgspec.Struct, frozen=True):
    """An answer whose worth is known.

    Attributes:
        name: What it is, as `wrong/minus_zero`.
        cells: Its texts by id of an answer cell; a cell that is not there keeps the student's stub.
        owed: The points that each check owes it.
    """

    name: str
    cells: dict[str, str]
    owed: dict[str, float]


def papers(root: Path, exercise: Exercise) -> list[Paper]:
    """All papers of an exercise: solution, untouched, wrong, right, book.

    Args:
        root: The folder `exercises`.
        exercise: Which one.

    Raises:
        InputError: A file of answers cannot be read, or names what the exercise has not.
    """
    number = exercise.name[:2]
    full = {check.id: check.points for check in exercise.checks}
    nothing = dict.fromkeys(full, 0.0)
    found = [Paper("solution", solution_of(exercise), full), Paper("untouched", {}, nothing)]
    for folder in ("wrong", "right"):
        found += [
            Paper(f"{folder}/{answer.path.stem}", answer.cells, full | dict.fromkeys(answer.fails, 0.0))
            for answer in answers_in(root / folder / number, exercise)
        ]
    book = root / "book" / f"{exercise.name}.py"
    if book.is_file():
        found.append(Paper("book", read_answer(book, exercise).cells, owed(book.with_suffix(".json"))))
    return found


def distrust(root: Path, exercise: Exercise) -> Iterator[str]:
    """What speaks against the checks of an exercise, one line each; nothing where they can be trusted.

    Args:
        root: The folder `exercises`.
        exercise: With the outputs of its solution.

    Raises:
        InputError: A file of answers cannot be read.
    """
    found = papers(root, exercise)
    yield from missing(root, exercise)
    for paper, verdicts in zip(found, try_answers(exercise, [paper.cells for paper in found]), strict=True):
        good = passed(exercise, verdicts)
        paid = {check.id: check.points if good[check.id] else 0.0 for check in exercise.checks}
        for line in disputed(paper, paid):
            said = verdicts[line.split(":")[0]].error
            yield f"{exercise.name}: {paper.name}: {line}" + (f" ({' '.join(said.split())})" if said else "")


def disputed(paper: Paper, paid: Mapping[str, float]) -> Iterator[str]:
    """Checks that paid a paper something other than what they owe it, one line each.

    >>> list(disputed(Paper("wrong/off_by_one", {}, {"exact": 0.0, "why": 1.0}), {"exact": 2.0, "why": 1.0}))
    ['exact: paid 2, owed 0']
    """
    for ident, points in paid.items():
        if points != paper.owed[ident]:
            yield f"{ident}: paid {points:g}, owed {paper.owed[ident]:g}"


def missing(root: Path, exercise: Exercise) -> Iterator[str]:
    """Which papers an exercise lacks, one line each.

    It needs a wrong answer for every check, three for every step, a right one, and the book's with its points. A wrong
    answer counts for the first step of which it fails a check.
    """
    name = exercise.name
    wrong = answers_in(root / "wrong" / name[:2], exercise)
    for answer in wrong:
        if not answer.fails:
            yield f"{name}: wrong/{answer.path.stem}: names no check that it fails"
    for check in exercise.checks:
        if not any(check.id in answer.fails for answer in wrong):
            yield f"{name}: no wrong answer fails the check {check.id}: it may not be able to fail"
    for task in exercise.tasks:
        count = sum(_step(exercise, answer) == task.id for answer in wrong)
        if count < WRONG_PER_STEP:
            yield f"{name}: {count} wrong answers for the step {task.id}, and {WRONG_PER_STEP} are the fewest"
    if not answers_in(root / "right" / name[:2], exercise):
        yield f"{name}: there is no unusual right answer in right/{name[:2]}"
    yield from _of_the_book(root, exercise)


def _step(exercise: Exercise, answer: Answer) -> str:
    failed = {exercise.check(ident).task for ident in answer.fails}
    return next((task.id for task in exercise.tasks if task.id in failed), "")


def _of_the_book(root: Path, exercise: Exercise) -> Iterator[str]:
    path = root / "book" / f"{exercise.name}.py"
    if not path.is_file():
        yield f"{exercise.name}: there is no {path.name} in book"
        return
    points = owed(path.with_suffix(".json"))
    wanted: Sequence[str] = [check.id for check in exercise.checks]
    if sorted(points) != sorted(wanted):
        yield f"{exercise.name}: {path.stem}.json names {', '.join(points)}, expected {', '.join(wanted)}"
    for check in exercise.checks:
        if points.get(check.id, 0.0) not in (0.0, check.points):
            yield f"{exercise.name}: {path.stem}.json owes {points[check.id]:g} for {check.id}: 0 or {check.points:g}"
