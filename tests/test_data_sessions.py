"""The example sessions are what their script writes, load without problems, and are counted as the tokenizer counts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentlab.analysis import calls_frame, composition, curve, load
from agentlab.harness.reading import read_cycles
from agentlab.providers.offline.counting import PromptCounter
from agentlab.tools import Tool

DATA = Path(__file__).parents[1] / "data"
FOLDER = DATA / "sessions"
SCRIPT = DATA / "make_sessions.py"
NAMES = sorted(path.name for path in FOLDER.iterdir())
APPEND_ONLY = ["short", "errors", "parallel", "uncut", "twenty-chapter", "twenty-small-limits", "twenty-claude-code"]
OF_A_MACHINE = re.compile(rb"(?<![\w.~])/(?:home|root|tmp|work|usr|var|Users|private)/|[A-Za-z]:\\\\")
DATES = re.compile(rb"\b20\d\d-\d\d-\d\d\b")
DAY = b"2026-05-13"  # of the clock that is made up
README = (DATA / "README.md").read_text(encoding="utf-8")


def session_of(name: str):
    sessions, problems = load(FOLDER / name)
    assert problems == []
    return sessions[0]


def named_in(readme: str) -> set[str]:
    """Sessions that the README has, ranges such as trace-1 to trace-5 spelled out."""
    names = set(re.findall(r"`sessions/([\w-]+)`", readme))
    for stem, first, last in re.findall(r"`sessions/(\w+)-(\d+)` to `sessions/\1-(\d+)`", readme):
        names |= {f"{stem}-{number}" for number in range(int(first), int(last) + 1)}
    return names


def test_the_script_writes_the_same_bytes_as_are_there():
    made = subprocess.run([sys.executable, SCRIPT, "--check"], check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr


def test_check_names_what_differs_and_the_script_what_it_does_not_know(tmp_path):
    run = [sys.executable, SCRIPT, "--folder", tmp_path]
    assert "4 files" in subprocess.run([*run, "short"], check=True, capture_output=True, text=True).stdout
    with (tmp_path / "short" / "transcript.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    told = subprocess.run([*run, "--check", "short"], check=False, capture_output=True, text=True)
    assert told.returncode == 1
    assert "short is not what the script writes" in told.stdout
    unknown = subprocess.run([*run, "shorter"], check=False, capture_output=True, text=True)
    assert unknown.returncode == 2
    assert "no session is called shorter" in unknown.stderr


def test_the_readme_names_every_file_and_the_command_that_made_it():
    assert named_in(README) == set(NAMES)
    for path in sorted((DATA / "observations").iterdir()):
        assert f"`observations/{path.name}`" in README
    for script in sorted(DATA.glob("make_*.py")):
        assert f"python data/{script.name}" in README
    assert "rule-based, not" in README


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_and_says_how_it_was_made(name):
    session = session_of(name)
    header = json.loads((FOLDER / name / "messages.jsonl").read_text(encoding="utf-8").partition("\n")[0])
    assert session.format == "agentlab"
    assert f"| `sessions/{name}` | {len(session.turns)} |" in README or name.startswith("trace-")
    if name == "harness":
        assert header["settings"]["actor"] == "cog"
    else:
        assert header["settings"]["made_by"] == "data/make_sessions.py"
        assert header["settings"]["times"] == "made up"
    assert session.model in {"offline-rules-1", "scripted"}


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_neither_machine_nor_day(name):
    for path in (FOLDER / name).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not OF_A_MACHINE.search(data), path
            assert set(DATES.findall(data)) <= {DAY}, path


def test_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 3_100_000


@pytest.mark.parametrize("name", APPEND_ONLY)
def test_the_counts_are_the_tokenizers(name):
    session = session_of(name)
    count = PromptCounter("o200k_base")
    tools = [Tool(run=str, **spec) for spec in session.tools]
    expected = [count.prompt(session.messages[: call.stop], session.system, tools) for call in session.calls]
    calls = calls_frame(session)
    assert calls["prompt_tokens"].tolist() == expected
    assert calls["measured"].all()
    assert curve(session)["turn_tokens"].sum() == composition(session)["sent"].sum() == sum(expected)


def test_each_shows_what_its_name_says():
    long, uncut = session_of("long"), session_of("uncut")
    assert len(long.turns) == 60
    gaps = [b.time - a.time for a, b in zip(long.records, long.records[1:], strict=False)]
    assert [gap for gap in gaps if gap > 60] == [1_845.0]
    assert [turn.reason for turn in uncut.turns].count("context_window") == 1
    assert calls_frame(uncut)["prompt_tokens"].max() > 120_000
    assert calls_frame(session_of("parallel"))["resent_parallel"].sum() > 500
    errors = [record for record in session_of("errors").records if record.message.get("is_error")]
    assert len(errors) == 8
    assert session_of("twenty-context-editing").replaced
    assert session_of("twenty-nanobot-workspace").replaced
    assert any(record.is_summary for record in session_of("twenty-consolidation").records)
    prompts = {tuple(turn.prompt for turn in session_of(name).turns) for name in NAMES if name.startswith("twenty-")}
    assert len(prompts) == 1


def test_the_harness_has_its_cycles_and_its_agents_sessions():
    cycles, problems = read_cycles(FOLDER / "harness")
    assert problems == []
    assert [cycle.records[0].actor for cycle in cycles if cycle.records[0].parent is None] == ["cog", "cog"]
    agents = [load(path)[0][0] for path in sorted((FOLDER / "harness" / "agents").iterdir())]
    assert [len(agent.calls) for agent in agents] == [3, 3]
