"""The table at the end of the notebook on stopping: every test and every cell that it names is there."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
NOTEBOOK = REPOSITORY / "notebooks" / "03_stopping.ipynb"
HEADING = re.compile(r"^### (\d+\.\d+) ", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
VERDICTS = ("same", "differs", "advice")
# What the text that the table answers has to say; each needs a row of its own.
NUMBERS = ("10 turns, never more than 20", "8 turns, 3 errors, 90 s", "6 turns, 3 errors, 90 s")


def cells_of_notebook() -> list[tuple[str, str]]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def rows_of(text: str) -> list[list[str]]:
    """The rows of its tables, without heads and rules."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| statement ")]
    return [[column.strip() for column in line.strip("|").split("|")] for line in lines]


def table() -> list[list[str]]:
    (text,) = [text for kind, text in cells_of_notebook() if kind == "markdown" and "| statement |" in text]
    return rows_of(text)


def sections_with_code(cells: list[tuple[str, str]]) -> set[str]:
    """The numbers of the headings that a code cell follows before the next heading."""
    shown, current = set(), None
    for kind, text in cells:
        if kind == "markdown":
            found = HEADING.findall(text)
            current = found[-1] if found else (None if re.search(r"^## ", text, re.MULTILINE) else current)
        elif current is not None:
            shown.add(current)
    return shown


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize("row", table(), ids=lambda row: row[0][:50])
def test_each_row_names_tests_and_cells_that_are_there(row: list[str]) -> None:
    statement, does, verdict, tests, where = row
    assert statement
    assert does
    assert verdict.startswith(VERDICTS)
    if verdict.startswith("differs"):
        assert len(verdict) > len("differs: "), "say why"
    named = TEST.findall(tests)
    assert named
    assert TEST.sub("", tests).strip(", ") == ""
    for path, name in named:
        assert name in names_in(path), f"{path} has no {name}"
    assert set(where.split(", ")) <= sections_with_code(cells_of_notebook())


def test_no_statement_comes_twice_and_the_numbers_are_all_there() -> None:
    statements = [row[0] for row in table()]
    assert len(set(statements)) == len(statements)
    for number in NUMBERS:
        assert sum(number in statement for statement in statements) == 1


def test_a_section_without_code_is_no_cell() -> None:
    cells = [("markdown", "### 1.1 A\n\ntext"), ("markdown", "### 1.2 B"), ("code", "1"), ("markdown", "## 2. C")]
    assert sections_with_code([*cells, ("code", "2")]) == {"1.2"}
    assert rows_of("| statement | x |\n|---|---|\n| a | b |\ntext") == [["a", "b"]]
