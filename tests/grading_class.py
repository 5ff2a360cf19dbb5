"""A throwaway exercise, and notebooks that hand it in: what the tests of the grader grade."""

from __future__ import annotations

import json

from agentlab.grading.exercise import Cell, Check, Exercise, Paragraph, Task, encode, seed_of

NAME = "07_double"

SETUP = "from agentlab.grading.kernel import begin, show\nbegin('07_double', withheld=['agentlab.truncate.tail_cut'])"

DOUBLE = "def double(x):\n    return 2 * x"
COUNT = "def count(text):\n    return len(text.split())"

EXERCISE = Exercise(
    name=NAME,
    number=7,
    title="Double and count",
    minutes=5,
    seams=["agentlab.truncate.tail_cut"],
    cells=[
        Cell("setup", "setup", SETUP),
        Cell("double", "answer", "def double(x):\n    raise NotImplementedError('your code here')", DOUBLE),
        Cell("double-two", "check"),
        Cell("double-seed", "check"),
        Cell("session", "given", "words = 'one two three'"),
        Cell("count", "answer", "def count(text):\n    raise NotImplementedError('your code here')", COUNT),
        Cell("count-words", "check"),
        Cell("count-all", "check"),
        Cell("why", "answer", "why = ''", "why = 'Since two and two are four.'"),
        Cell("source", "shown", "raise SystemExit"),
    ],
    tasks=[Task("doubling", "Double a number"), Task("counting", "Count words")],
    checks=[
        Check(
            *("double-two", "doubling", "doubles two", "assert", 1),
            "came = double(2)\nassert came == 4, f'expected 4, got {came!r}'",
            "step 1",
            hint="What is twice a number?",
        ),
        Check(
            *("double-seed", "doubling", "doubles any number", "output", 2),
            "show(double(seed % 1000))",
            "step 1",
            hint="Negative numbers too.",
            hidden=True,
            seeded=True,
            expected=f"{2 * (seed_of(NAME, 'double-seed') % 1000)}\n",
        ),
        Check(
            *("count-words", "counting", "counts the session's words", "output", 1),
            "show(count(words))",
            "step 2",
            expected="3\n",
        ),
        Check(
            *("count-all", "counting", "counts nothing in nothing", "assert", 1),
            "assert count('') == 0, 'expected 0 words in an empty text'",
            "step 2",
            hint="An empty text.",
            hidden=True,
        ),
    ],
    paragraphs=[Paragraph("why", "counting", "Why it is so", 3, "why", "why", "One reason.")],
)

ALL = 5
"""Points that the checks of the exercise come to."""


def cell(source, ident="", kind="code", **extra):
    """A cell as Jupyter writes it."""
    metadata = {"agentlab": {"id": ident}} if ident else {}
    made = {"cell_type": kind, "metadata": metadata | extra, "source": source.splitlines(keepends=True)}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def student_cells(**answers):
    """The cells of the student's notebook, with answers in place of the stubs."""
    made = []
    for own in EXERCISE.cells:
        if own.kind == "check":
            check = EXERCISE.check(own.id)
            if not check.hidden:
                made.append(cell(check.code, own.id))
        else:
            made.append(cell(answers.get(own.id, own.source), own.id))
    return made


def notebook(cells, exercise=NAME):
    """A notebook's bytes."""
    metadata = {"agentlab": {"exercise": exercise}} if exercise else {}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}).encode()


def solved(**answers):
    """The right answer, or one that differs in some cells."""
    return notebook(student_cells(**({"double": DOUBLE, "count": COUNT, "why": "why = 'So.'"} | answers)))


def write_exercise(folder):
    """The folder that `--exercises` names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.json").write_bytes(encode(EXERCISE))
    return folder
