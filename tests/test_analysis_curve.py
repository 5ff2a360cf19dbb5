"""The token curve: small sessions counted by hand, and what must hold for any."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from time import perf_counter

import pytest
from analysis_sessions import asks, record, result, says, tool, user
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.analysis import CALL_COLUMNS, CURVE_COLUMNS, calls_frame, curve, describe, load, read_messages, summary
from agentlab.analysis.parts import parts_of, shares
from agentlab.analysis.sizes import Sizes, sizes_of
from agentlab.messages import Reply, Usage
from agentlab.providers.scripted import call

PARTS = ["new_tokens", "resent_iterations", "resent_turns", "base"]
TALK = [user("Hi"), asks(("now", {})), result("15:40"), says("It is 15:40."), user("Thanks"), says("Welcome.")]


def test_parts_of_a_small_session_counted_by_hand():
    """User, call, result and reply have sizes a to f; what each call sends is written down as sums of them."""
    session = read_messages(TALK, system="Be brief.")
    sizes = sizes_of(session)
    (a, b, c, d, e, _), base = sizes.messages, sizes.base
    frame = curve(session)
    assert frame["turn"].tolist() == [1, 2]
    assert frame["calls"].tolist() == frame["iterations"].tolist() == [2, 1]
    assert frame["turn_tokens"].tolist() == [base + a + base + a + b + c, base + a + b + c + d + e]
    assert frame["context"].tolist() == [base + a + b + c, base + a + b + c + d + e]
    assert frame["cumulative"].tolist() == [2 * base + 2 * a + b + c, 3 * base + 3 * a + 2 * (b + c) + d + e]
    assert frame["new_tokens"].tolist() == [a + b + c, d + e]
    assert frame["resent_iterations"].tolist() == [a, 0]
    assert frame["resent_turns"].tolist() == [0, a + b + c]
    assert frame["resent_parallel"].tolist() == [0, 0]
    assert frame["base"].tolist() == [2 * base, base]
    assert frame["turn_tokens_without"].tolist() == [frame["turn_tokens"][0], base + a + d + e]
    assert frame["context_without"].tolist() == [base + a + b + c, base + a + d + e]
    assert frame["output_tokens"].tolist() == [b + d, sizes.messages[5]]
    assert frame["measured"].tolist() == [False, False]


def test_results_beyond_the_first_of_one_iteration_are_the_parallel_part():
    three = asks(("a", {}), ("b", {}), ("c", {}))
    results = [result("one", 0), result("two two two", 1), result("three", 2)]
    session = read_messages([user("Hi"), three, *results, asks(("d", {})), result("four"), says("Done.")])
    sizes = sizes_of(session).messages
    frame = curve(session)
    # The third call re-sends the user's words, the three calls and their results; two of these are beyond the first.
    assert frame["resent_iterations"].item() == sizes[0] + sum(sizes[:5])
    assert frame["resent_parallel"].item() == sizes[3] + sizes[4]


def test_usage_is_the_total_and_the_parts_are_scaled_to_it():
    talk = [dict(message) for message in TALK]
    talk[1]["usage"] = {"prompt_tokens": 1000, "completion_tokens": 11}
    talk[3]["usage"] = {"prompt_tokens": 1700, "completion_tokens": 12}
    talk[5]["usage"] = {"prompt_tokens": 2500, "completion_tokens": 13}
    session = read_messages(talk, system="Be brief.")
    frame = curve(session)
    assert frame["turn_tokens"].tolist() == [2700, 2500]
    assert frame["context"].tolist() == [1700, 2500]
    assert frame["output_tokens"].tolist() == [23, 13]
    assert frame[PARTS].sum(axis=1).tolist() == [2700, 2500]
    assert frame["measured"].all()
    assert set(frame["method"]) == {"usage"}
    sizes = sizes_of(session)
    whole = sizes.base + sum(sizes.messages[:5])
    assert frame["resent_turns"][1] == pytest.approx(2500 * sum(sizes.messages[:3]) / whole, abs=1)
    assert frame["context_without"][1] == pytest.approx(
        2500 * (whole - sizes.messages[1] - sizes.messages[2]) / whole, abs=1
    )


def test_a_session_that_is_measured_only_in_part_says_so():
    talk = [dict(message) for message in TALK]
    talk[5]["usage"] = {"prompt_tokens": 2500, "completion_tokens": 13}
    frame = curve(read_messages(talk, system="Be brief."))
    assert frame["measured"].tolist() == [False, True]


def test_what_the_log_lacks_is_taken_from_the_first_measured_call():
    """Neither system prompt nor tools are in the log: the first call's excess is their size, in every call."""
    talk = [user("Hi"), says("Hello.") | {"usage": {"prompt_tokens": 5000, "completion_tokens": 3}}]
    talk += [user("Bye"), says("Bye.") | {"usage": {"prompt_tokens": 5020, "completion_tokens": 3}}]
    frame = curve(read_messages(talk))
    assert frame["base"].between(4985, 5010).all()  # by counts alone it would be 3
    assert frame["new_tokens"].max() < 40


