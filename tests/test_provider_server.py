"""The strict loopback server, asked by the official SDKs, and its rules without HTTP."""

from __future__ import annotations

import http.client
import json
import threading
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.testing import (
    OVERLOADED,
    RATE_LIMITED,
    SERVER_ERROR,
    Cut,
    Dropped,
    ErrorEvent,
    HttpFault,
    RejectedRequest,
    Reply,
    Slow,
    ToolCall,
    Usage,
    check_anthropic,
    check_messages,
    check_openai,
    cut_call,
    provider_server,
    refused_url,
)

LONG = "The quick brown fox jumps over the lazy dog, again and again."
CALLS = Reply(
    "Let me look.", (ToolCall("a_1", "now", {}), ToolCall("a_2", "read_file", {"path": "a.txt", "n": [1, 2]}))
)

A_TOOLS = [{"name": "now", "description": "The time.", "input_schema": {"type": "object", "properties": {}}}]
O_TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]
USER = {"role": "user", "content": "What time is it?"}


def a_call(*ids, text="Let me see."):
    uses = [{"type": "tool_use", "id": call_id, "name": "now", "input": {}} for call_id in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *uses]}


def a_result(*ids, tail=()):
    results = [{"type": "tool_result", "tool_use_id": call_id, "content": "12:00"} for call_id in ids]
    return {"role": "user", "content": [*results, *tail]}


