"""The tables that set graders beside each other name tests and attacks that exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.course.places import EXERCISES, ROOT
from tests.grading_attacks import ATTACKS

TABLES = (EXERCISES / "GRADERS.md").read_text(encoding="utf-8")


def rows_of(title):
    """The cells of a section's tables, without their heads."""
    section = re.split(r"^## ", TABLES, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(title))
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines if line[0].strip() not in ("", "what the notebook does")]


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(test_\w+\.py::\w+)`", TABLES))))
def test_named_test_exists(named):
    file, _, name = named.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    assert name in [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def test_every_claim_of_ours_names_a_test_or_an_attack():
    for row in rows_of("What they can do"):
        *_, ours, shown = row
        assert ours.startswith("-") or re.fullmatch(r"`test_\w+\.py::\w+`", shown), row
    forgeries = rows_of("Forgeries")
    assert len(forgeries) > 15
    for row in forgeries:
        attack = re.fullmatch(r'"(.+)"', row[-1])
        assert attack[1] in ATTACKS if attack else re.fullmatch(r"`test_\w+\.py::\w+`", row[-1]), row


def test_rows_are_as_wide_as_their_heads():
    for table in re.findall(r"(?:^\|.*\|\n)+", TABLES, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
