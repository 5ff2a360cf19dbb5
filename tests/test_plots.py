"""Plots: what they draw, where, and that they leave nothing behind."""

from __future__ import annotations

import sys

import pytest
from analysis_sessions import asks, result, says, user

from agentlab.analysis import compare, compare_cuts, curve, read_messages
from agentlab.errors import InputError
from agentlab.plots import KEPT, plot_comparison, plot_curve, save
from agentlab.policy import CHAPTER, Limit, Policy

TALK = [
    user("Hi"),
    asks(("a", {}), ("b", {})),
    result("x" * 3000),
    result("y" * 900, 1),
    says("Done."),
    user("And?"),
    says("No."),
]


@pytest.fixture(scope="module")
def session():
    return read_messages(TALK, system="Be brief.")


@pytest.fixture(scope="module")
def frame(session):
    return curve(session)


@pytest.fixture(scope="module")
def comparison(session):
    return compare_cuts(session)


def test_bars_stack_up_to_the_turn_tokens(frame):
    ax = plot_curve(frame)
    tops = {}
    for bar in ax.patches:
        turn = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_y() == pytest.approx(tops.get(turn, 0))
        tops[turn] = bar.get_y() + bar.get_height()
    assert tops == pytest.approx(dict(zip(frame["turn"], frame["turn_tokens"], strict=True)))


def test_lines_are_the_context_and_the_turns_without_continuation(frame):
    drawn = {line.get_label(): list(line.get_ydata()) for line in plot_curve(frame).lines}
    assert drawn["context: last call"] == frame["context"].tolist()
    assert drawn["turn, no continuation*"] == frame["turn_tokens_without"].tolist()
    assert drawn["context, no continuation*"] == frame["context_without"].tolist()


@pytest.mark.parametrize(
    ("flags", "said"), [([True, True], "measured"), ([False, True], "partly estimated"), ([False, False], "estimated")]
)
def test_the_axis_has_its_unit_and_says_what_was_measured(frame, flags, said):
    label = plot_curve(frame.assign(measured=flags)).get_ylabel()
    assert label.startswith("prompt tokens per user turn")
    assert f"({said};" in label


def test_the_comparison_has_a_block_for_each_kind_and_a_line_for_each_strategy(comparison):
    ax = plot_comparison(comparison)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 5]
    assert len(lines) == len(KEPT) * 3
    tail = comparison[comparison["strategy"] == "tail_cut"]
    assert list(lines[1].get_ydata()) == tail["first_lines_kept"].tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["middle_snip", "tail_cut", "head_cut"]
    assert "first lines\nn = 2" in [text.get_text() for text in ax.texts]
    assert ax.get_xlabel() == "limit of an observation, characters"


def test_policies_without_a_common_limit_stand_side_by_side_by_name(session):
    ax = plot_comparison(compare(session, [CHAPTER, Policy("none", default=Limit(0))]))
    assert [label.get_text() for label in ax.get_xticklabels()[:2]] == ["chapter", "none"]


def test_axes_that_are_given_are_drawn_into_and_returned(frame, comparison):
    from matplotlib.figure import Figure

    first, second = Figure().subplots(1, 2)
    assert plot_curve(frame, first) is first
    assert plot_comparison(comparison, second) is second
    assert first.patches
    assert second.lines


def test_axes_of_their_own_show_as_a_picture_and_leave_no_state(frame, comparison):
    from matplotlib import rcParams

    before = dict(rcParams)
    for ax in (plot_curve(frame), plot_comparison(comparison)):
        assert ax._repr_png_().startswith(b"\x89PNG")
    assert dict(rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_a_dark_style_keeps_the_context_line_readable(frame):
    from matplotlib import rc_context

    with rc_context({"text.color": "white"}):
        assert plot_curve(frame).lines[0].get_color() == "white"


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_empty_frames_make_a_picture_that_says_so(tmp_path, frame, comparison, name):
    ax = plot_curve(frame.iloc[:0])
    assert "no model call returned" in [text.get_text() for text in ax.texts]
    save(ax, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000
    save(plot_comparison(comparison.iloc[:0]), tmp_path / name)


def test_a_picture_that_cannot_be_written_is_one_line(tmp_path, frame):
    ax = plot_curve(frame)
    with pytest.raises(InputError, match="cannot be written"):
        save(ax, tmp_path / "none/a.png")
    with pytest.raises(InputError, match=r"name a \.png, \.svg or \.pdf"):
        save(ax, tmp_path / "a.xyz")
