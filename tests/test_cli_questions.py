"""The commands that answer questions about session logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from analysis_sessions import asks, result, says, user

from agentlab.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """Run a command; returns what it printed on both streams."""
    assert main(arguments) == code
    return capsys.readouterr()


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A session of 12 calls; the last cites a name from the middle of the first result."""
    filler = "word " * 300
    talk: list[dict[str, Any]] = [user("Hi"), asks(("look", {})), result(f"id_first {filler} id_middle {filler}")]
    for n in range(10):
        talk += [asks(("small", {"n": n})), result("ok")]
    talk += [asks(("use", {"a": "id_first", "b": "id_middle"})), result("ok"), says("Done.")]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(talk))
    return str(path)


def test_curve_says_what_prompts_are_made_of_how_they_grow_and_where_they_jump(log, capsys, tmp_path):
    out, _ = said(capsys, "curve", log, "--calls-plot", str(tmp_path / "calls.png"))
    assert (tmp_path / "calls.png").read_bytes().startswith(b"\x89PNG")
    assert "With each call the prompt grows linearly" in out.replace("\n", " ")
    assert "look" in next(line for line in out.splitlines() if line.split()[:3] == ["2", "1", "2"])
    whole = json.loads(said(capsys, "curve", log, "--json")[0])
    assert whole["growth"]["verdict"] == "linear"
    assert whole["jumps"][0]["grown_by"] == "look"
    kinds = {row["kind"]: row for row in whole["composition"]}
    assert sum(row["sent"] for row in kinds.values()) == whole["curve"][0]["turn_tokens"]


def test_evidence_says_what_a_cut_would_have_hidden(log, capsys, tmp_path):
    out, _ = said(capsys, "evidence", log, "--limit", "1000", "--by-tool", "--plot", str(tmp_path / "e.png"))
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert "tail_cut 1000" in out
    assert "The same by the tool whose result had the name last." in out
    assert out.count("text shown") == 1  # it is of all tools
    whole = json.loads(said(capsys, "evidence", log, "--limit", "1000", "--limit", "9000", "--json")[0])
    assert {row["policy"]: row["kept"] for row in whole["policies"]} == {
        "tail_cut 1000": 0.5,
        "tail_cut 9000": 1.0,
        "head_cut 1000": 0.0,
        "head_cut 9000": 1.0,
        "middle_snip 1000": 0.5,
        "middle_snip 9000": 1.0,
    }
    assert whole["names"] == 2
    assert whole["chance"] is None


def test_one_session_has_no_interval_and_a_log_without_names_no_column_of_them(log, capsys, tmp_path):
    out, _ = said(capsys, "evidence", log, "--limit", "1000")
    assert "n 2 from one task or session, so there is no interval." in " ".join(out.split())
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps([user("Hi"), says("Hello.")]))
    out, _ = said(capsys, "replay", str(bare))
    assert "No call cites a name that could be hidden from it." in " ".join(out.split())
    assert " kept" not in out
    out, _ = said(capsys, "cost", str(bare), log)
    assert "None of the 2 sessions has a price." in out


def test_evidence_takes_whole_policies(log, capsys):
    whole = json.loads(said(capsys, "evidence", log, "--policy", "chapter", "--policy", "codex", "--json")[0])
    assert [row["policy"] for row in whole["policies"]] == ["chapter", "codex"]
    assert (
        "leave --strategy and --limit out"
        in said(capsys, "evidence", log, "--policy", "chapter", "--limit", "9", code=2)[1]
    )
    assert "unknown" in said(capsys, "evidence", log, "--strategy", "half", code=2)[1]


def test_a_log_without_citations_is_said_in_one_sentence(tmp_path, capsys):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([user("Hi"), says("Hello.")]))
    assert "nothing to lose by a cut" in said(capsys, "evidence", str(path))[0]


def test_replay_gives_a_range_and_says_what_it_assumes(log, capsys, tmp_path):
    out, _ = said(capsys, "replay", log, "--limit", "1000", "--strategy", "tail_cut", "--plot", str(tmp_path / "f.png"))
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert "no dollars are given: a log records no usage" in out.lower()
    assert "Pessimistic" in out
    whole = json.loads(said(capsys, "replay", log, "--limit", "look=1000", "--policy", "chapter", "--json")[0])
    recorded, chapter, limited = whole["policies"]
    assert [each["policy"] for each in whole["policies"]] == ["recorded", "chapter", "look=1000 middle_snip"]
    assert recorded["kept"] == chapter["kept"] == 1
    assert limited["kept"] == 0.5  # id_first is shown, id_middle is not
    assert limited["tokens"] < recorded["tokens"] < limited["tokens_high"] + recorded["tokens"]
    assert limited["more_calls"] == 1
    tools = {(row["policy"], row["tool"]): row for row in whole["tools"]}
    assert tools["look=1000 middle_snip", "look"]["saved"] == recorded["tokens"] - limited["tokens"]
    assert tools["look=1000 middle_snip", "look"]["setting"] == "not settable"


def test_replay_refuses_limits_that_are_none(log, capsys):
    assert "a number of characters, or TOOL=N" in said(capsys, "replay", log, "--limit", "look=many", code=2)[1]
    assert "or one of anthropic-context-editing" in said(capsys, "replay", log, "--policy", "nobody", code=2)[1]


def test_cost_prices_sessions_and_says_what_a_price_is(tmp_path, capsys):
    used = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": [user("Hi"), says("Hello.") | {"usage": used}]}))
    out, _ = said(capsys, "cost", str(path), "--plot", str(tmp_path / "c.png"))
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "The calls come to 3.5000 dollars at list price: 71% uncached, 29% output." in out
    assert "List price; a subscription is not billed so." in out
    whole = json.loads(said(capsys, "cost", str(path), "--json")[0])
    assert whole["sessions"][0]["bill"]["dollars"] == 3.5
    assert "cannot read this table" in said(capsys, "cost", str(path), "--prices", "nowhere.json", code=2)[1]
