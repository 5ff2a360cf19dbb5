"""What no exercise may hold, found by reading its source; `proof` finds the rest by running it.

A check that cannot fail, that depends on the clock, on chance or on the network, or that asks for more than the text
of the notebook does, is worse than none.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from agentlab.grading.building.source import own_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.grading.building.source import Source
    from agentlab.grading.exercise import Check

MOST_STEPS, MOST_LINES, FIRST_LINES, MOST_LOOP_LINES = 4, 25, 3, 40

NETWORK = {"socket", "urllib", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib"}
PROVIDERS = {"anthropic", "openai"}
OUR_SERVER = "provider_server"
CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "now", "utcnow", "today", "sleep"}
CLOCK_MODULES = {"time", "datetime", "date"}
CHANCE = {"uuid4", "urandom", "token_hex", "token_bytes", "randbytes", "getrandbits"}
MARKER = re.compile(r"^\s*#\s*((?:NBVAL|PYTEST_VALIDATE)_\w+)", re.MULTILINE)
IMAGES = {"savefig", "imread", "imshow", "tobytes", "print_png"}


def refuse(source: Source) -> None:
    """See that a source may be built.

    Raises:
        InputError: It may not; one line, with the file and the cell.
    """
    for cell, problem in problems(source):
        raise source.refuse(cell, problem)


def problems(source: Source) -> Iterator[tuple[str, str]]:
    """What stands against a source: the id of a cell, and why."""
    yield from _of_the_whole(source)
    tasks = {task.id for task in source.head.tasks}
    for part in source.parts:
        if part.kind == "answer" and part.task not in tasks:
            yield part.id, f"belongs to the step {part.task!r}, and the header has {', '.join(sorted(tasks))}"
        if part.kind == "answer" and len(part.student.splitlines()) > MOST_LOOP_LINES:
            yield part.id, f"has {len(part.student.splitlines())} lines, and {MOST_LOOP_LINES} are the most"
        for tag in part.tags:
            if tag in ("nbval-skip", "nbval-raises-exception", "raises-exception", "skip-execution"):
                yield part.id, f"has the tag {tag}: such a cell passes whatever it does"
        for marker in MARKER.findall(part.text) if part.kind != "text" else ():
            yield part.id, f"has the marker {marker}, which nbval heeds: such a cell may pass whatever it does"
    for check in source.checks:
        yield from ((check.id, problem) for problem in _of_check(check, tasks, len(source.head.tasks)))


def _of_the_whole(source: Source) -> Iterator[tuple[str, str]]:
    first = source.parts[0].id if source.parts else "cell-01"
    yield from ((first, problem) for problem in _of_the_head(source))
    for ident, count in Counter(part.id for part in source.parts).items():
        if count > 1:
            yield ident, f"the id is there {count} times: each cell has its own"
    visible = next((check for check in source.checks if not check.hidden), None)
    if visible is None:
        yield first, "there is no visible check"
    elif _lines_for(source, visible.task) > FIRST_LINES:
        yield visible.id, f"is the first check and needs more than {FIRST_LINES} lines of the student's own"
    written = sum(own_lines(part.text) for part in source.parts if part.kind == "answer")
    if written > MOST_LINES:
        yield first, f"the solution has {written} lines of the student's own, and {MOST_LINES} are the most"
    for kind, why in (("setup", "to begin with"), ("shown", "to show the package's version at the end")):
        if not any(part.kind == kind for part in source.parts):
            yield first, f"there is no cell of kind {kind} {why}"


def _of_the_head(source: Source) -> Iterator[str]:
    if not 1 <= len(source.head.tasks) <= MOST_STEPS:
        yield f"the header has {len(source.head.tasks)} tasks, expected 1 to {MOST_STEPS}"
    for task in source.head.tasks:
        if not any(check.task == task.id and check.kind == "output" for check in source.checks):
            yield f"the step {task.id!r} has no check of kind output: asserts alone can be forged"


def _lines_for(source: Source, task: str) -> int:
    """Lines of the student's own for one step; lines that a cell of several steps marks with `# step N` count there."""
    number = [each.id for each in source.head.tasks].index(task) + 1 if task in _ids(source) else 0
    total = 0
    for part in source.parts:
        if part.kind != "answer":
            continue
        own = own_lines(part.text)
        marked = [int(n) for n in re.findall(r"# step (\d)\b", part.solution)]
        if part.task == task:
            total += own - sum(n != number for n in marked)
        else:
            total += marked.count(number)
    return total


