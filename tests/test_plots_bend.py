"""The picture of a bend: the recorded order among other orders of the same increments."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from agentlab.analysis.trend import bend, reordered
from agentlab.plots import plot_bend
from agentlab.plots.bend import REORDERED, SHOWN
from agentlab.plots.figures import GREY

BENT = [10.0] * 40 + [50.0] * 40


def lines_of(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_a_bend_leaves_the_other_orders_and_a_straight_line_does_not():
    draw = Random(3)
    straight = [draw.random() * 100 for _ in range(80)]
    for steps, is_outside in ((BENT, True), (straight, False)):
        ax = plot_bend(steps)
        own = lines_of(ax)["as recorded"].get_ydata()
        (band,) = ax.collections
        low, high = band.get_paths()[0].get_extents().intervaly
        assert (np.abs(own).max() > 1.5 * max(-low, high)) == is_outside
        assert sum(line.get_color() == GREY for line in ax.lines) == SHOWN


def test_the_band_has_what_nine_of_ten_other_orders_reach():
    (band,) = plot_bend(BENT, seed=2).collections
    share = np.arange(81) / 80
    levels = [np.array([0, *np.cumsum(order)]) for order in reordered(BENT, REORDERED, seed=2)]
    low, high = np.quantile([level - level[-1] * share for level in levels], (0.05, 0.95), axis=0)
    corners = {(x, round(y, 6)) for x, y in band.get_paths()[0].vertices}
    assert {(40.0, round(low[40], 6)), (40.0, round(high[40], 6))} <= corners


def test_the_mark_is_at_the_hinge_and_says_what_chance_does():
    ax = plot_bend(BENT)
    (mark,) = [line for label, line in lines_of(ax).items() if label.startswith("best hinge")]
    found = bend(BENT)
    assert mark.get_xdata().tolist() == [found.at] == [40]
    assert mark.get_ydata()[0] == pytest.approx(40 * 10 - 40 / 80 * sum(BENT))
    assert mark.get_label() == "best hinge: 0.5% of the orders bend as much"


def test_every_line_begins_and_ends_at_the_straight_one():
    for line in plot_bend(BENT).lines:
        if len(line.get_ydata()) > 1:
            assert line.get_ydata()[0] == pytest.approx(0)
            assert line.get_ydata()[-1] == pytest.approx(0)


def test_too_few_increments_are_said_and_not_drawn():
    ax = plot_bend([1.0] * 15)
    assert ax.texts[0].get_text() == "There are too few increments to look for a bend."
    assert not ax.lines


def test_it_draws_into_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot_bend(BENT, ax) is ax


def test_reordering_keeps_the_increments_and_blocks_of_them():
    steps = list(range(27))
    first, second = (order.tolist() for order in reordered(steps, 2, seed=1))
    assert sorted(first) == sorted(second) == steps
    assert first != second
    assert all(first[at + 1] == first[at] + 1 for at in range(0, 27, 3))
    assert [order.tolist() for order in reordered(steps, 1, seed=1)] == [first]
