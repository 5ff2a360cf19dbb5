"""Grade a notebook: run it, pay each check that passed, say what to look at where one did not.

A cell that ends the kernel costs what it would have earned: the rest runs again, in a fresh kernel, without it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec

from agentlab.grading.engine import EngineError
from agentlab.grading.exercise import PUBLIC_SECRET
from agentlab.grading.feedback import feedback_of, repeats_hidden, with_hint
from agentlab.grading.job import Begun, Job, Over, Ran
from agentlab.grading.plan import plan
from agentlab.grading.result import Mark, Result, Text, fingerprint
from agentlab.grading.submission import OwnCell, changed, paragraph_of
from agentlab.providers.keys import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentlab.grading.engine import Engine
    from agentlab.grading.exercise import Exercise, Paragraph
    from agentlab.grading.plan import Step
    from agentlab.grading.submission import Notebook

GRADER = "1"
"""Raised whenever the same notebook may get another grade: results of another grader are not taken up again."""
MAX_RUNS = 30
"""So often a notebook begins in a fresh kernel."""
WITHHELD = "What was raised repeats a hidden check, and is not shown."
TAMPERED = "a cell changed how the notebook reports errors: no check that ran after it is believed"
LOST = 2
"""So often what is no fault of the notebook's may end its run."""


class _Grading:
    """A notebook while it is graded."""

    def __init__(self, exercise: Exercise, notebook: Notebook, expected: Mapping[str, str]) -> None:
        self.exercise = exercise
        self.expected = expected
        self.marks: dict[str, Mark] = {}
        self.problems: dict[str, str] = {}
        self.without: set[str] = set()
        self.titles = {cell.key: cell.title for cell in notebook.code}
        self.seconds = 0.0
        self.believed = False

    def fail(self, ident: str, why: str) -> None:
        """Give no points for a check."""
        check = self.exercise.check(ident)
        feedback = with_hint("" if check.hidden else why, check.hint)
        reason = redact(why) if check.hidden else ""
        self.marks[ident] = Mark(
            check.id, check.task, check.name, check.hidden, check.points, 0.0, redact(feedback), reason
        )
        self.without.add(ident)

    def take(self, step: Step, ran: Ran) -> None:
        """Take up what became of a step."""
        self.seconds += ran.seconds
        if step.kind == "control":
            self.believed = ran.ok
            if not ran.ok and ran.status:
                self.problems.setdefault("control", TAMPERED)
        elif step.kind == "check" and ran.ok and self.believed:
            check = self.exercise.check(step.ident)
            self.marks[check.id] = Mark(check.id, check.task, check.name, check.hidden, check.points, check.points)
            self.without.add(check.id)
        elif step.kind == "check" and (ran.status or ran.cut_off):
            check = self.exercise.check(step.ident)
            self.fail(check.id, feedback_of(check, ran, self.expected.get(check.id, ""), believed=self.believed))
        elif step.kind in ("own", "setup") and not ran.ok and (ran.status or ran.cut_off):
            title = self.titles.get(step.ident, f"cell {step.ident!r}")
            self.problems.setdefault(step.ident, redact(f"{title}: {_why(ran)}"))
            if ran.cut_off:
                self.without.add(step.ident)  # where the rest runs again, it need not be waited for once more

    def blame(self, step: Step, reason: str) -> None:
        """Leave the step out that ended the kernel."""
        if step.kind in ("control", "check"):
            self.fail(step.ident, f"No result: {reason} while this check ran.")
        else:
            title = self.titles.get(step.ident, f"cell {step.ident!r}")
            known = self.problems.get(step.ident, f"{title}: {reason} while it ran")
            self.problems[step.ident] = f"{known}; the rest was graded without it"
            self.without.add(step.ident)

    def give_up(self, reason: str) -> None:
        """Give no points for what did not run."""
        for check in self.exercise.checks:
            if check.id not in self.marks:
                self.fail(check.id, f"Did not run: {reason}.")


def _why(ran: Ran) -> str:
    """What stopped a cell of the student's."""
    if ran.cut_off == "time":
        return "took too long, and was stopped"
    if ran.cut_off == "output":
        return "printed too much, and was stopped"
    first = (ran.evalue.strip().splitlines() or [""])[0][:300]
    return f"raised {ran.ename or 'an error'}" + (f": {first}" if first else "")