def _ids(source: Source) -> list[str]:
    return [task.id for task in source.head.tasks]


def _of_check(check: Check, tasks: set[str], steps: int) -> Iterator[str]:
    if check.task not in tasks:
        yield f"belongs to the step {check.task!r}, and the header has {', '.join(sorted(tasks))}"
    if not check.points > 0:
        yield f"is worth {check.points:g} points, expected more than 0"
    step = re.fullmatch(r"step (\d)", check.because)
    if step is None or not 1 <= int(step.group(1)) <= steps:
        yield f'says because="{check.because}", expected "step 1" to "step {steps}"'
    if check.hidden and not check.hint:
        yield "is hidden and has no hint, and the hint is all that a student is told"
    if check.seeded and not check.hidden:
        yield "is seeded and visible: only a hidden check has a seed"
    yield from _of_code(check)


def _of_code(check: Check) -> Iterator[str]:
    if re.search(r"^\s*[%!]", check.code, re.MULTILINE):
        yield "has a magic or a shell command: a check is plain Python"
        return
    try:
        tree = ast.parse(check.code)
    except SyntaxError as error:
        yield f"is no Python: {error.msg} in line {error.lineno}"
        return
    if check.kind == "output" and not _ends_in_show(tree):
        yield "is of kind output and does not end in show(value)"
    if check.kind == "assert" and not any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tree)):
        yield "has no assert, so it cannot fail: assert something, or make it of kind output"
    for node in ast.walk(tree):
        yield from _of_node(node, check.code)


def _ends_in_show(tree: ast.Module) -> bool:
    last = tree.body[-1] if tree.body else None
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and _name(last.value.func) == "show"


def _of_node(node: ast.AST, code: str) -> Iterator[str]:
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.ExceptHandler):
        yield from _of_handler(node)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for root in (name.partition(".")[0] for name in names):
            if root in NETWORK or (root in PROVIDERS and OUR_SERVER not in code):
                yield f"uses the network ({root}, line {line}): only agentlab.testing.{OUR_SERVER} may be called"
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Assert) and node.msg is None:
        yield f"has an assert without a message (line {line}): say what was expected, what came, where to look"


def _of_handler(node: ast.ExceptHandler) -> Iterator[str]:
    caught = _name(node.type) if node.type is not None else ""
    if node.type is None or (caught in ("Exception", "BaseException") and isinstance(node.body[0], ast.Pass)):
        yield f"has a bare except (line {node.lineno}), which makes it pass when it should fail: name the error"


def _of_call(node: ast.Call) -> Iterator[str]:
    name = _name(node.func)
    owner = _name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    line = node.lineno
    if owner in CLOCK_MODULES and name in CLOCKS:
        yield f"depends on the clock ({owner}.{name}, line {line}): pass a clock"
    if owner in ("random", "secrets", "np.random", "numpy.random") and not (name == "Random" and node.args):
        yield f"depends on chance ({owner}.{name}, line {line}): draw from random.Random(seed)"
    if name == "Random" and not node.args:
        yield f"depends on chance (Random() without a seed, line {line})"
    if name in CHANCE:
        yield f"depends on chance ({name}, line {line})"
    if name in IMAGES:
        yield f"compares an image ({name}, line {line}): check its data"
    if name in ("repr", "__repr__", "_repr_html_"):
        yield f"compares a repr (line {line}): check the value"


def _name(node: ast.AST | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return ""
