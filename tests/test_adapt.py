"""What a reader's own provider may return, and what is said of the rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agentlab.errors import ProviderError
from agentlab.loop import agent_step
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers import adapt
from agentlab.testing import check_messages
from agentlab.tools import Tool

NAMES = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Own:
    """A reader's provider that returns what it was given."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)

    def call(self, messages: Any, system: str, tools: Any) -> Any:
        return self.replies.pop(0)


def read(reply: Any) -> Reply:
    return adapt(Own(reply)).call([], system="", tools=[])


FUNCTION = {"name": "add", "arguments": '{"a": 1}'}
CALLS = [
    ToolCall("7", "add", {"a": 1}),
    ToolCall(7, "add", {"a": 1}),  # type: ignore[arg-type]
    ToolCall("7", "add", '{"a": 1}'),
    SimpleNamespace(id="7", name="add", arguments={"a": 1}),
    SimpleNamespace(id=7, name="add", arguments='{"a": 1}'),
    {"id": "7", "name": "add", "arguments": {"a": 1}},
    {"id": 7, "type": "function", "function": FUNCTION},
    {"id": "7", "function": SimpleNamespace(**FUNCTION)},
    SimpleNamespace(id="7", type="function", function=SimpleNamespace(**FUNCTION)),
    SimpleNamespace(id="7", function=FUNCTION, name=None, arguments=None),
]


@pytest.mark.parametrize("call", CALLS, ids=repr)
@pytest.mark.parametrize("holder", [list, tuple])
@pytest.mark.parametrize("wrap", [dict, SimpleNamespace, Reply], ids=["dict", "object", "Reply"])
def test_calls_are_read_in_every_shape(call, holder, wrap):
    (found,) = read(wrap(text="", tool_calls=holder([call]))).tool_calls
    assert type(found) is ToolCall
    assert (found.id, found.name) == ("7", "add")
    assert found.arguments in ({"a": 1}, '{"a": 1}')
    if not isinstance(call, ToolCall):
        assert found.arguments == {"a": 1}


@pytest.mark.parametrize(
    ("sent", "arguments"), [(None, {}), ("", {}), ("{", "{"), ("[1]", "[1]"), ("5", "5"), ({"a": 1}, {"a": 1})]
)
def test_arguments_that_are_no_object_stay_as_they_came(sent, arguments):
    assert read({"tool_calls": [{"id": "1", "name": "add", "arguments": sent}]}).tool_calls[0].arguments == arguments


@pytest.mark.parametrize(
    "reply",
    [
        Reply(None, None),  # type: ignore[arg-type]
        Reply("", [], "usage", 5, 5),  # type: ignore[arg-type]
        Reply("", (), Usage(None, 1)),  # type: ignore[arg-type]
        Reply("", (), Usage(-5)),
        {"text": None},
        {"content": None, "tool_calls": None},
        SimpleNamespace(text=None),
        SimpleNamespace(tool_calls=[]),
    ],
    ids=repr,
)
def test_fields_that_are_none_or_of_no_use_get_their_default(reply):
    assert read(reply) == Reply()


def test_a_whole_reply_is_returned_as_it_is():
    reply = Reply("Hi", (ToolCall("1", "add", {}), ToolCall("2", "add", "{")), Usage(5, 5), "end_turn", "m")
    assert read(reply) is reply
    assert read({"content": "Hi", "usage": reply.usage, "model": "m", "stop_reason": "end_turn"}) == Reply(
        "Hi", (), reply.usage, "end_turn", "m"
    )


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (None, "call returned None; expected an object with .text and .tool_calls"),
        ("Hello", "call returned a str; expected"),
        (5, "call returned an int; expected"),
        ({"choices": []}, "call returned a dict; expected"),
        ([], "call returned a list; expected"),
        (object(), "call returned an object; expected"),
        (Reply(5), "text is an int; expected a string"),  # type: ignore[arg-type]
        ({"content": [{"type": "text"}]}, "text is a list; expected a string"),
        (Reply("", {"id": "1"}), "tool_calls is a dict; expected a list"),  # type: ignore[arg-type]
        ({"tool_calls": "add"}, "tool_calls is a str; expected a list"),
        ({"tool_calls": [None]}, "a tool call that is None; expected .id, .name and .arguments"),
        ({"tool_calls": ["add"]}, "a tool call that is a str; expected"),
        ({"tool_calls": [{"id": "1", "function": "add"}]}, "a tool call that is a dict; expected"),
    ],
    ids=repr,
)
def test_what_is_no_reply_is_an_error_that_says_what_came(reply, words):
    with pytest.raises(ProviderError) as caught:
        read(reply)
    assert words in str(caught.value)
    assert not caught.value.transient


def test_the_loop_runs_the_calls_of_a_dict_and_keeps_a_valid_list():
    calls = [{"id": 7, "name": "add", "arguments": {"a": 1}}, {"id": 7, "function": FUNCTION}]
    ran: list[int] = []
    add = Tool("add", "Add.", NAMES, lambda a: ran.append(a) or "done")
    messages: list[Any] = []
    reply = agent_step("Go.", messages, Own({"text": None, "tool_calls": calls}, {"text": "Done."}), "", tools=[add])
    assert (reply, ran) == ("Done.", [1, 1])
    check_messages(messages)


def test_a_reply_that_is_none_ends_the_turn_with_a_valid_list():
    messages: list[Any] = []
    with pytest.raises(ProviderError, match="returned None"):
        agent_step("Go.", messages, Own(None), "", tools=[])
    check_messages(messages)


@pytest.mark.parametrize("value", [object(), {1, 2}, 10**30, float("nan"), {(1, 2): 3}, "\ud800"])
def test_arguments_that_json_has_no_form_for_do_not_break_the_loop(value):
    messages: list[Any] = []
    calls = [ToolCall("1", "add", {"a": value})]
    assert agent_step("Go.", messages, Own(Reply("", calls), Reply("Done.")), "", tools=[]) == "Done."  # type: ignore[arg-type]
    check_messages(messages)