def test_estimated_usage_gives_way_to_a_tokenizer(tmp_path):
    def replies(messages):
        return Reply("ok", usage=Usage(999_999, 5, exact=False))

    record(tmp_path / "a", ["Hi"], replies, provider="openai", model="gpt-4o")
    (session,), _ = load(tmp_path / "a")
    assert curve(session)["turn_tokens"].item() == sizes_of(session).base + sizes_of(session).messages[0]


@pytest.mark.parametrize(
    ("provider", "model", "measured", "method"),
    [
        ("scripted", None, True, "o200k_base"),
        ("offline", "offline", True, "o200k_base"),
        ("openai", "gpt-4o", True, "o200k_base"),
        ("anthropic", "claude-haiku-4-5", False, "o200k_base x 1.35"),
        ("other", "some-model", False, "o200k_base for an unknown tokenizer"),
    ],
)
def test_every_count_says_how_it_came_about(tmp_path, provider, model, measured, method):
    record(tmp_path / "a", ["Hi"], ["Hello."], provider=provider, model=model)
    (session,), _ = load(tmp_path / "a")
    frame = curve(session)
    assert (frame["measured"].item(), frame["method"].item().split(" + ")[0]) == (measured, method)


def test_calls_frame_has_a_row_per_call_and_names_what_grew(tmp_path):
    script = [call("small"), [call("small"), call("large")], "Done.", "Bye."]
    tools = [tool("small", "x"), tool("large", "word " * 700)]
    record(tmp_path / "a", ["Hi", "Bye"], script, tools)
    (session,), _ = load(tmp_path / "a")
    frame = calls_frame(session)
    assert frame["call"].tolist() == [1, 2, 3, 4]
    assert list(zip(frame["turn"], frame["iteration"], strict=True)) == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert frame["grown_by"].tolist()[0] == "system prompt and tools"
    assert frame["grown_by"].tolist()[2] == "large"
    assert frame["growth"].tolist() == [
        frame["prompt_tokens"][0],
        *(b - a for a, b in pairwise(frame["prompt_tokens"])),
    ]
    assert frame["stop_reason"].tolist() == ["tool_use", "tool_use", "end_turn", "end_turn"]
    assert frame.groupby("turn")["prompt_tokens"].sum().tolist() == curve(session)["turn_tokens"].tolist()
    sentences = summary(session)
    assert f"sent {frame['prompt_tokens'].sum():,} prompt tokens (measured, o200k_base)" in sentences[0]
    assert f"{frame['growth'][2]:,} tokens, at call 3 (turn 1, iteration 3): most of it is what large" in sentences[2]


def test_shares_of_what_was_re_sent_are_those_of_the_frame():
    session = read_messages(TALK, system="Be brief.")
    frame = calls_frame(session)
    total = frame["prompt_tokens"].sum()
    resent = frame["resent_turns"].sum() + frame["resent_iterations"].sum() + frame["base"][1:].sum()
    assert summary(session)[1].startswith(f"{resent / total:.0%} of them had been sent before")


def test_nothing_to_count(tmp_path):
    session = read_messages([user("Hi")])
    assert curve(session).empty
    assert calls_frame(session).empty
    assert summary(session) == ["No model call returned, so there is nothing to count."]


