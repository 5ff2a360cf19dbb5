"""Sessions whose later calls were sent less than what was said: the count follows what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis_sessions import asks, result, says, user
from hypothesis import given
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load, read_messages
from agentlab.analysis.parts import parts_of
from agentlab.analysis.session import Call, Replaced
from agentlab.analysis.sizes import sizes_of
from agentlab.analysis.sums import Sums
from agentlab.messages import Reply, Usage
from agentlab.policy import Batched, ClearAt, Compaction, Consolidate, OnPressure, Policy, Room, Sliding
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.runner import Runner
from agentlab.tokens import message_counter
from agentlab.tools import Tool

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = {"type": "object", "properties": {}}
SMALL = Room(window=3_000, reserve=200, margin=100)
RULES = {
    "sliding": Compaction(results=Sliding(keep=2)),
    "batched": Compaction(results=Batched(keep=1, every=3)),
    "clear_at": Compaction(results=ClearAt(threshold=1_500, keep=1)),
    "on_pressure": Compaction(results=OnPressure(), room=SMALL),
    "message": Compaction(consolidate=Consolidate(keep_turns=1), room=SMALL),
    "both": Compaction(results=Sliding(keep=1), consolidate=Consolidate(keep_turns=1), room=SMALL),
}


class Watched(ScriptedModel):
    """A scripted model that keeps what each request sent."""

    def __init__(self, script) -> None:
        super().__init__(script)
        self.sent = []

    def call(self, messages, **options):
        self.sent.append([dict(message) for message in messages])
        return super().call(messages, **options)


def recorded(folder: Path, compaction: Compaction, turns: int = 12):
    """Run turns of one call each; returns what each request sent."""
    look = Tool("look", "Look.", SCHEMA, lambda: "lorem ipsum dolor " * 60)
    script = [step for n in range(turns) for step in (call("look"), f"Seen {n}.")]
    summariser = ScriptedModel([Reply("The user looked.", usage=Usage(900, 5))] * turns)
    policy = Policy("test", compaction=compaction)
    model = Watched(script)
    with Runner(model, folder=folder, tools=[look], policy=policy, summariser=summariser) as session:
        for n in range(turns):
            session.send(f"Look number {n}.")
        assert session.conversation.decisions
    return model.sent


@pytest.mark.parametrize("rule", RULES)
def test_what_is_counted_is_what_the_model_was_sent(tmp_path, rule):
    sent = recorded(tmp_path / "a", RULES[rule])
    (session,), problems = load(tmp_path / "a")
    assert problems == []
    sizes, count = sizes_of(session), message_counter("o200k_base")
    counted = [part.prompt for part in parts_of(session)]
    assert counted == [sizes.base + sum(count(message).n for message in messages) for messages in sent]
    assert len(set(counted)) > 5


def test_a_summary_in_the_system_prompt_is_counted_too(tmp_path):
    sent = recorded(tmp_path / "a", Compaction(consolidate=Consolidate(keep_turns=1, place="system"), room=SMALL))
    (session,), _ = load(tmp_path / "a")
    summaries = [record for record in session.records if record.is_summary]
    assert summaries
    assert {record.role for record in summaries} == {"system"}
    frame = calls_frame(session)
    assert [each.stop - each.start for each in session.calls] == [
        len(messages) + any(record.is_summary for record in session.records[each.start : each.stop])
        for each, messages in zip(session.calls, sent, strict=True)
    ]
    assert frame["growth"].min() < -300
    assert session.aside == (Usage(900, 5),) * len(summaries)


def test_turns_are_those_of_the_user_whatever_was_summarised(tmp_path):
    recorded(tmp_path / "a", RULES["both"])
    (session,), _ = load(tmp_path / "a")
    assert curve(session)["turn"].tolist() == list(range(1, 13))
    assert [each.iteration for each in session.calls] == [1, 2] * 12


def talk(n: int):
    steps = [part for i in range(n) for part in (asks(("look", {})), result(f"{i} " + "x" * 400))]
    return read_messages([user("Hi"), *steps, says("Done.")])


def replacing(session, *changes: tuple[int, int, str | None]):
    from msgspec.structs import replace

    return replace(session, replaced=tuple(Replaced(*each) for each in sorted(changes, key=lambda each: each[0])))


def test_a_message_is_carried_by_the_calls_that_send_its_own_text():
    session = talk(3)  # user, ask, result, ask, result, ask, result, says; four calls
    assert session.carried() == [4, 3, 3, 2, 2, 1, 1, 0]
    assert replacing(session, (2, 2, "gone")).carried()[2] == 1
    assert replacing(session, (2, 2, "gone"), (3, 2, "gone again")).carried()[2] == 1
    assert replacing(session, (2, 2, None), (3, 2, session.records[2].text)).carried()[2] == 2
    assert replacing(session, (0, 2, "gone")).carried()[2] == 0


def test_parts_follow_what_is_sent_in_place_of_a_message():
    session = replacing(talk(3), (2, 2, "gone"), (3, 4, None))
    sizes = sizes_of(session)
    parts = parts_of(session)
    whole = [sizes.base + sum(sizes.messages[: each.stop]) for each in session.calls]
    saved = sizes.messages[2] - sizes.replaced[0]
    assert [part.prompt for part in parts] == [*whole[:2], whole[2] - saved, whole[3] - saved - sizes.messages[4]]
    assert all(part.prompt == part.base + part.new + part.resent_iterations + part.resent_turns for part in parts)


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 100)), max_size=20),
)
def test_sums_are_those_of_the_numbers_as_they_are_now(values, changes):
    sums = Sums(values)
    for place, value in changes:
        index = place % len(values)
        sums.change(index, value)
        values[index] = value
    for start in range(len(values) + 1):
        for stop in range(len(values) + 1):
            assert sums.between(start, stop) == sum(values[start:stop])


def test_a_call_can_start_after_what_a_summary_stands_for():
    session = talk(2)
    assert session.calls[0] == Call(1, 1, 0, 1, 1)
