"""`agentlab run --actor cog`: the whole harness from the command line, offline."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentlab.cli import main
from agentlab.harness.delegation import EXHAUSTED
from agentlab.harness.scenario import LABEL, PROMPTS
from agentlab.testing import check_messages
from agentlab.transcript import read_session


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(arguments) == code
    return capsys.readouterr()


@pytest.fixture
def scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out, err = said(capsys, "run", "--actor", "cog", "--json", "--out", str(tmp_path / "run"))
    assert err == ""
    whole: dict[str, Any] = json.loads(out)
    return whole


def test_the_scenario_shows_what_a_harness_does(scenario: dict[str, Any]) -> None:
    assert (scenario["scripted"], scenario["label"], scenario["status"]) == (True, LABEL, "complete")
    assert scenario["problems"] == []
    cycles = scenario["cycles"]
    assert [c["actor"] for c in cycles] == ["cog", "researcher", "researcher", "cog", "observer"]
    cog, lost, narrow, explains, observer = cycles

    # the researcher exhausts its turns, and the cog retries with a narrower brief
    assert (lost["status"], lost["reason"], lost["turns"], lost["left"]) == ("partial", "max_turns", 8, 0)
    failed = next(e for e in cog["events"] if e["type"] == "tool_result" and e["is_error"])
    assert (failed["name"], EXHAUSTED in failed["error"]) == ("agent_researcher", True)
    assert (narrow["status"], narrow["parent"], narrow["turns"]) == ("complete", cog["cycle"], 2)

    # it hits an error observation and recovers
    results = [(e["name"], e["is_error"]) for e in cog["events"] if e["type"] == "tool_result"]
    assert results[2:4] == [("read_file", True), ("read_file", False)]

    # it asks for more turns and uses them
    (extended,) = [e for e in cog["events"] if e["type"] == "budget_extended"]
    assert (extended["from"], extended["granted"], extended["to"], extended["turn"]) == (10, 3, 13, 9)
    assert (cog["status"], cog["turns"], cog["left"]) == ("complete", 12, 1)

    # and the observer explains afterwards
    assert (observer["parent"], observer["status"]) == (explains["cycle"], "complete")
    text = scenario["results"][1]["text"]
    assert cog["cycle"] in text
    assert "budget 10 -> 13 turns" in text
    assert "(max_turns) after 8 turns, 0 of 8 left" in text
    assert "Where the tokens went" in text


def test_every_cycle_of_the_scenario_begins_and_ends_in_the_log(scenario: dict[str, Any]) -> None:
    for cycle in scenario["cycles"]:
        types = [event["type"] for event in cycle["events"]]
        agent = "agent_" if cycle["parent"] else ""
        assert types[0] == f"{agent}cycle_start"
        assert types[-1] == f"{agent}cycle_complete"
        assert types.count("llm_request") == types.count("llm_response") == cycle["turns"]
        assert types.count("tool_call") == types.count("tool_result")


def test_the_answer_of_the_scenario_comes_from_what_the_tools_gave(scenario: dict[str, Any]) -> None:
    assert "NUMBER_RE = re.compile(" in scenario["results"][0]["text"]
    folder = Path(scenario["folder"])
    messages = read_session(folder)[0].messages
    check_messages(messages)
    assert [m["content"] for m in messages if m["role"] == "user" and "origin" not in m] == PROMPTS
    assert len(list((folder / "agents").iterdir())) == 3
    for agent in (folder / "agents").iterdir():
        check_messages(read_session(agent)[0].messages)


def test_without_json_it_says_that_it_is_scripted_and_shows_the_activity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said(capsys, "run", "--actor", "cog", "--out", str(tmp_path / "run"))
    assert out.startswith(f"{LABEL}\n")
    assert "[complete (reply), 12 of 13 turns, cycle " in out
    assert "turn 9/13 cog budget_extended: budget 10 -> 13 turns" in err
    out, _ = said(capsys, "log", str(tmp_path / "run"), "--summary")
    assert "researcher partial (max_turns)" in out


def test_prompts_are_run_with_the_offline_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "notes.txt").write_text("The launch is on Friday.\n")
    run = ["run", "--actor", "cog", "--workspace", str(tmp_path / "files"), "--out", str(tmp_path / "run"), "--json"]
    whole = json.loads(said(capsys, *run, "--prompt", "Read notes.txt.")[0])
    assert (whole["scripted"], whole["label"], whole["status"]) == (False, "", "complete")
    assert "Friday" in whole["results"][0]["text"]
    assert [c["actor"] for c in whole["cycles"]] == ["cog"]


def test_the_turns_of_the_cog_are_checked_where_they_are_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--actor", "cog", "--prompt", "Hi", "--workspace", str(tmp_path), "--out", str(tmp_path / "run")]
    for wrong, says in [("21", "at least its 21 turns, and 20 is not"), ("0", "at least 1 turn, and 0 is not")]:
        _, err = said(capsys, *run, "--max-iterations", wrong, code=2)
        assert says in err
        assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_unknown_actor_and_a_used_folder_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid choice" in said(capsys, "run", "--actor", "cook", code=2)[1]
    said(capsys, "run", "--actor", "cog", "--json", "--out", str(tmp_path / "run"))
    assert "is there already" in said(capsys, "run", "--actor", "cog", "--out", str(tmp_path / "run"), code=2)[1]


def test_the_harness_loads_nothing_heavy() -> None:
    import subprocess

    heavy = ("pandas", "matplotlib", "IPython", "anthropic", "openai", "rich", "yaml", "http.client")
    code = f"import sys, agentlab.harness.session\nprint(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
