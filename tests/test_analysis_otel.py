"""OpenTelemetry's GenAI spans and nanobot's sessions: synthetic logs, after what is published of the formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.analysis import load
from agentlab.errors import InputError
from agentlab.messages import Usage

if TYPE_CHECKING:
    from pathlib import Path

USER = {"role": "user", "parts": [{"type": "text", "content": "Weather in Paris?"}]}
ASKED = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "I should look."},
        {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Paris"}},
    ],
    "finish_reason": "tool_call",
}
GIVEN = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "rainy, 57 F"}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "It rains."}], "finish_reason": "stop"}
MORE = {"role": "user", "parts": [{"type": "text", "content": "And tomorrow?"}]}


def span(n: int, sent: list[Any], got: Any, usage: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """A span of a chat call, with plain attributes; usage is input, output, read, written."""
    names = ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens")
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": "talk",
        "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
        "gen_ai.input.messages": sent,
        "gen_ai.output.messages": [got],
        "gen_ai.response.finish_reasons": [got["finish_reason"]],
        **{f"gen_ai.usage.{name}": value for name, value in zip(names, usage, strict=False)},
        **more,
    }
    times = {
        "startTimeUnixNano": str(1_790_000_000_000_000_000 + n),
        "endTimeUnixNano": str(1_790_000_001_000_000_000 + n),
    }
    return {"traceId": "t", "spanId": str(n), **times, "attributes": attributes}


def spans() -> list[dict[str, Any]]:
    return [
        span(1, [USER], ASKED, (100, 10)),
        {"traceId": "t", "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"}},
        span(2, [USER, ASKED, GIVEN], SAID, (160, 5, 100, 40)),
        span(3, [USER, ASKED, GIVEN, SAID, MORE], SAID, (200, 5)),
    ]


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(each)} for key, each in value.items()]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def otlp(found: list[dict[str, Any]], *, texts: bool = False) -> dict[str, Any]:
    """Spans as OTLP JSON; `texts` puts structures in as JSON texts, as most exporters do."""

    def attribute(value: Any) -> Any:
        return typed(json.dumps(value) if texts and isinstance(value, list | dict) else value)

    made = [
        {**each, "attributes": [{"key": key, "value": attribute(value)} for key, value in each["attributes"].items()]}
        for each in found
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}


def write(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values))
    return path


def checked(path: Path) -> None:
    (session,), problems = load(path)
    assert problems == []
    assert (session.format, session.id, session.provider) == ("opentelemetry", "talk", "openai")
    assert session.system == "Be brief."
    roles = ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [record.role for record in session.records] == roles
    assert session.records[1].thinking == "I should look."
    assert session.records[1].tool_calls[0]["function"] == {"name": "weather", "arguments": '{"city":"Paris"}'}
    assert session.records[2].message["name"] == "weather"
    assert [(call.turn, call.iteration, call.start, call.stop) for call in session.calls] == [
        (1, 1, 0, 1),
        (1, 2, 0, 3),
        (2, 1, 0, 5),
    ]
    assert session.calls[1].usage == Usage(20, 5, 100, 40)  # what was cached is inside the input
    assert session.calls[0].stop_reason == "tool_call"
    assert session.calls[0].time == pytest.approx(1_790_000_001)
    assert session.model == "gpt-4o-2024-08-06"


def test_lines_of_spans(tmp_path):
    checked(write(tmp_path / "spans.jsonl", *spans()))


@pytest.mark.parametrize("texts", [False, True])
def test_otlp_with_structures_and_with_texts(tmp_path, texts):
    checked(write(tmp_path / "one.json", otlp(spans(), texts=texts)))
    first, second = spans()[:2], spans()[2:]
    checked(write(tmp_path / "lines.jsonl", otlp(second, texts=texts), otlp(first, texts=texts)))


def test_spans_without_contents_are_calls_with_usage(tmp_path):
    bare = []
    for each in spans():
        kept = {key: value for key, value in each["attributes"].items() if "messages" not in key}
        bare.append({**each, "attributes": kept})
    (session,), problems = load(write(tmp_path / "spans.jsonl", *bare))
    assert problems == []
    assert [call.usage.prompt_tokens for call in session.calls] == [100, 160, 200]
    assert session.records == ()


def test_older_names_of_the_usage_are_read(tmp_path):
    old = span(1, [USER], SAID)
    old["attributes"] |= {"gen_ai.usage.prompt_tokens": 70, "gen_ai.usage.completion_tokens": 7}
    del old["attributes"]["gen_ai.operation.name"]
    (session,), _ = load(write(tmp_path / "spans.jsonl", old))
    assert session.calls[0].usage == Usage(70, 7)


def test_cached_tokens_that_cannot_be_inside_the_input_are_beside_it_and_told(tmp_path):
    (session,), problems = load(write(tmp_path / "spans.jsonl", span(1, [USER], SAID, (4, 5, 900, 20))))
    assert session.calls[0].usage == Usage(4, 5, 900, 20)
    assert [each.reason[:40] for each in problems] == ["usage: more tokens are cached than put i"]


def test_digits_that_are_no_numbers_are_read_as_none(tmp_path):
    odd = otlp([span(1, [USER], SAID, (7, 5))])
    (made,) = odd["resourceSpans"][0]["scopeSpans"][0]["spans"]
    made["startTimeUnixNano"] = "\N{SUPERSCRIPT TWO}"
    for attribute in made["attributes"]:
        if "intValue" in attribute["value"]:
            attribute["value"]["intValue"] = "\N{SUPERSCRIPT TWO}"
    (session,), _ = load(write(tmp_path / "spans.json", odd))
    assert session.calls[0].usage is None


def test_conversations_are_sessions_and_traces_without_one_too(tmp_path):
    other = span(4, [USER], SAID)
    del other["attributes"]["gen_ai.conversation.id"]
    sessions, _ = load(write(tmp_path / "spans.jsonl", *spans(), {**other, "traceId": "t2"}))
    assert [(each.id, len(each.calls)) for each in sessions] == [("talk", 3), ("t2", 1)]


def below(parent: str, each: dict[str, Any]) -> dict[str, Any]:
    return {**each, "parentSpanId": parent}


def invoked(name: str, agent: str) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    return {"traceId": "t", "spanId": name, "attributes": attributes}


def test_an_agent_that_another_invokes_is_a_session_of_its_own(tmp_path):
    cog = invoked("a", "cog")
    tool = {"traceId": "t", "spanId": "x", "attributes": {"gen_ai.operation.name": "execute_tool"}}
    asked = [below("a", each) for each in (span(1, [USER], ASKED, (100, 10)), span(5, [USER, ASKED, GIVEN], SAID))]
    twice = [below("a", tool), below("x", invoked("b", "researcher")), below("x", invoked("c", "researcher"))]
    work = [below("b", span(2, [MORE], SAID, (7, 1))), below("c", span(3, [USER], SAID, (8, 1)))]
    again = below("d", span(9, [USER, ASKED, GIVEN, SAID, MORE], SAID, (200, 5)))
    lines = [cog, *asked, *twice, *work, invoked("d", "cog"), again]
    sessions, problems = load(write(tmp_path / "spans.jsonl", *lines))
    assert problems == []
    found = {each.id: (each.parent, len(each.calls), len(each.records)) for each in sessions}
    assert found == {"talk": ("", 3, 6), "talk/b": ("talk", 1, 2), "talk/c": ("talk", 1, 2)}


def test_spans_that_are_their_own_parents_are_read(tmp_path):
    loop = [below("b", invoked("a", "cog")), below("a", invoked("b", "cog")), below("a", span(1, [USER], SAID))]
    assert len(load(write(tmp_path / "spans.jsonl", *loop))[0][0].calls) == 1


def test_what_is_no_span_is_a_problem(tmp_path):
    path = write(tmp_path / "spans.jsonl", *spans(), {"something": "else"}, [1])
    sessions, problems = load(path)
    assert len(sessions[0].calls) == 3
    assert [(each.line, each.reason) for each in problems] == [(n, "skipped: expected spans") for n in (5, 6)]
    odd = span(9, [{"role": "narrator", "parts": []}], SAID)
    assert "found 'narrator'" in load(write(tmp_path / "odd.jsonl", odd))[1][0].reason


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.sampled_from(sorted(spans()[0]["attributes"])), JUNK, st.booleans())
def test_any_value_in_an_attribute_is_read_or_told(tmp_path_factory, key, junk, as_otlp):
    broken = spans()
    broken[2]["attributes"][key] = junk
    path = tmp_path_factory.mktemp("otel") / "spans.jsonl"
    sessions, _ = load(write(path, *([otlp(broken)] if as_otlp and _fits(junk) else broken)))
    assert sum(len(each.calls) for each in sessions) >= 2


def _fits(junk: Any) -> bool:
    return isinstance(junk, str)


METADATA = {
    "_type": "metadata",
    "key": "cli:direct",
    "created_at": "2026-05-13T10:00:00",
    "updated_at": "2026-05-13T11:00:00",
    "metadata": {},
    "last_consolidated": 0,
}


def nanobot(**metadata: Any) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
    return [
        METADATA | metadata,
        {"role": "user", "content": "Read a.", "timestamp": "2026-05-13T10:00:01"},
        {"role": "assistant", "content": None, "tool_calls": [call], "timestamp": "2026-05-13T10:00:02"},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "name": "read_file",
            "content": "text",
            "timestamp": "2026-05-13T10:00:03",
        },
        {"_type": "provider_state", "state": {"x": 1}},
        {"role": "assistant", "content": "It says text.", "timestamp": "2026-05-13T10:00:04"},
    ]


def test_nanobots_sessions_are_read(tmp_path):
    (session,), problems = load(write(tmp_path / "cli_direct.jsonl", *nanobot()))
    assert problems == []
    assert (session.format, session.id, session.labels["key"]) == ("nanobot", "cli_direct", "cli:direct")
    assert [record.role for record in session.records] == ["user", "assistant", "tool", "assistant"]
    assert [call.time for call in session.calls] == [1778666402.0, 1778666404.0]
    assert all(call.usage is None for call in session.calls)
    assert "cut" in session.labels["results"]


def test_what_was_consolidated_at_an_unknown_time_is_said(tmp_path):
    (session,), problems = load(write(tmp_path / "a.jsonl", *nanobot(last_consolidated=2)))
    assert session.labels["last_consolidated"] == 2
    assert [(each.line, each.reason[:38]) for each in problems] == [(1, "the first 2 messages were consolidated")]


@settings(max_examples=60)
@given(st.data())
def test_a_cut_or_damaged_file_gives_what_is_whole(tmp_path_factory, data):
    whole = "\n".join(json.dumps(each) for each in data.draw(st.sampled_from([nanobot(), spans()])))
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.mktemp("cut") / "a.jsonl"
    path.write_text(whole[:cut])
    try:
        sessions, problems = load(path)
    except InputError:
        return
    assert sessions
    torn = whole[:cut].rsplit("\n", 1)[-1]
    broken = bool(torn) and torn not in whole.split("\n")
    assert broken == any("torn" in each.reason for each in problems)
