"""Messages and tools by the cookbook's formulas, and the running count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import MissingRanksError
from agentlab.messages import Usage
from agentlab.tokens import (
    RunningCount,
    TokenCount,
    count_messages,
    count_text,
    count_tools,
    encode,
    estimate_message,
    message_counter,
)
from agentlab.tokens.chat import PER_REPLY
from agentlab.tokens.running import estimate_base

# The two examples whose counts the cookbook compared with the API's.
JARGON = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant "
        "that translates corporate jargon into plain English.",
    },
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth "
        "to touch base on opportunities for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]
WEATHER = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
WEATHER_TOOL: dict[str, Any] = {
    "name": "get_current_weather",
    "description": "Get the current weather in a given location",
    "parameters": {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "grep", "arguments": '{"pattern": "def "}'}}
PLAIN = {"role": "user", "content": "tiktoken is great!"}


@pytest.mark.parametrize(
    ("model", "n"),
    [
        ("gpt-3.5-turbo-0125", 129),
        ("gpt-4-0613", 129),
        ("gpt-4", 129),
        ("gpt-4o", 124),
        ("gpt-4o-mini-2024-07-18", 124),
    ],
)
def test_the_cookbooks_messages(model: str, n: int) -> None:
    count = count_messages(JARGON, model)
    assert (count.n, count.exact) == (n, True)
    assert count_messages(JARGON[1:], model, system=JARGON[0]["content"]) == count


@pytest.mark.parametrize(
    ("model", "n"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)]
)
@pytest.mark.parametrize("form", ["dict", "bare", "object"])
def test_the_cookbooks_tools(model: str, n: int, form: str) -> None:
    forms = {
        "dict": {"type": "function", "function": WEATHER_TOOL},
        "bare": WEATHER_TOOL,
        "object": SimpleNamespace(**WEATHER_TOOL),
    }
    count = count_messages(WEATHER, model) + count_tools([forms[form]], model)
    assert (count.n, count.exact) == (n, True)


def test_an_encoding_is_counted_like_the_model_that_the_cookbook_confirms_for_it() -> None:
    assert count_messages(JARGON, "o200k_base").n == 124
    assert count_messages(WEATHER, "cl100k_base").n + count_tools([WEATHER_TOOL], "cl100k_base").n == 105


def test_no_tools_cost_nothing() -> None:
    assert count_tools([], "gpt-4o") == TokenCount(0, exact=True, method="o200k_base")
    assert count_tools([], "claude-opus-5").n == 0


def test_messages_that_the_cookbook_does_not_cover_are_estimates() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    counted = count_messages([call])
    parts = [len(encode(text)) for text in ("assistant", "grep", CALL["function"]["arguments"])]
    assert counted.n == 3 + 3 + 3 + sum(parts)
    assert not counted.exact
    assert counted.method == "o200k_base + message format"

    result = {"role": "tool", "tool_call_id": "call_1", "name": "grep", "content": "a.py:1:def f()"}
    assert not count_messages([PLAIN, result]).exact
    assert not count_messages([{"role": "tool", "content": "a.py:1:def f()"}]).exact
    assert count_messages([PLAIN]).exact


def test_the_full_stop_at_the_end_of_a_description_is_free() -> None:
    def tool(end: str) -> dict[str, Any]:
        properties = {"path": {"type": "string", "description": f"Where to read{end}"}}
        return {"name": "read", "description": f"Read a file{end}", "parameters": {"properties": properties}}

    assert count_tools([tool(".")]) == count_tools([tool("")])
    assert count_tools([tool("..")]).n == count_tools([tool("")]).n + 2


def test_an_estimate_counts_calls_as_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "grep", "arguments": "x" * 36}}
    assert estimate_message({"role": "assistant", "content": None, "tool_calls": [call, call]}) == 80 // 4 + 4
    assert estimate_message({"role": "assistant", "content": "abcde", "tool_calls": []}) == 2 + 4
    assert estimate_message({"role": "user", "content": [{"type": "text", "text": "abcd"}, {"type": "image"}]}) == 5


def test_what_no_provider_sees_costs_nothing() -> None:
    noted = {**PLAIN, "origin": "loop", "is_error": True}
    assert count_messages([noted]) == count_messages([PLAIN])


def test_parts_count_by_their_texts() -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "tiktoken"}, {"type": "image_url"}, " is great!"]}
    expected = 3 + 3 + sum(len(encode(text)) for text in ("user", "tiktoken", " is great!"))
    assert count_messages([parts]) == TokenCount(expected, exact=False, method="o200k_base + message format")


def test_models_that_the_cookbook_does_not_cover_are_estimates() -> None:
    assert count_messages([PLAIN], "gpt-5") == TokenCount(13, exact=False, method="o200k_base + message format")
    claude = count_messages([PLAIN], "claude-opus-4-6")
    assert claude == TokenCount(18, exact=False, method="o200k_base x 1.35 + message format")


def test_claudes_tools_come_with_a_system_prompt_of_their_own() -> None:
    auto = count_tools([WEATHER_TOOL], "claude-opus-5")
    forced = count_tools([WEATHER_TOOL], "claude-opus-5", tool_choice="any")
    assert forced.n - auto.n == 406 - 286
    assert not auto.exact
    # The schema alone is about 90 tokens of o200k_base.
    assert 286 + 100 < auto.n < 286 + 200
    assert count_tools([WEATHER_TOOL] * 2, "claude-opus-5").n < 2 * auto.n - 250


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "description": "Names", "items": {"type": "string"}},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A name or none"},
        {"type": "object", "properties": {"x": {"type": "number"}}},
        {"type": ["string", "null"], "description": "A name"},
    ],
)
def test_a_nested_schema_is_an_estimate_that_counts_all_of_it(schema: dict[str, Any]) -> None:
    def tool(properties: dict[str, Any]) -> dict[str, Any]:
        return {"name": "f", "description": "Do.", "parameters": {"type": "object", "properties": properties}}

    flat = count_tools([tool({"a": {"type": "string", "description": "x"}})])
    nested = count_tools([tool({"a": {"type": "string", "description": "x"}, "b": schema})])
    assert flat.exact
    assert not nested.exact
    assert nested.n - flat.n >= len(encode("b")) + 3 + 5


def test_missing_ranks_reach_the_caller() -> None:
    for count in (count_messages, count_tools):
        with pytest.raises(MissingRanksError):
            count([WEATHER_TOOL | {"role": "user", "content": "x"}], "gpt-4o", search=[])


# Messages of every role, with contents of every kind.
_TEXT = st.text(max_size=60)
_MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, _TEXT),
        st.builds(lambda text: {"role": "user", "content": [{"type": "text", "text": text}, {"type": "image"}]}, _TEXT),
        st.builds(
            lambda text, arguments: {
                "role": "assistant",
                "content": text or None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}],
            },
            _TEXT,
            _TEXT,
        ),
        st.builds(lambda text: {"role": "tool", "tool_call_id": "c", "name": "f", "content": text}, _TEXT),
    ),
    max_size=12,
)


@given(_MESSAGES)
def test_a_running_total_is_the_sum_of_its_messages(messages: list[dict[str, Any]]) -> None:
    count = RunningCount()
    sizes = [count.add(message) for message in messages]
    assert int(count) == count.total.n == sum(sizes)
    assert sizes == [estimate_message(message) for message in messages]
    assert count.total.exact == (not messages)


@given(_MESSAGES)
def test_with_a_tokenizer_the_running_total_is_that_of_the_whole_prompt(messages: list[dict[str, Any]]) -> None:
    count = RunningCount(message_counter("gpt-4o"))
    for message in messages:
        count.add(message)
    whole = count_messages(messages, "gpt-4o")
    assert count.total.n + PER_REPLY == whole.n
    assert count.exact == whole.exact


def test_each_message_is_counted_once_and_old_ones_are_never_read_again() -> None:
    class Watched(dict[str, Any]):
        reads = 0

        def get(self, key: str, default: Any = None) -> Any:
            Watched.reads += key == "content"
            return super().get(key, default)

    counted: list[int] = []

    def counter(message: Any) -> TokenCount:
        counted.append(id(message))
        return TokenCount(1, exact=True, method="test")

    messages = [Watched(role="user", content="x" * 100) for _ in range(200)]
    by_length, by_counter = RunningCount(), RunningCount(counter)
    for message in messages:
        by_length.add(message)
        by_counter.add(message)
        assert by_length.total.n > by_counter.total.n
    assert Watched.reads == len(messages)
    assert counted == [id(message) for message in messages]


def test_a_report_replaces_the_estimates_and_holds_the_reply() -> None:
    count = RunningCount()
    count.set_base("Be brief.")
    count.add(PLAIN)
    assert not count.total.exact

    count.report(Usage(100, 20, cache_read_tokens=400, cache_write_tokens=50))
    assert count.total == TokenCount(570, exact=True, method="usage")
    assert count.add({"role": "assistant", "content": "A reply of any length. " * 50, "tool_calls": [CALL]}) == 20
    assert count.total == TokenCount(570, exact=True, method="usage")

    assert count.add({"role": "tool", "tool_call_id": "call_1", "name": "grep", "content": "x" * 40}) == 14
    assert count.total == TokenCount(584, exact=False, method="usage + characters/4")

    count.report(Usage(600, 30))
    assert count.total == TokenCount(630, exact=True, method="usage")


def test_a_reply_that_was_added_before_its_report_is_not_left_out_later() -> None:
    count = RunningCount()
    count.add({"role": "assistant", "content": "Hello."})
    count.report(Usage(50, 5))
    count.add(PLAIN)
    assert count.add({"role": "assistant", "content": "x" * 40}) == 14
    assert count.total.n == 55 + estimate_message(PLAIN) + 14


def test_what_the_caller_counted_already_changes_nothing() -> None:
    count = RunningCount()
    count.report(Usage(50, 5))
    assert count.add({"role": "assistant", "content": "Hello."}, counted=5) == 5
    assert count.add({"role": "user", "content": "note"}, counted=7) == 7
    assert count.total == TokenCount(55, exact=True, method="usage")
    assert count.add({"role": "assistant", "content": "Hello."}) == estimate_message({"content": "Hello."})


def test_a_usage_that_says_nothing_is_passed_over() -> None:
    count = RunningCount()
    size = count.add(PLAIN)
    count.report(Usage())
    assert count.total.n == size
    assert count.add({"role": "assistant", "content": "Hello."}) > 0
    assert count.total.n > size


def test_an_estimated_usage_stays_an_estimate() -> None:
    count = RunningCount()
    count.report(Usage(50, 5, exact=False))
    assert count.total == TokenCount(55, exact=False, method="estimated usage")


def test_the_base_counts_once_and_changes_by_its_difference() -> None:
    tool = SimpleNamespace(**WEATHER_TOOL)
    count = RunningCount()
    assert count.set_base("x" * 400, [tool]) == estimate_base("x" * 400, [tool]) == int(count)
    assert count.set_base("x" * 400, [tool]) == int(count)

    count.report(Usage(300, 10))
    count.set_base("x" * 400, [tool])
    assert count.total == TokenCount(310, exact=True, method="usage")
    count.set_base("x" * 800, [tool])
    assert count.total == TokenCount(410, exact=False, method="usage + characters/4")
    assert RunningCount().set_base("") == 0


def test_a_first_base_after_a_report_is_in_it_already() -> None:
    count = RunningCount()
    count.report(Usage(300, 10))
    count.set_base("x" * 400)
    assert count.total == TokenCount(310, exact=True, method="usage")
    count.set_base("x" * 440)
    assert count.total.n == 320


def test_a_base_can_be_counted_by_a_tokenizer() -> None:
    count = RunningCount(message_counter("gpt-4o"))
    base = count_messages([], "gpt-4o", system="Be brief.") + count_tools([WEATHER_TOOL], "gpt-4o")
    count.set_base("Be brief.", counted=base)
    count.add(PLAIN)
    whole = count_messages([PLAIN], "gpt-4o", system="Be brief.") + count_tools([WEATHER_TOOL], "gpt-4o")
    assert count.total == whole
    assert count.exact


def test_a_substitution_adjusts_the_total_until_the_next_report() -> None:
    count = RunningCount()
    count.report(Usage(1_000, 0))
    count.adjust(0)
    assert count.exact
    count.adjust(-400)
    assert count.total == TokenCount(600, exact=False, method="usage + characters/4")
    count.adjust(-10_000)
    assert int(count) == 0
    count.report(Usage(610, 0))
    assert count.total.exact


def test_an_estimate_is_of_the_right_size_for_prose() -> None:
    prose = {"role": "user", "content": "The tool's result is cut once, when it enters the conversation. " * 40}
    assert estimate_message(prose) == pytest.approx(count_text(prose["content"]).n, rel=0.35)
