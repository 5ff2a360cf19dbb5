"""A model that says what a script says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, InputError, ProviderError, TransportError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers import adapt
from agentlab.providers.scripted import ScriptedModel, call, say


def ask(model, messages=(), **options):
    return model.call(list(messages), system="be brief", tools=(), **options)


def test_replies_come_in_the_order_of_the_script():
    given_reply = Reply("third", usage=Usage(1, 2), stop_reason="max_tokens", model="other")
    model = ScriptedModel(["first", call("now"), given_reply, [call("a"), call("b", id="x")], say("so", call("c"))])
    first, second, third, fourth, fifth = (ask(model) for _ in range(5))
    assert (first.text, first.stop_reason, first.model) == ("first", "end_turn", "scripted")
    assert (second.tool_calls, second.stop_reason) == ((ToolCall("call_0", "now", {}),), "tool_use")
    assert third == given_reply
    assert [c.id for c in fourth.tool_calls] == ["call_0", "x"]
    assert (fifth.text, [c.name for c in fifth.tool_calls], fifth.stop_reason) == ("so", ["c"], "tool_use")


def test_pitfall_16_ids_repeat_across_replies_unless_asked_otherwise():
    script = [[call("a"), call("b")], call("c")]
    repeated = ScriptedModel(script)
    assert [c.id for _ in range(2) for c in ask(repeated).tool_calls] == ["call_0", "call_1", "call_0"]
    unique = ScriptedModel(script, unique_ids=True)
    assert [c.id for _ in range(2) for c in ask(unique).tool_calls] == ["call_0", "call_1", "call_2"]


def test_pitfall_17_the_same_id_twice_in_one_reply_can_be_written_down():
    model = ScriptedModel([[call("a", id="x"), call("b", id="x"), ToolCall("", "c", {})]])
    assert [c.id for c in ask(model).tool_calls] == ["x", "x", ""]


def test_an_argument_may_be_called_name():
    assert call("greet", name="Ada").arguments == {"name": "Ada"}


def test_a_script_that_is_used_up_says_so():
    model = ScriptedModel(["only"])
    ask(model)
    with pytest.raises(ProviderError, match="the script has 1 reply and this is call 2") as caught:
        ask(model)
    assert not caught.value.transient


@pytest.mark.parametrize("error", [TransportError("gone"), KeyboardInterrupt(), ValueError("odd")])
def test_an_exception_is_raised_and_the_script_goes_on(error):
    model = ScriptedModel([error, "after"])
    with pytest.raises(type(error)) as caught:
        ask(model)
    assert caught.value is error
    assert ask(model).text == "after"


def test_an_error_streams_the_text_that_came_before_it():
    pieces = []
    with pytest.raises(TransportError):
        ask(ScriptedModel([TransportError("cut", text="half a sen")], stream_by=4), on_text_delta=pieces.append)
    assert pieces == ["half", " a s", "en"]


@given(st.text(), st.integers(1, 40))
def test_streamed_pieces_make_up_the_text_and_none_is_longer_than_asked(text, size):
    pieces = []
    reply = ask(ScriptedModel([text], stream_by=size), on_text_delta=pieces.append)
    assert "".join(pieces) == text == reply.text
    assert all(0 < len(piece) <= size for piece in pieces)


def test_a_function_is_given_what_it_names():
    seen = []

    def reply(messages, *, system, tool_choice):
        seen.append((system, tool_choice))
        return call("count", n=len(messages))

    model = ScriptedModel(reply)
    assert ask(model, [{}, {}], tool_choice="none").tool_calls == (ToolCall("call_0", "count", {"n": 2}),)
    assert seen == [("be brief", "none")]


def test_functions_and_replies_may_be_mixed():
    def fail(messages):
        return ProviderError("down", status=503)

    model = ScriptedModel([lambda messages: f"{len(messages)} messages", fail, "end"])
    assert ask(model, [{}]).text == "1 messages"
    with pytest.raises(ProviderError, match="down"):
        ask(model)
    assert ask(model).text == "end"


@pytest.mark.parametrize("wrong", [None, 3, [], {"text": "x"}, ["text", call("a")]])
def test_what_is_no_reply_is_refused_where_it_is_written(wrong):
    with pytest.raises(InputError, match=r"^script\[1\]: expected a text, a ToolCall"):
        ScriptedModel(["fine", wrong])
    with pytest.raises(InputError, match="what the function of call 0 returned"):
        ask(ScriptedModel(lambda messages: wrong))


def test_a_piece_of_no_length_is_refused():
    with pytest.raises(InputError, match="stream_by"):
        ScriptedModel(["x"], stream_by=0)


def test_requests_are_copied_when_asked_for_and_else_not_kept():
    messages = [{"role": "user", "content": "hi", "tool_calls": [{"id": "a"}]}]
    model = ScriptedModel(["one", "two"], keep_requests=True)
    ask(model, messages, tool_choice="any", max_output_tokens=7)
    messages[0]["tool_calls"][0]["id"] = "changed"
    messages.append({"role": "assistant", "content": "one"})
    ask(model, messages)
    first, second = model.requests
    assert first.messages == [{"role": "user", "content": "hi", "tool_calls": [{"id": "a"}]}]
    assert (first.system, first.tools, first.tool_choice, first.max_output_tokens) == ("be brief", (), "any", 7)
    assert len(second.messages) == 2
    plain = ScriptedModel(["one"])
    ask(plain)
    assert (plain.requests, plain.calls) == ([], 1)


def test_an_ended_scope_is_noticed_before_the_call_and_between_pieces():
    ended = Scope()
    ended.cancel("stop")
    model = ScriptedModel(["unsaid"])
    with pytest.raises(Cancelled):
        ask(model, scope=ended)
    assert model.calls == 0

    scope, pieces = Scope(), []

    def hear(piece):
        pieces.append(piece)
        scope.cancel("heard enough")

    with pytest.raises(Cancelled, match="heard enough"):
        ask(ScriptedModel(["abcdef"], stream_by=2), scope=scope, on_text_delta=hear)
    assert pieces == ["ab"]


def test_it_is_a_provider_as_it_stands():
    model = ScriptedModel([], model="m", window=100)
    assert adapt(model) is model
    assert (model.name, model.model, model.window) == ("scripted", "m", 100)


def test_a_built_in_function_without_a_signature_may_be_the_script():
    assert ask(ScriptedModel(str), [1, 2]).text == "[1, 2]"
