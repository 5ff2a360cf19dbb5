"""Anthropic's messages: content blocks, usage, images, logs of requests and responses. All fixtures are made up."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from agentlab.analysis import calls_frame, curve, load
from agentlab.analysis.importers.blocks import Blocks, one_hour_of, usage_of
from agentlab.analysis.importers.images import Images, anthropic_tokens, image_size, openai_tokens
from agentlab.errors import InputError
from agentlab.messages import Usage


def text(words):
    return {"type": "text", "text": words}


def use(name, call_id="t1", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(content, call_id="t1", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def picture(width, height, kind="PNG"):
    data = io.BytesIO()
    Image.new("RGB", (width, height)).save(data, kind)
    return base64.b64encode(data.getvalue()).decode()


def image(data):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


TALK = [
    {"role": "user", "content": "What time is it?"},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "A clock."}, text("I look."), use("now", at="x")],
    },
    {"role": "user", "content": [result([text("15:40")])]},
    {"role": "assistant", "content": [text("It is 15:40.")]},
    {"role": "user", "content": [text("Thanks")]},
    {"role": "assistant", "content": [text("Welcome.")]},
]
TOOLS = [
    {"name": "now", "description": "The time.", "input_schema": {"type": "object", "properties": {}}},
    {"type": "web_search_20250305", "name": "web_search"},
]


def response(*content, **more):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(content),
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 4, "cache_read_input_tokens": 900, "output_tokens": 7},
        **more,
    }


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def jsonl(values):
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(TALK),
        json.dumps(TALK, indent=1),
        jsonl(TALK),
        json.dumps({"messages": TALK}),
        jsonl([{"messages": TALK}]),
        json.dumps([{"messages": TALK}]),
        json.dumps({"model": "claude-opus-4-5", "system": "Be brief.", "tools": TOOLS, "messages": TALK}, indent=1),
        json.dumps({"request": {"messages": TALK[:5]}, "response": response(text("Welcome."))}),
    ],
    ids=["list", "indented", "lines", "object", "object in lines", "objects", "request", "request and response"],
)
def test_a_conversation_is_read_in_every_wrapping(tmp_path, content):
    (session,), problems = load(write(tmp_path / "talk.jsonl", content))
    assert problems == []
    assert (session.format, session.id, session.provider) == ("anthropic", "talk", "anthropic")
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [(r.turn, r.iteration) for r in session.records] == [(1, 0), (1, 1), (1, 1), (1, 2), (2, 0), (2, 1)]
    assert [(c.turn, c.iteration, c.start, c.stop, c.reply) for c in session.calls] == [
        (1, 1, 0, 1, 1),
        (1, 2, 0, 3, 3),
        (2, 1, 0, 5, 5),
    ]
    asked, answered = session.records[1], session.records[2]
    assert (asked.text, asked.thinking) == ("I look.", "A clock.")
    assert asked.tool_calls[0]["function"] == {"name": "now", "arguments": '{"at":"x"}'}
    assert answered.message == {"role": "tool", "content": "15:40", "tool_call_id": "t1", "name": "now"}
    assert list(curve(session)["calls"]) == [2, 1]


def test_system_blocks_and_tools_are_the_sessions(tmp_path):
    body = {
        "model": "claude-opus-4-5",
        "system": [text("Be brief."), text("Be kind.")],
        "tools": TOOLS,
        "messages": TALK,
    }
    (session,), problems = load(write(tmp_path / "a.json", body))
    assert problems == []
    assert (session.system, session.model) == ("Be brief.\nBe kind.", "claude-opus-4-5")
    assert [(tool["name"], bool(tool["parameters"])) for tool in session.tools] == [
        ("now", True),
        ("web_search", False),
    ]


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}],
        [{"role": "user", "content": [text("Hi")]}, {"role": "assistant", "content": "Hello."}],
        {
            "model": "claude-sonnet-4-5",
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "now"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "x"},
            ],
        },
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]}]},
    ],
    ids=["text", "text parts", "a Claude model in OpenAI's shape", "image_url"],
)
def test_what_openai_writes_too_is_read_as_openai_chat(tmp_path, value):
    (session,), _ = load(write(tmp_path / "a.json", value))
    assert session.format == "chat"


def test_requests_that_go_on_are_one_conversation_and_responses_bring_usage(tmp_path):
    first, second = response(TALK[1]["content"][2], stop_reason="tool_use"), response(text("It is 15:40."))
    marked = [*TALK[:1], {"role": "assistant", "content": first["content"]}, TALK[2]]
    marked[2] = {"role": "user", "content": [result([text("15:40")], cache_control={"type": "ephemeral"})]}
    moved = [*TALK[:1], {"role": "assistant", "content": first["content"]}, TALK[2], TALK[3], TALK[4]]
    lines = [{"messages": TALK[:1]}, first, {"messages": marked}, second, {"messages": moved}]
    (session,), problems = load(write(tmp_path / "a.jsonl", jsonl(lines)))
    assert problems == []
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "user"]
    assert [c.usage for c in session.calls] == [Usage(4, 7, cache_read_tokens=900)] * 2
    assert [c.stop_reason for c in session.calls] == ["tool_use", "end_turn"]
    assert calls_frame(session)["prompt_tokens"].tolist() == [904, 904]


def test_requests_of_several_conversations_may_take_turns(tmp_path):
    title = {"messages": [{"role": "user", "content": "Name this talk."}], "system": [text("You name talks.")]}
    lines = [{"messages": TALK[:1]}, title, response(text("Clock")), {"messages": TALK[:3]}, title, {"messages": TALK}]
    sessions, problems = load(write(tmp_path / "a.jsonl", jsonl(lines)))
    assert problems == []
    assert [(s.id, len(s.records), len(s.calls)) for s in sessions] == [("a#1", 6, 3), ("a#2", 2, 1), ("a#3", 1, 0)]


def test_requests_that_have_nothing_in_common_are_conversations_of_their_own(tmp_path):
    other = [{"role": "user", "content": "Bye"}, *TALK[1:]]
    sessions, problems = load(write(tmp_path / "a.jsonl", jsonl([{"messages": TALK}, {"x": 1}, {"messages": other}])))
    assert [s.id for s in sessions] == ["a#1", "a#2"]
    assert [(p.line, p.reason) for p in problems] == [
        (2, "skipped: expected a message, or an object with a list 'messages'")
    ]


def test_text_beside_results_is_a_turn_but_a_reminder_is_none(tmp_path):
    talk = [
        *TALK[:2],
        {"role": "user", "content": [result("15:40"), text("<system-reminder>Go on.</system-reminder>")]},
        {"role": "assistant", "content": [use("now", "t2")]},
        {"role": "user", "content": [result("15:41", "t2"), text("Stop, and in French.")]},
        TALK[3],
    ]
    (session,), _ = load(write(tmp_path / "a.json", talk))
    assert [r.message.get("origin") for r in session.records if r.role == "user"] == [None, "loop", None]
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (1, 2), (2, 1)]


def test_a_message_that_is_none_is_a_problem_with_its_place(tmp_path):
    (session,), problems = load(write(tmp_path / "a.json", {"messages": [*TALK, 5, {"role": "robot", "content": "x"}]}))
    assert len(session.records) == 6
    assert [p.reason.split(":")[0] for p in problems] == ["messages[6]", "messages[7]"]


def test_usage_has_its_cached_parts_outside_input_tokens():
    raw = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 20000,
        "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 800},
        "output_tokens": 9,
    }
    assert usage_of(raw) == Usage(4, 9, 20000, 1000)
    assert usage_of(raw).prompt_tokens == 21004
    assert one_hour_of(raw) == 800
    del raw["cache_creation_input_tokens"]
    assert usage_of(raw).cache_write_tokens == 1000
    assert usage_of({"input_tokens": 0, "output_tokens": 0}) is None
    assert [usage_of(odd) for odd in (None, [], {}, {"input_tokens": "4"})] == [None] * 4


def test_one_hour_writes_reach_the_call(tmp_path):
    usage = {"input_tokens": 1, "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 30}}
    (session,), _ = load(write(tmp_path / "a.json", [TALK[0], response(text("x"), usage=usage)]))
    assert (session.calls[0].usage.cache_write_tokens, session.calls[0].cache_write_1h_tokens) == (32, 30)


def test_every_kind_of_block_has_its_place():
    reports = []
    read = Blocks()
    said = read.messages(
        "assistant",
        [
            {"type": "redacted_thinking", "data": "xxxx"},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "a"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s1",
                "content": [
                    {"type": "web_search_result", "title": "T", "url": "https://a", "encrypted_content": "z" * 999},
                ],
            },
            text("Found."),
        ],
        reports.append,
    )
    assert [each.message["role"] for each in said] == ["assistant", "tool"]
    assert said[1].message["content"] == "T\nhttps://a"
    assert said[1].message["name"] == "web_search"
    (document,) = read.messages(
        "user",
        [
            {"type": "document", "title": "Report", "source": {"type": "text", "data": "All is well."}},
            {"type": "document", "source": {"type": "content", "content": [text("Page."), image(picture(75, 100))]}},
            {"type": "search_result", "title": "S", "source": "https://s", "content": [text("hit")]},
        ],
        reports.append,
    )
    assert document.message["content"] == "Report\nAll is well.\nPage.\nS\nhttps://s\nhit"
    assert document.image_tokens == 10
    assert reports == []


def test_what_is_not_known_is_said_once():
    reports = []
    read = Blocks()
    for _ in range(3):
        read.messages(
            "user", [{"type": "hologram"}, {"type": "document", "source": {"type": "base64"}}, 7], reports.append
        )
    assert sum("hologram" in each for each in reports) == 1
    assert sum("pages of a document" in each for each in reports) == 1
    assert sum("expected a block, found 7" in each for each in reports) == 3


def test_a_failed_result_is_marked_and_one_of_an_unknown_call_has_no_name():
    (said,) = Blocks().messages("user", [result("no", "gone", is_error=True)], print)
    assert said.message == {"role": "tool", "content": "no", "tool_call_id": "gone", "name": "", "is_error": True}


def test_deep_nesting_is_no_traceback(tmp_path):
    block = text("deep")
    for _ in range(300):
        block = {"type": "x_result", "content": [block]}
    (session,), _ = load(write(tmp_path / "a.json", [TALK[0], TALK[1], {"role": "user", "content": [result([block])]}]))
    assert session.records[2].text == "deep"


@pytest.mark.parametrize(
    ("size", "model", "tokens"),
    [
        ((200, 200), "", 54),
        ((1000, 1000), "", 1334),
        ((1092, 1092), "", 1590),
        ((1568, 100), "", 210),
        ((3136, 200), "", 210),
        ((8000, 8000), "", 1600),
        ((8000, 8000), "claude-opus-4-7", 4784),
        ((1, 1), "", 1),
    ],
)
def test_an_image_counts_by_its_size(size, model, tokens):
    assert anthropic_tokens(*size, model=model) == tokens


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_no_image_takes_more_than_the_limit_and_none_nothing(width, height):
    assert 1 <= anthropic_tokens(width, height) <= 1600
    assert anthropic_tokens(width, height) == anthropic_tokens(height, width)
    assert 255 <= openai_tokens(width, height) <= 85 + 170 * 8


@pytest.mark.parametrize(
    ("size", "model", "tokens"),
    [
        ((1024, 1024), "gpt-4o", 765),
        ((2048, 4096), "gpt-4o", 1105),
        ((512, 512), "gpt-4o-mini", 8500),
        ((512, 512), "gpt-5", 210),
    ],
)
def test_openai_counts_tiles(size, model, tokens):
    assert openai_tokens(*size, model=model) == tokens
    assert openai_tokens(*size, model="gpt-4o", detail="low") == 85


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_the_size_is_read_from_the_header(kind):
    assert image_size(picture(33, 21, kind)) == (33, 21)
    big = picture(640, 480, kind)
    assert image_size(big[: len(big) // 2 // 4 * 4] if len(big) > 4000 else big) == (640, 480)


@given(st.text(max_size=60) | st.binary(max_size=80).map(lambda b: base64.b64encode(b).decode()))
def test_data_that_are_no_image_have_no_size(data):
    assert image_size(data) is None


def test_images_without_a_size_take_a_stated_default_and_are_reported_once():
    reports, images = [], Images()
    assert images.anthropic(image("@@@@"), reports.append) == 1600
    assert images.anthropic({"source": {"type": "url", "url": "https://a/b.png"}}, reports.append) == 1600
    assert images.openai({"image_url": {"url": "https://a/b.png"}}, reports.append) == 765
    assert images.openai({"image_url": {"url": "https://a/b.png", "detail": "low"}}, reports.append) == 85
    url = f"data:image/png;base64,{picture(512, 512)}"
    assert images.openai({"type": "input_image", "image_url": url}, reports.append) == 255
    assert reports == ["an image's size is not known (its data are damaged): such images count as 1,600 tokens"]


def test_an_image_in_a_message_is_counted_beside_its_text(tmp_path):
    talk = [{"role": "user", "content": [text("What is it?"), image(picture(1000, 750))]}, *TALK[1:]]
    (session,), problems = load(write(tmp_path / "a.json", talk))
    assert problems == []
    assert (session.records[0].text, session.records[0].image_tokens) == ("What is it?", 1000)
    assert 1000 < calls_frame(session)["prompt_tokens"].iloc[0] < 1050


def test_pillow_is_loaded_only_for_images():
    code = "import sys, agentlab.analysis.importers.registry; sys.exit('PIL' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(cut=st.integers(0, 900), junk=st.binary(max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_ends_in_a_traceback(tmp_path, cut, junk):
    whole = jsonl([{"messages": TALK[:1], "system": [text("x")]}, response(text("y")), {"messages": TALK}]).encode()
    for data in (whole, json.dumps(TALK, indent=1).encode()):
        path = tmp_path / "damaged.jsonl"
        path.write_bytes(data[:cut] + junk + data[cut + len(junk) :])
        try:
            sessions, _ = load(path)
        except InputError:
            continue
        for session in sessions:
            curve(session)
