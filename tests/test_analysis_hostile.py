"""Sessions that no agent should have written: each question gets an answer, and nothing is negative or a warning."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest
from analysis_sessions import asks, result, says, user
from msgspec.structs import replace

from agentlab.analysis import (
    Session,
    bill,
    cache_breaks,
    calls_frame,
    composition,
    cost,
    curve,
    evidence,
    growth,
    jumps,
    read_messages,
    replay,
    segments_frame,
    summary,
)
from agentlab.analysis.calibration import calibrate
from agentlab.analysis.cost import sentences
from agentlab.analysis.session import Replaced
from agentlab.analysis.trend import bend, concentration, exponent, trend
from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.policy import Limit, Policy, load_policy, preset_names
from agentlab.policy.specs import Compaction, Consolidate, Room, Sliding

SONNET = "claude-sonnet-4-5"
WORDS = "word " * 50


def steps(calls: int, text: str = WORDS, model: str = SONNET) -> Session:
    """A turn of so many calls, each of which cites a name of the result before."""
    talk = [user("Hi")]
    for n in range(calls - 1):
        talk += [asks(("look", {"id": f"id_{n}_x"})), result(f"id_{n + 1}_x {text}")]
    return read_messages([*talk, says("Done.")], model=model)


TALK = steps(40)
UP_TO_FIVE = range(TALK.calls[5].stop)


def using(usage, time=lambda n: None, session=TALK):
    calls = [replace(call, usage=usage(n), time=time(n)) for n, call in enumerate(session.calls)]
    return replace(session, calls=tuple(calls))


def growing(n):
    return Usage(10, 5, 100 * n, 100)


SESSIONS = {
    "nothing": Session("nothing", "chat", Path("nothing"), (), ()),
    "a question": read_messages([user("Hi")]),
    "one call": read_messages([user("Hi"), says("x")]),
    "usage of zero": using(lambda n: Usage(0, 0)),
    "usage of zero at every other call": using(lambda n: Usage(0, 0) if n % 2 else Usage(100 + n, 5)),
    "the same usage": using(lambda n: Usage(500, 5)),
    "usage that shrinks": using(lambda n: Usage(100_000 // (n + 1), 5)),
    "huge usage": using(lambda n: Usage(10**15 * (n + 1), 10**14, 10**15, 10**15)),
    "times that are none": using(growing, lambda n: nan),
    "times without end": using(growing, lambda n: inf if n % 2 else -inf),
    "times that go back": using(growing, lambda n: -1e6 * n),
    "no replies": replace(TALK, calls=tuple(replace(call, reply=None) for call in TALK.calls)),
    "prompts of no messages": replace(TALK, calls=tuple(replace(call, start=call.stop) for call in TALK.calls)),
    "every message replaced": replace(TALK, replaced=tuple(Replaced(5, index, "") for index in UP_TO_FIVE)),
    "every message taken out": using(
        lambda n: Usage(1_000 + 10 * n, 3),
        session=replace(TALK, replaced=tuple(Replaced(5, index, None) for index in UP_TO_FIVE)),
    ),
    "messages of no characters": read_messages([user(""), says("")] * 30, model=SONNET),
    "results of no characters": using(lambda n: Usage(50, 1), session=steps(20, text="")),
    "a model that nobody knows": steps(30, model="no-such-model"),
}

POLICIES = [
    *map(load_policy, preset_names()),
    Policy("nothing shown", default=Limit(0), errors=Limit(0)),
    Policy("nothing kept", compaction=Compaction(results=Sliding(keep=0, min_chars=0))),
    Policy(
        "always summed up",
        compaction=Compaction(
            consolidate=Consolidate(trigger=0.01, target=0.005, keep_turns=1),
            room=Room(window=20_000, reserve=100, margin=10),
        ),
    ),
]


@pytest.mark.parametrize("name", SESSIONS)
def test_every_question_has_an_answer(name):
    session = SESSIONS[name]
    n = len(session.calls)
    assert len(growth(session).sentences) >= (n > 0)
    assert len(calls_frame(session)) == len(cost(session)) == n
    assert sum(fit.stop - fit.first for fit in calibrate(session).fits) == n
    assert len(jumps(session)) <= 10
    assert len(cache_breaks(session)) < max(n, 1)
    assert len(segments_frame(session)) <= n
    assert composition(session)["sent"].sum() == calls_frame(session)["prompt_tokens"].sum()
    assert len(curve(session)) >= (n > 0)
    said = [*sentences(bill(session)), *summary(session)]
    assert not [each for each in said if " nan" in each.lower()]


@pytest.mark.parametrize("name", SESSIONS)
def test_every_policy_can_be_asked_of(name):
    found = replay([SESSIONS[name]], POLICIES, executor=None)
    frame = found.by_policy()
    assert len(frame) == 1 + len(POLICIES)
    assert (frame["tokens"] >= 0).all()
    assert (frame["tokens_high"] >= frame["tokens"]).all()
    assert not (frame["dollars"] < 0).any()
    assert len(found.fits()) == 1
    assert all(found.sentences())


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_twice_has_evidence_that_is_a_share(name):
    found = evidence([SESSIONS[name]] * 2, POLICIES)
    for shares in (found.by_policy()["kept"], found.by_policy(by_tool=True)["kept"], found.positions()["share"]):
        assert shares.dropna().between(0, 1).all()
    assert (found.differences()["n"] == len(found.cited)).all()


@pytest.mark.parametrize("function", [exponent, trend, bend])
@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_of_a_series_with_a_number_that_is_none_nothing_is_said(function, value):
    series = [float(n) for n in range(1, 40)]
    assert function(series) is not None
    assert function([*series, value]) is None


def test_an_increment_that_is_no_number_counts_as_no_growth():
    assert concentration([1.0, nan] * 20) == pytest.approx(0.2)


def test_a_sum_that_no_frame_can_hold_is_said_and_nothing_else_is():
    session = using(lambda n: Usage(10**18, 5))
    with pytest.raises(InputError, match="40000000000000000000 is no count") as raised:
        curve(session)
    assert raised.value.field == "turn_tokens"
    assert summary(session)[0].startswith("40 calls in 1 turn sent 40,000,000,000,000,000,000 prompt tokens")
    assert len(calls_frame(session)) == 40
