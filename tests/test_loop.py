"""The loop: what it appends, how it ends, and that whatever happens the messages can be sent again."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from agentlab import loop
from agentlab.budgets import Budget, Scope, TurnBudget
from agentlab.conversation import Conversation, without_scratchpad
from agentlab.errors import ContextWindowError, InputError, ProviderError
from agentlab.events import MessageAppended, Repaired, TurnFinished
from agentlab.loop import agent_step, run_turn
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers import masking
from agentlab.providers.scripted import ScriptedModel, call, say
from agentlab.store import Store
from agentlab.testing import check_messages
from agentlab.tools import Tool, tool


@tool
def echo(text: str = "") -> str:
    """Say it again."""
    return text


def roles(messages: list[Any]) -> list[str]:
    return [message["role"] for message in messages]


# -- the chapter


def test_a_turn_appends_user_call_result_and_reply_in_place() -> None:
    messages: list[Any] = []
    model = ScriptedModel([call("wordcount", text="one two"), "Two words."], keep_requests=True)
    reply = agent_step("How many?", messages, model, "Be brief.")
    assert reply == "Two words."
    assert roles(messages) == ["user", "assistant", "tool", "assistant"]
    assert messages[2] == {
        "role": "tool",
        "tool_call_id": messages[1]["tool_calls"][0]["id"],
        "name": "wordcount",
        "content": "2",
    }
    assert messages[-1] == {"role": "assistant", "content": "Two words."}
    check_messages(messages)


def test_six_turns_with_one_call_each_are_24_messages() -> None:
    messages: list[Any] = []
    for turn in range(6):
        agent_step(f"Turn {turn}", messages, ScriptedModel([call("now"), "Done."]), "Be brief.")
    assert len(messages) == 24
    check_messages(messages)


def test_the_next_turn_sees_the_earlier_results_and_without_continuation_it_does_not() -> None:
    messages: list[Any] = []
    agent_step("Time?", messages, ScriptedModel([call("wordcount", text="a b c"), "About three."]), "")
    later = ScriptedModel(["Three."], keep_requests=True)
    agent_step("How many was it?", messages, later, "")
    assert any(m["role"] == "tool" and m["content"] == "3" for m in later.requests[0].messages)
    assert roles(without_scratchpad(messages)) == ["user", "assistant", "user", "assistant"]


def test_a_provider_and_an_agent_step_typed_from_the_book_run_against_the_rest() -> None:
    class BookProvider:
        def __init__(self) -> None:
            self.replies = [
                SimpleNamespace(
                    text="", tool_calls=[SimpleNamespace(id="c1", name="wordcount", arguments={"text": "a b"})]
                ),
                SimpleNamespace(text="Two.", tool_calls=[]),
            ]

        def call(self, messages, system, tools, on_text_delta=None):  # type: ignore[no-untyped-def]
            reply = self.replies.pop(0)
            if on_text_delta and reply.text:
                on_text_delta(reply.text)
            return reply

    painted: list[str] = []
    messages: list[Any] = []
    assert agent_step("Count.", messages, BookProvider(), "Be brief.", painted.append) == "Two."
    assert painted == ["Two."]
    check_messages(messages)

    def own_agent_step(user_message, messages, provider, system, on_text_delta=None):  # type: ignore[no-untyped-def]
        messages.append({"role": "user", "content": user_message})
        by_name = {t.name: t for t in loop.TOOLS}
        for _ in range(loop.MAX_ITERATIONS):
            reply = provider.call(messages, system=system, tools=loop.TOOLS, on_text_delta=on_text_delta)
            if not reply.tool_calls:
                messages.append({"role": "assistant", "content": reply.text})
                return reply.text
            made = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": str(c.arguments)}}
                for c in reply.tool_calls
            ]
            messages.append({"role": "assistant", "content": reply.text, "tool_calls": made})
            for c in reply.tool_calls:
                observation = by_name[c.name].run(**c.arguments)
                messages.append({"role": "tool", "tool_call_id": c.id, "name": c.name, "content": observation})
        raise RuntimeError("no reply")

    mine: list[Any] = []
    model = ScriptedModel([call("wordcount", text="a b"), "Two.", call("now"), "Now."])
    assert own_agent_step("Count.", mine, model, "") == "Two."
    assert own_agent_step("Time?", mine, model, "") == "Now."
    check_messages(mine)
    assert len(Conversation.load(mine).messages) == 8


def test_tools_and_the_cap_are_looked_up_at_call_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "TOOLS", [echo])
    monkeypatch.setattr(loop, "MAX_ITERATIONS", 2)
    messages: list[Any] = []
    model = ScriptedModel(lambda messages: call("echo", text=str(len(messages))))
    text = agent_step("Go.", messages, model, "")
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "3"]
    assert "2 model calls" in text
    assert messages[-1] == {"role": "assistant", "content": text}


def test_a_tools_limit_changed_at_run_time_takes_effect() -> None:
    own = Tool("lorem", "Text.", {"type": "object", "properties": {}}, lambda: "x" * 50_000)
    messages: list[Any] = []
    agent_step("Go.", messages, ScriptedModel([call("lorem"), "ok"]), "", tools=[own])
    own.max_observation_chars = 8_000
    agent_step("Go.", messages, ScriptedModel([call("lorem"), "ok"]), "", tools=[own])
    assert [len(m["content"]) for m in messages if m["role"] == "tool"] == [4_000, 8_000]


def test_several_calls_run_side_by_side_and_results_stand_in_call_order() -> None:
    barrier = threading.Barrier(3, timeout=5)

    @tool
    def meet(n: int) -> str:
        """Wait for the others."""
        barrier.wait()
        return str(n)

    messages: list[Any] = []
    model = ScriptedModel([[call("meet", id="a", n=1), call("meet", id="b", n=2), call("meet", id="c", n=3)], "ok"])
    agent_step("Go.", messages, model, "", tools=[meet])
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "2", "3"]


# -- endings


def outcome(model: Any, **settings: Any) -> tuple[Any, Conversation]:
    conversation = Conversation(system="Be brief.")
    result = run_turn(conversation, "Go.", model, **{"tools": [echo], **settings})
    check_messages(conversation.messages)
    return result, conversation


def test_the_cap_ends_as_partial_and_says_so() -> None:
    result, conversation = outcome(ScriptedModel(lambda m: call("echo", text=str(len(m)))), max_iterations=3)
    assert (result.status, result.reason, result.iterations) == ("partial", "max_turns", 3)
    assert conversation.messages[-1]["content"] == result.text


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ProviderError("down", status=500), "provider_error"), (ContextWindowError("too large"), "context_window")],
)
def test_a_failed_model_call_is_raised_after_the_messages_are_valid(error: ProviderError, reason: str) -> None:
    result, conversation = outcome(ScriptedModel([call("echo", text="seen"), error]))
    assert (result.status, result.reason) == ("failed", reason)
    assert conversation.messages[-1]["content"] == "seen"
    messages: list[Any] = []
    with pytest.raises(type(error)):
        agent_step("Go.", messages, ScriptedModel([call("echo", text="seen"), error]), "", tools=[echo])
    assert roles(messages) == ["user", "assistant", "tool"]
    assert agent_step("Again.", messages, ScriptedModel(["Hello."]), "") == "Hello."
    check_messages(messages)


def test_text_that_was_streamed_before_a_failure_is_kept() -> None:
    class Breaks:
        def call(self, messages, *, system, tools, on_text_delta=None):  # type: ignore[no-untyped-def]
            on_text_delta("The first half")
            raise ProviderError("cut", transient=True)

    conversation = Conversation()
    result = run_turn(conversation, "Go.", Breaks(), on_text_delta=lambda piece: None)
    assert result.text == "The first half"
    assert conversation.messages[-1] == {"role": "assistant", "content": "The first half"}


def test_a_cancelled_scope_ends_the_turn_and_names_what_did_not_finish() -> None:
    scope = Scope()
    release = threading.Event()

    @tool
    def slow() -> str:
        """Sleep."""
        scope.cancel("stop button")
        release.wait(5)
        return "late"

    result, conversation = outcome(ScriptedModel([call("slow"), "never"]), tools=[slow], scope=scope)
    release.set()
    assert (result.status, result.reason) == ("cancelled", "interrupted")
    assert conversation.messages[2]["content"].startswith("Error: interrupted")
    assert "stop button" in conversation.messages[-1]["content"]


def test_a_deadline_ends_the_turn_as_failed() -> None:
    now = [0.0]
    scope = Scope(10, clock=lambda: now[0])

    def late(messages: Any) -> Any:
        now[0] = 11.0
        return call("echo", text="x")

    result, _ = outcome(ScriptedModel([late, "never"]), scope=scope)
    assert (result.status, result.reason) == ("failed", "deadline")


def test_a_cost_limit_ends_the_turn_and_answers_its_calls() -> None:
    budget = Budget(max_cost=0.5, price=lambda usage: 0.3)
    ran: list[str] = []
    own = Tool("spy", "Spy.", {"type": "object", "properties": {}}, lambda: ran.append("x") or "ok")
    result, conversation = outcome(ScriptedModel(lambda m: call("spy")), tools=[own], budget=budget)
    assert (result.status, result.reason, result.iterations) == ("partial", "max_cost", 2)
    assert ran == ["x"]
    assert conversation.messages[-2]["content"].startswith("Error: not run")


def test_a_cut_reply_is_not_asked_for_again_once_the_limit_is_reached() -> None:
    cut = Reply("The first half", usage=Usage(1_000, 10), stop_reason="max_tokens")
    result, conversation = outcome(ScriptedModel([cut, "never"]), budget=Budget(max_tokens=100))
    assert (result.status, result.reason, result.iterations) == ("partial", "token_budget", 1)
    assert conversation.messages[1]["content"] == "The first half"


def test_a_final_reply_that_reaches_the_limit_is_complete() -> None:
    result, _ = outcome(ScriptedModel([Reply("Done.", usage=Usage(1_000, 10))]), budget=Budget(max_tokens=100))
    assert (result.status, result.text) == ("complete", "Done.")


def test_a_sink_that_fails_ends_the_turn_and_the_messages_stay_valid() -> None:
    def full(event: Any) -> None:
        if isinstance(event, MessageAppended) and event.message["role"] == "assistant":
            raise OSError(28, "No space left on device")

    seen: list[Any] = []
    result, conversation = outcome(ScriptedModel([call("echo", text="x"), "never"]), sinks=[full, seen.append])
    assert (result.status, result.reason) == ("failed", "sink_error")
    assert "No space left" in result.text
    assert isinstance(seen[-1], TurnFinished)
    assert conversation.messages[2]["content"].startswith("Error: interrupted")


def test_a_sink_that_fails_at_the_end_is_reported_and_the_reply_is_kept() -> None:
    def full(event: Any) -> None:
        if isinstance(event, TurnFinished):
            raise OSError(28, "No space left on device")

    result, conversation = outcome(ScriptedModel(["Hello."]), sinks=[full])
    assert (result.status, result.reason, result.text) == ("failed", "sink_error", "Hello.")
    assert roles(conversation.messages) == ["user", "assistant"]


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_sink_that_fails_after_any_message_leaves_no_text_twice(at: int) -> None:
    seen: list[Any] = []

    def full(event: Any) -> None:
        if isinstance(event, MessageAppended):
            seen.append(event)
            if len(seen) == at:
                raise OSError("full")

    result, conversation = outcome(ScriptedModel([say("Looking.", call("echo", text="x")), "Found it."]), sinks=[full])
    assert result.reason == "sink_error"
    text = "".join(m["content"] for m in conversation.messages)
    assert text.count("Looking.") <= 1
    assert text.count("Found it.") <= 1
    assert len(seen) == at


def test_a_result_that_cannot_be_cut_by_the_policy_is_kept_all_the_same() -> None:
    odd = Tool("odd", "Odd.", {"type": "object", "properties": {}}, lambda: "x" * 9_000)
    odd.strategy = "nope"
    conversation = Conversation()
    with pytest.raises(ValueError, match="nope"):
        run_turn(conversation, "Go.", ScriptedModel([call("odd"), "never"]), tools=[odd])
    check_messages(conversation.messages)


def test_a_budget_that_is_used_up_stops_the_next_call_and_the_next_turn() -> None:
    budget = Budget(max_cost=0.5, price=lambda usage: 1.0)
    result, conversation = outcome(ScriptedModel(["Done."]), budget=budget)
    assert result.status == "complete"
    assert budget.reached() == "max_cost"
    second = run_turn(conversation, "More?", ScriptedModel(["never"]), budget=budget)
    assert (second.status, second.reason, second.iterations) == ("partial", "max_cost", 0)
    check_messages(conversation.messages)
    with pytest.raises(InputError, match="at least 0"):
        Budget(max_cost=float("nan"))


def test_parallel_repeats_count_once_per_iteration() -> None:
    twice = [call("echo", id="a", text="same"), call("echo", id="b", text="same")]
    result, conversation = outcome(ScriptedModel([twice, twice, twice, "Stopped."]))
    assert result.text == "Stopped."
    assert len([m for m in conversation.messages if m.get("origin") == "loop"]) == 1


def test_a_key_in_the_environment_reaches_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-hostile-0123456789")
    masking.refresh()
    scope = Scope()
    scope.cancel("token sk-proj-hostile-0123456789")
    result, conversation = outcome(ScriptedModel(["never"]), scope=scope)
    assert "hostile" not in str(conversation.messages) + result.text


def test_the_last_turn_is_told_and_its_calls_are_not_run() -> None:
    ran: list[str] = []
    spy = Tool(
        "spy", "Spy.", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda n: ran.append(n) or str(n)
    )
    model = ScriptedModel(lambda messages: call("spy", n=len(messages)), keep_requests=True)
    result, conversation = outcome(model, tools=[spy], turns=TurnBudget(3, last_turn="answer"))
    assert (result.status, result.reason, result.iterations) == ("partial", "max_turns", 3)
    assert len(ran) == 2
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]
    assert [m["content"][:9] for m in conversation.messages if m.get("origin") == "loop"] == ["Two turns", "This is t"]
    assert "not run: last turn" in conversation.messages[-2]["content"]


def test_more_turns_take_effect_on_the_last_turn() -> None:
    turns = TurnBudget(2, ceiling=4, last_turn="answer")

    @tool
    def request_more_turns(additional: int, reason: str) -> str:
        """Ask for more turns."""
        return str(turns.extend(additional, reason).granted)

    model = ScriptedModel([call("echo", text="a"), call("request_more_turns", additional=9, reason="long"), "Done."])
    result, _ = outcome(model, tools=[echo, request_more_turns], turns=turns)
    assert (result.status, result.text, turns.allowed) == ("complete", "Done.", 4)


def test_a_store_that_fails_ends_the_turn_and_the_result_is_kept_cut() -> None:
    class Full(Store):
        def put(self, text: str) -> str:
            raise OSError(28, "No space left on device")

    result, conversation = outcome(ScriptedModel([call("echo", text="x" * 9_000), "never"]), store=Full())
    assert (result.status, result.reason) == ("failed", "sink_error")
    assert len(conversation.messages[2]["content"]) == 4_000


def test_a_bug_in_a_provider_or_a_callback_is_raised_after_the_messages_are_valid() -> None:
    def broken(messages: Any) -> Any:
        raise ZeroDivisionError("bug")

    conversation = Conversation()
    events: list[Any] = []
    with pytest.raises(ZeroDivisionError):
        run_turn(
            conversation, "Go.", ScriptedModel([call("echo", text="seen"), broken]), tools=[echo], sinks=[events.append]
        )
    check_messages(conversation.messages)
    assert conversation.messages[2]["content"] == "seen"
    assert isinstance(events[-1], TurnFinished)

    def paint(piece: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_turn(conversation, "Again.", ScriptedModel(["Hello."]), on_text_delta=paint)
    check_messages(conversation.messages)


def test_pitfall_44_the_same_call_with_the_same_result_is_told_at_the_third_and_ends_at_the_fifth() -> None:
    result, conversation = outcome(ScriptedModel(lambda m: call("echo", text="same")))
    assert (result.status, result.reason, result.iterations) == ("partial", "repeated_call", 5)
    notes = [m for m in conversation.messages if m.get("origin") == "loop"]
    assert len(notes) == 1
    assert conversation.messages.index(notes[0]) == 7


def test_pitfall_44_a_polling_tool_may_repeat_itself() -> None:
    poll = Tool("poll", "Poll.", {"type": "object", "properties": {}}, lambda: "pending", polling=True)
    result, _ = outcome(ScriptedModel([*[call("poll")] * 8, "Ready."]), tools=[poll])
    assert result.text == "Ready."


# -- pitfalls in the messages


def test_pitfall_15_a_crash_between_call_and_result_leaves_a_list_that_can_be_sent() -> None:
    messages: list[Any] = [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "echo", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "echo", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "name": "echo", "content": "finished"},
    ]
    agent_step("And now?", messages, ScriptedModel(["Here."]), "")
    check_messages(messages)
    assert messages[2]["content"] == "finished"
    assert messages[3]["tool_call_id"] == "b"
    assert "interrupted" in messages[3]["content"]


def test_pitfall_16_an_id_that_comes_again_in_a_later_turn_is_paired_within_its_own_message() -> None:
    messages: list[Any] = []
    for text in ("first", "second"):
        agent_step(text, messages, ScriptedModel([call("echo", id="call_0", text=text), "ok"]), "", tools=[echo])
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["first", "second"]
    loaded = Conversation.load(messages)
    assert [m["content"] for m in loaded.messages if m["role"] == "tool"] == ["first", "second"]
    assert loaded.notes == []


def test_pitfall_17_the_same_id_twice_in_one_reply_is_made_unique() -> None:
    messages: list[Any] = []
    model = ScriptedModel(
        [[call("echo", id="x", text="1"), call("echo", id="x", text="2"), call("echo", id="", text="3")], "ok"]
    )
    agent_step("Go.", messages, model, "", tools=[echo])
    ids = [c["id"] for c in messages[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1", "2", "3"]
    check_messages(messages)


def test_pitfall_19_a_call_without_a_name_is_dropped_on_entry_with_a_note() -> None:
    events: list[Any] = []
    model = ScriptedModel([[ToolCall("x", "", {}), call("echo", text="kept")], "ok"])
    result, conversation = outcome(model, sinks=[events.append])
    assert result.text == "ok"
    assert len(conversation.messages[1]["tool_calls"]) == 1
    assert any(isinstance(event, Repaired) and "without a name" in event.note for event in events)


@pytest.mark.parametrize("returned", ["", "  \n", None])
def test_pitfall_20_an_empty_result_becomes_a_neutral_text(returned: Any) -> None:
    silent = Tool("silent", "Nothing.", {"type": "object", "properties": {}}, lambda: returned)
    _, conversation = outcome(ScriptedModel([call("silent"), "ok"]), tools=[silent])
    assert conversation.messages[2]["content"] == "(silent returned nothing)"
    assert "is_error" not in conversation.messages[2]


def test_pitfall_20_an_empty_user_message_becomes_a_neutral_text() -> None:
    messages: list[Any] = []
    agent_step("  ", messages, ScriptedModel(["Yes?"]), "")
    assert messages[0]["content"].strip()
    check_messages(messages)


def test_pitfall_21_two_user_messages_in_a_row_are_both_sent() -> None:
    messages: list[Any] = []
    with pytest.raises(ProviderError):
        agent_step("First.", messages, ScriptedModel([ProviderError("down")]), "")
    model = ScriptedModel(["ok"], keep_requests=True)
    agent_step("Second.", messages, model, "")
    assert [m["content"] for m in model.requests[0].messages] == ["First.", "Second."]


def test_pitfall_22_a_call_cut_at_the_output_limit_is_never_run_and_asked_for_again_once() -> None:
    cut = Reply("Writing", (ToolCall("a", "echo", '{"text": "half'),), stop_reason="max_tokens")
    result, conversation = outcome(ScriptedModel([cut, call("echo", text="whole"), "ok"]))
    assert [m["content"] for m in conversation.messages if m["role"] == "tool"] == ["whole"]
    note = next(m for m in conversation.messages if m.get("origin") == "loop")
    assert "not run" in note["content"]
    assert result.status == "complete"
    result, conversation = outcome(ScriptedModel([cut, cut, "never"]))
    assert (result.status, result.reason, result.iterations) == ("partial", "output_limit", 2)
    assert "Writing" in result.text


def test_pitfall_22_a_text_cut_at_the_output_limit_is_continued_once() -> None:
    model = ScriptedModel([say("The first half, ", stop_reason="max_tokens"), "the second half."])
    result, _ = outcome(model)
    assert (result.status, result.text) == ("complete", "The first half, the second half.")


def test_pitfall_23_a_blank_reply_is_asked_for_once_more_and_then_a_stated_failure() -> None:
    result, conversation = outcome(ScriptedModel(["  ", "Here."]))
    assert (result.status, result.text) == ("complete", "Here.")
    assert conversation.messages[1]["origin"] == "loop"
    result, conversation = outcome(ScriptedModel(["", "\n", "never"]))
    assert (result.status, result.reason) == ("failed", "blank_reply")
    assert conversation.messages[-1]["content"] == result.text != ""


def test_lone_surrogates_in_any_text_become_text_that_can_be_encoded() -> None:
    model = ScriptedModel([call("echo", text="a\ud800b"), "x\udfffy"])
    messages: list[Any] = []
    agent_step("q\ud800", messages, model, "", tools=[echo])
    for message in messages:
        str(message).encode()
    assert messages[2]["content"].startswith("a")
