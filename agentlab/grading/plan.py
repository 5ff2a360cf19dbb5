"""The cells that the grader runs for a submission, in order: setup and checks of ours, the student's between them.

Before each check runs a control: a cell that undoes what could let a failing check pass, and then must fail with words
that no other run has. Where it does not fail, the kernel no longer says what fails, and no assert in it is believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from agentlab.grading.exercise import PUBLIC_SECRET, code_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from agentlab.grading.exercise import Exercise
    from agentlab.grading.submission import OwnCell

Kind = Literal["setup", "own", "control", "check"]

VALUE, PASSED = "agentlab-value", "agentlab-ok"
"""First words of the lines that a check prints: a value to compare, and the proof that it came to its end."""

PATCHED = (
    *("showtraceback", "_showtraceback", "showsyntaxerror"),
    *("run_cell", "run_cell_async", "run_ast_nodes", "run_code", "transform_cell"),
)
"""Methods of the shell that a notebook may have put its own in place of."""

CONTROL = """\
import IPython as _ip, sys as _sys
_shell = _ip.get_ipython()
_shell.ast_transformers.clear()
_shell.input_transformers_post.clear()
_shell.input_transformer_manager = _ip.core.inputtransformer2.TransformerManager()
_shell.custom_exceptions, _shell.CustomTB = (), None
for _name in {patched!r}:
    _shell.__dict__.pop(_name, None)
import agentlab.grading.kernel as _kernel
_kernel.mark = {mark!r}
show = _kernel.show
assert {nonce!r} == "", {nonce!r}
"""

ENDING = """
import sys as _sys
_ = _sys.stdout.write({line!r})
"""


class Step(msgspec.Struct, frozen=True):
    """A cell that runs.

    Attributes:
        kind: `setup`, `own` (the student's), `control` or `check`.
        ident: Of a check or control, the check's id; else the cell's id, or its place where it has none.
        code: What runs.
        expected: Of a check, what nbval must find on its standard output once other lines are dropped.
    """

    kind: Kind
    ident: str
    code: str
    expected: str = ""


def plan(
    exercise: Exercise,
    cells: Sequence[OwnCell],
    *,
    nonce: str,
    expected: Mapping[str, str],
    secret: bytes = PUBLIC_SECRET,
    without: Collection[str] = (),
) -> list[Step]:
    """The cells to run.

    Args:
        exercise: The exercise.
        cells: The student's code cells, in their order.
        nonce: A text that no other run has.
        expected: The text that each `output` check must show.
        secret: Draws the inputs of seeded checks.
        without: Ids of checks that are decided, and of the student's cells that ended a kernel.

    A setup cell runs where the student's copy of it stands, and no later than the first cell that comes after it in the
    exercise. A check runs after the last cell that comes before it, so that of a cell that is there twice the last one
    counts, and after what the student added behind that. A `given` cell that was deleted runs as it was.
    """
    order = {cell.id: place for place, cell in enumerate(exercise.cells)}
    kinds = {cell.id: cell.kind for cell in exercise.cells}
    theirs = [order.get(cell.ident, -1) if kinds.get(cell.ident) in ("answer", "given") else -1 for cell in cells]
    present = {cell.ident for cell in cells}
    placed: dict[int, list[Step]] = {}
    for place, cell in enumerate(exercise.cells):
        if cell.kind == "setup":
            copies = [index for index, own in enumerate(cells) if own.ident == cell.id]
            later = [index for index, at in enumerate(theirs) if at > place]
            placed.setdefault(min([*copies[:1], *later[:1]], default=0), []).append(Step("setup", cell.id, cell.source))
        elif cell.kind == "given" and cell.id not in present:
            placed.setdefault(_behind(theirs, place), []).append(Step("own", cell.id, cell.source))
        elif cell.kind == "check" and cell.id not in without:
            placed.setdefault(_behind(theirs, place), []).extend(
                _check(exercise, cell.id, nonce=nonce, expected=expected.get(cell.id, ""), secret=secret)
            )
    steps = list(placed.get(0, ()))
    for index, own in enumerate(cells):
        if kinds.get(own.ident) not in ("setup", "check", "shown"):
            steps.append(Step("own", own.key, own.code))
        steps += placed.get(index + 1, ())
    return [step for step in steps if step.ident not in without]


def _behind(theirs: Sequence[int], place: int) -> int:
    """How many of the student's cells run before what stands at a place of the exercise."""
    before = max((index for index, at in enumerate(theirs) if 0 <= at < place), default=-1)
    later = (index for index, at in enumerate(theirs) if index > before and at > place)
    return next(later, len(theirs))


def _check(exercise: Exercise, ident: str, *, nonce: str, expected: str, secret: bytes) -> list[Step]:
    """A check behind its control: it prints the values that it shows, and last that it came to its end."""
    check = exercise.check(ident)
    mark, line = f"\n{VALUE} {nonce} ", f"\n{PASSED} {nonce} {ident}\n"
    code = code_of(exercise, check, secret).rstrip() + ENDING.format(line=line)
    values = expected.removesuffix("\n").split("\n") if expected else []  # not splitlines: a value may hold U+2028
    shown = "".join(f"{VALUE} {nonce} {value}\n" for value in values)
    reference = (shown if check.kind == "output" else "") + line.lstrip()
    control = Step("control", ident, CONTROL.format(patched=PATCHED, mark=mark, nonce=nonce))
    return [control, Step("check", ident, code, reference)]


def sanitizer(nonce: str) -> str:
    r"""The pattern of all lines that a check's output is not compared by.

    >>> import re
    >>> re.sub(sanitizer("7f"), "", "debug\nagentlab-value 7f 3\nagentlab-ok 7 c\n\nagentlab-ok 7f c\n")
    'agentlab-value 7f 3\nagentlab-ok 7f c\n'
    """
    return rf"(?m)^(?!(?:{VALUE}|{PASSED}) {nonce} ).*(?:\n|\Z)"
