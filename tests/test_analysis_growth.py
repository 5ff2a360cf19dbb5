"""How prompts grow and what they are made of: series whose answer is known, and sessions counted by hand."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from analysis_sessions import asks, result, says, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentlab.analysis import composition, composition_by_call, curve, growth, jumps, read_messages, segments_frame
from agentlab.analysis.composition import KINDS
from agentlab.analysis.parts import parts_of
from agentlab.analysis.session import Replaced
from agentlab.analysis.sizes import sizes_of
from agentlab.analysis.trend import bend, concentration, exponent, trend
from agentlab.messages import Usage
from agentlab.plots import plot_composition


def noise(n: int, seed: int) -> list[float]:
    """Increments as of tool results: most small, few large, none depends on its place."""
    draw = random.Random(seed)
    return [draw.lognormvariate(6, 1.2) for _ in range(n)]


@pytest.mark.parametrize("power", [0.5, 1, 1.5, 2])
def test_the_exponent_of_a_power_is_that_power(power):
    found = exponent([1000 * n**power for n in range(1, 101)])
    assert (found.value, found.low, found.high) == pytest.approx((power,) * 3, abs=1e-3)


def test_the_interval_holds_the_exponent_of_a_noisy_power():
    draw = random.Random(1)
    found = exponent([n**1.5 * draw.lognormvariate(0, 0.3) for n in range(1, 201)])
    assert found.low < 1.5 < found.high
    assert 0.05 < found.high - found.low < 0.5


def test_nothing_is_said_of_few_values_or_of_zeros():
    assert exponent([1] * 7) is trend([1] * 7) is bend([1] * 15) is None
    assert exponent([0, *range(1, 20)]) is None


def test_a_trend_is_told_from_none():
    assert trend(range(30)).direction == 1
    assert trend(range(30, 0, -1)).direction == -1
    assert trend([5] * 30).direction == 0
    told = sum(trend(noise(60, seed)).direction != 0 for seed in range(200))
    assert 2 <= told <= 20  # about 5 % by chance


def test_a_sum_of_noise_looks_bent_and_a_reordering_shows_that_it_is_not():
    """The hinge takes much of the error of a straight line away, and other orders of the same increments do too."""
    found = [bend(noise(60, seed), shuffles=99) for seed in range(60)]
    assert sorted(each.explained for each in found)[30] > 0.4
    assert sum(each.chance <= 0.05 for each in found) <= 8  # about 5 % by chance


def test_a_real_bend_is_found_where_it_is():
    steps = [*noise(40, 1), *(20 * step for step in noise(40, 2))]
    found = bend(steps)
    assert 36 <= found.at <= 46
    assert found.chance <= 0.01


def test_concentration():
    assert concentration([1] * 10) == pytest.approx(0.1)
    assert concentration([91, *[1] * 9]) == pytest.approx(0.91)
    assert concentration([-5, 0]) != concentration([-5, 0])


def looking(sizes):
    """One turn in which results of given sizes come in."""
    steps = [part for n, size in enumerate(sizes) for part in (asks(("look", {"n": n})), result("word " * size))]
    return read_messages([user("Hi"), *steps, says("Done.")], system="Be brief.")


def test_equal_results_make_prompts_that_grow_linearly_and_a_sum_that_does_not():
    found = growth(looking([100] * 60))
    assert found.verdict == "linear"
    assert found.exponents["cumulative"].value > 1.7
    assert "linearly: what a call adds shows no trend" in found.sentences[0]


@pytest.mark.parametrize(("sizes", "verdict"), [(range(60), "super-linear"), (range(60, 0, -1), "sub-linear")])
def test_growing_and_shrinking_results_are_told(sizes, verdict):
    found = growth(looking(sizes))
    assert found.verdict == verdict
    assert f"{verdict}ly: later calls add" in found.sentences[0]


def test_few_calls_tell_nothing():
    found = growth(looking([100] * 3))
    assert found.verdict == "cannot be told"
    assert found.sentences == ("Whether the prompts grow linearly cannot be told from 3 increments.",)
    assert growth(read_messages([])).sentences == ()


def test_jumps_name_the_tool_and_the_message():
    talk = [
        user("Hi"),
        asks(("small", {})),
        result("word " * 50),
        asks(("big", {})),
        result("word " * 500),
        says("Done."),
    ]
    session = read_messages(talk)
    frame = jumps(session)
    assert frame["grown_by"].tolist() == ["big", "small"]
    assert frame["message"].tolist() == [4, 2]
    assert frame["call"].tolist() == [3, 2]
    assert frame["share"].sum() == pytest.approx(1)
    sizes = sizes_of(session).messages
    assert frame["growth"].tolist() == [sizes[3] + sizes[4], sizes[1] + sizes[2]]


def test_a_segment_begins_where_earlier_messages_are_left_out():
    session = looking([100] * 20)
    calls = [*session.calls[:12], *(replace(call, start=20) for call in session.calls[12:])]
    session = replace(session, calls=tuple(calls))
    frame = segments_frame(session)
    assert frame["calls"].tolist() == [12, 9]
    assert frame["first_call"].tolist() == [1, 13]
    assert 13 not in jumps(session, 99)["call"].tolist()
    assert "longest of 2 segments" in growth(session).sentences[0]


def test_a_prompt_that_shrank_much_begins_a_segment_too():
    talk = [user("Hi")]
    for prompt in [*range(1000, 2000, 100), *range(500, 1500, 100)]:
        talk += [asks(("look", {})) | {"usage": {"prompt_tokens": prompt, "completion_tokens": 1}}, result("x")]
    assert segments_frame(read_messages(talk))["calls"].tolist() == [10, 10]


def test_composition_counted_by_hand():
    """Two calls: the first is sent the user's message, the second also the call and its result."""
    session = read_messages([user("Hi"), asks(("now", {})), result("15:40"), says("It is 15:40.")], system="Be brief.")
    sizes = sizes_of(session)
    frame = composition(session).set_index("kind")
    assert frame.loc["system", ["once", "resent"]].tolist() == [sizes.base, sizes.base]
    assert frame.loc["user", ["once", "resent"]].tolist() == [sizes.messages[0], sizes.messages[0]]
    assert frame.loc["calls", ["once", "resent", "messages"]].tolist() == [sizes.messages[1], 0, 1]
    assert frame.loc["results", ["once", "resent"]].tolist() == [sizes.messages[2], 0]
    assert frame.loc["assistant", "sent"] == 0
    assert frame["share"].sum() == pytest.approx(1)


