"""Shares and their differences, with intervals."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.analysis.proportions import difference, share
from agentlab.errors import InputError
from agentlab.plots import plot_shares


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe (1998), table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_differences_are_those_of_the_paper(first, second, low, high):
    made = difference(share(*first), share(*second))
    assert (made.low, made.high) == pytest.approx((low, high), abs=1e-4)
    assert made.told == (low > 0)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(0, 5))
def test_intervals_hold_the_value_and_turn_with_the_order(counted, other):
    one, two = share(*counted), share(other, 5)
    assert 0 <= one.low <= one.share + 1e-12
    assert one.share - 1e-12 <= one.high <= 1
    there, back = difference(one, two), difference(two, one)
    assert -1 <= there.low <= there.value + 1e-12 <= there.high + 2e-12 <= 1 + 2e-12
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_less_confidence_gives_a_narrower_interval():
    assert share(3, 10, confidence=0.5).high < share(3, 10).high


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_counts_that_cannot_be_are_refused(count, n):
    with pytest.raises(InputError, match="count from 0 to n"):
        share(count, n)
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1"):
        share(1, 2, confidence=1.0)


def test_the_arms_of_a_claim_are_drawn_beside_each_other_with_their_counts():
    columns = ["claim", "arm", "count", "n", "low", "high"]
    rows = [("marker", "with", 3, 4, 0.3, 0.95), ("marker", "without", 0, 4, 0.0, 0.49), ("hint", "with", 1, 4, 0, 0.7)]
    ax = plot_shares(pd.DataFrame(rows, columns=columns))
    assert [text.get_text() for text in ax.texts] == ["3 of 4", "1 of 4", "0 of 4"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["marker", "hint"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["with", "without"]
    assert ax.get_xlabel() == "share, with its interval"
    points = [list(map(tuple, line.get_xydata().tolist())) for line in ax.lines if line.get_linestyle() == "None"]
    assert (0.75, -0.15) in points[0]
    empty = plot_shares(pd.DataFrame([], columns=columns))
    assert empty.texts[0].get_text() == "There are no runs, so there is nothing to draw."
