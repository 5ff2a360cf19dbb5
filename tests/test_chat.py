"""Talking: chat, the session runner, and the chapter's dialogue about the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentlab.budgets import Budget
from agentlab.builtin_tools import make_now
from agentlab.chat import chat
from agentlab.cli.chat import reader
from agentlab.conversation import Conversation, without_scratchpad
from agentlab.errors import InputError, ProviderError, TransportError
from agentlab.events import CallRetried
from agentlab.loop import agent_step, run_turn
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.policy import Limit, Policy
from agentlab.providers.offline import OfflineModel
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.runner import Runner
from agentlab.testing import check_messages
from agentlab.tools import tool
from agentlab.transcript import read_session

FULL = Path("/dev/full")


def talk(provider: Any, *lines: str, **settings: Any) -> str:
    waiting = list(lines)
    shown: list[str] = []

    def read(prompt: str) -> str:
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    def write(text: str = "", end: str = "\n", flush: bool = False) -> None:
        shown.append(text + end)

    chat(provider, read=read, write=write, **settings)
    return "".join(shown)


def test_chat_paints_replies_and_ends_at_an_empty_line_or_ctrl_d() -> None:
    shown = talk(ScriptedModel(["Hello.", "never"]), "Hi", "", "more")
    assert "assistant: Hello." in shown
    assert "never" not in shown
    assert "assistant: Hello." in talk(ScriptedModel(["Hello."]), "Hi")


def test_chat_writes_one_line_per_turn(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "transcript.jsonl"
    talk(ScriptedModel([call("wordcount", text="a b"), "Two."]), "How many\nwords?", transcript=path)
    talk(ScriptedModel(["Bye."]), "Bye", transcript=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["prompt"], line["reply"], line["iterations"]) for line in lines] == [
        ("How many\nwords?", "Two.", 2),
        ("Bye", "Bye.", 1),
    ]


def test_chat_goes_on_after_a_failure_and_after_ctrl_c() -> None:
    shown = talk(ScriptedModel([ProviderError("overloaded"), KeyboardInterrupt(), "Here."]), "a", "b", "c")
    assert "[no reply: overloaded]" in shown
    assert "[interrupted]" in shown
    assert "Here." in shown


def test_chat_outlives_a_connection_that_breaks_and_shows_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-ABCDEFGH12345678")

    class Breaking:
        failures: Any = (ConnectionError("reset, key sk-proj-ABCDEFGH12345678"), ConnectionResetError())

        def __init__(self) -> None:
            self.waiting = list(self.failures)

        def call(self, messages: Any, system: str, tools: Any) -> Any:
            raise self.waiting.pop(0)

    shown = talk(Breaking(), "a", "b")
    assert "[no reply: reset, key [key]]" in shown
    assert "[no reply: ConnectionResetError]" in shown


def test_a_chat_whose_transcript_nobody_can_write_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        talk(ScriptedModel(["never"]), "Hi", transcript=tmp_path)


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_chat_says_when_a_turn_is_not_in_its_transcript() -> None:
    shown = talk(ScriptedModel(["Hello.", "Bye."]), "Hi", "Bye", transcript=FULL)
    assert "assistant: Hello." in shown
    assert shown.count("[this turn is not in /dev/full: ") == 2


def test_a_chat_is_over_when_its_budget_is_used_up(capsys: pytest.CaptureFixture[str]) -> None:
    budget = Budget(max_tokens=1)
    read = reader(budget, ask=lambda prompt: "caf\udcc3\udca9")
    assert read("you: ") == "café"
    budget.spend(Usage(10, 10))
    with pytest.raises(EOFError):
        read("you: ")
    assert "the budget is used up (token_budget)" in capsys.readouterr().err


def test_chat_takes_a_readers_own_step_and_a_write_without_end() -> None:
    seen: list[str] = []
    lines = iter(["Hi", ""])

    def step(user: str, messages: list[Any], provider: Any, system: str, on_text_delta: Any = None) -> str:
        on_text_delta("own")
        return "own"

    chat(object(), read=lambda prompt: next(lines), write=seen.append, step=step)
    assert seen[-1] == "assistant: own"


def test_chat_without_a_provider_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert "rule-based" in talk(None, "What can you do?")


# -- the chapter's dialogue, in its three ways


def clock(*times: str) -> Any:
    """The tool `now` with a clock that is known: seconds since 1970, one after the other."""
    from datetime import datetime

    stamps = iter([datetime.fromisoformat(text).timestamp() for text in times])
    return make_now(lambda: next(stamps))


ASKED, LATER = "2026-05-13T15:40:22+00:00", "2026-05-13T15:41:03+00:00"
FIRST, SECOND = "What is the current UTC time?", "How long has it been since I asked?"


def test_with_continuation_the_earlier_result_is_there() -> None:
    messages: list[Any] = []
    model = OfflineModel(wording="words")
    tools = [clock(ASKED, LATER)]
    agent_step(FIRST, messages, model, "", tools=tools)
    reply = agent_step(SECOND, messages, model, "", tools=tools)
    assert "41 seconds" in reply
    check_messages(messages)


def test_without_continuation_a_reply_that_quotes_the_timestamp_still_answers() -> None:
    messages: list[Any] = []
    model = OfflineModel(wording="quote")
    tools = [clock(ASKED, LATER)]
    agent_step(FIRST, messages, model, "", tools=tools)
    shortened = without_scratchpad(messages)
    assert "15:40:22" in shortened[-1]["content"]
    assert "41 seconds" in agent_step(SECOND, shortened, model, "", tools=tools)


def test_without_continuation_a_reply_in_words_cannot() -> None:
    messages: list[Any] = []
    model = OfflineModel(wording="words")
    tools = [clock(ASKED, LATER)]
    agent_step(FIRST, messages, model, "", tools=tools)
    shortened = without_scratchpad(messages)
    assert "15:40" not in shortened[-1]["content"]
    reply = agent_step(SECOND, shortened, model, "", tools=tools)
    assert "41 seconds" not in reply


# -- the runner


@tool
def big() -> str:
    """Much text."""
    return "\n".join(f"row {n}" for n in range(3_000))


def test_a_runner_records_its_session_and_offers_to_read_results_back(tmp_path: Path) -> None:
    with Runner(
        ScriptedModel([call("big"), "ok", "bye"]), folder=tmp_path, tools=[big], settings={"caching": "off"}
    ) as session:
        session.send("Go.")
        assert "read_result" in [t.name for t in session.tools]
        session.send("Bye.")
    record, problems = read_session(tmp_path)
    assert problems == []
    assert record.header.settings == {"caching": "off"}
    assert len(record.turns) == 2
    assert record.lines[2].store_id is not None
    assert "read_result(" in record.lines[2].message["content"]


def test_a_runner_goes_on_with_the_session_that_its_folder_holds(tmp_path: Path) -> None:
    with Runner(ScriptedModel([call("big"), "ok"]), folder=tmp_path, tools=[big], system="Be brief.") as session:
        session.send("Go.")
    with (tmp_path / "messages.jsonl").open("a") as file:
        file.write('{"type": "message", "tu')
    model = ScriptedModel(["bye"])
    with Runner(model, folder=tmp_path, tools=[big]) as session:
        assert any("torn" in note for note in session.conversation.notes)
        assert session.conversation.system == "Be brief."
        session.send("Bye.")
    roles = [message["role"] for message in session.conversation.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    record, _ = read_session(tmp_path)
    assert [turn.turn for turn in record.turns] == [1, 2]
    assert [line.turn for line in record.lines] == [1, 1, 1, 1, 2, 2]
    assert record.messages == session.conversation.messages


def test_another_system_prompt_than_the_recorded_one_is_noted(tmp_path: Path) -> None:
    with Runner(ScriptedModel(["ok"]), folder=tmp_path, system="Be brief.") as session:
        session.send("Go.")
    with Runner(ScriptedModel(["ok"]), folder=tmp_path, system="Be long.") as session:
        assert session.conversation.system == "Be long."
        assert "another system prompt" in session.conversation.notes[0]


def test_the_header_names_every_tool_that_was_offered(tmp_path: Path) -> None:
    offered: list[str] = []

    class Model:
        def call(self, messages: Any, system: str, tools: Any) -> Any:
            offered.extend(t.name for t in tools)
            return Reply("ok", (), Usage())

    with Runner(Model(), folder=tmp_path, tools=[big]) as session:
        session.send("Go.")
    header = read_session(tmp_path)[0].header
    assert [t["name"] for t in header.tools] == offered == ["big", "read_result"]


def test_read_result_gives_pages_that_the_policy_leaves_whole(tmp_path: Path) -> None:
    policy = Policy(default=Limit(1_000))
    with Runner(ScriptedModel([call("big"), "ok"]), folder=tmp_path, tools=[big], policy=policy) as session:
        session.send("Go.")
    key = read_session(tmp_path)[0].lines[2].store_id
    asks = Reply("", (ToolCall("1", "read_result", {"id": key}),))
    with Runner(ScriptedModel([asks, "ok"]), folder=tmp_path, policy=policy) as session:
        session.send("On.")
    page = session.conversation.messages[-2]["content"]
    assert len(page) <= 1_000
    assert page.endswith("goes on]")
    assert "truncated" not in page


def test_a_runner_says_when_a_call_is_made_again() -> None:
    events: list[Any] = []
    model = Retry(ScriptedModel([TransportError("no answer"), "Hello."]), base=0.0)
    with Runner(model, sinks=[events.append]) as session:
        assert session.send("Hi").text == "Hello."
    assert [e.reason for e in events if isinstance(e, CallRetried)] == ["no answer"]


def test_a_runner_reads_only_its_workspace(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.txt").write_text("alpha")
    (tmp_path / "secret.txt").write_text("secret")
    model = ScriptedModel([call("read_file", path="a.txt"), call("read_file", path="../secret.txt"), "ok"])
    with Runner(model, workspace=tmp_path / "inside") as session:
        session.send("Go.")
        contents = [m["content"] for m in session.conversation.messages if m["role"] == "tool"]
    assert contents[0] == "alpha"
    assert contents[1].startswith("Error:")
    assert "secret" not in contents[1].replace("secret.txt", "")


def test_the_offline_model_meets_its_window_and_the_messages_stay_valid() -> None:
    talk_ = Conversation(system="")
    result = run_turn(talk_, "x " * 400, OfflineModel(window=100))
    assert (result.status, result.reason) == ("failed", "context_window")
    check_messages(talk_.messages)
