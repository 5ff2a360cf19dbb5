"""The fifth exercise: its drawn sessions are as its texts say, and its recount agrees with right figures alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import theilslopes

from agentlab.grading.building.ten_turns import (
    FILE,
    base_tokens,
    bursty,
    even,
    fetch,
    functions_shown,
    page_text,
    read_lines,
    recorded,
)
from agentlab.grading.building.turn_curves import (
    CURVES,
    curves_agree,
    jump_agrees,
    plot_curves,
    shape_of,
    shapes_agree,
)
from agentlab.policy import Limit
from agentlab.tokens import count_text

SYSTEM = "You help to maintain the code of a warehouse. " * 13
TOOLS = [read_lines, fetch]
BASE = base_tokens(SYSTEM, TOOLS)
STUDENTS = [1, 4711, "s-0042"]


def exact(text):
    return count_text(text, "o200k_base").n


def tokens(message, count=exact):
    calls = [call["function"] for call in message.get("tool_calls", [])]
    return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in calls)


def curves(turns, count=exact):
    sent = [[BASE + sum(tokens(message, count) for message in request) for request in turn] for turn in turns]
    per_turn = [sum(turn) for turn in sent]
    return dict(zip(CURVES, ([turn[-1] for turn in sent], per_turn, np.cumsum(per_turn).tolist()), strict=True))


def run(session, **settings):
    return recorded(session, system=SYSTEM, tools=TOOLS, **settings)


def fits(values):
    """Exponents of a power law, fitted in ways that a student may choose."""
    y = np.asarray(values, dtype=float)
    x = np.arange(1, len(y) + 1)
    for left_out in (0, 1, 2):
        yield np.polyfit(np.log(x[left_out:]), np.log(y[left_out:]), 1)[0]
    yield np.log(y[-1] / y[0]) / np.log(x[-1])
    yield theilslopes(np.log(y), np.log(x)).slope
    yield curve_fit(lambda turn, a, b: a * turn**b, x, y, p0=(y[0], 1))[0][1]


@pytest.mark.parametrize("count", [exact, lambda text: len(text) // 4, lambda text: len(text) / 3.5])
@pytest.mark.parametrize("student", STUDENTS)
def test_all_fits_say_the_same_of_an_even_session(student, count):
    found = {
        name: [round(fit, 1) for fit in fits(values)] for name, values in curves(run(even(student)), count).items()
    }
    assert max(found["last request"]) < 1
    assert set(found["sent per turn"]) == {1.0}
    assert min(found["cumulative"]) > 1.6


@pytest.mark.parametrize("student", STUDENTS)
def test_the_spike_of_a_bursty_session_is_not_its_jump(student):
    turns = run(bursty(student))
    found = curves(turns)
    grown = {name: int(np.argmax(np.diff(found[name]))) + 2 for name in ("last request", "sent per turn")}
    assert len(turns[grown["sent per turn"] - 1]) == 5
    assert grown["last request"] < grown["sent per turn"]
    assert all(shape_of(values) == "super-linear" for values in found.values())


@pytest.mark.parametrize(
    ("way", "cause"),
    [("read_lines", "read_lines"), ("fetch", "fetch"), ("user", "user"), ("assistant", "assistant")],
)
def test_the_six_pages_come_in_the_way_that_is_asked_for(way, cause):
    turns = run(bursty(7, way))
    right = [turn for turn in range(1, 11) if jump_agrees((turn, cause), turns) == [True, True]]
    assert len(right) == 1
    assert jump_agrees((right[0] + 1, "now"), turns) == [False, False]
    earlier = right[0] - (way == "assistant")
    whole = "\n".join(page_text(FILE, *page) for page in bursty(7).pages[:6])
    asked = bursty(7, way).questions[earlier - 1]
    assert (whole in asked) == (way == "user")


def test_both_sessions_read_the_same_pages_whoever_draws_them():
    assert even("Ada").pages == bursty("Ada").pages == even("Ada").pages
    assert even(1).pages != even(2).pages
    for student in range(40):
        pages = even(student).pages
        assert pages[0][0] >= 1
        assert pages[-1][1] <= len(page_text(FILE, 1, 10_000).splitlines())
        assert all(38 <= end - start + 1 <= 50 for start, end in pages)
        assert all(after[0] == before[1] + 1 for before, after in pairwise(pages))


def test_no_page_is_cut_and_a_forgetful_loop_sends_less():
    turns = run(even(1))
    observations = [message["content"] for message in turns[-1][-1] if message["role"] == "tool"]
    assert observations == [page_text(FILE, *page) for page in even(1).pages]
    assert [len(request) for request in run(even(1), forget=True)[-1]] == [19, 21]


def test_the_same_bill_shows_other_functions():
    bills, shown = {}, {}
    for strategy in ("middle_snip", "tail_cut"):
        turns = run(even(1), limit=Limit(1_000, strategy=strategy))
        bills[strategy] = curves(turns)["cumulative"][-1]
        shown[strategy] = functions_shown(turns, even(1))
    assert bills["middle_snip"] == pytest.approx(bills["tail_cut"], rel=0.02)
    assert shown == {
        "middle_snip": {"first third": "18 of 25", "middle third": "0 of 21", "last third": "16 of 23"},
        "tail_cut": {"first third": "25 of 25", "middle third": "10 of 21", "last third": "0 of 23"},
    }


def test_the_recount_agrees_with_right_curves_and_no_others():
    turns = run(bursty(3))
    right = curves(turns)
    assert all(all(same) for same in curves_agree(right, turns, base=BASE, share=0.001).values())
    wrong = {
        "last request": [value * 1.03 for value in right["last request"]],
        "sent per turn": right["sent per turn"][:9],
        "cumulative": ["many"] * 10,
    }
    for found in (wrong, {}, None, right["cumulative"]):
        said = curves_agree(found, turns, base=BASE, share=0.02)
        assert said == {name: [False] * 10 for name in CURVES}
    near = curves_agree(
        {name: np.asarray(values) * 1.03 for name, values in right.items()}, turns, base=BASE, share=0.15
    )
    assert all(all(same) for same in near.values())


class Anything:
    """Equal to everything, and near to every number."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __rsub__(self, other):
        return self

    def __abs__(self):
        return 0


