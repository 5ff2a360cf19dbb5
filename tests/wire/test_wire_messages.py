"""What the adapters make of messages and of streams, without a server."""

from __future__ import annotations

import copy
from types import SimpleNamespace as Some

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.messages import ToolCall, Usage
from agentlab.providers import openai
from agentlab.providers.anthropic import to_anthropic
from agentlab.providers.openai import to_openai
from agentlab.providers.wire import parse_arguments
from agentlab.testing import check_anthropic, check_openai

CALL_IDS = st.sampled_from(["call_0", "call_0_2", "call_0_2_2", "call.1", "call/1", "toolu_01", "ä"])
TEXTS = st.sampled_from(["", " ", "fine", "a\udc80b", "<|endoftext|>", "日本"])
ARGUMENTS = st.sampled_from(["{}", "", "[1]", '{"a": 1}', '{"a": "\\ud83d"}', "half {"])


@st.composite
def iterations(draw):
    """An assistant message with calls, all their results, and perhaps a word of the loop."""
    ids = draw(st.lists(CALL_IDS, min_size=1, max_size=4, unique=True))
    calls = [{"id": i, "type": "function", "function": {"name": "echo", "arguments": draw(ARGUMENTS)}} for i in ids]
    messages = [{"role": "assistant", "content": draw(TEXTS), "tool_calls": calls}]
    for i in ids:
        result = {"role": "tool", "tool_call_id": i, "name": "echo", "content": draw(TEXTS)}
        messages.append({**result, "is_error": True} if draw(st.booleans()) else result)
    if draw(st.booleans()):
        messages.append({"role": "user", "content": draw(TEXTS), "origin": "loop"})
    return messages


@st.composite
def histories(draw):
    """Turns: one or two user messages, iterations, and perhaps no reply."""
    messages = []
    for _ in range(draw(st.integers(1, 3))):
        messages += [{"role": "user", "content": draw(TEXTS)} for _ in range(draw(st.integers(1, 2)))]
        for iteration in draw(st.lists(iterations(), max_size=3)):
            messages += iteration
        if draw(st.booleans()):
            messages.append({"role": "assistant", "content": draw(TEXTS)})
    return [*messages, {"role": "user", "content": "Go on."}]


@given(histories())
def test_pitfalls_16_18_20_21_every_valid_history_is_accepted_by_both_apis(messages):
    before = copy.deepcopy(messages)
    tools = [{"name": "echo", "description": "Echo.", "input_schema": {"type": "object"}}]
    check_anthropic({"model": "m", "max_tokens": 9, "tools": tools, "messages": to_anthropic(messages)})
    check_openai({"model": "m", "messages": to_openai(messages, "")})
    assert messages == before


@given(histories(), histories())
def test_what_was_sent_stays_as_it_was_when_messages_are_added(earlier, later):
    """The provider's cache holds only while the prefix is the same; the last message may grow."""
    sent = to_anthropic(earlier)
    again = to_anthropic(earlier + later)
    assert again[: len(sent) - 1] == sent[:-1]
    assert again[len(sent) - 1]["content"][: len(sent[-1]["content"])] == sent[-1]["content"]
    assert to_openai(earlier + later, "s")[: len(earlier) + 1] == to_openai(earlier, "s")


def test_results_follow_their_calls_and_carry_their_ids():
    def turn(result):
        call = {"id": "call_0", "type": "function", "function": {"name": "echo", "arguments": "{}"}}
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": "call_0", "name": "echo", "content": result, "is_error": True}

    sent = to_anthropic([{"role": "user", "content": "hi"}, *turn("one"), *turn("two")])
    uses = [b["id"] for m in sent for b in m["content"] if b["type"] == "tool_use"]
    results = [b for m in sent for b in m["content"] if b["type"] == "tool_result"]
    assert uses == ["call_0", "call_0_2"]
    assert [(b["tool_use_id"], b["content"], b["is_error"]) for b in results] == [
        ("call_0", "one", True),
        ("call_0_2", "two", True),
    ]


@pytest.mark.parametrize("text", ["[1]", "5", '"x"', "null", "{", '{"a": NaN}', '{"a": 1e999}', "[" * 50_000])
def test_pitfall_25_what_is_no_object_stays_text(text):
    assert parse_arguments(text) == text


def test_large_integers_are_kept():
    assert parse_arguments('{"n": 123456789012345678901234567890}') == {"n": 123456789012345678901234567890}


def chunk(*calls, content=None, finish=None, usage=None, **delta):
    """A chunk as a compatible server may send it: with what it has."""
    choice = Some(delta=Some(content=content, tool_calls=list(calls), **delta), finish_reason=finish)
    return Some(model="m", choices=[choice], usage=usage)


def piece(index, call_id=None, name=None, arguments=None):
    return Some(index=index, id=call_id, function=Some(name=name, arguments=arguments))


def assemble(*chunks):
    assembly = openai._Assembly()
    for one in chunks:
        assembly.take(one)
    return assembly.reply()


def test_servers_that_number_every_call_0_are_understood():
    reply = assemble(
        chunk(piece(0, "a", "echo", '{"n": 1}')), chunk(piece(0, "b", "echo", '{"n": 2}')), chunk(finish="stop")
    )
    assert reply.tool_calls == (ToolCall("a", "echo", {"n": 1}), ToolCall("b", "echo", {"n": 2}))
    assert reply.stop_reason == "tool_use"


def test_servers_that_repeat_the_id_are_understood():
    reply = assemble(
        chunk(piece(0, "a", "echo", '{"n"')), chunk(piece(0, "a", "echo", ": 1}")), chunk(finish="tool_calls")
    )
    assert reply.tool_calls == (ToolCall("a", "echo", {"n": 1}),)


def test_calls_side_by_side_are_kept_apart():
    reply = assemble(
        chunk(piece(0, "a", "echo", "")),
        chunk(piece(1, "b", "echo", "")),
        chunk(piece(1, arguments='{"n": 2}')),
        chunk(piece(0, arguments='{"n": 1}')),
        chunk(finish="tool_calls"),
    )
    assert [call.arguments for call in reply.tool_calls] == [{"n": 1}, {"n": 2}]


def test_a_refusal_is_text_with_its_own_reason():
    reply = assemble(chunk(refusal="I cannot help with that."), chunk(finish="stop"))
    assert (reply.text, reply.stop_reason) == ("I cannot help with that.", "refusal")


def test_chunks_without_choices_are_no_trouble():
    reply = assemble(Some(choices=None), Some(choices=[], usage=None), chunk(content="Hi.", finish="stop"))
    assert (reply.text, reply.usage) == ("Hi.", None)


@pytest.mark.parametrize(
    ("prompt", "read", "write", "expected"),
    [
        (100, 0, 0, Usage(100, 5)),
        (100, 60, 30, Usage(10, 5, cache_read_tokens=60, cache_write_tokens=30)),
        (100, 120, 9, Usage(0, 5, cache_read_tokens=100)),
        (100, None, None, Usage(100, 5)),
        (0, 0, 0, None),
    ],
)
def test_openai_usage_adds_up_to_its_prompt(prompt, read, write, expected):
    details = Some(cached_tokens=read, cache_write_tokens=write)
    usage = Some(prompt_tokens=prompt, completion_tokens=5, prompt_tokens_details=details)
    assert assemble(chunk(content="x", finish="stop", usage=usage)).usage == expected
