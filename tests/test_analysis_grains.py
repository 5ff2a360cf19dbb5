"""The four grains: what their rows say, that they agree with each other, and that every reader path gives the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from analysis_sessions import SYSTEM, asks, record, result, says, tool, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import load, read_messages
from agentlab.analysis.facts import facts_of, joined
from agentlab.analysis.grains import GRAINS, grain_of, grains
from agentlab.analysis.importers import chat
from agentlab.analysis.importers.chat_lines import read_lines
from agentlab.analysis.importers.peek import Peek
from agentlab.analysis.importers.spoken import Spoken
from agentlab.analysis.reading import read_facts, read_grains
from agentlab.analysis.session import Call, Record, Replaced, Session
from agentlab.errors import InputError
from agentlab.messages import Reply, Usage
from agentlab.providers.scripted import call
from agentlab.transcript import TurnLine

TALK = [user("Hi"), asks(("now", {})), result("15:40"), says("It is 15:40."), user("Thanks"), says("Welcome.")]


def test_a_talk_without_usage_is_estimated_row_by_row() -> None:
    sessions, turns, calls, messages = grains(read_messages(TALK, system=SYSTEM))
    assert list(messages.kind) == ["user", "call", "result", "assistant", "user", "assistant"]
    assert list(messages.role) == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert list(messages.tool.fillna("-")) == ["-", "now", "now", "-", "-", "-"]
    assert list(messages.chars) == [2, 0, 5, 12, 6, 8]
    assert list(messages.call_chars) == [0, 5, 0, 0, 0, 0]
    assert list(messages.tokens) == [1, 2, 2, 3, 2, 2]
    assert list(messages.carried) == [3, 2, 2, 1, 1, 0]
    assert list(messages.turn) == [1, 1, 1, 1, 2, 2]
    assert list(messages.iteration) == [0, 1, 1, 2, 0, 1]
    assert messages.original_chars.isna().all()
    base = -(-len(SYSTEM) // 4)
    assert list(calls.prompt_tokens) == [base + 1, base + 5, base + 10]
    assert list(calls.output_tokens) == [2, 3, 2]
    assert list(calls.messages) == [1, 3, 5]
    assert not calls.prompt_measured.any()
    assert list(turns.prompt_tokens) == [2 * base + 6, base + 10]
    assert list(turns.context) == [base + 5, base + 10]
    assert list(turns.iterations) == [2, 1]
    assert list(sessions.prompt_tokens) == [3 * base + 16]
    assert list(sessions.tool_calls) == [1]
    assert sessions.started.isna().all()


def test_a_session_of_the_loop_has_usage_times_and_endings(tmp_path: Path) -> None:
    reads = tool("read", "x" * 9_000, max_observation_chars=1_000)
    script = [call("read", path="a"), Reply("Read it.", usage=Usage(100, 20, 900, 50)), "Bye."]
    record(tmp_path / "run", ["Read a.", "Bye."], script, [reads], model="m-1")
    (session,), problems = load(tmp_path / "run")
    assert problems == []
    sessions, turns, calls, messages = grains(session)
    assert list(calls.prompt_measured) == [False, True, False]
    assert (calls.prompt_tokens[1], calls.output_tokens[1], calls.cache_read_tokens[1]) == (1_050, 20, 900)
    assert list(turns.status) == ["complete", "complete"]
    assert list(turns.reason) == ["reply", "reply"]
    cut = messages[messages.kind == "result"].iloc[0]
    assert (cut.original_chars, cut.chars <= 1_000, cut.tool, cut.carried) == (9_000, True, "read", 2)
    assert (
        sessions.started[0] == messages.time[0] == pd.Timestamp(session.records[0].time, unit="s", tz="UTC").round("us")
    )
    assert sessions.ended[0] >= sessions.started[0]


def spoken(role: str, text: str, turn: int, iteration: int, **more: Any) -> Record:
    named = {"name": "read", "tool_call_id": "c"} if role == "tool" else {}
    return Record({"role": role, "content": text, **named}, turn, iteration, **more)


def test_what_a_call_reports_what_it_does_not_and_what_was_replaced() -> None:
    records = (
        spoken("user", "a" * 40, 1, 0, time=10.0),
        spoken("tool", "b" * 400, 1, 1, image_tokens=7),
        spoken("user", "c" * 8, 1, 1, is_summary=True),
        spoken("assistant", "d" * 8, 1, 2, thinking="e" * 80, time=12.5),
        spoken("user", "f" * 4, 2, 0),
    )
    calls = (
        Call(1, 1, 0, 2, None, Usage(5, 6, 70, 8), cost=0.25, cache_write_1h_tokens=3),
        Call(1, 2, 0, 3, 3, Usage(9, 1), output_measured=False),
        Call(2, 1, 0, 5, None, Usage(1, 1, exact=False)),
        Call(2, 2, 1, 5, None),
    )
    session = Session(
        "s", "x", Path("p"), records, calls, replaced=(Replaced(2, 1, "b" * 4),), aside=(Usage(3, 4, 5),),
        turns=(TurnLine("", "", 2, 2, "partial", "max_turns"),), labels={"task": 1}, parent="root",
    )  # fmt: skip
    sessions, turns, frame, messages = grains([session])
    assert list(frame.prompt_tokens) == [83, 9, 10 + 8 + 2 + 2 + 1, 8 + 2 + 2 + 1]
    assert list(frame.prompt_measured) == [True, True, False, False]
    assert list(frame.output_tokens) == [6, 22, 0, 0]
    assert list(frame.output_measured) == [True, False, False, False]
    assert list(frame.cache_write_1h_tokens) == [3, 0, 0, 0]
    assert list(messages.kind) == ["user", "result", "summary", "assistant", "user"]
    assert list(messages.carried) == session.carried()
    assert list(turns.status.fillna("-")) == ["-", "partial"]
    assert list(turns.cost.fillna(-1)) == [0.25, -1]
    assert list(turns.prompt_measured) == [True, False]
    row = sessions.iloc[0]
    assert (row.labels, row.parent, row.aside_prompt_tokens, row.aside_output_tokens) == ('{"task":1}', "root", 8, 4)
    assert row.largest_prompt == 83
    assert (row.started, row.ended) == (pd.Timestamp(10, unit="s", tz="UTC"), pd.Timestamp(12.5, unit="s", tz="UTC"))


def test_a_sum_for_the_whole_session_stands_where_its_calls_say_nothing() -> None:
    talk = read_messages(TALK)
    whole = Session("s", "x", Path("p"), talk.records, talk.calls, usage=Usage(1_000, 50, 200), cost=0.5)
    row = grains(whole).sessions.iloc[0]
    assert (row.prompt_tokens, row.output_tokens, row.cache_read_tokens, row.cost) == (1_200, 50, 200, 0.5)
    assert row.prompt_measured


@pytest.mark.parametrize("sessions", [[], [read_messages([])], [read_messages(TALK)]])
def test_types_are_those_declared_whatever_there_is(sessions: list[Session]) -> None:
    for (name, columns), frame in zip(GRAINS.items(), grains(sessions), strict=True):
        assert list(frame.columns) == [column.name for column in columns], name
        for column in columns:
            expected = pd.Series([], dtype=column.dtype).dtype
            assert frame[column.name].dtype == expected, (name, column.name)
        assert all(column.meaning for column in columns)


MESSAGES = st.lists(
    st.one_of(
        st.text(max_size=9).map(user),
        st.text(max_size=9).map(says),
        st.text(max_size=9).map(lambda text: {**says(text), "usage": {"prompt_tokens": 90, "completion_tokens": 4}}),
        st.integers(1, 3).map(lambda n: asks(*[("read", {"path": "a" * n})] * n)),
        st.text(max_size=9).map(result),
        st.text(max_size=9).map(lambda text: {**user(text), "origin": "loop"}),
        st.text(max_size=9).map(lambda text: {"role": "system", "content": text}),
    ),
    max_size=14,
)


@settings(max_examples=30)
@given(st.lists(MESSAGES, max_size=4))
def test_the_grains_add_up(talks: list[list[dict[str, Any]]]) -> None:
    read = [read_messages(talk) for talk in talks]
    sessions, turns, calls, messages = grains(read)
    for column in ("prompt_tokens", "output_tokens", "cache_read_tokens", "calls"):
        assert sessions[column].sum() == turns[column].sum()
        if column != "calls":
            assert sessions[column].sum() == calls[column].sum()
    assert list(sessions.messages) == [len(session.records) for session in read]
    assert list(sessions.calls) == [len(session.calls) for session in read]
    assert list(sessions.turns) == [sum(record.opens_turn for record in session.records) for session in read]
    assert list(messages.carried) == [n for session in read for n in session.carried()]
    assert messages.carried.sum() == calls.messages.sum()
    estimates = calls[~calls.prompt_measured].prompt_tokens.sum()
    carried = [
        sum(messages.tokens[: each.stop]) if len(read) == 1 and not session.system else None
        for session in read
        for each in session.calls
        if not each.measured
    ]
    if None not in carried:
        assert estimates == sum(carried)


@settings(max_examples=15)
@given(st.lists(MESSAGES, min_size=1, max_size=4))
def test_logs_read_one_by_one_are_joined_as_if_read_together(talks: list[list[dict[str, Any]]]) -> None:
    read = [read_messages(talk) for talk in talks]
    apart, together = joined([facts_of([session]) for session in read]), facts_of(read)
    for name in GRAINS:
        pd.testing.assert_frame_equal(grain_of(apart, name), grain_of(together, name))


def lines(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def test_lines_that_name_a_session_are_sessions_of_one_file(tmp_path: Path) -> None:
    usage = {"input_tokens": 30, "output_tokens": 5, "cache_read_tokens": 70}
    mine = [{**message, "session": "b"} for message in TALK]
    yours = [
        {"role": "system", "content": SYSTEM, "session": "a"},
        {**user("Hi"), "session": "a", "ts": 1_790_000_000.25},
        {**says("Hello."), "session": "a", "ts": "2026-09-21T14:13:21Z", "usage": usage, "model": "m-2"},
    ]
    path = lines(tmp_path / "many.jsonl", [mine[0], yours[0], *mine[1:3], *yours[1:], *mine[3:]])
    (b, a), problems = load(path)
    assert problems == []
    assert [record.message for record in b.records] == [record.message for record in read_messages(TALK).records]
    assert (a.id, a.system, a.model) == ("a", SYSTEM, "m-2")
    assert [record.time for record in a.records] == [1_790_000_000.25, 1_790_000_001.0]
    assert (a.calls[0].usage, a.calls[0].time) == (Usage(30, 5, 70), 1_790_000_001.0)


SESSION = st.sampled_from([{}, {}, {"session": "a"}, {"session": "b"}, {"session": None}, {"session": 3}])
MODEL = st.sampled_from([{}, {"model": "m-1"}, {"model": "m-2"}, {"model": ""}, {"model": 4}])
TIME = st.sampled_from(
    [{}, {"ts": 1.5e9}, {"ts": -1, "time": 1.6e9}, {"timestamp": "2026-09-21T14:13:21Z"}, {"ts": "noon"}, {"ts": 1e300}]
)
CONTENT = st.one_of(
    st.text(max_size=6),
    st.none(),
    st.lists(
        st.one_of(st.text(max_size=4), st.text(max_size=4).map(lambda text: {"type": "text", "text": text})), max_size=3
    ),
    st.sampled_from(
        [5, [{"type": "input_audio"}], [{"type": "text", "text": "a"}, {"type": "text", "text": ""}], "\ud83d"]
    ),
)
COUNT = st.sampled_from([0, 5, 900, -1, 10**20, 2.5, True, None, "7"])
USAGE = st.one_of(
    st.none(),
    st.just(3),
    st.fixed_dictionaries({"prompt_tokens": COUNT}, optional={"completion_tokens": COUNT}),
    st.fixed_dictionaries(
        {"prompt_tokens": st.just(90), "prompt_tokens_details": st.sampled_from([None, {}, {"cached_tokens": 999}])}
    ),
    st.fixed_dictionaries(
        {"input_tokens": COUNT},
        optional={"output_tokens": COUNT, "cache_read_tokens": COUNT, "exact": st.sampled_from([True, False, None])},
    ),
)
CALLS = st.sampled_from(
    [
        None,
        [],
        [{"id": "c1", "function": {"name": "read", "arguments": "{}"}}],
        [{"id": "c2", "function": {"name": "look", "arguments": {"at": 1}}}, {"id": 3, "function": {"name": "now"}}],
        [{"function": {"name": "", "arguments": ""}}, {"function": {"name": "now", "arguments": "é"}}],
        "none",
    ]
)
ROLE = st.sampled_from(["user", "assistant", "tool", "system", "developer", "robot", None])


@st.composite
def logged(draw: Any) -> Any:
    """A line of a log: mostly a message, with anything in its fields."""
    message = {"role": draw(ROLE), "content": draw(CONTENT), **draw(SESSION), **draw(MODEL), **draw(TIME)}
    message |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "usage": USAGE,
                "tool_calls": CALLS,
                "tool_call_id": st.sampled_from(["c1", "c2", "3", None, 3]),
                "name": st.sampled_from(["read", "", None, 7]),
                "origin": st.sampled_from(["loop", "else", None]),
                "is_error": st.sampled_from([True, False, None, 1]),
            },
        )
    )
    return message


def texts(values: list[Any]) -> list[str]:
    return [json.dumps(value) for value in values]


LINES = st.lists(
    st.one_of(logged(), logged(), st.sampled_from([7, None, [], {"other": 1}])).map(json.dumps), max_size=12
)
DAMAGE = st.sampled_from(["", "   ", '{"role": "user", "cont', "\x00", '{"role": "user"}{"role": "user"}'])


def both_ways(path: Path) -> None:
    """Compare the frames of a file with those of its sessions, and what is said of it."""
    sessions, problems = load(path)
    expected, (found, told) = grains(sessions), read_grains(path)
    for one, other in zip(expected, found, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert sorted(map(str, told)) == sorted(map(str, problems))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, damage=st.lists(st.tuples(st.integers(0, 12), DAMAGE), max_size=2), end=st.sampled_from(["\n", ""]))
def test_lines_give_the_same_without_sessions(
    tmp_path: Path, lines: list[str], damage: list[tuple[int, str]], end: str
) -> None:
    for at, text in damage:
        lines = [*lines[:at], text, *lines[at:]]
    path = tmp_path / "log.jsonl"
    first = [json.dumps(user("Hi")), json.dumps(says("Hello."))]
    path.write_text("\n".join([*first, *lines]) + end, encoding="utf-8")
    assert scanned_by_lines(path)
    both_ways(path)


def scanned_by_lines(path: Path) -> bool:
    return chat.scan(Peek(path)) is not None


@pytest.mark.parametrize("size", [64, 1 << 18])
def test_exactly_one_torn_line_is_skipped(tmp_path: Path, size: int) -> None:
    many = [{**message, "session": f"s{n % 3}", "tool": "x" * n} for n in range(40) for message in TALK]
    rows = texts(many)
    rows[100] = rows[100][:20]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    facts, problems = read_facts(path)
    assert [(problem.line, "skipped" in problem.reason) for problem in problems] == [(101, True)]
    assert len(facts.messages["turn"]) == len(many) - 1
    both_ways(path)
    peek, spoken = Peek(path), Spoken("log", by_id=True)
    read_lines(peek, [], spoken.add, size=size)
    pd.testing.assert_frame_equal(grain_of(spoken.facts(str(path)), "messages"), grain_of(facts, "messages"))


def test_lines_that_hold_whole_talks_are_read_as_sessions(tmp_path: Path) -> None:
    path = lines(tmp_path / "talks.jsonl", [user("Hi"), {"messages": TALK}, {"messages": TALK * 2}])
    assert not scanned_by_lines(path)
    both_ways(path)


def test_lines_with_images_are_read_as_sessions(tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    path = lines(tmp_path / "talks.jsonl", [user("Hi"), says("Hello."), {"role": "user", "content": [picture]}])
    assert not scanned_by_lines(path)
    both_ways(path)
    assert list(read_grains(path)[0].messages.image_tokens) == [0, 0, 765]


def test_calls_and_results_that_miss_each_other_are_told_by_line(tmp_path: Path) -> None:
    ask, late = asks(("now", {}), ("look", {})), {**result("again"), "session": "b"}
    path = lines(tmp_path / "log.jsonl", [user("Hi"), ask, result("15:40"), late, says("It is 15:40."), ask])
    assert scanned_by_lines(path)
    both_ways(path)
    assert [(problem.line, problem.reason) for problem in read_grains(path)[1]] == [
        (4, "tool_call_id 'call_0': no call before it waits for a result"),
        (2, "tool_calls: the call 'call_1' of 'look' has no result"),
    ]


def test_a_message_with_its_usage_beside_it_is_read_in_lines_too(tmp_path: Path) -> None:
    beside = {"message": says("Hello."), "usage": {"prompt_tokens": 90, "completion_tokens": 7}, "model": "m-1"}
    path = lines(tmp_path / "log.jsonl", [user("Hi"), beside])
    assert scanned_by_lines(path)
    both_ways(path)
    assert list(read_grains(path)[0].calls.prompt_tokens) == [90]


def test_a_folder_of_any_logs_in_any_executor(tmp_path: Path) -> None:
    record(tmp_path / "run", ["Hi."], ["Hello."], model="m-1")
    lines(tmp_path / "b.jsonl", [{**message, "session": "b"} for message in TALK])
    (tmp_path / "c.json").write_text(json.dumps({"messages": TALK}))
    (tmp_path / "d.json").write_text("nothing")
    both_ways(tmp_path)
    here, problems = read_grains([tmp_path, tmp_path / "lost"], executor=1)
    there, same = read_grains([tmp_path, tmp_path / "lost"], executor=2)
    assert list(here.sessions.session) == ["b", "c", "run"]
    assert [Path(problem.path).name for problem in problems] == ["lost", "d.json"]
    assert problems == same
    for one, other in zip(here, there, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_paths_that_hold_nothing_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no log in it"):
        read_grains(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        read_grains(tmp_path / "lost")
    with pytest.raises(InputError, match="unknown format 'morse'"):
        read_grains([tmp_path, tmp_path], format="morse")
    (tmp_path / "a.json").write_text("7")
    with pytest.raises(InputError, match="no known format"):
        read_grains(tmp_path / "a.json")
