"""What only running an exercise shows: its solution passes, and what is no solution does not.

Tried are the solution, twice, since what it prints must be the same; the unsolved notebook, which may pass no check;
and the solution with one of its functions replaced by `return None`, `0`, `""`, `[]`, `True` or `{}`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentlab.grading.building.trial import last_line, passed, solution_of, try_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.grading.building.source import Source
    from agentlab.grading.building.trial import Verdicts
    from agentlab.grading.exercise import Exercise

TRIVIAL = ("None", "0", '""', "[]", "True", "{}")


def prove(source: Source, exercise: Exercise) -> Exercise:
    """Run an exercise and see that its checks can be trusted.

    Args:
        source: Where it is from, for errors.
        exercise: Without expected outputs.

    Returns:
        The exercise with the outputs that its solution printed.

    Raises:
        InputError: A check does not hold; one line, with the file and the cell.
    """
    solution = solution_of(exercise)
    stubs = list(trivial_answers(exercise))
    first, second, unsolved, *trivial = try_answers(exercise, [solution, solution, {}, *(texts for _, texts in stubs)])
    made = _with_outputs(source, exercise, first, second)
    _unsolved_fails(source, made, unsolved)
    for (what, _), verdicts in zip(stubs, trivial, strict=True):
        if all(passed(made, verdicts).values()):
            raise source.refuse(what.partition(":")[0], f"all checks pass with {what.partition(':')[2]}")
    return made


def _with_outputs(source: Source, exercise: Exercise, first: Verdicts, second: Verdicts) -> Exercise:
    """The exercise with what its solution printed.

    Raises:
        InputError: A check fails on the solution, prints nothing, or something else the second time.
    """
    checks = []
    for check in exercise.checks:
        said, again = first[check.id], second[check.id]
        if not said.ran:
            raise source.refuse(check.id, f"fails on the solution: {' '.join(said.error.split())}")
        if check.kind == "output":
            line = last_line(said.printed)
            if not line:
                raise source.refuse(check.id, "prints nothing on the solution")
            if line != last_line(again.printed):
                raise source.refuse(check.id, "prints something else at a second run of the solution")
            checks.append(replace(check, expected=f"{line}\n"))
        else:
            checks.append(check)
    return replace(exercise, checks=checks)


def _unsolved_fails(source: Source, exercise: Exercise, verdicts: Verdicts) -> None:
    """See that the untouched notebook scores 0.

    Raises:
        InputError: A check passes on it.
    """
    for ident, good in passed(exercise, verdicts).items():
        if good:
            raise source.refuse(ident, "passes on the unsolved notebook: check what only an answer does")


def trivial_answers(exercise: Exercise) -> Iterator[tuple[str, dict[str, str]]]:
    """The solution with one function made trivial, for each of its functions; with `cell:what was done` in words."""
    solution = solution_of(exercise)
    for ident, text in solution.items():
        for function in ast.parse(text).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            for value in TRIVIAL:
                stub = _replaced(text, function, value)
                yield f"{ident}:{function.name} made `return {value}`", {**solution, ident: stub}


def _replaced(text: str, function: ast.FunctionDef, value: str) -> str:
    lines = text.splitlines()
    first, last = function.body[0], function.body[-1]
    start = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))])
    indent = " " * first.col_offset
    return "\n".join([*lines[: start - 1], f"{indent}return {value}", *lines[last.end_lineno :]])
