"""The recorded runs of real weights: outcomes by their rules, tasks as they are made, and the script that records."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentlab.messages import Reply, ToolCall
from agentlab.truncate.marker import find_marker

DATA = Path(__file__).parents[1] / "data"
RUNS = sorted((DATA / "model_runs").glob("*.jsonl"))


def module(name):
    sys.path.insert(0, str(DATA))
    try:
        return SimpleNamespace(**runpy.run_path(str(DATA / f"{name}.py")))
    finally:
        sys.path.remove(str(DATA))
        sys.modules.pop("model_run_tasks", None)


@pytest.fixture(scope="module")
def script():
    return module("make_model_runs")


@pytest.fixture(scope="module")
def tasks():
    return module("model_run_tasks")


def call(name, **arguments):
    return Reply(tool_calls=(ToolCall("call_2", name, arguments),))


def first(tasks, claim, at=1):
    return list(tasks.CLAIMS[claim].tasks(at))[-1]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name.split(".")[0])
def test_recorded_outcomes_are_those_of_the_rules_on_the_tasks_as_they_are(path, script):
    assert script.check(path) == []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    head, runs = lines[0], lines[1:]
    assert head["rule"] == script.CLAIMS[head["claim"]].rule
    assert head["date"]
    assert len(head["sha256"]) == 64
    for arm in ("with", "without"):
        assert sum(run["arm"] == arm for run in runs) >= 20


def test_every_claim_was_recorded(script):
    assert {path.name.split(".")[0] for path in RUNS} == set(script.CLAIMS)


def test_arms_differ_in_one_text_alone(tasks):
    for claim in tasks.CLAIMS.values():
        for task in claim.tasks(30):
            one, two = task.messages("with"), task.messages("without")
            assert one != two
            assert sum(a != b for a, b in zip(one, two, strict=True)) == 1
            assert len(task.observations["with"]) > len(task.observations["without"])
            assert task.messages("with") == one


def test_tasks_are_the_same_each_time_and_differ_from_each_other(tasks):
    for claim in tasks.CLAIMS.values():
        made = [task.messages("without") for task in claim.tasks(24)]
        assert made == [task.messages("without") for task in claim.tasks(24)]
        assert len({json.dumps(each) for each in made}) == 24


def test_the_marker_tells_the_truth_and_the_other_arm_shows_no_seam(tasks):
    for task in tasks.CLAIMS["marker"].tasks(24):
        marker = find_marker(task.observations["with"])
        assert len(task.observations["without"].splitlines()) == 8
        assert "truncated" not in task.observations["without"]
        assert 30 < marker.omitted_chars < 60


def test_the_other_arms_lack_what_they_say(tasks):
    for task in tasks.CLAIMS["prefix"].tasks(24):
        assert task.observations["with"] == "Error: " + task.observations["without"]
        assert tasks.FAILED.search(task.observations["without"]) is None
    for task in tasks.CLAIMS["hint"].tasks(24):
        hint = f" Did you mean '{task.expected['name']}'?"
        assert task.observations["with"] == task.observations["without"] + hint
    for task in tasks.CLAIMS["placeholder"].tasks(24):
        assert task.expected["key"] in task.observations["with"]
        assert "read_result" not in task.observations["without"]


def test_the_rule_for_the_marker(tasks):
    task, whole = first(tasks, "marker"), first(tasks, "marker", 13)
    outcome = tasks.marker_outcome
    assert outcome(task, call("read_lines", path=task.expected["path"], start=5, end=8)) == "asks"
    assert outcome(task, call("read_lines", path="other.txt", start=5, end=8)) == "other call"
    assert outcome(task, Reply("The middle of the file is missing.")) == "says"
    assert outcome(task, Reply("There is no entry for it in what I see.")) == "says"
    assert outcome(task, Reply("It has 8 lines.")) == "whole"
    assert outcome(whole, Reply("No, a part was omitted.")) == "says"
    assert outcome(whole, Reply("Yes, nothing is missing.")) == "whole"
    assert outcome(whole, Reply("Not that I know: now it is.")) == "whole"


def test_the_rule_for_the_prefix(tasks):
    task = first(tasks, "prefix")
    assert tasks.prefix_outcome(task, Reply("It could not be sent.")) == "failed"
    assert tasks.prefix_outcome(task, Reply("The alarm is not valid.")) == "failed"
    assert tasks.prefix_outcome(task, Reply("The mail was sent.")) == "done"
    assert tasks.prefix_outcome(task, call("send_mail")) == "again"
    for seen in task.observations.values():
        assert tasks.prefix_outcome(task, Reply(f"{seen}.")) == "echoes"
    assert tasks.prefix_outcome(task, Reply(f"{task.observations['with']}: please try again.")) == "failed"


def test_the_rule_for_the_hint(tasks):
    task = first(tasks, "hint")
    assert tasks.hint_outcome(task, call(task.expected["name"])) == "repairs"
    assert tasks.hint_outcome(task, call(task.expected["wrong"])) == "repeats"
    assert tasks.hint_outcome(task, call("something")) == "other call"
    assert tasks.hint_outcome(task, Reply("Sorry.")) == "answers"


def test_the_rule_for_the_placeholder(tasks):
    task = first(tasks, "placeholder")
    path, key = task.expected["path"], task.expected["key"]
    outcome = tasks.placeholder_outcome
    assert outcome(task, call("read_result", id=key)) == "reads back"
    assert outcome(task, call("read_result", id=f"x{key}")) == "wrong id"
    assert outcome(task, call("read_lines", path=path, start=1, end=12)) == "reads again"
    assert outcome(task, call("read_lines", path="a", start=1, end=12)) == "other call"
    assert outcome(task, Reply("Its text is not shown any more.")) == "says"
    assert outcome(task, Reply("It is 41.")) == "invents"


def test_a_recording_can_be_gone_on_with_and_checked(script, tmp_path, capsys):
    arguments = ["--provider", "offline", "--model", "offline-rules-1", "--out", str(tmp_path), "--claim", "hint"]
    assert script.main([*arguments, "--tasks", "1"]) == 0
    assert script.main([*arguments, "--tasks", "2"]) == 0
    path = tmp_path / "hint.offline-rules-1.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [(json.loads(line)["task"], json.loads(line)["arm"]) for line in lines[1:]] == [
        (1, "with"),
        (1, "without"),
        (2, "with"),
        (2, "without"),
    ]
    assert script.main(["--check", "--out", str(tmp_path)]) == 0
    changed = json.loads(lines[1]) | {"outcome": "something else"}
    path.write_text("\n".join([lines[0], json.dumps(changed), *lines[2:-1]]) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert script.main(["--check", "--out", str(tmp_path)]) == 1
    assert script.main(["--sort", "--out", str(tmp_path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[1]) == json.loads(lines[1])
    said = capsys.readouterr().out
    assert "task 1, with: recorded as 'something else'" in said
    assert "not every task was run once in each arm" in said


def test_nothing_is_called_without_a_model_and_no_hosted_one_without_a_flag(script, tmp_path, capsys):
    assert script.main(["--out", str(tmp_path)]) == 2
    assert "name a model: --model FILE.gguf" in capsys.readouterr().err
    address = "https://models.invalid/v1"
    arguments = ["--provider", "openai", "--model", "m", "--base-url", address, "--out", str(tmp_path)]
    assert script.main(arguments) == 2
    assert "add --yes-spend" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
