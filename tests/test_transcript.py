"""The session folder: what is written, and what is read after a crash."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.loop import run_turn
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.policy import CHAPTER
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.runner import Runner
from agentlab.testing import check_messages
from agentlab.tools import tool
from agentlab.transcript import SessionWriter, read_session

KILLS = int(os.environ.get("AGENTLAB_KILLS", "20"))  # `make soak` asks for more


@tool
def big(n: int = 1) -> str:
    """Much text."""
    return f"{n}" * 79 + "\n" + f"{n}" * 17_920


def record(folder: Path, *turns: tuple[str, Any], clock: Any = lambda: 1_000.0) -> Conversation:
    writer = SessionWriter(
        folder,
        provider="scripted",
        model="scripted",
        system="Be brief.",
        tools=[big],
        policy=msgspec.to_builtins(CHAPTER),
        clock=clock,
    )
    talk = Conversation(system="Be brief.")
    tools = [big, read_result_tool(writer.store)]
    for prompt, script in turns:
        run_turn(talk, prompt, ScriptedModel(script), tools=tools, sinks=[writer], store=writer.store)
    writer.close()
    return talk


def test_a_session_is_written_and_read_as_it_was(tmp_path: Path) -> None:
    reply = Reply("", (ToolCall("a", "big", {"n": 7}),), Usage(100, 20, 5, 3), "tool_use", "m-1")
    talk = record(tmp_path, ("First?", [reply, "One."]), ("Second?", ["Two."]))
    found, problems = read_session(tmp_path)
    assert problems == []
    assert found.messages == talk.messages
    assert found.header.system == "Be brief."
    assert found.header.tools[0]["name"] == "big"
    assert found.header.policy["name"] == "chapter"
    assert [line.turn for line in found.lines] == [1, 1, 1, 1, 2, 2]
    asked, seen = found.lines[1], found.lines[2]
    assert (asked.usage, asked.stop_reason, asked.model, asked.iteration) == (reply.usage, "tool_use", "m-1", 1)
    assert (asked.exact, asked.tokens) == (True, 20)
    assert seen.original_chars == 18_000
    assert found.store().get(seen.store_id or "") == "7" * 79 + "\n" + "7" * 17_920
    first, second = found.turns
    assert (first.prompt, first.reply, first.iterations, first.status, first.reason) == (
        "First?",
        "One.",
        2,
        "complete",
        "reply",
    )
    assert first.tool_calls == [{"name": "big", "chars": 18_000, "shown": 4_000, "is_error": False}]
    assert second.turn == 2
    assert first.started_at.endswith("Z")


def test_the_transcript_has_one_line_per_user_turn_even_with_newlines_in_the_prompt(tmp_path: Path) -> None:
    record(tmp_path, ("two\nlines\u2028here", ["One."]), ("Second?", ["Two."]))
    lines = (tmp_path / "transcript.jsonl").read_text().split("\n")
    assert len(lines) == 3
    first = json.loads(lines[0])
    assert {"prompt", "reply", "iterations"} <= set(first)
    assert first["prompt"] == "two\nlines\u2028here"


def test_a_session_goes_on_in_the_same_folder(tmp_path: Path) -> None:
    record(tmp_path, ("First?", ["One."]))
    talk = Conversation.load(tmp_path)
    writer = SessionWriter(tmp_path, system="Other.")
    run_turn(talk, "Second?", ScriptedModel(["Two."]), sinks=[writer])
    writer.close()
    found, problems = read_session(tmp_path / "messages.jsonl")
    assert problems == []
    assert [line.turn for line in found.lines] == [1, 1, 2, 2]
    assert found.header.system == "Be brief."
    assert [turn.reply for turn in found.turns] == ["One.", "Two."]


def test_pitfall_45_a_torn_last_line_is_reported_and_the_next_append_starts_fresh(tmp_path: Path) -> None:
    record(tmp_path, ("First?", [call("big", n=1), "One."]))
    path = tmp_path / "messages.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    talk = Conversation.load(tmp_path)
    assert any("torn" in note for note in talk.notes)
    check_messages(talk.messages)
    writer = SessionWriter(tmp_path)
    run_turn(talk, "Second?", ScriptedModel(["Two."]), sinks=[writer])
    writer.close()
    found, problems = read_session(tmp_path)
    assert [problem.line for problem in problems] == [5]
    assert found.messages[-1]["content"] == "Two."


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"not json at all\n", 7, "skipped"),
        (b'{"type": "message", "turn": "one"}\n', 7, "skipped"),
        (b'{"type": "unknown"}\n', 7, "skipped"),
        (b"\xff\xfe\x00\n", 7, "skipped"),
    ],
)
def test_a_damaged_line_is_a_problem_with_file_line_and_reason(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    record(tmp_path, ("First?", ["One."]), ("Second?", ["Two."]))
    path = tmp_path / "messages.jsonl"
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:5]) + b"\n" + content + b"")
    found, problems = read_session(tmp_path)
    assert len(found.lines) == 4
    assert [(Path(p.path).name, p.line) for p in problems] == [("messages.jsonl", line)]
    assert words in problems[0].reason


def test_what_is_no_session_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read_session(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"there is no messages\.jsonl"):
        read_session(tmp_path)
    (tmp_path / "messages.jsonl").write_text("hello\n")
    with pytest.raises(InputError, match="nothing in it"):
        read_session(tmp_path)


@pytest.mark.parametrize("kept", [0, 1, 16, 17, 500, -1])
def test_pitfall_45_a_session_that_was_killed_in_the_write_of_its_header_goes_on(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "messages.jsonl"
    with Runner(ScriptedModel(["One."]), folder=tmp_path) as session:
        session.send("First?")
    header = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(header[:kept])
    with Runner(ScriptedModel(["Two."]), folder=tmp_path) as session:
        assert session.send("Second?").text == "Two."
    found, problems = read_session(tmp_path)
    assert [m["content"] for m in found.messages] == ["Second?", "Two."]
    assert found.header.tools
    assert [p.line for p in problems] == ([1] if kept > 0 else [])  # without its newline alone it is whole again


def test_a_file_that_is_no_session_is_never_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    for text in ("hello", "hello\n", '{"type":"other"', '{"type":"session"}\n'):
        path.write_text(text)
        with pytest.raises(InputError):
            Runner(ScriptedModel(["Hello."]), folder=tmp_path)
        assert path.read_text() == text


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_pitfall_45_a_session_is_readable_after_20_kills_in_mid_write(tmp_path: Path) -> None:
    dice = random.Random(7)
    script = Path(__file__).with_name("crashing_writer.py")
    file = tmp_path / "session" / "messages.jsonl"
    messages = 0
    for kill in range(KILLS):
        folder = tmp_path / "session"
        with subprocess.Popen([sys.executable, str(script), str(folder)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            grown = size_of(file) + dice.randrange(1, 60_000)
            deadline = time.monotonic() + 20
            while size_of(file) < grown and time.monotonic() < deadline:
                time.sleep(0.0002)
            writer.kill()
        found, problems = read_session(folder)
        assert len(problems) <= kill + 1
        assert len(found.lines) >= messages
        messages = len(found.lines)
        talk = Conversation.load(folder)
        check_messages(talk.messages)
        store = found.store()
        for line in found.lines[-40:]:
            if line.store_id is not None and line.store_id in store:
                assert len(store.get(line.store_id)) == line.original_chars
    assert messages > 100


def test_a_line_that_could_not_be_written_does_not_spoil_the_next(tmp_path: Path) -> None:
    import resource
    import signal

    writer = SessionWriter(tmp_path)
    talk = Conversation()
    run_turn(talk, "first", ScriptedModel(["one"]), sinks=[writer])
    size = (tmp_path / "messages.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, before[1]))
        assert run_turn(talk, "second", ScriptedModel(["two"]), sinks=[writer]).reason == "sink_error"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    run_turn(talk, "third", ScriptedModel(["three"]), sinks=[writer])
    writer.close()
    found, problems = read_session(tmp_path)
    assert [m["content"] for m in found.messages if m["content"] in ("first", "third", "three")] == [
        "first",
        "third",
        "three",
    ]
    assert len(problems) == 1


def test_a_session_whose_header_was_torn_gets_one_when_it_goes_on(tmp_path: Path) -> None:
    record(tmp_path, ("First?", ["One."]))
    path = tmp_path / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0][:40])
    record(tmp_path, ("Second?", ["Two."]))
    found, problems = read_session(tmp_path)
    assert found.header.system == "Be brief."
    assert [problem.line for problem in problems] == [1]


def test_each_line_is_one_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    real = os.write

    def spy(descriptor: int, data: bytes) -> int:
        writes.append(bytes(data))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", spy)
    record(tmp_path, ("First?", ["One."]))
    ours = [w for w in writes if w.startswith(b"{")]
    assert len(ours) == 1 + 2 + 1
    assert all(w.endswith(b"\n") and w.count(b"\n") == 1 for w in ours)


def test_bytes_written_are_bytes_kept(tmp_path: Path) -> None:
    record(tmp_path, *[(f"turn {n}", [call("big", n=n), "ok"]) for n in range(9)])
    kept = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    payload = 9 * (18_000 + 4_000)
    assert kept < payload * 1.1
