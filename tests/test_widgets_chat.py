"""ChatLab without a browser: a turn on its thread, what is shown of it, a stop, errors, and what is saved."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from agentlab.analysis import curve, load
from agentlab.conversation import Conversation
from agentlab.errors import InputError, ProviderError
from agentlab.policy import Limit, Policy
from agentlab.providers.offline import OfflineModel
from agentlab.providers.registry import PROVIDERS
from agentlab.providers.scripted import ScriptedModel, call, say
from agentlab.runner import Runner
from agentlab.tools import Tool
from agentlab.widgets import ChatLab
from agentlab.widgets.chat_run import Chat, Said
from agentlab.widgets.chat_setup import dated_folder, new_folder
from agentlab.widgets.message_html import ToolUse, drawn
from agentlab.widgets.token_meter import token_meter

SESSIONS = Path(__file__).parents[1] / "data" / "sessions"
ROWS = "".join(f"row {n}\n" for n in range(2_000))
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def reader(text: str = ROWS, limit: int = 400) -> Tool:
    return Tool("read", "Read.", SCHEMA, lambda path: text, max_observation_chars=limit)


class Slow:
    """Streams a few words and then waits for a second that does not come, unless its scope is cancelled."""

    native = True
    name = "slow"
    model = None

    def __init__(self) -> None:
        self.began = threading.Event()
        self.fast = False

    def call(
        self, messages, *, system, tools, on_text_delta=None, scope=None, tool_choice="auto", max_output_tokens=None
    ):
        if self.fast:
            return say("Quick now.")
        on_text_delta("Let me ")
        on_text_delta("think")
        self.began.set()
        scope.wait(60)
        scope.check()
        return say("too late")


@pytest.fixture
def lab(tmp_path):
    made = []

    def make(provider, **settings):
        made.append(ChatLab(provider, folder=tmp_path / "runs", **settings))
        return made[-1]

    yield make
    for each in made:
        each.stop()
        each.wait(10)
        each.new()


def wait_for(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


def talk_of(lab) -> str:
    return "".join(each.value for each in lab._talk.children)


def test_a_turn_is_shown_as_it_was_and_saved_as_a_session(lab):
    chat = lab(ScriptedModel([say("I look.", call("read", path="a.txt")), "It has 2,000 rows."]), tools=[reader()])
    result = chat.ask("How many rows?")
    assert (result.status, result.text) == ("complete", "It has 2,000 rows.")
    spoken = [entry if isinstance(entry, Said) else (entry.name, entry.arguments) for entry in chat.chat.entries]
    assert spoken == [
        Said("user", "How many rows?"),
        Said("assistant", "I look."),
        ("read", {"path": "a.txt"}),
        Said("assistant", "It has 2,000 rows."),
    ]
    (session,), problems = load(chat.folder)
    assert not problems
    assert [record.role for record in session.records] == ["user", "assistant", "tool", "assistant"]
    line = json.loads((chat.folder / "transcript.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (line["prompt"], line["reply"], line["iterations"]) == ("How many rows?", "It has 2,000 rows.", 2)
    assert f"Saved in {chat.folder}/" in chat._status.value


def test_a_call_unfolds_to_arguments_the_full_result_and_what_the_model_saw(lab):
    chat = lab(ScriptedModel([call("read", path="a.txt"), "Done."]), tools=[reader()])
    chat.ask("Read it.")
    (use,) = [entry for entry in chat.chat.entries if isinstance(entry, ToolUse)]
    assert use.full == ROWS
    assert use.seen is not None
    assert len(use.seen) == 400
    assert "[...truncated: " in use.seen
    assert use.outcome == f"{len(ROWS):,} characters, cut to 400"
    page = talk_of(chat)
    assert page.count("<details") == 1
    assert "<details open" not in page
    assert "what the model saw (400 characters)" in page
    assert f"full result ({len(ROWS):,} characters)" in page
    assert "row 1000\n" in page
    assert "{\n  &quot;path&quot;: &quot;a.txt&quot;\n}" in page


def test_a_short_result_was_seen_whole_and_an_error_is_called_one(lab):
    def fail(path):
        raise ValueError("no such shelf")

    tools = [reader("short"), Tool("fail", "Fail.", SCHEMA, fail)]
    chat = lab(ScriptedModel([[call("read", path="a"), call("fail", path="b")], "Done."]), tools=tools)
    chat.ask("Go.")
    page = talk_of(chat)
    assert "The model saw all of it." in page
    assert "ValueError: no such shelf" in page
    assert "error, " in page


def test_an_unknown_tool_is_shown_with_what_the_model_was_told(lab):
    chat = lab(ScriptedModel([call("raed", path="a"), "Sorry."]), tools=[reader("short")])
    assert chat.ask("Go.").status == "complete"
    assert "raed" in talk_of(chat)
    assert "did you mean" in talk_of(chat).lower()


def test_text_is_shown_while_it_streams_and_the_kernel_is_free_meanwhile(lab):
    slow = Slow()
    chat = lab(slow)
    chat.message.value = "Think."
    chat.send_button.click()
    assert slow.began.wait(10)
    wait_for(lambda: "Let me " in chat._streaming.value)
    assert 'aria-busy="true"' in chat._streaming.value
    assert sum(range(1_000)) == 499_500  # the thread that was asked is not the one that works
    assert chat.chat.active
    assert chat.message.value == ""
    assert not chat.stop_button.disabled
    assert [each.disabled for each in (chat.send_button, chat.new_button, chat.provider, chat.policy)] == [True] * 4


def test_the_stop_button_ends_the_turn_and_leaves_a_session_that_goes_on(lab):
    slow = Slow()
    chat = lab(slow)
    chat.message.value = "Think."
    chat.send_button.click()
    assert slow.began.wait(10)
    chat.stop_button.click()
    result = chat.wait(10)
    assert (result.status, result.reason) == ("cancelled", "interrupted")
    assert "Let me think" in result.text
    assert "cancelled (interrupted)" in talk_of(chat)
    assert chat._streaming.value == ""
    assert chat.stop_button.disabled
    assert not chat.send_button.disabled
    assert Conversation.load(chat.folder).notes == []
    slow.fast = True
    assert chat.ask("And now?").text == "Quick now."
    recorded = Conversation.load(chat.folder)
    assert recorded.notes == []
    assert [message["role"] for message in recorded.messages] == ["user", "assistant", "user", "assistant"]


def test_a_stop_while_a_tool_runs_closes_its_call(lab):
    began = threading.Event()

    def wait(path):
        began.set()
        time.sleep(30)

    chat = lab(ScriptedModel([call("wait", path="a"), "Done."]), tools=[Tool("wait", "Wait.", SCHEMA, wait)])
    chat.send("Wait.")
    assert began.wait(10)
    wait_for(lambda: "runs" in talk_of(chat))
    chat.stop_button.click()
    assert chat.wait(10).status == "cancelled"
    recorded = Conversation.load(chat.folder)
    assert recorded.notes == []
    assert [message["role"] for message in recorded.messages][:3] == ["user", "assistant", "tool"]
    assert ">runs<" not in talk_of(chat)


def test_nothing_is_sent_while_a_turn_runs_and_nothing_empty_ever(lab):
    slow = Slow()
    chat = lab(slow)
    chat.message.value = "   "
    chat.send_button.click()
    assert chat.chat is None
    chat.send("Think.")
    assert slow.began.wait(10)
    chat.message.value = "Again."
    chat._send()
    assert chat.message.value == "Again."
    with pytest.raises(InputError, match="a turn runs already"):
        chat.send("Again.")
    chat.new()
    assert chat.chat.active


def test_the_meter_has_a_row_for_each_turn_and_its_composition(lab):
    chat = lab(ScriptedModel([call("read", path="a"), "One.", "Two."]), tools=[reader()])
    chat.ask("First.")
    chat.ask("Second.")
    assert [(turn.turn, turn.calls) for turn in chat.meter] == [(1, 2), (2, 1)]
    first, second = chat.meter
    assert first.context < second.context
    assert sum(first.parts.values()) == first.context
    assert second.parts["results"] == first.parts["results"] > 100
    for number in (first.prompt, second.context):
        assert f">{number:,}</td>" in chat._meter.value
    assert f"tool results {second.parts['results']:,}" in chat._meter.value
    assert repr(chat).endswith(f"2 turns, 3 calls, {first.prompt + second.prompt:,} prompt tokens")


@pytest.mark.parametrize("name", ["long", "parallel", "errors", "twenty-claude-code"])
def test_the_meter_says_what_the_curve_says(name):
    (session,), _ = load(SESSIONS / name)
    frame = curve(session)
    meter = [turn for turn in token_meter(session) if turn.calls]
    assert [turn.prompt for turn in meter] == frame.turn_tokens.tolist()
    assert [turn.context for turn in meter] == frame.context.tolist()
    assert [turn.output for turn in meter] == frame.output_tokens.tolist()
    assert [turn.calls for turn in meter] == frame.calls.tolist()


def test_a_turn_in_which_no_call_returned_stays_in_the_meter(lab):
    slow = Slow()
    chat = lab(slow)
    chat.send("Think.")
    assert slow.began.wait(10)
    chat.stop()
    chat.wait(10)
    wait_for(lambda: not chat.send_button.disabled)
    assert [(turn.turn, turn.calls) for turn in chat.meter] == [(1, 0)]
    slow.fast = True
    chat.ask("And now?")
    assert [(turn.turn, turn.calls) for turn in chat.meter] == [(1, 0), (2, 1)]
    assert "no call returned" in chat._meter.value


def test_an_error_of_a_provider_is_told_in_a_line_and_the_session_goes_on(lab):
    chat = lab(ScriptedModel([ProviderError("the server\nis down"), "Back again."]))
    assert chat.ask("Hi").status == "failed"
    assert chat.chat.entries[-1] == Said("note", "failed (provider_error): the server is down")
    assert chat.ask("Hi?").text == "Back again."


def test_a_bug_is_told_in_a_line_and_kept_for_who_wants_its_traceback(lab):
    def broken(messages):
        raise ZeroDivisionError("by\n" + "zero " * 200)

    chat = lab(ScriptedModel(broken))
    assert chat.ask("Hi") is None
    assert isinstance(chat.chat.failure, ZeroDivisionError)
    note = chat.chat.entries[-1]
    assert note.text.startswith("ZeroDivisionError: by zero zero")
    assert "\n" not in note.text
    assert len(note.text) <= 300
    assert not chat.send_button.disabled


def test_providers_are_picked_from_a_list_and_one_that_cannot_be_opened_is_put_back(lab, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    chat = lab("offline")
    assert list(chat.provider.options) == [name for name, entry in PROVIDERS.items() if entry.from_terminal]
    chat.provider.value = "anthropic"
    assert chat.provider.value == "offline"
    assert "no key for anthropic" in chat._status.value
    assert chat.ask("What can you do?").status == "complete"


def test_a_provider_of_ones_own_stands_first_in_the_list_and_can_be_left(lab):
    chat = lab(ScriptedModel(["Scripted."]))
    assert chat.provider.value == "given"
    assert chat.ask("Hi").text == "Scripted."
    chat.provider.value = "offline"
    assert "this one keeps its own" in chat._status.value
    first = chat.folder
    chat.new_button.click()
    assert (chat.folder, chat._talk.children, chat.meter) == (None, (), [])
    chat.ask("What can you do?")
    assert chat.chat.runner.provider.name == "offline"
    assert chat.folder != first
    assert load(first)[0][0].records[-1].text == "Scripted."


def test_a_policy_is_picked_for_the_next_conversation(lab):
    tight = Policy(name="tight", default=Limit(250))
    chat = lab(ScriptedModel([call("read", path="a"), "Done."] * 2), policy=tight, tools=[reader()])
    assert chat.policy.value == "tight"
    assert {"chapter", "codex"} < set(chat.policy.options)
    chat.ask("Read.")
    assert "cut to 250" in talk_of(chat)
    chat.policy.value = "chapter"
    assert "this one keeps its own" in chat._status.value
    chat.new_button.click()
    chat.ask("Read.")
    assert "cut to 400" in talk_of(chat)


def test_the_offline_model_is_called_what_it_is(lab):
    assert "offline: rule-based stand-in, not an LLM" in lab("offline")._status.value
    assert "offline: rule-based stand-in, not an LLM" in lab(OfflineModel())._status.value
    assert "not an LLM" not in lab(Slow())._status.value


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "ofline"}, "did you mean 'offline'"),
        ({"provider": "scripted"}, "make the provider 'scripted' yourself"),
        ({"policy": "chaptr"}, "unknown policy 'chaptr': one of"),
        ({"workspace": "no/such/folder"}, "there is no such folder"),
    ],
)
def test_what_cannot_be_begun_is_refused_when_the_widget_is_made(settings, said):
    with pytest.raises(InputError, match=said):
        ChatLab(**settings)


def test_a_setting_that_a_session_does_not_take_is_refused_too():
    with pytest.raises(TypeError, match="workspac"):
        ChatLab(workspac=".")


def test_a_folder_that_cannot_be_made_is_said_and_the_message_is_kept(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    chat = ChatLab(folder=tmp_path / "file" / "runs")
    chat.message.value = "Hi"
    chat.send_button.click()
    assert "cannot be made" in chat._status.value
    assert chat.message.value == "Hi"


def test_each_conversation_has_a_folder_of_its_own_also_within_a_second(tmp_path):
    made = [dated_folder(tmp_path, lambda: "chat-1").name for _ in range(3)]
    assert made == ["chat-1", "chat-1-2", "chat-1-3"]


def test_a_temporary_folder_goes_with_its_owner():
    class Owner:
        pass

    owner = Owner()
    folder = new_folder(owner, None)
    assert folder.is_dir()
    del owner
    assert not folder.exists()


def test_static_html_and_repr_show_the_conversation_that_was(lab):
    chat = lab(ScriptedModel([call("read", path="<b>"), "<i>Done</i>"]), tools=[reader("<script>")])
    assert "No model call has returned yet." in chat.html()
    chat.ask("<h1>")
    page = chat.html()
    for escaped in ("&lt;h1&gt;", "&lt;b&gt;", "&lt;script&gt;", "&lt;i&gt;Done&lt;/i&gt;"):
        assert escaped in page
    assert "<script" not in page
    assert repr(chat).splitlines()[:3] == ["user: <h1>", "tool read: 8 characters", "assistant: <i>Done</i>"]


def test_a_huge_result_is_drawn_by_its_ends():
    text = "a" * 200_000
    assert len(drawn(text)) < 31_000
    assert "[170,000 characters are not drawn here]" in drawn(text)


def test_what_streams_is_painted_no_more_often_than_an_eye_sees():
    seconds = iter(n * 0.01 for n in range(10_000))
    painted = []
    model = ScriptedModel(["x" * 1_000], stream_by=10)
    chat = Chat(Runner(model), painted.append, clock=lambda: next(seconds))
    chat.send("Hi")
    chat.wait(10)
    assert 5 < painted.count(None) < 40  # of 100 pieces, 0.01 s apart
    assert chat.entries[-1] == Said("assistant", "x" * 1_000)
