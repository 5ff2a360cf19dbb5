"""What the timing script counts, its rule, and that no notebook claims minutes that are far from it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
TIMING: dict[str, Any] = runpy.run_path(str(ROOT / "notebooks" / "source" / "timing.py"))
NOTEBOOKS = TIMING["notebooks"]()


def notebook(path: Path, *cells: tuple[str, str, list[dict[str, Any]]]) -> Path:
    listed = [{"cell_type": kind, "source": [text], "outputs": outputs} for kind, text, outputs in cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": listed}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_it_claims_is_near_what_the_rule_says(path: Path) -> None:
    assert TIMING["claimed"](path)
    assert abs(TIMING["off"](path)) <= TIMING["MOST_OFF"]


def test_what_there_is_to_read_is_counted(tmp_path: Path) -> None:
    text = "It takes about 3\nminutes.\n\n| a table | row |\n\n**Q1.** Why?"
    picture = {"data": {"image/png": "AAAA", "text/plain": "<Axes>"}}
    printed = [{"text": "line\n" * 40}, {"data": {"text/plain": "1"}}]
    path = notebook(
        tmp_path / "notebooks" / "a.ipynb", ("markdown", text, []), ("code", "a = 1\n\na", [*printed, picture])
    )
    assert TIMING["claimed"](path) == 3
    found = TIMING["reading"](path)
    assert (found.words, found.table_words, found.questions) == (7, 3, 1)
    assert (found.code_lines, found.printed_lines, found.cells, found.pictures) == (2, 16, 1, 1)
    assert (found.own_lines, found.checks) == (0, 0)


def test_the_rule_is_a_sum() -> None:
    reading, rule = TIMING["Reading"], TIMING["Rule"]
    slow = rule(words=1, table_words=1, code=1, printed=1, cell=60, picture=60, question=60, own_line=60, check=60)
    assert reading(1, 2, 3, 4, 5, 6, 7, 8, 9).minutes(slow) == pytest.approx(45)


def test_an_exercise_counts_the_lines_that_are_its_students_own() -> None:
    (limits,) = [path for path in NOTEBOOKS if path.parent.name == "student" and path.stem == "01_limits"]
    found = TIMING["reading"](limits)
    assert 5 <= found.own_lines <= 25
    assert found.checks >= 4
    assert found.pictures >= 1


def test_a_claim_that_is_far_off_is_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = notebook(tmp_path / "notebooks" / "99_wrong.ipynb", ("markdown", "It takes about 60 minutes.", []))
    assert TIMING["off"](wrong) < -0.9
    assert TIMING["main"](["--no-run", "00"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 2
    assert table[1].startswith("00_start_here")
    with pytest.raises(SystemExit) as stopped:
        TIMING["main"](["nothing"])
    assert stopped.value.code == 2


def test_a_run_is_timed_cell_by_cell() -> None:
    ran = TIMING["run"](ROOT / "notebooks" / "00_start_here.ipynb")
    assert len(ran.cells) == 4
    assert 0 < sum(seconds for seconds, _ in ran.cells) < ran.wall
    assert ran.cells[0][1].startswith("from agentlab")