def o_call(*ids, content=None, arguments="{}"):
    calls = [{"id": i, "type": "function", "function": {"name": "now", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def o_result(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "12:00"}


def a_body(*messages, **more):
    return {"model": "m", "max_tokens": 100, "messages": list(messages), "tools": A_TOOLS} | more


def o_body(*messages, **more):
    return {"model": "m", "messages": list(messages), "tools": O_TOOLS} | more


@pytest.fixture(scope="session")
def anthropic():
    import anthropic

    return anthropic


@pytest.fixture(scope="session")
def openai():
    import openai

    return openai


@pytest.fixture
def serve():
    """Start servers; all of them are closed at the end of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        started = []

        def start(*args, **kwargs):
            started.append(provider_server(*args, **kwargs).__enter__())
            return started[-1]

        yield start
        for server in started:
            server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def a_client(anthropic):
    base = anthropic.Anthropic(api_key="sk-right", base_url="http://127.0.0.1:9", max_retries=0)
    yield lambda server, **more: base.with_options(base_url=getattr(server, "url", server), **more)
    base.close()


@pytest.fixture(scope="session")
def o_client(openai):
    base = openai.OpenAI(api_key="sk-right", base_url="http://127.0.0.1:9", max_retries=0)
    yield lambda server, **more: base.with_options(base_url=getattr(server, "url", server) + "/v1", **more)
    base.close()


# Answers


def test_anthropic_message_without_streaming(serve, a_client):
    server = serve([CALLS])
    message = a_client(server).messages.create(**a_body(USER))
    assert [block.type for block in message.content] == ["text", "tool_use", "tool_use"]
    assert message.content[0].text == "Let me look."
    assert (message.content[2].id, message.content[2].input) == ("a_2", {"path": "a.txt", "n": [1, 2]})
    assert (message.stop_reason, message.model, message.role) == ("tool_use", "m", "assistant")


def test_anthropic_stream_has_the_events_of_the_real_api_in_order(serve, a_client):
    server = serve([CALLS], piece=8)
    with a_client(server).messages.create(**a_body(USER), stream=True) as stream:
        events = list(stream)
    kinds = [event.type for event in events]
    text, now, read = (["content_block_start", *["content_block_delta"] * n, "content_block_stop"] for n in (2, 2, 5))
    assert kinds == ["message_start", *text, *now, *read, "message_delta", "message_stop"]
    assert events[0].message.stop_reason is None
    assert events[0].message.content == []
    deltas = [event.delta for event in events if event.type == "content_block_delta"]
    assert {delta.type for delta in deltas} == {"text_delta", "input_json_delta"}
    assert json.loads("".join(d.partial_json for d in deltas[4:])) == {"path": "a.txt", "n": [1, 2]}
    assert events[-2].delta.stop_reason == "tool_use"


def test_anthropic_raw_stream_names_every_event_and_pings(serve):
    server = serve(["Hello."])
    raw = post(server, "/v1/messages", a_body(USER, stream=True), {"anthropic-version": "2026-10-21"})[2].decode()
    named = [part.split("\n") for part in raw.strip().split("\n\n")]
    block = ["content_block_start", "ping", "content_block_delta", "content_block_stop"]
    order = ["message_start", *block, "message_delta", "message_stop"]
    assert [lines[0] for lines in named] == [f"event: {name}" for name in order]
    for event, data in named:
        assert json.loads(data.removeprefix("data: "))["type"] == event.removeprefix("event: ")


def test_anthropic_stream_helper_assembles_the_same_message(serve, a_client):
    server = serve([CALLS, CALLS])
    with a_client(server).messages.stream(**a_body(USER)) as stream:
        streamed = stream.get_final_message()
    plain = a_client(server).messages.create(**a_body(USER))
    assert [b.model_dump(include={"type", "text", "input", "id"}) for b in streamed.content] == [
        b.model_dump(include={"type", "text", "input", "id"}) for b in plain.content
    ]
    assert streamed.usage.input_tokens == plain.usage.input_tokens
    assert streamed.usage.output_tokens == plain.usage.output_tokens > 1


def test_openai_completion_without_streaming(serve, o_client):
    server = serve([CALLS, "Noon."])
    first = o_client(server).chat.completions.create(**o_body(USER))
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.choices[0].message.content == "Let me look."
    call = first.choices[0].message.tool_calls[1]
    assert (call.id, call.function.name) == ("a_2", "read_file")
    assert json.loads(call.function.arguments) == {"path": "a.txt", "n": [1, 2]}
    second = o_client(server).chat.completions.create(**o_body(USER))
    assert (second.choices[0].message.content, second.choices[0].finish_reason) == ("Noon.", "stop")
    assert second.usage.total_tokens == second.usage.prompt_tokens + second.usage.completion_tokens


def test_openai_stream_sends_call_deltas_and_usage_last(serve, o_client):
    server = serve([CALLS], piece=8)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    with o_client(server).chat.completions.create(**o_body(USER), **options) as stream:
        chunks = list(stream)
    assert chunks[-1].choices == []
    assert chunks[-1].usage.prompt_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1])
    deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "Let me look."
    parts = [call for delta in deltas for call in delta.tool_calls or []]
    second = [part for part in parts if part.index == 1]
    assert (second[0].id, second[0].function.name) == ("a_2", "read_file")
    assert [part.id for part in second[1:]] == [None] * (len(second) - 1)
    assert json.loads("".join(part.function.arguments for part in second)) == {"path": "a.txt", "n": [1, 2]}
    assert chunks[-2].choices[0].finish_reason == "tool_calls"


def test_openai_stream_without_options_has_no_usage_and_ends_with_done(serve):
    server = serve(["Hello."])
    raw = post(server, "/v1/chat/completions", o_body(USER, stream=True))[2].decode()
    assert raw.endswith("data: [DONE]\n\n")
    assert "usage" not in raw


@pytest.mark.parametrize(
    ("scripted", "anthropic_says", "openai_says"),
    [
        (None, "end_turn", "stop"),
        ("max_tokens", "max_tokens", "length"),
        ("refusal", "refusal", "content_filter"),
        ("context_window", "model_context_window_exceeded", "length"),
    ],
)
def test_stop_reasons_are_worded_as_each_api_does(serve, a_client, o_client, scripted, anthropic_says, openai_says):
    server = serve(Reply("Well.", stop_reason=scripted))
    assert a_client(server).messages.create(**a_body(USER)).stop_reason == anthropic_says
    assert o_client(server).chat.completions.create(**o_body(USER)).choices[0].finish_reason == openai_says


def test_an_empty_reply_has_no_block(serve, a_client):
    server = serve(Reply())
    assert a_client(server).messages.create(**a_body(USER)).content == []
    with a_client(server).messages.stream(**a_body(USER)) as stream:
        assert stream.get_final_message().content == []


def test_a_call_without_an_id_gets_one_of_its_own(serve, a_client):
    server = serve(Reply(tool_calls=(ToolCall("", "now", {}), ToolCall("", "now", {}))))
    ids = [block.id for _ in range(2) for block in a_client(server).messages.create(**a_body(USER)).content]
    assert len(set(ids)) == 4


def test_a_function_answers_by_the_body(serve, a_client):
    server = serve(lambda body: f"You sent {len(body['messages'])}.")
    said = a_client(server).messages.create(**a_body(USER, USER)).content[0].text
    assert said == "You sent 2."


def test_the_script_can_be_replaced_and_says_when_it_is_at_its_end(serve, anthropic, a_client):
    server = serve(["one"])
    a_client(server).messages.create(**a_body(USER))
    with pytest.raises(anthropic.BadRequestError, match="no reply left for answer 2"):
        a_client(server).messages.create(**a_body(USER))
    server.script(["three"])
    assert a_client(server).messages.create(**a_body(USER)).content[0].text == "three"


def test_lone_surrogates_and_emoji_survive_the_wire(serve, o_client):
    server = serve(Reply("👩‍💻 end"), piece=1)
    with o_client(server).chat.completions.create(**o_body(USER), stream=True) as stream:
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "👩‍💻 end"


# Usage and caches


def test_counting_agrees_with_the_usage_of_the_call(serve, a_client):
    server = serve("ok", counter=len)
    body = a_body(USER, system="Be brief.")
    counted = a_client(server).messages.count_tokens(**{k: v for k, v in body.items() if k != "max_tokens"})
    usage = a_client(server).messages.create(**body).usage
    assert counted.input_tokens == usage.input_tokens > len(USER["content"]) + len("Be brief.")
    assert usage.output_tokens == len("ok")


def test_usage_can_be_fixed_by_the_reply(serve, a_client, o_client):
    server = serve(Reply("ok", usage=Usage(100, 20, cache_read_tokens=900, cache_write_tokens=7)))
    usage = a_client(server).messages.create(**a_body(USER)).usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 20)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (900, 7)
    usage = o_client(server).chat.completions.create(**o_body(USER)).usage
    assert (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens) == (1007, 900)


def marked(text):
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def cached(usage):
    return usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens


def test_anthropic_cache_writes_a_prefix_once_and_reads_it_afterwards(serve, a_client):
    server = serve("ok", counter=len, cache_minimum=100)
    ask = a_client(server).messages.create
    system = marked("s" * 500)
    total = cached(ask(**a_body(USER)).usage)[0] + 500
    first = cached(ask(**a_body(USER, system=system)).usage)
    assert (first[1] > 500, first[2], sum(first)) == (True, 0, total)
    assert cached(ask(**a_body(USER, system=system)).usage) == (first[0], 0, first[1])
    other = cached(ask(**a_body(USER, system=marked("t" * 500))).usage)
    assert other[1:] == (first[1], 0)


def test_anthropic_cache_grows_with_the_conversation(serve, a_client):
    server = serve("ok", counter=len, cache_minimum=10)
    ask = a_client(server).messages.create
    history, read_before = [], 0
    for turn in range(3):
        said = [*history, {"role": "user", "content": marked(f"question {turn} " * 10)}]
        fresh, written, read = cached(ask(**a_body(*said)).usage)
        assert (fresh, read) == (0, read_before)
        read_before = read + written
        history += [{"role": "user", "content": f"question {turn} " * 10}, {"role": "assistant", "content": "ok"}]


def test_anthropic_cache_is_lost_by_what_loses_the_real_one(serve, a_client):
    server = serve("ok", counter=len, cache_minimum=10)
    ask = a_client(server).messages.create
    body = a_body({"role": "user", "content": marked("question " * 20)}, system=marked("system " * 20))
    whole = cached(ask(**body).usage)[1]
    assert cached(ask(**body).usage)[2] == whole
    part = cached(ask(**body | {"tool_choice": {"type": "none"}}).usage)
    assert (0 < part[2] < whole, sum(part)) == (True, whole)
    assert cached(ask(**body | {"model": "other"}).usage)[2] == 0
    tools = [A_TOOLS[0] | {"description": "Another text."}]
    assert cached(ask(**body | {"tools": tools}).usage)[2] == 0


def test_anthropic_cache_keeps_nothing_below_its_minimum_or_without_marks(serve, a_client):
    server = serve("ok", counter=len)
    ask = a_client(server).messages.create
    for system in (marked("s" * 500), "s" * 5_000):
        for _ in range(2):
            assert cached(ask(**a_body(USER, system=system)).usage)[1:] == (0, 0)


def test_anthropic_top_level_cache_control_marks_the_last_block(serve, a_client):
    server = serve("ok", counter=len, cache_minimum=10)
    ask = a_client(server).messages.create
    body = a_body(USER, cache_control={"type": "ephemeral"})
    assert cached(ask(**body).usage)[0] == 0
    assert cached(ask(**body).usage)[1] == 0


def test_openai_cached_tokens_come_in_steps_of_128_from_1024_inside_the_prompt(serve, o_client):
    server = serve("ok", counter=len)

    def ask(*messages):
        usage = o_client(server).chat.completions.create(model="m", messages=list(messages)).usage
        return usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens

    head = {"role": "system", "content": "s" * 1_200}
    assert ask(head, USER) == (1_222, 0)
    prompt, hit = ask(head, {"role": "user", "content": "Something else?"})
    assert (prompt, hit) == (1_221, 1_152)
    short = {"role": "system", "content": "s" * 900}
    assert [ask(short, USER)[1] for _ in range(2)] == [0, 0]


# Rejections

A_REJECTED = {
    "orphan result": (a_body(USER, {"role": "assistant", "content": "Hi."}, a_result("x")), "unexpected `tool_use_id`"),
    "result at the start": (a_body(a_result("x")), "unexpected `tool_use_id` found in `tool_result` blocks: x"),
    "call without result": (a_body(USER, a_call("x"), USER), "`tool_use` ids were found without `tool_result` blocks"),
    "call at the end": (a_body(USER, a_call("x")), "messages.1: `tool_use` ids were found without"),
    "one of two results": (a_body(USER, a_call("x", "y"), a_result("x")), "immediately after: y. Each"),
    "result one message late": (a_body(USER, a_call("x"), USER, a_result("x")), "immediately after: x"),
    "text before the result": (
        a_body(USER, a_call("x"), {"role": "user", "content": [*marked("Hm."), *a_result("x")["content"]]}),
        "immediately after: x",
    ),
    "two results for one call": (a_body(USER, a_call("x"), a_result("x", "x")), "must have a single result"),
    "same id twice in a message": (
        a_body(USER, a_call("x", "x"), a_result("x")),
        "1.content.2: `tool_use` ids must be",
    ),
    "same id in two messages": (
        a_body(USER, a_call("x"), a_result("x"), a_call("x"), a_result("x")),
        "messages.3.content.1: `tool_use` ids must be unique",
    ),
    "empty text block": (a_body({"role": "user", "content": [{"type": "text", "text": ""}]}), "must be non-empty"),
    "blank text block": (a_body({"role": "user", "content": [{"type": "text", "text": " "}]}), "non-whitespace text"),
    "empty text in a result": (
        a_body(
            USER,
            a_call("x"),
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": ""}]}],
            },
        ),
        "text content blocks must be non-empty",
    ),
    "empty content": (a_body({"role": "user", "content": ""}), "messages.0: all messages must have non-empty content"),
    "empty assistant in the middle": (
        a_body(USER, {"role": "assistant", "content": []}, USER),
        "messages.1: all messages",
    ),
    "null content": (a_body({"role": "user", "content": None}), "messages.0.content: Input should be a valid list"),
    "first message not user": (a_body({"role": "assistant", "content": "Hi."}, USER), 'must use the "user" role'),
    "tool role": (a_body(USER, {"role": "tool", "content": "x"}), "messages.1.role: Input should be 'user' or 'assist"),
    "system role": (a_body({"role": "system", "content": "x"}, USER), 'Unexpected role "system"'),
    "no messages": (a_body(), "at least one message is required"),
    "origin": (a_body(USER | {"origin": "loop"}), "messages.0.origin: Extra inputs are not permitted"),
    "name": (a_body(USER | {"name": "me"}), "messages.0.name: Extra inputs are not permitted"),
    "is_error on a message": (a_body(USER | {"is_error": True}), "messages.0.is_error: Extra inputs"),
    "unknown key in a block": (
        a_body({"role": "user", "content": [{"type": "text", "text": "x", "index": 0}]}),
        "messages.0.content.0.text.index: Extra inputs are not permitted",
    ),
    "unknown block": (a_body({"role": "user", "content": [{"type": "txt"}]}), "Input tag 'txt'"),
    "call by the user": (a_body({"role": "user", "content": a_call("x")["content"]}), "can only be in `assistant`"),
    "result by the assistant": (
        a_body(USER, {"role": "assistant", "content": a_result("x")["content"]}, USER),
        "`user`",
    ),
    "input as text": (
        a_body(USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "now", "input": "{}"}]}),
        "tool_use.input: Input should be a valid dictionary",
    ),
    "id with a colon": (a_body(USER, a_call("f:1"), a_result("f:1")), "String should match pattern"),
    "call without a name": (
        a_body(USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "", "input": {}}]}),
        "tool_use.name",
    ),
    "prefill": (a_body(USER, {"role": "assistant", "content": "It is"}), "does not support assistant message prefill"),
    "unknown field": (a_body(USER, stop="x"), "stop: Extra inputs are not permitted"),
    "no max_tokens": ({"model": "m", "messages": [USER]}, "max_tokens: Field required"),
    "max_tokens zero": (a_body(USER, max_tokens=0), "max_tokens: Input should be greater"),
    "no tools for old calls": (
        {k: v for k, v in a_body(USER, a_call("x"), a_result("x")).items() if k != "tools"},
        "must define tools",
    ),
    "tool without schema": (a_body(USER, tools=[{"name": "now"}]), "tools.0.custom.input_schema: Field required"),
    "tool in OpenAI's shape": (a_body(USER, tools=O_TOOLS), "tools.0: Input tag 'function'"),
    "tool with a bad name": (a_body(USER, tools=[A_TOOLS[0] | {"name": "a b"}]), "tools.0.custom.name: String should"),
    "schema not an object": (a_body(USER, tools=[{"name": "n", "input_schema": {"type": "string"}}]), "be 'object'"),
    "tools of one name": (a_body(USER, tools=A_TOOLS * 2), "Tool names must be unique"),
    "choice without tools": (a_body(USER, tools=[], tool_choice={"type": "auto"}), "while providing tools"),
    "choice as text": (a_body(USER, tool_choice="auto"), "tool_choice: Input should be"),
    "choice of no tool": (a_body(USER, tool_choice={"type": "tool", "name": "x"}), "Tool 'x' not found"),
    "five cache marks": (a_body(USER, system=marked("s") * 5), "A maximum of 4 blocks with cache_control"),
    "bad cache mark": (
        a_body(USER, system=[{"type": "text", "text": "s", "cache_control": {"type": "x"}}]),
        "ephemeral",
    ),
}

O_REJECTED = {
    "orphan result": (o_body(USER, o_result("x")), "must be a response to a preceeding message", "messages.[1].role"),
    "result after another message": (
        o_body(USER, o_call("x"), o_result("x"), USER, o_result("x")),
        "must be a response to a preceeding message",
        "messages.[4].role",
    ),
    "result of another call": (o_body(USER, o_call("x"), o_result("y")), "'tool_call_id' of 'y' not found", None),
    "two results for one call": (
        o_body(USER, o_call("x"), o_result("x"), o_result("x")),
        "Duplicate value for 'tool_call_id' of 'x', in messages[2] and messages[3].",
        "messages.[3].tool_call_id",
    ),
    "unanswered call": (o_body(USER, o_call("x"), USER), "did not have response messages: x", "messages.[2].role"),
    "unanswered at the end": (o_body(USER, o_call("x", "y"), o_result("x")), "response messages: y", None),
    "same id twice": (o_body(USER, o_call("x", "x"), o_result("x")), "Duplicate value for 'tool_call_id'", None),
    "unknown role": (
        o_body({"role": "bot", "content": "x"}),
        "Invalid value: 'bot'. Supported values",
        "messages[0].role",
    ),
    "null content": (
        o_body({"role": "assistant", "content": None}),
        "expected a string, got null",
        "messages.[0].content",
    ),
    "content as a number": (
        o_body({"role": "user", "content": 5}),
        "but got an integer instead",
        "messages[0].content",
    ),
    "origin": (o_body(USER | {"origin": "loop"}), "Unknown parameter: 'messages[0].origin'.", "messages[0].origin"),
    "is_error": (
        o_body(USER, o_call("x"), o_result("x") | {"is_error": True}),
        "Unknown parameter: 'messages[2].is_error'.",
        "messages[2].is_error",
    ),
    "name of a result": (o_body(USER, o_call("x"), o_result("x") | {"name": "now"}), "messages[2].name", None),
    "no calls in tool_calls": (o_body(USER, o_call(content="x")), "empty array", "messages[1].tool_calls"),
    "arguments as an object": (
        o_body(USER, o_call("x", arguments={}), o_result("x")),
        "expected a string, but got an object instead",
        "messages[1].tool_calls[0].function.arguments",
    ),
    "index in a call": (
        o_body(USER, {"role": "assistant", "tool_calls": [o_call("x")["tool_calls"][0] | {"index": 0}]}, o_result("x")),
        "Unknown parameter: 'messages[1].tool_calls[0].index'.",
        "messages[1].tool_calls[0].index",
    ),
    "long id": (o_body(USER, o_call("x" * 41), o_result("x" * 41)), "with maximum length 40", None),
    "empty id": (o_body(USER, o_call(""), o_result("")), "empty string", None),
    "no messages": (o_body(), "empty array", "messages"),
    "choice without tools": (
        {"model": "m", "messages": [USER], "tool_choice": "auto"},
        "'tool_choice' is only allowed when 'tools' are specified.",
        "tool_choice",
    ),
    "choice of no tool": (
        o_body(USER, tool_choice={"type": "function", "function": {"name": "x"}}),
        "no function named 'x'",
        "tool_choice",
    ),
    "unknown choice": (o_body(USER, tool_choice="any"), "Invalid value: 'any'", "tool_choice"),
    "no tools in tools": (o_body(USER, tools=[]), "Invalid 'tools': empty array", "tools"),
    "tool in Anthropic's shape": (o_body(USER, tools=A_TOOLS), "'tools[0].type'", "tools[0].type"),
    "bad tool name": (
        o_body(USER, tools=[{"type": "function", "function": {"name": "a b"}}]),
        "string does not match pattern",
        "tools[0].function.name",
    ),
    "schema not an object": (
        o_body(USER, tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]),
        "Invalid schema for function 'f'",
        "tools[0].function.parameters",
    ),
    "stream options without stream": (
        o_body(USER, stream_options={"include_usage": True}),
        "only allowed when 'stream' is enabled",
        "stream_options",
    ),
    "both limits": (o_body(USER, max_tokens=5, max_completion_tokens=5), "at the same time", "max_tokens"),
}


@pytest.mark.parametrize("case", A_REJECTED)
def test_anthropic_rejects(serve, anthropic, a_client, case):
    body, words = A_REJECTED[case]
    server = serve()
    with pytest.raises(anthropic.BadRequestError) as caught:
        a_client(server).post("/v1/messages", body=body, cast_to=object)
    error = caught.value.body
    assert words in error["error"]["message"]
    assert (error["type"], error["error"]["type"]) == ("error", "invalid_request_error")
    assert error["request_id"] == caught.value.request_id == "req_000001"
    assert [rejected.status for rejected in server.rejected] == [400]


@pytest.mark.parametrize("case", O_REJECTED)
def test_openai_rejects(serve, openai, o_client, case):
    body, words, param = O_REJECTED[case]
    server = serve()
    with pytest.raises(openai.BadRequestError) as caught:
        o_client(server).post("/chat/completions", body=body, cast_to=object)
    assert words in caught.value.body["message"]
    assert caught.value.type == "invalid_request_error"
    assert param is None or caught.value.param == param


def test_good_histories_are_accepted(serve, a_client, o_client):
    server = serve()
    text = {"type": "text", "text": "And now?"}
    history = [
        USER,
        a_call("x", "y"),
        a_result("y", "x", tail=[text]),
        {"role": "assistant", "content": "Noon."},
        USER,
        USER,
    ]
    a_client(server).messages.create(**a_body(*history, tool_choice={"type": "none"}))
    a_client(server).messages.create(**a_body(USER, a_call("z"), a_result("z")))
    results = [o_result("y"), o_result("x")]
    again = [o_call("x", content="Again."), o_result("x"), {"role": "assistant", "content": "Noon."}, USER, USER]
    system = {"role": "system", "content": "Be brief."}
    o_client(server).chat.completions.create(
        **o_body(system, USER, o_call("x", "y"), *results, *again, tool_choice="none")
    )
    assert server.rejected == []


def test_older_models_take_a_prefill_without_trailing_space(serve, anthropic, a_client):
    server = serve(prefill=True)
    ask = a_client(server).messages.create
    ask(**a_body(USER, {"role": "assistant", "content": "It is"}))
    ask(**a_body(USER, {"role": "assistant", "content": ""}))
    with pytest.raises(anthropic.BadRequestError, match="cannot end with trailing whitespace"):
        ask(**a_body(USER, {"role": "assistant", "content": "It is "}))


def test_a_prompt_larger_than_the_window_is_rejected_in_both_shapes(serve, anthropic, openai, a_client, o_client):
    server = serve(window=30, counter=len)
    big = {"role": "user", "content": "x" * 50}
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: 53 tokens > 30 maximum"):
        a_client(server).messages.create(model="m", max_tokens=5, messages=[big])
    with pytest.raises(
        openai.BadRequestError, match=r"maximum context length is 30 tokens\. However, your messages"
    ) as at:
        o_client(server).chat.completions.create(model="m", messages=[big])
    assert (at.value.code, at.value.param) == ("context_length_exceeded", "messages")
    assert a_client(server).messages.count_tokens(model="m", messages=[big]).input_tokens == 53
    fits = {"role": "user", "content": "x" * 27}
    a_client(server).messages.create(model="m", max_tokens=5, messages=[fits])


def test_a_rejected_request_takes_nothing_from_the_script(serve, anthropic, a_client):
    server = serve(["the only one"])
    with pytest.raises(anthropic.BadRequestError):
        a_client(server).messages.create(**a_body(USER, a_call("x"), USER))
    assert a_client(server).messages.create(**a_body(USER)).content[0].text == "the only one"


def test_keys_are_checked_and_never_recorded(serve, anthropic, openai, a_client, o_client):
    server = serve(key="sk-secret-right")
    with pytest.raises(anthropic.AuthenticationError) as caught:
        a_client(server).messages.create(**a_body(USER))
    assert caught.value.body["error"]["type"] == "authentication_error"
    with pytest.raises(openai.AuthenticationError) as refused:
        o_client(server).chat.completions.create(**o_body(USER))
    assert refused.value.code == "invalid_api_key"
    a_client(server, api_key="sk-secret-right").messages.create(**a_body(USER))
    o_client(server, api_key="sk-secret-right").chat.completions.create(**o_body(USER))
    headers = {"x-api-key": "sk-secret-right", "anthropic-version": "2026-10-21"}
    assert post(server, "/v1/messages", a_body(USER), headers)[0] == 200
    assert post(server, "/v1/messages", a_body(USER), {"anthropic-version": "2026-10-21"})[0] == 401
    assert "sk-" not in repr(server.requests)
    assert server.requests[0].headers["authorization"] == "Bearer [redacted]"
    assert server.requests[0].body == a_body(USER)
    assert server.requests[0].path == "/v1/messages"


def test_unknown_models_are_404_and_the_list_is_served(serve, anthropic, openai, a_client, o_client):
    server = serve(models=["m", "n"])
    with pytest.raises(anthropic.NotFoundError) as caught:
        a_client(server).messages.create(**a_body(USER) | {"model": "x"})
    assert caught.value.body["error"] == {"type": "not_found_error", "message": "model: x"}
    with pytest.raises(openai.NotFoundError) as missing:
        o_client(server).chat.completions.create(**o_body(USER) | {"model": "x"})
    assert missing.value.code == "model_not_found"
    assert [model.id for model in o_client(server).models.list()] == ["m", "n"]
    assert [model.id for model in a_client(server).models.list()] == ["m", "n"]


def test_what_is_no_request_of_the_api_is_refused(serve):
    server = serve()
    version = {"anthropic-version": "2026-10-21"}
    assert post(server, "/v1/messages", a_body(USER))[0] == 400  # no version
    assert post(server, "/v1/nothing", a_body(USER), version)[0] == 404
    assert post(server, "/v1/messages", b"{", version)[0] == 400
    assert post(server, "/v1/chat/completions", b"\xff")[0] == 400
    assert [request.body for request in server.requests[2:]] == ["{", "�"]


# Faults


def test_rate_limit_says_when_to_come_back(serve, anthropic, openai, a_client, o_client):
    server = serve(HttpFault(429, retry_after=2.5))
    with pytest.raises(anthropic.RateLimitError) as caught:
        a_client(server).messages.create(**a_body(USER))
    assert caught.value.response.headers["retry-after"] == "2.5"
    assert caught.value.body["error"]["type"] == "rate_limit_error"
    with pytest.raises(openai.RateLimitError) as limited:
        o_client(server).chat.completions.create(**o_body(USER), stream=True)
    assert (limited.value.response.headers["retry-after"], limited.value.code) == ("2.5", "rate_limit_exceeded")


def test_server_errors_in_both_shapes(serve, anthropic, openai, a_client, o_client):
    server = serve([OVERLOADED, SERVER_ERROR, SERVER_ERROR, OVERLOADED, HttpFault(413)])
    with pytest.raises(anthropic.APIStatusError) as caught:
        a_client(server).messages.create(**a_body(USER), stream=True)
    assert (caught.value.status_code, caught.value.body["error"]["type"]) == (529, "overloaded_error")
    with pytest.raises(anthropic.InternalServerError) as caught:
        a_client(server).messages.create(**a_body(USER))
    assert (caught.value.status_code, caught.value.body["error"]["type"]) == (500, "api_error")
    for status in (500, 529):
        with pytest.raises(openai.InternalServerError) as failed:
            o_client(server).chat.completions.create(**o_body(USER))
        assert (failed.value.status_code, failed.value.type) == (status, "server_error")
    with pytest.raises(anthropic.APIStatusError) as caught:
        a_client(server).messages.create(**a_body(USER))
    assert caught.value.body["error"]["type"] == "request_too_large"
    assert server.rejected == []


def test_a_fault_and_then_a_reply_is_what_a_retry_meets(serve, a_client):
    server = serve([HttpFault(429, retry_after=0.01), "Hello."])
    assert a_client(server, max_retries=1).messages.create(**a_body(USER)).content[0].text == "Hello."
    assert len(server.requests) == 2
    assert RATE_LIMITED.retry_after == 1


def test_an_error_event_in_the_stream(serve, anthropic, openai, a_client, o_client):
    server = serve(ErrorEvent(LONG, after=2))
    seen = []
    with pytest.raises(anthropic.APIStatusError) as caught, a_client(server).messages.stream(**a_body(USER)) as stream:
        seen.extend(stream.text_stream)
    assert "".join(seen) == LONG[:32]
    assert caught.value.body["error"]["type"] == "overloaded_error"
    seen.clear()
    stream = o_client(server).chat.completions.create(**o_body(USER), stream=True)
    with stream, pytest.raises(openai.APIError, match="Overloaded"):
        seen.extend(chunk.choices[0].delta.content for chunk in stream)
    assert "".join(seen) == LONG[:32]
    with pytest.raises(anthropic.APIStatusError) as caught:
        a_client(server).messages.create(**a_body(USER))
    assert caught.value.status_code == 529
    with pytest.raises(openai.InternalServerError) as failed:
        o_client(server).chat.completions.create(**o_body(USER))
    assert failed.value.status_code == 503


def test_a_body_that_ends_early_raises_nothing_and_has_no_stop_reason(serve, a_client, o_client):
    server = serve(Cut(LONG, after=2))
    with a_client(server).messages.stream(**a_body(USER)) as stream:
        message = stream.get_final_message()
    assert (message.content[0].text, message.stop_reason) == (LONG[:32], None)
    with o_client(server).chat.completions.create(**o_body(USER), stream=True) as chunks:
        reasons = [chunk.choices[0].finish_reason for chunk in chunks]
    assert reasons == [None] * 3


def test_a_chunked_body_that_breaks_off_is_a_transport_error(serve, openai, a_client, o_client):
    import httpx2

    server = serve(Cut(LONG, after=2, how="chunked"))
    seen = []
    with pytest.raises(httpx2.RemoteProtocolError), a_client(server).messages.stream(**a_body(USER)) as stream:
        seen.extend(stream.text_stream)
    assert "".join(seen) == LONG[:32]
    chunks = o_client(server).chat.completions.create(**o_body(USER), stream=True)
    with chunks, pytest.raises(openai.APIConnectionError):
        list(chunks)


def test_a_cut_answer_without_streaming_is_a_transport_error(serve, anthropic, openai, a_client, o_client):
    server = serve(Cut(LONG))
    with pytest.raises(anthropic.APIConnectionError):
        a_client(server).messages.create(**a_body(USER))
    with pytest.raises(openai.APIConnectionError):
        o_client(server).chat.completions.create(**o_body(USER))


def test_a_dropped_and_a_refused_connection(serve, anthropic, openai, a_client, o_client):
    server = serve(Dropped())
    for base in (server, refused_url()):
        with pytest.raises(anthropic.APIConnectionError):
            a_client(base).messages.create(**a_body(USER))
        with pytest.raises(openai.APIConnectionError):
            o_client(base).chat.completions.create(**o_body(USER), stream=True)
    assert len(server.requests) == 2


def test_a_slow_stream_arrives_piece_by_piece(serve, anthropic, a_client):
    server = serve(Slow("abcd", seconds=0.05), piece=1)
    with a_client(server).messages.stream(**a_body(USER)) as stream:
        times = [time.monotonic() for _ in stream.text_stream]
    assert len(times) == 4
    assert times[-1] - times[0] >= 0.12
    with pytest.raises(anthropic.APITimeoutError):
        a_client(server, timeout=0.05).messages.create(**a_body(USER))


def test_a_call_cut_by_the_output_limit(serve, a_client, o_client):
    server = serve(cut_call("read_file", {"path": "a.txt"}, keep=12))
    with o_client(server).chat.completions.create(**o_body(USER), stream=True) as stream:
        chunks = list(stream)
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert "".join(call.function.arguments for call in calls) == '{"path": "a.'
    assert chunks[-1].choices[0].finish_reason == "length"
    message = a_client(server).messages.create(**a_body(USER))
    assert (message.stop_reason, message.content[0].name, message.content[0].input) == ("max_tokens", "read_file", {})
    with a_client(server).messages.create(**a_body(USER), stream=True) as events:
        parts = [e.delta.partial_json for e in events if e.type == "content_block_delta"]
    assert "".join(parts) == '{"path": "a.'


# Life and death of the server


def test_closing_ends_connections_threads_and_what_waits():
    before = set(threading.enumerate())
    server = provider_server(Slow("never", first=60))
    with server:
        host = server.url.removeprefix("http://")
        idle = http.client.HTTPConnection(host)
        idle.request("GET", "/v1/models")
        idle.getresponse().read()
        waiting = http.client.HTTPConnection(host)
        waiting.request("POST", "/v1/chat/completions", json.dumps(o_body(USER)))
        while len(server.requests) < 2:
            time.sleep(0.01)
        started = time.monotonic()
    assert time.monotonic() - started < 2
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionError):
        waiting.getresponse()
    idle.close()
    waiting.close()
    server.close()


def test_a_client_that_goes_away_disturbs_nobody(serve, a_client):
    server = serve([Slow(LONG, seconds=0.01), "Hello."], piece=1)
    with a_client(server).messages.create(**a_body(USER), stream=True) as stream:
        next(iter(stream))
    assert a_client(server).messages.create(**a_body(USER)).content[0].text == "Hello."


def test_what_a_scripted_function_raises_reaches_the_test(a_client, anthropic):
    def replies(body):
        raise ZeroDivisionError(body["model"])

    server = provider_server(replies).__enter__()
    with pytest.raises(anthropic.APIConnectionError):
        a_client(server).messages.create(**a_body(USER))
    with pytest.raises(ZeroDivisionError, match="m"):
        server.__exit__(None, None, None)
    with pytest.raises(anthropic.APIConnectionError) as caught, provider_server(replies) as server:
        a_client(server).messages.create(**a_body(USER))
    assert "ZeroDivisionError" in caught.value.__notes__[0]


def test_many_requests_at_once_are_all_recorded(serve):
    server = serve()
    threads = [threading.Thread(target=post, args=(server, "/v1/chat/completions", o_body(USER))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 20
    assert server.rejected == []


def test_importing_the_rules_loads_neither_http_nor_an_sdk():
    import subprocess
    import sys

    code = (
        "import sys; from agentlab.testing import check_messages; "
        "print(sorted({'http.server', 'socketserver', 'anthropic', 'openai', 'hashlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# The rules without HTTP

CALL = o_call("x", "y", content="")
RESULTS = [o_result("y") | {"name": "now"}, o_result("x") | {"name": "now"}]
REPLY = {"role": "assistant", "content": "Noon."}

BAD_MESSAGES = {
    "orphan result": ([USER, RESULTS[0]], "no call y waits"),
    "unanswered call": ([USER, CALL, RESULTS[0], USER], r"messages\[3\]: role user, but .* now \(x\)"),
    "unanswered at the end": ([USER, CALL], "the list ends"),
    "two results": ([USER, CALL, RESULTS[0], RESULTS[0]], "no call y waits"),
    "same id twice": ([USER, o_call("x", "x", content="")], "used twice"),
    "blank": ([{"role": "user", "content": " "}], "blank"),
    "blank result": ([USER, CALL, RESULTS[0] | {"content": ""}, RESULTS[1]], "blank"),
    "null": ([USER, o_call("x")], "NoneType"),
    "system role": ([{"role": "system", "content": "x"}], "'system'"),
    "starts with a reply": ([REPLY], "expected user"),
    "no name": ([USER, CALL, o_result("x"), RESULTS[0]], "name"),
    "other name": ([USER, CALL, RESULTS[0] | {"name": "later"}, RESULTS[1]], "named later"),
    "arguments parsed": ([USER, o_call("x", content="", arguments={})], "expected JSON text"),
    "is_error false": ([USER, CALL, RESULTS[0] | {"is_error": False}, RESULTS[1]], "only when true"),
    "origin": ([USER | {"origin": "user"}], "expected loop"),
    "unknown key": ([USER | {"turn": 1}], "no turn"),
    "no calls": ([USER, REPLY | {"tool_calls": []}], "at least one"),
    "not a list": ({}, "expected a list"),
}


@pytest.mark.parametrize("case", BAD_MESSAGES)
def test_check_messages_rejects(case):
    messages, words = BAD_MESSAGES[case]
    with pytest.raises(RejectedRequest, match=words):
        check_messages(messages)


def test_check_messages_accepts_what_the_loop_makes():
    loop = {"role": "user", "content": "Go on.", "origin": "loop"}
    check_messages([])
    check_messages([USER, USER, CALL, RESULTS[0] | {"is_error": True}, RESULTS[1], loop, CALL, *RESULTS, REPLY, USER])
    check_messages([USER, o_call("x", content="", arguments="{bad"), o_result("x") | {"name": "now"}, REPLY])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "id", "tool_calls", "function"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from([check_anthropic, check_openai]), st.lists(JSON, max_size=3), JSON, JSON)
def test_the_rules_answer_any_json_with_a_verdict(check, messages, tools, choice):
    body = {"model": "m", "max_tokens": 1, "messages": messages, "tools": tools, "tool_choice": choice}
    rejected = verdict(check, body)
    assert rejected is None or (rejected.status == 400 and json.dumps(rejected.body))


@given(JSON)
def test_check_messages_answers_any_json_with_a_verdict(messages):
    rejected = verdict(check_messages, messages)
    assert rejected is None or str(rejected)


STEPS = [["user"], ["reply"], ["call", "result"], ["call"], ["result"], ["late"]]
KINDS = st.lists(st.sampled_from(STEPS), max_size=6).map(
    lambda steps: ["user", *[kind for step in steps for kind in step]]
)


@given(KINDS)
def test_what_check_messages_accepts_both_apis_accept(kinds):
    messages, ids = [], []
    for at, kind in enumerate(kinds):
        if kind == "call":
            ids.append(f"c{at}")
            messages.append(o_call(ids[-1], content=""))
        elif kind in ("result", "late"):
            call_id = ids[-1] if ids and kind == "result" else "nobody"
            messages.append(o_result(call_id) | {"name": "now"})
        else:
            messages.append(USER if kind == "user" else REPLY)
    if verdict(check_messages, messages):
        return
    check_openai(o_body(*[{k: v for k, v in m.items() if k != "name"} for m in messages]))
    check_anthropic(a_body(*[to_anthropic(message) for message in messages]), prefill=True)


def verdict(check, value):
    """Rejection of a value, or None."""
    try:
        check(value)
    except RejectedRequest as rejected:
        return rejected
    return None


def to_anthropic(message):
    if message["role"] == "tool":
        return a_result(message["tool_call_id"])
    calls = message.get("tool_calls", [])
    return a_call(*[call["id"] for call in calls]) if calls else message


def post(server, path, body, headers=None):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, data, headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()
