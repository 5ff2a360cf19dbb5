"""Clearing old tool results: when each rule does it, what it leaves, and what the model reads instead."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.builtin_tools.results import read_result_tool
from agentlab.compaction.ledger import Ledger
from agentlab.compaction.micro import Prompt, due
from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.events import CallStarted, CompactionDecided
from agentlab.loop import run_turn
from agentlab.messages import ToolCall
from agentlab.policy import Batched, ClearAt, Compaction, Limit, OnPressure, Policy, Room, Sliding
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.store import Store
from agentlab.testing import check_messages
from agentlab.tools import Tool, tool
from agentlab.transcript import SessionWriter

if TYPE_CHECKING:
    from pathlib import Path


@tool(max_observation_chars=100_000)
def look(n: int, size: int = 4_000) -> str:
    """Look at something."""
    return f"<{n}>" + "x" * (size - 3)


@tool(name="read_skill", max_observation_chars=100_000)
def read_skill(name: str) -> str:
    """Read a skill."""
    return f"SKILL {name}: " + "always do this. " * 100


def policy(rule: Any, **room: Any) -> Policy:
    return Policy(compaction=Compaction(results=rule, room=Room(**room)))


class Session:
    """Turns over one conversation; keeps each request as it was sent."""

    def __init__(self, policy: Policy, *, tools: list[Tool] | None = None, store: Store | None = None) -> None:
        self.talk = Conversation(system="Be brief.")
        self.policy = policy
        self.store = store
        self.tools = [look, read_skill] if tools is None else tools
        if store is not None:
            self.tools = [*self.tools, read_result_tool(store)]
        self.sent: list[list[Any]] = []
        self.events: list[Any] = []

    def turn(self, *steps: Any, window: int | None = None) -> None:
        model = ScriptedModel([*steps, "Done."], keep_requests=True, window=window)
        run_turn(
            self.talk,
            "Go.",
            model,
            tools=self.tools,
            policy=self.policy,
            store=self.store,
            sinks=[self.events.append],
            max_iterations=500,
        )
        self.sent += [list(request.messages) for request in model.requests]

    @property
    def decisions(self) -> list[CompactionDecided]:
        return [event for event in self.events if isinstance(event, CompactionDecided)]


def looks(count: int, size: int = 4_000) -> list[Any]:
    return [call("look", n=n, size=size) for n in range(count)]


def gone(messages: list[Any]) -> list[int]:
    """Which of the results, counted from 0, are not shown."""
    results = [m for m in messages if m["role"] == "tool"]
    return [n for n, m in enumerate(results) if "not shown any more" in m["content"]]


def breaks(sent: list[list[Any]]) -> int:
    """How often a request did not begin with the request before it."""
    return sum(after[: len(before)] != before for before, after in pairwise(sent))


def test_sliding_keeps_the_ten_newest_results_of_500_characters_and_more() -> None:
    session = Session(policy(Sliding()))
    session.turn(*looks(9), call("look", n=9, size=499), *looks(12))
    assert [len(gone(sent)) for sent in session.sent] == [0] * 11 + list(range(1, 10)) + [9, 10, 11]
    assert gone(session.sent[-1]) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11]  # the small one stays


def test_pitfall_26_sliding_changes_every_request_and_batches_do_not() -> None:
    sliding, batched = Session(policy(Sliding(keep=10))), Session(policy(Batched(keep=10, every=10)))
    for session in (sliding, batched):
        session.turn(*looks(40))
    assert breaks(sliding.sent) == 30
    assert breaks(batched.sent) == 3
    assert [len(each.cleared) for each in batched.decisions] == [10, 10, 10]
    assert gone(batched.sent[-1]) == list(range(30))
    for before, after in pairwise(batched.sent):
        if gone(before) == gone(after):
            assert after[: len(before)] == before


def test_a_decision_names_its_turn_also_where_nobody_listens() -> None:
    talk = Conversation()
    for _ in range(3):
        run_turn(talk, "Go.", ScriptedModel([*looks(2), "Done."]), tools=[look], policy=policy(Sliding(keep=1)))
    assert [decision.turn for decision in talk.decisions] == [1, 2, 2, 3, 3]


def test_clear_at_waits_for_its_threshold_and_keeps_the_newest() -> None:
    session = Session(policy(ClearAt(threshold=10_000, keep=3)))
    session.turn(*looks(12))
    assert session.decisions[0].iteration == 11  # ten results of 1,000 tokens, and what is around them
    assert len(session.decisions[0].cleared) == 7
    assert gone(session.sent[-1]) == list(range(7))
    assert breaks(session.sent) == 1


def test_clear_at_least_puts_a_small_batch_off() -> None:
    session = Session(policy(ClearAt(threshold=5_000, keep=3, clear_at_least=6_000)))
    session.turn(*looks(12))
    assert [len(each.cleared) for each in session.decisions] == [7]
    assert session.decisions[0].tokens_saved >= 6_000


def test_clear_at_leaves_excluded_tools_alone() -> None:
    session = Session(policy(ClearAt(threshold=1_000, keep=0, exclude=("look",))))
    session.turn(*looks(4))
    assert session.decisions == []


def test_on_pressure_clears_the_oldest_only_when_the_request_would_overflow() -> None:
    session = Session(policy(OnPressure(target=0.85), window=20_000, reserve=2_000, margin=1_000))
    session.turn(*looks(30))
    assert gone(session.sent[16]) == []
    first = session.decisions[0]
    assert first.iteration == 18  # 17 results of 1,000 tokens and their calls
    sizes = [event.prompt_tokens for event in session.events if isinstance(event, CallStarted)]
    assert max(sizes) <= 17_000
    assert 17_000 * 0.85 - 1_000 < sizes[17] <= 17_000 * 0.85
    assert [each.index for each in first.cleared] == [2, 4, 6, 8]
    assert breaks(session.sent) == len(session.decisions) < 7


def test_on_pressure_takes_the_window_of_the_model_and_does_nothing_without_one() -> None:
    known, unknown = (Session(policy(OnPressure(), reserve=1_000)) for _ in range(2))
    known.turn(*looks(10), window=8_000)
    unknown.turn(*looks(10))
    assert known.decisions
    assert unknown.decisions == []


def test_a_window_without_room_is_said_before_anything_is_sent() -> None:
    session = Session(policy(OnPressure()))
    with pytest.raises(InputError, match="leaves no room for a prompt"):
        session.turn(window=4_000)
    assert session.talk.messages == []


def test_pitfall_27_what_stands_instead_says_that_it_was_done_why_it_is_gone_and_how_to_get_it_back() -> None:
    session = Session(policy(Sliding(keep=0)), store=Store())
    session.turn(*looks(3))
    said = session.sent[-1][2]["content"]
    assert "was made and returned 4000 characters" in said
    assert "To make room" in said
    key = said.split('read_result("')[1].split('"')[0]
    assert session.store is not None
    assert session.store.get(key) == session.talk.messages[2]["content"]


def test_a_result_that_was_cut_is_read_back_whole() -> None:
    store = Store()
    cutting = Policy(default=Limit(1_000), compaction=Compaction(results=Sliding(keep=0)))
    session = Session(cutting, store=store)
    session.turn(*looks(2))
    key = session.sent[-1][2]["content"].split('read_result("')[1].split('"')[0]
    assert len(store.get(key)) == 4_000


def test_without_a_store_or_read_result_the_way_back_is_the_call() -> None:
    session = Session(policy(Sliding(keep=0)))
    session.turn(*looks(3))
    assert "make the call once more" in session.sent[-1][2]["content"]
    assert "read_result" not in session.sent[-1][2]["content"]


def test_what_was_read_back_is_not_stored_again() -> None:
    store = Store()
    key = store.put("y" * 3_000)
    session = Session(policy(Sliding(keep=0)), store=store)
    session.turn(ToolCall("r", "read_result", {"id": key}), call("look", n=1))
    assert gone(session.sent[-1]) == [0]
    assert len(store) == 1


def test_an_error_stays_an_error() -> None:
    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError("z" * 1_500)

    session = Session(policy(Sliding(keep=0)), tools=[fail])
    session.turn(call("fail"), call("fail"))
    assert session.sent[-1][2]["is_error"] is True
    assert "gave an error of" in session.sent[-1][2]["content"]


def test_pitfall_33_the_text_of_a_skill_is_pinned() -> None:
    handbook = Tool("handbook", "Rules.", {"type": "object", "properties": {}}, lambda: "rule " * 400, pinned=True)
    session = Session(policy(Sliding(keep=1)), tools=[look, read_skill, handbook])
    session.turn(call("read_skill", name="a"), call("handbook"), *looks(6))
    assert gone(session.sent[-1]) == [2, 3, 4, 5, 6]
    assert session.sent[-1][2]["content"].startswith("SKILL a")


def test_results_of_the_newest_calls_always_stay() -> None:
    session = Session(policy(Sliding(keep=1)))
    session.turn([call("look", id=f"c{n}", n=n) for n in range(5)], *looks(1))
    assert gone(session.sent[1]) == []  # the model has not read them yet
    assert gone(session.sent[2]) == [0, 1, 2, 3, 4]


def test_pitfall_32_messages_and_transcript_keep_everything(tmp_path: Path) -> None:
    plain, forgetful = (Session(policy(rule)) for rule in (None, Sliding(keep=0)))
    for session, folder in ((plain, tmp_path / "a"), (forgetful, tmp_path / "b")):
        writer = SessionWriter(folder, clock=lambda: 0.0)
        session.events = type("Events", (list,), {"append": lambda self, e, w=writer: (w(e), list.append(self, e))})()
        session.turn(*looks(5))
        session.turn(*looks(5))
        writer.close()
    assert forgetful.decisions
    assert plain.talk.messages == forgetful.talk.messages

    def lines(folder: str) -> list[bytes]:
        path = tmp_path / folder / "messages.jsonl"
        return [line.split(b'"message":')[1] for line in path.read_bytes().splitlines() if b'"type":"message"' in line]

    def shown(line: bytes) -> bytes:
        return line.split(b'"tokens"')[0]

    assert list(map(shown, lines("a"))) == list(map(shown, lines("b")))
    transcripts = [(tmp_path / f / "transcript.jsonl").read_text().count("\n") for f in "ab"]
    assert transcripts == [2, 2]


def test_a_rule_goes_on_where_a_loaded_session_stopped(tmp_path: Path) -> None:
    session = Session(policy(Batched(keep=2, every=3)))
    writer = SessionWriter(tmp_path)
    session.events = type("Events", (list,), {"append": lambda self, e: (writer(e), list.append(self, e))})()
    session.turn(*looks(6))
    writer.close()
    loaded = Session(policy(Batched(keep=2, every=3)))
    loaded.talk = Conversation.load(tmp_path)
    assert loaded.talk.view() == session.talk.view()
    loaded.turn(*looks(3))
    session.turn(*looks(3))
    assert loaded.talk.view() == session.talk.view()
    check_messages(loaded.talk.view())


rules = st.one_of(
    st.builds(Sliding, keep=st.integers(0, 4)),
    st.builds(Batched, keep=st.integers(0, 4), every=st.integers(1, 4)),
    st.builds(
        ClearAt, threshold=st.integers(0, 6_000), keep=st.integers(0, 4), clear_at_least=st.none() | st.just(900)
    ),
    st.builds(OnPressure, target=st.floats(0.1, 1)),
)


@given(rules, st.lists(st.integers(100, 3_000), max_size=12), st.integers(500, 6_000))
def test_a_rule_is_a_pure_function_and_never_asks_for_more_than_waits(rule: Any, sizes: list[int], room: int) -> None:
    ledger = Ledger(rule, frozenset())
    ledger.read([{"role": "tool", "tool_call_id": "a", "name": "f", "content": "x" * size} for size in sizes])
    before = copy.copy(ledger.waiting)
    prompt = Prompt(sum(sizes) // 4, room)
    count = due(rule, ledger.waiting, prompt)
    assert 0 <= count <= len(sizes)
    assert due(rule, ledger.waiting, prompt) == count
    assert ledger.waiting == before


def test_looking_costs_the_same_however_long_the_session_is() -> None:
    class Counted(list):  # type: ignore[type-arg]
        reads = 0

        def __getitem__(self, index: Any) -> Any:
            Counted.reads += 1
            return super().__getitem__(index)

    messages = Counted({"role": "tool", "tool_call_id": "a", "name": "f", "content": "x" * 2_000} for _ in range(300))
    ledger = Ledger(Sliding(), frozenset())
    for _ in range(50):
        ledger.read(messages)
    assert Counted.reads == 300
