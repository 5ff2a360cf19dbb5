"""What a student reads where a check did not pass: what was expected, what came, where to look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.grading.exercise import code_of, seed_of

if TYPE_CHECKING:
    from agentlab.grading.exercise import Check, Exercise
    from agentlab.grading.job import Ran

TELLING = 15
"""Characters from which on a line of a hidden check tells something."""
LONGEST = 600
"""Characters of a message or value that are shown."""


def feedback_of(check: Check, ran: Ran, expected: str, *, believed: bool) -> str:
    """The reason why a visible check earned nothing, in a sentence or two.

    >>> from agentlab.grading.exercise import Check
    >>> from agentlab.grading.job import Ran
    >>> check = Check("c", "t", "adds", "assert", 1, "assert f(1) == 2", "step 1")
    >>> feedback_of(check, Ran(0, False, "error", "NameError", "name 'f' is not defined"), "", believed=True)
    "Raised NameError: name 'f' is not defined."
    """
    if not believed:
        return "Not believed: a cell above changed how the notebook reports errors. Take that out."
    if ran.cut_off == "time":
        return "Took too long, and was stopped."
    if ran.cut_off == "output":
        return "Printed too much, and was stopped."
    if ran.status == "error":
        return raised(ran.ename, ran.evalue)
    if check.kind == "output":
        came = "\n".join(ran.values)
        return f"Expected {_short(expected)}, got {_short(came) or 'nothing'}."
    return "The check did not come to its end."


def raised(ename: str, evalue: str) -> str:
    """What an exception in a check says to the student.

    >>> raised("NotImplementedError", "your code here"), raised("AssertionError", "expected 2, got 1")
    ('Not done yet: your code here.', 'Expected 2, got 1.')
    """
    text = _short(evalue)
    if ename == "NotImplementedError":
        said = "Not done yet" + (f": {text}" if text else "")
    elif ename == "AssertionError":
        said = text[:1].upper() + text[1:] if text else "An assert failed"
    else:
        said = f"Raised {ename or 'an error'}" + (f": {text}" if text else "")
    return said if said.endswith((".", "?", "!")) else said + "."


def repeats_hidden(text: str, exercise: Exercise, secret: bytes) -> bool:
    """Whether a text that a student will read holds a line of a hidden check, or the seed that draws its inputs.

    A notebook can read a check while it runs, and raise what it read in a visible one.

    >>> from agentlab.grading.exercise import Cell, Check, Exercise
    >>> hidden = Check("c", "t", "adds", "output", 1, "show(double(seed % 1000))", "step 1", hidden=True)
    >>> repeats_hidden("ValueError: show(double(seed % 1000))", Exercise("01", 1, "A", 5, [], [], [], [hidden]), b"")
    True
    """
    for check in exercise.checks:
        lines = (line.strip() for line in code_of(exercise, check, secret).splitlines()) if check.hidden else ()
        if any(len(line) >= TELLING and line in text for line in lines):
            return True
        if check.seeded and str(seed_of(exercise.name, check.id, secret)) in text:
            return True
    return False


def with_hint(text: str, hint: str) -> str:
    r"""A text and, on a line of its own, where to look.

    >>> with_hint("Expected 4.", "Twice a number?")
    'Expected 4.\nHint: Twice a number?'
    """
    return "\n".join(filter(None, [text, f"Hint: {hint}" if hint else ""]))


def _short(text: str) -> str:
    """The beginning of a text."""
    text = text.strip()
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