def test_words_and_calls_of_one_message_are_two_kinds():
    said = asks(("now", {})) | {"content": "I look at the clock."}
    frame = composition(read_messages([user("Hi"), said, result("15:40"), says("15:40.")])).set_index("kind")
    assert (
        frame.loc["assistant", "once"] == sizes_of(read_messages([user(""), says("I look at the clock.")])).messages[1]
    )
    assert frame.loc["calls", "once"] > 0


def test_a_replaced_result_counts_as_what_stands_in_its_place():
    session = looking([300] * 3)
    session = replace(session, replaced=(Replaced(2, 2, "gone"), Replaced(3, 4, None)))
    sizes = sizes_of(session)
    frame = composition_by_call(session)
    one, two, three = (sizes.messages[index] for index in (2, 4, 6))
    assert frame["results"].tolist() == [0, one, sizes.replaced[0] + two, sizes.replaced[0] + three]
    assert frame["new_results"].tolist() == [0, one, two, three]


PIECES = st.lists(
    st.sampled_from(
        [user("Hi there"), asks(("a", {}), ("b", {"x": 1})), result("word " * 50), says("Well."), says("")]
    ),
    max_size=25,
)


@given(PIECES, st.integers(0, 5000))
def test_kinds_add_up_to_the_prompts(pieces, prompt):
    talk = [user("Hi"), *(dict(piece) for piece in pieces)]
    for message in talk:
        if message["role"] == "assistant" and prompt:
            message["usage"] = {"prompt_tokens": prompt, "completion_tokens": 1}
    session = read_messages(talk, system="Be brief.")
    frame = composition_by_call(session)
    assert frame[list(KINDS)].sum(axis=1).tolist() == frame["prompt_tokens"].tolist()
    assert (frame[[f"new_{kind}" for kind in KINDS]].to_numpy() <= frame[list(KINDS)].to_numpy()).all()
    assert frame["prompt_tokens"].sum() == curve(session)["turn_tokens"].sum() == composition(session)["sent"].sum()


def test_the_picture_stacks_up_to_the_prompts_and_names_the_jumps():
    session = looking([10, 500, 10])
    frame = composition_by_call(session)
    ax = plot_composition(frame, jumps(session))
    tops = [max(path.vertices[:, 1].max() for path in each.get_paths()) for each in ax.collections]
    assert max(tops) == frame["prompt_tokens"].max()
    assert [text.get_text().split()[0] for text in ax.texts] == ["look"] * 3
    assert list(accumulate(tops, max)) == tops  # from the bottom up


def test_a_session_without_calls_is_said_in_words():
    ax = plot_composition(composition_by_call(read_messages([])))
    assert "nothing to draw" in ax.texts[0].get_text()


def test_what_a_log_lacks_is_the_same_within_a_segment_and_messages_keep_their_price():
    """10,000 tokens are not in the log, and 50,000 after a summary; a token of the estimate costs 1.5."""
    steps = [part for n in range(20) for part in (asks(("look", {"n": n})), result("word " * 400))]
    session = read_messages([user("Hi"), *steps, says("Done.")])
    sizes = sizes_of(session).messages
    calls = []
    for number, call in enumerate(session.calls):
        start, base = (0, 10_000) if number < 10 else (20, 50_000)
        prompt = base + round(1.5 * sum(sizes[start : call.stop]))
        calls.append(replace(call, start=start, usage=Usage(prompt, 1)))
    frame = composition_by_call(replace(session, calls=tuple(calls)))
    assert frame["system"].tolist() == pytest.approx([10_000] * 10 + [50_000] * 11, rel=0.01)
    carried = [sum(sizes[i] for i in range(2, call.stop, 2) if i >= call.start) for call in calls]
    assert frame["results"].tolist() == pytest.approx([1.5 * size for size in carried], rel=0.02, abs=5)
    parts = parts_of(replace(session, calls=tuple(calls)))
    assert [part.base for part in parts] == frame["system"].tolist()
    assert all(part.prompt == part.base + part.new + part.resent_iterations + part.resent_turns for part in parts)
