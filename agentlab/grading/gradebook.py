"""One row per person: what counts, what is missing, what is there twice, and who is not on the roster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.grading.collect import Handed
from agentlab.grading.result import Result
from agentlab.grading.roster import person_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.grading.exercise import Exercise
    from agentlab.grading.roster import Person

NOTHING = "nothing handed in"


class Graded(msgspec.Struct, frozen=True):
    """What became of a notebook that was handed in.

    Attributes:
        handed: Where it was found.
        exercise: Name of its exercise; empty where it is none of ours, or was not read.
        result: Its grade; None where it was refused.
        refused: Why, in one line.
    """

    handed: Handed
    exercise: str = ""
    result: Result | None = None
    refused: str = ""

    @property
    def earned(self) -> float:
        """Its points, 0 where it was refused."""
        return self.result.earned if self.result is not None else 0.0


class Row(msgspec.Struct, frozen=True):
    """A person's grade.

    Attributes:
        id: As the roster has it, else as the path has it.
        name: As the roster has it.
        points: Of all exercises.
        max: What could be had.
        exercises: Points per exercise.
        notes: What is missing, refused, there twice, waiting for a person; one line each.
        files: The notebooks that count.
    """

    id: str
    name: str
    points: float
    max: float
    exercises: dict[str, float]
    notes: list[str]
    files: list[str] = []


def rows(graded: Sequence[Graded], exercises: Sequence[Exercise], people: Sequence[Person] | None = None) -> list[Row]:
    """A row for each person of the roster, in its order, then for each person that it does not have.

    Args:
        graded: In the natural order of their labels: of two notebooks for one exercise the last counts.
        exercises: Those that are graded in this run.
        people: The roster; None where there is none.
    """
    belongs: dict[str, list[Graded]] = {person.id: [] for person in people or ()}
    names = {person.id: person.name for person in people or ()}
    for each in graded:
        person = person_of(each.handed.who, people or ())
        belongs.setdefault(person.id if person is not None else each.handed.who[0], []).append(each)
    known = list(names)
    strangers = sorted(ident for ident in belongs if ident not in names)
    made = [_row(ident, names.get(ident, ""), belongs[ident], exercises) for ident in (*known, *strangers)]
    if people is None:
        return made
    return [row if row.id in names else _with_note(row, "not on the roster") for row in made]


def _with_note(row: Row, note: str) -> Row:
    return msgspec.structs.replace(row, notes=[note, *row.notes])


def _row(ident: str, name: str, graded: Sequence[Graded], exercises: Sequence[Exercise]) -> Row:
    refused = [each for each in graded if each.result is None]
    notes = [f"{each.handed.label}: {each.refused}" for each in refused]
    earned: dict[str, float] = {}
    files = []
    for exercise in exercises:
        own = [each for each in graded if each.exercise == exercise.name and each.result is not None]
        earned[exercise.name] = own[-1].earned if own else 0.0
        if own:
            files.append(own[-1].handed.label)
            notes += _waiting(own[-1], exercise)
        elif graded and not refused:
            notes.append(f"{exercise.name}: {NOTHING}")
        if len(own) > 1:
            others = ", ".join(f"{each.handed.label} ({each.earned:g})" for each in own[:-1])
            notes.append(f"{exercise.name}: {len(own)} notebooks; {own[-1].handed.label} counts, not {others}")
    notes = notes if graded else [NOTHING]
    return Row(ident, name, sum(earned.values()), sum(e.points for e in exercises), earned, notes, files)


def _waiting(graded: Graded, exercise: Exercise) -> Iterable[str]:
    result = graded.result
    waiting = [text for text in result.texts if text.earned is None] if result is not None else []
    if waiting:
        yield f"{exercise.name}: {sum(text.points for text in waiting):g} points wait for a person"


def table(made: Sequence[Row]) -> tuple[list[str], list[list[Any]]]:
    """The header and the lines of the grades as CSV."""
    exercises = list(made[0].exercises) if made else []
    header = ["id", "name", "points", "max", *exercises, "notes"]
    lines = [
        [row.id, row.name, row.points, row.max, *(row.exercises[name] for name in exercises), "; ".join(row.notes)]
        for row in made
    ]
    return header, lines
