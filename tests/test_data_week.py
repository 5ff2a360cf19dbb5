"""The transcript of a week is what its script writes, holds what its plan says, and no threshold alone finds it."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agentlab.transcript import read_turns

DATA = Path(__file__).parents[1] / "data"
FILE = DATA / "transcripts" / "week.jsonl"
SCRIPT = DATA / "make_week.py"
FILES = re.compile(r"\w+\.\w+")


@pytest.fixture(scope="module")
def plan():
    sys.path.insert(0, str(DATA))
    try:
        return runpy.run_path(str(DATA / "week_plan.py"))
    finally:
        sys.path.remove(str(DATA))


@pytest.fixture(scope="module")
def rows(plan):
    """Each turn as `(id, line, what the plan says of it)`."""
    lines = read_turns(FILE, problems := [])
    assert problems == []
    asked = [
        (f"s{number:02d}.{turn}", each)
        for number, session in enumerate(plan["week"](), 1)
        for turn, each in enumerate(session.turns, 1)
    ]
    assert len(asked) == len(lines)
    return [(ident, line, each) for (ident, each), line in zip(asked, lines, strict=True)]


def test_the_script_writes_the_same_bytes_as_are_there(tmp_path):
    made = subprocess.run([sys.executable, SCRIPT, "--check"], check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    other = tmp_path / "week.jsonl"
    other.write_bytes(FILE.read_bytes()[:-1])
    told = subprocess.run(
        [sys.executable, SCRIPT, "--check", "--file", other], check=False, capture_output=True, text=True
    )
    assert told.returncode == 1
    assert "week.jsonl is not what the script writes" in told.stdout


def test_it_is_a_week_of_sessions_in_order(rows):
    assert len(rows) == 325
    assert sum(line.turn == 1 for _, line, _ in rows) == 54
    starts = [line.started_at for _, line, _ in rows]
    assert starts == sorted(starts)
    assert {start[:10] for start in starts} == {f"2026-05-{day}" for day in range(11, 18)}
    assert all(line.prompt == asked.prompt for _, line, asked in rows)


def test_what_is_planted_struggles_or_looks_at_nothing(rows, plan):
    kinds = Counter(asked.kind for _, _, asked in rows)
    assert (kinds["struggle"], kinds["untooled"]) == (15, 10)
    assert len(plan["ids"]("struggle")) == 15
    for ident, line, asked in rows:
        if asked.kind == "struggle":
            assert line.iterations >= 4, ident
            assert line.iterations > len(FILES.findall(line.prompt)) + 3, ident
        elif asked.kind in ("untooled", "short"):
            assert line.iterations == 1, ident
            assert line.tool_calls == [], ident
        elif asked.kind == "long":
            assert line.iterations == len(line.tool_calls) + 1 >= 4, ident
            assert not any(call["is_error"] for call in line.tool_calls), ident
        else:
            assert 2 <= line.iterations <= 4, ident
    assert [line.reason for _, line, asked in rows if line.iterations == 10] == ["max_turns"] * 2


def test_no_earlier_turn_has_shown_what_is_answered_without_looking(rows):
    earlier: list[str] = []
    for ident, line, asked in rows:
        earlier = [] if line.turn == 1 else earlier
        if asked.kind == "untooled":
            for name in FILES.findall(line.prompt):
                assert not any(name in prompt for prompt in earlier), (ident, name)
        earlier.append(line.prompt)


def test_no_threshold_of_the_count_alone_finds_them(rows):
    planted = {ident for ident, _, asked in rows if asked.kind in ("struggle", "untooled")}

    def good(unusual):
        found = {ident for ident, line, _ in rows if unusual(line.iterations, len(FILES.findall(line.prompt)))}
        return planted <= found and len(found) <= 2 * len(planted)

    for most in range(2, 11):
        assert not good(lambda count, files, most=most: count >= most or count == 1)
        assert not good(lambda count, files, most=most: count >= most or (count == 1 and files > 0))
    assert good(lambda count, files: count > files + 3 or (count == 1 and files > 0))
    assert good(lambda count, files: count > files + 2 or (count == 1 and files > 0))
    assert good(lambda count, files: count / (1 + files) > 2 or (count == 1 and files > 0))


def test_the_file_does_not_say_what_is_planted(rows):
    text = FILE.read_text(encoding="utf-8")
    assert not re.search(r"struggle|untooled|planted", text)
    assert all(line.usage.exact for _, line, _ in rows)
    assert len(text) < 400_000


def test_the_checks_of_the_exercise_know_what_is_planted(plan):
    tests = DATA.parent / "exercises" / "tests" / "04_transcript.json"
    codes = {check["id"]: check["code"] for check in json.loads(tests.read_bytes())["checks"]}
    for check, kind in (("high-week", "struggle"), ("low-week", "untooled")):
        assert re.search(r'planted = "([^"]*)"', codes[check])[1].split() == plan["ids"](kind)


def test_the_student_is_told_what_is_planted_on_monday_and_nothing_else(plan, rows):
    monday = {ident for ident, line, _ in rows if line.started_at.startswith("2026-05-11")}
    planted = {*plan["ids"]("struggle"), *plan["ids"]("untooled")}
    student = (DATA.parent / "exercises" / "student" / "04_transcript.ipynb").read_text(encoding="utf-8")
    assert set(re.findall(r"s\d\d\.\d+", student)) & planted == planted & monday
    assert len(planted & monday) == 5