def test_what_is_equal_to_everything_agrees_with_nothing():
    turns = run(even(3))
    liar = dict.fromkeys(CURVES, [Anything()] * 10)
    assert not any(any(same) for same in curves_agree(liar, turns, base=BASE, share=0.15).values())
    assert shapes_agree(dict.fromkeys(CURVES, Anything()), turns, base=BASE) == [False, False, False]
    assert jump_agrees((Anything(), Anything()), turns) == [False, False]
    assert jump_agrees(Anything(), turns) == [False, False]


def test_shapes_are_those_of_the_rule():
    assert shapes_agree(
        dict(zip(CURVES, ("sub-linear", "linear", "super-linear"), strict=True)), run(even(9)), base=BASE
    ) == [
        True,
        True,
        True,
    ]
    assert shapes_agree(None, run(even(9)), base=BASE) == [False, False, False]
    assert [shape_of([turn**power for turn in range(1, 11)]) for power in (0, 0.94, 0.96, 1.04, 1.06)] == [
        "sub-linear",
        "sub-linear",
        "linear",
        "linear",
        "super-linear",
    ]


def test_a_picture_for_each_curve_of_each_session():
    ways = {way: curves(run(even(1), forget=way == "before")) for way in ("before", "after")}
    figure = plot_curves({"even": ways, "again": ways}).get_figure(root=True)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        f"{t}: {name}" for t in ("even", "again") for name in CURVES
    ]
    drawn = figure.axes[1].lines[1]
    assert drawn.get_label() == "after"
    assert drawn.get_ydata().tolist() == ways["after"]["sent per turn"]