def grade(
    exercise: Exercise,
    notebook: Notebook,
    engine: Engine,
    *,
    expected: Mapping[str, str] | None = None,
    secret: bytes = PUBLIC_SECRET,
    another: bool = False,
) -> Result:
    """Grade a notebook.

    Args:
        exercise: Its exercise.
        notebook: What was handed in.
        engine: Runs it.
        expected: What each `output` check must show; the exercise's own expectations where it is not given, which hold
            for the public seed alone.
        secret: Draws the inputs of seeded checks.
        another: Whether a further notebook will be graded.

    Raises:
        EngineError: No kernel can be started, which is no fault of the notebook.
    """
    if expected is None:
        expected = {check.id: check.expected for check in exercise.checks}
    grading = _Grading(exercise, notebook, expected)
    lost = 0
    for run in range(MAX_RUNS):
        over, guilty = _run(grading, notebook, engine, secret, another=another and run == 0)
        if over.how == "complete":
            break
        if over.how in ("no kernel", "no worker") or guilty is None:
            lost += 1
            if lost <= LOST:
                continue
            if guilty is None:
                raise EngineError(f"no kernel could be started for a notebook ({over.reason})")
        if over.how == "time" or guilty.kind == "setup":
            grading.give_up(over.reason)
            break
        grading.blame(guilty, over.reason)
        if grading.seconds >= engine.limits.notebook_seconds:
            grading.give_up(f"the notebook took more than {engine.limits.notebook_seconds:g} s")
            break
    grading.give_up("the notebook ended its kernel too often")
    texts = [_text(exercise, notebook, paragraph) for paragraph in exercise.paragraphs]
    said = [*grading.problems.values()]
    kept = [text for text in said if not repeats_hidden(text, exercise, secret)]
    problems = [*_keys(notebook), *changed(notebook, exercise), *kept, *([WITHHELD] if len(kept) < len(said) else [])]
    marks = [_told(grading.marks[check.id], exercise, secret) for check in exercise.checks]
    stamp = fingerprint(secret)
    return Result(exercise.name, notebook.digest, engine.sandbox, stamp, marks, texts, problems, grading.seconds)


def _run(
    grading: _Grading, notebook: Notebook, engine: Engine, secret: bytes, *, another: bool
) -> tuple[Over, Step | None]:
    """Run what is left of a notebook once; returns how that ended, and the step that ran last."""
    nonce = secrets.token_hex(16)
    steps = plan(
        grading.exercise,
        notebook.code,
        nonce=nonce,
        expected=grading.expected,
        secret=secret,
        without=grading.without,
    )
    if not any(step.kind == "check" for step in steps):
        return Over("complete"), None
    left = max(0.0, engine.limits.notebook_seconds - grading.seconds)
    last: Step | None = None
    for line in engine.run(Job(nonce, steps, left, engine.limits, another)):
        if isinstance(line, Begun):
            last = steps[line.index]
        elif isinstance(line, Ran):
            grading.take(steps[line.index], line)
        else:
            return line, last
    return Over("ended", "the run broke off"), last


def _told(mark: Mark, exercise: Exercise, secret: bytes) -> Mark:
    """A mark whose feedback tells no hidden check."""
    if mark.hidden or not repeats_hidden(mark.feedback, exercise, secret):
        return mark
    return msgspec.structs.replace(mark, feedback=WITHHELD, reason=mark.feedback)


def _text(exercise: Exercise, notebook: Notebook, paragraph: Paragraph) -> Text:
    """A paragraph as it was written; nobody has to mark one that was not."""
    written = paragraph_of(notebook.cells, paragraph)
    stubs = [OwnCell(cell.id, 0, cell.source, markdown=not paragraph.variable) for cell in exercise.cells]
    if written == paragraph_of(stubs, paragraph):
        written = ""
    return Text(paragraph.id, paragraph.name, paragraph.points, redact(written), None if written else 0.0)


def _keys(notebook: Notebook) -> list[str]:
    """Where a key stands in a notebook; the key itself is told nobody."""
    found = [cell.place for cell in notebook.cells if redact(cell.code) != cell.code]
    return [f"cell {place} holds what looks like a key: withdraw it, and keep keys out of notebooks" for place in found]


def solution_values(exercise: Exercise, engine: Engine, secret: bytes) -> dict[str, str]:
    """What each `output` check shows on the solution, its inputs drawn from a secret.

    Raises:
        EngineError: The solution does not pass its own checks.
    """
    if secret == PUBLIC_SECRET or not any(check.seeded for check in exercise.checks):
        return {check.id: check.expected for check in exercise.checks}
    nonce = secrets.token_hex(16)
    solved = [
        OwnCell(cell.id, place, cell.solution if cell.kind == "answer" else cell.source)
        for place, cell in enumerate(exercise.cells, 1)
        if cell.kind in ("answer", "given")
    ]
    steps = plan(exercise, solved, nonce=nonce, expected={}, secret=secret)
    values: dict[str, str] = {}
    for line in engine.run(Job(nonce, steps, engine.limits.notebook_seconds, engine.limits, compare=False)):
        if isinstance(line, Ran) and not line.ok:
            step = steps[line.index]
            raise EngineError(
                f"the solution of {exercise.name} fails in {step.ident!r} under this secret ({_why(line)})"
            )
        if isinstance(line, Ran) and steps[line.index].kind == "check":
            values[steps[line.index].ident] = "".join(f"{value}\n" for value in line.values)
        elif isinstance(line, Over) and line.how != "complete":
            raise EngineError(f"the solution of {exercise.name} could not be run ({line.reason})")
    return values
