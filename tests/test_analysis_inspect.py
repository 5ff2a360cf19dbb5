"""Inspect's logs: archives and JSON, attachments, pools of messages, and what damage leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.analysis import load
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[2] / "shared/data/sessions/inspect"
needs_real = pytest.mark.skipif(not REAL.exists(), reason="the real logs are not here")

USER = {"id": "m1", "role": "user", "content": "List the files.", "source": "input"}
CALL = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}
ASKS = {"id": "m2", "role": "assistant", "content": "", "source": "generate", "tool_calls": [CALL]}
GIVES = {"id": "m3", "role": "tool", "content": "attachment://aa", "tool_call_id": "c1", "function": "bash"}
SAYS = {"id": "m4", "role": "assistant", "content": [{"type": "text", "text": "Two files."}], "source": "generate"}
LISTING = "a.txt\nb.txt\n" * 50


def model(sent: list[Any], got: Any, usage: dict[str, int], **more: Any) -> dict[str, Any]:
    """A model event; times are made up."""
    output = {"model": "gpt-4o-mini", "choices": [{"message": got, "stop_reason": "stop"}], "usage": usage}
    times = {"timestamp": "2026-05-13T10:00:00+00:00", "completed": "2026-05-13T10:00:01+00:00"}
    return {
        "event": "model",
        "model": "openai/gpt-4o-mini",
        "input": sent,
        "tools": [],
        "output": output,
        **times,
        **more,
    }


def sample(**more: Any) -> dict[str, Any]:
    """A synthetic sample of two calls; the tool's result is an attachment."""
    events = [
        model([USER], ASKS, {"input_tokens": 50, "output_tokens": 9, "input_tokens_cache_read": 10}),
        {"event": "tool", "id": "c1", "function": "bash", "truncated": [90_000, 600]},
        model([USER, ASKS, GIVES], SAYS, {"input_tokens": 300, "output_tokens": 4}),
    ]
    made = {"id": 7, "epoch": 2, "messages": [USER, ASKS, GIVES, SAYS], "attachments": {"aa": LISTING}, "scores": {}}
    return {**made, "events": events, **more}


EVAL = {"run_id": "r1", "task": "files", "model": "openai/gpt-4o-mini"}
HEADER = {"version": 2, "status": "success", "eval": EVAL, "plan": {"name": "plan"}}


def as_json(path: Path, *samples: Any) -> Path:
    path.write_text(json.dumps({**HEADER, "samples": list(samples)}))
    return path


def as_archive(path: Path, *samples: Any) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(HEADER))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        archive.writestr("header.json", json.dumps(HEADER))
    return path


@pytest.mark.parametrize("write", [as_json, as_archive])
def test_a_sample_is_a_session_and_its_attachments_are_resolved(tmp_path, write):
    (session,), problems = load(write(tmp_path / ("log.eval" if write is as_archive else "log.json"), sample()))
    assert problems == []
    assert (session.format, session.labels["task"], session.labels["sample"], session.labels["epoch"]) == (
        "inspect",
        "files",
        "7" if isinstance(session.labels["sample"], str) else 7,
        2,
    )
    assert [record.role for record in session.records] == ["user", "assistant", "tool", "assistant"]
    assert session.records[2].text == LISTING
    assert session.records[2].original_chars == 90_000
    assert session.records[2].message["name"] == "bash"
    assert session.records[3].text == "Two files."
    assert [(call.start, call.stop) for call in session.calls] == [(0, 1), (0, 3)]
    assert session.calls[0].usage == Usage(50, 9, 10)  # what is cached is not inside the input
    assert session.observations()[0].whole is False


def test_messages_can_be_kept_in_a_pool(tmp_path):
    pooled = sample(message_pool=[USER, ASKS, GIVES])
    for event, end in ((pooled["events"][0], 1), (pooled["events"][2], 3)):
        event |= {"input": [], "input_refs": [[0, end]]}
    (session,), problems = load(as_archive(tmp_path / "log.eval", pooled))
    assert problems == []
    assert [(call.start, call.stop) for call in session.calls] == [(0, 1), (0, 3)]
    assert session.records[2].text == LISTING


def test_without_events_the_messages_are_read(tmp_path):
    (session,), _ = load(as_json(tmp_path / "log.json", sample(events=[])))
    assert [record.role for record in session.records] == ["user", "assistant", "tool", "assistant"]
    assert len(session.calls) == 2


def test_samples_and_epochs_are_sessions_of_one_task(tmp_path):
    sessions, _ = load(as_archive(tmp_path / "log.eval", sample(), sample(epoch=3), sample(id=8)))
    assert len({session.id for session in sessions}) == 3
    assert len({session.labels["task_id"] for session in sessions}) == 2  # two epochs of one sample


def test_a_missing_attachment_is_told(tmp_path):
    _, problems = load(as_json(tmp_path / "log.json", sample(attachments={})))
    assert len(problems) == 1
    assert "attachment" in problems[0].reason


def test_a_broken_sample_costs_no_other(tmp_path):
    path = tmp_path / "log.eval"
    as_archive(path, sample(), sample(id=8))
    with ZipFile(path, "a") as archive:
        archive.writestr("samples/9_epoch_1.json", "{")
    sessions, problems = load(path)
    assert len(sessions) == 2
    assert "samples/9_epoch_1.json" in problems[0].reason


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_archive_is_read_up_to_the_damage_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("inspect")
    whole = as_archive(folder / "whole.eval", sample(), sample(id=8)).read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path = folder / "cut.eval"
    path.write_bytes(whole[:cut])
    try:
        sessions, problems = load(path)
    except InputError:
        return
    assert len(sessions) == 2 or problems
    assert all(session.records[2].text == LISTING for session in sessions)


@needs_real
@pytest.mark.parametrize("name", ["browser.json", "security-guide.json", "popularity.eval"])
def test_calls_use_what_the_log_says(name):
    """Summed from the file by a few lines of its own."""
    sessions, problems = load(REAL / name)
    assert problems == []
    if name.endswith(".json"):
        samples = json.loads((REAL / name).read_text())["samples"]
    else:
        with ZipFile(REAL / name) as archive:
            samples = [json.loads(archive.read(each)) for each in archive.namelist() if each.startswith("samples/")]
    used = [
        e["output"]["usage"] for s in samples for e in s["events"] if e["event"] == "model" and e["output"].get("usage")
    ]
    ours = [call.usage for session in sessions for call in session.calls if call.usage]
    ours += [usage for session in sessions for usage in session.aside]
    assert sum(each["output_tokens"] for each in used) == sum(usage.output_tokens for usage in ours)
    assert len(samples) == len(sessions)
    assert not [r for s in sessions for r in s.records if "attachment://" in r.text]