@pytest.mark.parametrize(("make", "columns"), [(curve, CURVE_COLUMNS), (calls_frame, CALL_COLUMNS)])
@pytest.mark.parametrize("messages", [TALK, []], ids=["talk", "empty"])
def test_frames_have_the_declared_columns_and_types(make, columns, messages):
    frame = make(read_messages(messages))
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {c.name: c.dtype for c in columns}
    assert describe(columns)["name"].tolist() == list(frame.columns)


def test_importing_the_analysis_loads_no_pandas_and_no_tokenizer():
    heavy = {"pandas", "matplotlib", "tiktoken", "numpy"}
    code = f"import sys, agentlab.analysis, agentlab.plots; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


words = st.text("ab \n", max_size=30)
turns = st.lists(
    st.tuples(words, st.lists(st.lists(words, min_size=1, max_size=3), max_size=3), st.none() | st.integers(1, 10**6)),
    max_size=4,
)


def messages_of(drawn):
    messages = []
    for prompt, iterations, used in drawn:
        usage = {} if used is None else {"usage": {"prompt_tokens": used, "completion_tokens": 1}}
        messages.append(user(prompt))
        for results in iterations:
            messages.append(asks(*(("read", {}) for _ in results)) | usage)
            messages += [result(text, i) for i, text in enumerate(results)]
        messages.append(says("ok") | usage)
    return messages


@given(drawn=turns, system=words)
@settings(max_examples=200, deadline=None)
def test_parts_add_up_exactly_and_less_history_never_costs_more(drawn, system):
    parts = parts_of(read_messages(messages_of(drawn), system=system))
    for part in parts:
        split = (part.new, part.resent_iterations, part.resent_turns, part.base)
        assert sum(split) == part.prompt
        assert min(split) >= 0
        assert 0 <= part.resent_parallel <= part.resent_iterations
        assert part.without <= part.prompt
        if part.call.turn == 1:
            assert part.without == part.prompt
    assert [part.prompt for part in parts if part.call.measured] == [
        p.call.usage.prompt_tokens for p in parts if p.call.usage
    ]


@given(drawn=turns, system=words)
@settings(max_examples=15, deadline=None)
def test_turns_are_the_sums_of_their_calls(drawn, system):
    session = read_messages(messages_of(drawn), system=system)
    turns, calls = curve(session), calls_frame(session)
    by_turn = calls.groupby("turn")
    assert (turns[PARTS].sum(axis=1) == turns["turn_tokens"]).all()
    for column in [*PARTS, "resent_parallel", "output_tokens"]:
        assert turns[column].tolist() == by_turn[column].sum().tolist()
    assert turns["turn_tokens"].tolist() == by_turn["prompt_tokens"].sum().tolist()
    assert turns["context"].tolist() == by_turn["prompt_tokens"].last().tolist()
    assert turns["cumulative"].tolist() == turns["turn_tokens"].cumsum().tolist()


@given(total=st.integers(0, 10**7), weights=st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_shares_add_up_and_are_within_one_of_exact(total, weights):
    parts = shares(total, weights)
    assert sum(parts) == total
    whole = sum(weights)
    assert all(part == 0 for part, weight in zip(parts, weights, strict=True) if whole and weight == 0)
    if whole:
        assert all(abs(p - total * w / whole) < 1.001 for p, w in zip(parts, weights, strict=True))


def test_a_session_of_thousands_of_calls_takes_time_that_grows_with_it():
    def seconds(n: int) -> float:
        session = read_messages([user("x"), *[asks(("read", {})), result("y")] * n, says("z")])
        sizes = Sizes(10, (5,) * len(session.records), True, "test")
        started = perf_counter()
        assert len(parts_of(session, sizes)) == n + 1
        return perf_counter() - started

    seconds(500)
    assert seconds(8000) < 40 * max(seconds(1000), 0.002)


def test_a_call_without_arguments_that_parse_is_counted():
    session = read_messages([user("Hi"), asks(("a", {})), result("x"), says("y")])
    session.records[1].tool_calls[0]["function"]["arguments"] = "{not json"
    assert curve(session)["turn_tokens"].item() > 0
