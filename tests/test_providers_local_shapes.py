"""What a local model reads and may write: schema, prompt and the text inside of its JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.builtin_tools import now, wordcount
from agentlab.errors import InputError
from agentlab.messages import ToolCall
from agentlab.providers.local.prompt import EXAMPLES, to_local
from agentlab.providers.local.reading import AnswerText, Assembly
from agentlab.providers.local.schema import ANSWER, arguments_schema, reply_schema
from agentlab.tools import Tool


def test_the_choice_of_tools_chooses_the_branches():
    assert reply_schema([now], "none") == ANSWER == reply_schema([])
    branches = reply_schema([now, wordcount], "any")["anyOf"]
    assert [list(b["properties"]) for b in branches] == [["tool", "arguments"]] * 2
    with pytest.raises(InputError, match="tool_choice: a call is asked for and there is no tool"):
        reply_schema([], "any")


def test_a_name_may_be_left_free():
    call, answer = reply_schema([now, wordcount], any_name=True)["anyOf"]
    assert call["properties"] == {"tool": {"type": "string"}, "arguments": {"type": "object"}}
    assert answer == ANSWER


def test_a_grammar_is_asked_for_shapes_only():
    schema = {
        "type": "object",
        "title": "T",
        "properties": {
            "unit": {"enum": ["a", "b"], "description": "Which."},
            "ids": {"type": "array", "items": {"type": "string", "pattern": "^x"}, "maxItems": 3},
            "at": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
            "node": {"$ref": "#/$defs/node"},
            "description": {"type": "string"},
        },
        "required": ["unit"],
        "$defs": {"node": {"type": "object"}},
    }
    assert arguments_schema(schema) == {
        "type": "object",
        "properties": {
            "unit": {"enum": ["a", "b"]},
            "ids": {"type": "array", "items": {"type": "string"}},
            "at": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "node": {},
            "description": {"type": "string"},
        },
        "required": ["unit"],
        "additionalProperties": False,
    }
    assert arguments_schema({"type": "object", "additionalProperties": True})["additionalProperties"] is True


def test_calls_of_one_message_stand_one_after_another_with_their_results():
    calls = [
        {"id": i, "type": "function", "function": {"name": "wordcount", "arguments": f'{{"text":"{i}"}}'}} for i in "xy"
    ]
    messages = [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": "I will.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "x", "name": "wordcount", "content": "1"},
        {"role": "tool", "tool_call_id": "y", "name": "wordcount", "content": " "},
        {"role": "user", "content": "Hurry.", "origin": "loop"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    assert to_local(messages, "", [wordcount])[len(EXAMPLES) :] == [
        {"role": "assistant", "content": EXAMPLES[-1][1]},
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": 'I will.\n\n{"tool": "wordcount", "arguments": {"text": "x"}}'},
        {"role": "user", "content": "Result of wordcount:\n1"},
        {"role": "assistant", "content": '{"tool": "wordcount", "arguments": {"text": "y"}}'},
        {"role": "user", "content": "Result of wordcount:\n(wordcount returned nothing)\n\nHurry."},
        {"role": "assistant", "content": '{"answer": "Done."}'},
        {"role": "user", "content": "Thanks."},
    ]
    assert to_local(messages, "", [])[-2] == {"role": "assistant", "content": "Done."}


def test_a_tool_is_described_in_a_line():
    tool = Tool(
        "find",
        "Find a text.\n  In files.",
        {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "kind": {"enum": ["a", 2]},
                "most": {"type": ["integer", "null"]},
            },
            "required": ["text"],
        },
        lambda **_: "",
    )
    system = to_local([], "Be brief.", [tool])[0]["content"]
    assert system.startswith("Be brief.\n\n")
    assert system.endswith('\nfind(text: string, kind: "a" or 2?, most: integer or null?): Find a text. In files.')


def test_the_worked_turns_are_replies_that_the_schema_allows_and_show_no_failure():
    for role, text in EXAMPLES:
        if role == "assistant":
            assert set(json.loads(text)) in ({"answer"}, {"tool", "arguments"})
    whole = " ".join(text for _, text in EXAMPLES)
    assert not any(word in whole for word in ("Error", "truncated", "not shown", "read_result"))


@given(st.text(), st.lists(st.integers(1, 6), min_size=1), st.booleans())
def test_any_answer_in_any_pieces_comes_out_whole(text, sizes, plain):
    raw = json.dumps({"answer": text}, ensure_ascii=plain)
    reader, got, at, turn = AnswerText(), "", 0, 0
    while at < len(raw):
        step = sizes[turn % len(sizes)]
        got += reader.take(raw[at : at + step])
        at, turn = at + step, turn + 1
    assert got == text


def test_half_of_a_pair_is_replaced():
    assert AnswerText().take('{"answer": "a\\ud83d b \\ud83d\\ude00"}') == "a\ufffd b \U0001f600"


@given(st.text(min_size=1), st.dictionaries(st.text(), st.integers() | st.text(), max_size=3), st.integers(1, 9))
def test_any_call_in_any_pieces_comes_out_whole(name, arguments, size):
    raw = json.dumps({"tool": name, "arguments": arguments})
    assembly = Assembly("tiny", structured=True, next_call=4)
    for start in range(0, len(raw), size):
        piece = raw[start : start + size]
        assert assembly.take({"choices": [{"delta": {"content": piece}, "finish_reason": None}]}) == ""
    assembly.take({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    assert assembly.reply().tool_calls == (ToolCall("call_4", name, arguments),)
    assert assembly.reply().usage is None
