"""What a grading comes to: files for the instructor and the students, a table, feedback in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.cli.terminal import decoded, plain_console, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from agentlab.grading.batch import Setup
    from agentlab.grading.exercise import Exercise
    from agentlab.grading.gradebook import Graded
    from agentlab.grading.review import Given, Key
    from agentlab.grading.roster import Person

FEW = 3
"""Up to so many notebooks have all their feedback in the terminal."""
GRADES_CSV, GRADES_JSON, FEEDBACK = "grades.csv", "grades.json", "feedback"


class progress:  # noqa: N801 - used as `with progress():`
    """Says on standard error what is done: a bar, on a terminal; else a line per notebook.

    Args:
        quiet: Say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = plain_console(stderr=True, quiet=quiet)
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, done: int, total: int, graded: Graded) -> None:
        """Say that a notebook is done."""
        if not self.console.is_terminal:
            earned = graded.refused or f"{graded.earned:g} points"
            self.console.print(f"{done}/{total} {shown(graded.handed.label)}: {shown(earned)}", soft_wrap=True)
            return
        if self.bar is None:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("notebooks"), TimeRemainingColumn())
            self.bar = Progress(*columns, console=self.console, transient=True)
            self.task = self.bar.add_task("", total=total)
            self.bar.start()
        self.bar.update(self.task, completed=done)


class Report(msgspec.Struct, frozen=True):
    """A grading, ready to be written and shown."""

    graded: list[Any]
    rows: list[Any]
    exercises: list[Any]
    problems: list[str]
    stamp: str
    sandbox: str
    seed: str

    @classmethod
    def of(
        cls,
        graded: Sequence[Graded],
        exercises: Sequence[Exercise],
        setup: Setup,
        *,
        people: Sequence[Person] | None,
        given: Mapping[Key, Given],
        problems: Sequence[str],
    ) -> Report:
        """Put together what is known: grades, roster, and what a person gave."""
        from agentlab.grading.gradebook import rows
        from agentlab.grading.pages import stamp
        from agentlab.grading.result import fingerprint
        from agentlab.grading.review import merge

        merged, unused = merge(graded, given)
        said = list(problems)
        said += [f"points for {exercise}, {paragraph}: no such text was handed in" for exercise, paragraph, _ in unused]
        present = {each.exercise for each in merged}
        own = [exercise for exercise in exercises if exercise.name in present]
        seed = fingerprint(setup.secret)
        made = rows(merged, own, people)
        return cls(merged, made, own, said, stamp(setup.sandbox, seed), setup.sandbox, seed)

    def write(self, out: Path, *, review: str | None) -> None:
        """Write grades, feedback pages, and the texts that a person has to mark.

        Raises:
            InputError: The system refuses.
        """
        from agentlab.grading.pages import file_name, page
        from agentlab.grading.review import review_csv

        by_name = {exercise.name: exercise for exercise in self.exercises}
        owners = {file: row for row in self.rows for file in row.files}
        try:
            _write(out / GRADES_CSV, self.csv())
            _write(out / GRADES_JSON, msgspec.json.format(msgspec.json.encode(self.json())).decode() + "\n")
            for each in self.graded:
                if each.result is None:
                    continue
                row = owners.get(each.handed.label)
                who = each.handed.who[0] if row is None else row.id
                name = each.exercise if row is not None else f"{each.exercise}-{each.result.digest[:8]}"
                named = each.handed.who[0] if row is None else row.name or row.id
                file = Path(each.handed.member or each.handed.file).name
                text = page(each.result, by_name[each.exercise], who=decoded(named), file=decoded(file))
                _write(out / FEEDBACK / file_name(decoded(who)) / f"{name}.html", text)
            if review is not None:
                _write(Path(review), review_csv(self.graded, self.exercises))
        except OSError as error:
            problem = f"cannot be written ({error.strerror}): name another place"
            raise InputError(problem, path=error.filename or out) from None

    def csv(self) -> str:
        """A row per person."""
        from agentlab.grading.gradebook import table
        from agentlab.grading.spreadsheet import write_csv

        header, lines = table(self.rows)
        return decoded(write_csv(header, lines))

    def json(self) -> dict[str, Any]:
        """All that is known, the same for the same notebooks."""
        return {
            "sandbox": self.sandbox,
            "seed": self.seed,
            "stamp": self.stamp,
            "exercises": [{"name": each.name, "title": each.title, "points": each.points} for each in self.exercises],
            "people": [msgspec.to_builtins(row) for row in self.rows],
            "submissions": [_submission(each) for each in self.graded],
            "problems": [decoded(problem) for problem in self.problems],
        }

    def show(self, *, as_json: bool, as_csv: bool, out: Path) -> None:
        """Print the grades."""
        if as_json:
            write_json(self.json())
        if as_csv:
            sys.stdout.write(self.csv())
        if as_json or as_csv:
            return
        if len(self.graded) <= FEW:
            for each in self.graded:
                _print_feedback(each)
        self._print_table()
        for problem in self.problems:
            sys.stdout.write(f"{shown(problem)}\n")
        sys.stdout.write(f"{self.stamp}\nGrades and feedback: {decoded(str(out))}/\n")

    def _print_table(self) -> None:
        from rich.table import Table

        from agentlab.grading.gradebook import table

        header, lines = table(self.rows)
        made = Table(box=None, pad_edge=False)
        for name in header:
            made.add_column(name, justify="left" if name in ("id", "name", "notes") else "right", overflow="fold")
        for line in lines:
            made.add_row(*(shown(f"{cell:g}" if isinstance(cell, float) else str(cell)) for cell in line))
        plain_console().print(made)


def _submission(graded: Graded) -> dict[str, Any]:
    """What the report says of a notebook."""
    said: dict[str, Any] = {"file": decoded(graded.handed.label), "id": decoded(graded.handed.who[0])}
    result = graded.result
    if result is None:
        return said | {"refused": graded.refused}
    whole: dict[str, Any] = msgspec.to_builtins(result)
    del whole["seconds"]
    return said | {"earned": result.earned, "points": result.points} | whole


def shown(text: str) -> str:
    r"""A text of a student's as a terminal may have it: what would move the cursor or change colours is replaced.

    >>> shown("a\x1b[2Jb\nc")
    'a\ufffd[2Jb\nc'
    """
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in decoded(text))


def _print_feedback(graded: Graded) -> None:
    """Print all that a student should read of a notebook."""
    from rich.text import Text

    console = plain_console()
    console.print(Text(shown(graded.handed.label), "bold"))
    if graded.result is None:
        console.print(f"  {shown(graded.refused)}")
        return
    for problem in graded.result.problems:
        console.print(f"  ! {shown(problem)}")
    for mark in graded.result.marks:
        sign, colour = ("✓", "green") if mark.earned else ("✗", "yellow")
        hidden = " (hidden check)" if mark.hidden else ""
        points = f"{mark.earned:g}/{mark.points:g}"
        console.print(Text.assemble("  ", (sign, colour), f" {points:>5}  {mark.name}{hidden}"))
        for line in shown(mark.feedback).split("\n") if mark.feedback else ():
            console.print(f"           {line}")
    for text in graded.result.texts:
        earned = "?" if text.earned is None else f"{text.earned:g}"
        console.print(f"  … {earned:>3}/{text.points:g}  {text.name}: marked by a person")
    console.print(f"  {graded.result.earned:g} of {graded.result.points:g} points\n")


def _write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace")
    part.replace(path)
