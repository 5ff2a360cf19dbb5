"""Plots: what they draw, where, and that they leave nothing behind."""

from __future__ import annotations

import sys

import pandas as pd
import pytest
from analysis_sessions import asks, result, says, user

from agentlab.analysis import compare, compare_cuts, curve, read_messages
from agentlab.errors import InputError
from agentlab.plots import plot_comparison, plot_curve, plot_requests, save
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


def bars(ax):
    """The stacked bars and the hollow ones."""
    hollow = [bar for bar in ax.patches if bar.get_facecolor()[3] == 0]
    return [bar for bar in ax.patches if bar not in hollow], hollow


def test_bars_stack_up_to_the_turn_tokens(frame):
    tops = {}
    for bar in bars(plot_curve(frame))[0]:
        turn = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_y() == pytest.approx(tops.get(turn, 0))
        tops[turn] = bar.get_y() + bar.get_height()
    assert tops == pytest.approx(dict(zip(frame["turn"], frame["turn_tokens"], strict=True)))


def test_hollow_bars_beside_them_are_the_turns_without_continuation(frame):
    filled, hollow = bars(plot_curve(frame))
    assert [bar.get_height() for bar in hollow] == frame["turn_tokens_without"].tolist()
    for beside in filled:
        assert all(one.get_x() >= beside.get_x() + beside.get_width() or one.get_x() < beside.get_x() for one in hollow)


def test_circles_are_the_contexts_filled_and_without_continuation_hollow(frame):
    drawn = {line.get_label(): line for line in plot_curve(frame).lines}
    assert list(drawn["context: last call"].get_ydata()) == frame["context"].tolist()
    without = drawn["context, no continuation*"]
    assert list(without.get_ydata()) == frame["context_without"].tolist()
    assert without.get_linestyle() == "None"
    assert without.get_markerfacecolor() != without.get_markeredgecolor()


@pytest.mark.parametrize(("turns", "line", "mark"), [(1, "None", "o"), (3, "None", "o"), (4, "-", "o"), (61, "-", "")])
def test_a_line_joins_contexts_only_where_there_are_enough_and_marks_them_where_there_is_room(turns, line, mark):
    frame = curve(read_messages([user("Hi"), says("Hello.")] * turns))
    ax = plot_curve(frame)
    assert (ax.lines[0].get_linestyle(), ax.lines[0].get_marker()) == (line, mark)
    if turns <= 3:
        assert list(ax.get_xticks()) == frame["turn"].tolist()


def test_the_legend_stands_below_and_begins_with_the_contexts(frame):
    ax = plot_curve(frame)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    said = [text.get_text() for text in legend.get_texts()]
    assert said[:4] == ["context: last call", "context, no continuation*", "turn, no continuation*", "new"]
    assert said[-1] == "system prompt and tools"
    assert legend.get_window_extent().y1 < ax.get_window_extent().y0


def test_titles_say_what_is_seen(frame, comparison):
    assert plot_curve(frame).get_title("left") == "Prompt tokens of each user turn, with and without continuation"
    assert plot_comparison(comparison).get_title("left") == "What a cut leaves of a session's observations"


@pytest.mark.parametrize(
    ("flags", "said"), [([True, True], "measured"), ([False, True], "partly estimated"), ([False, False], "estimated")]
)
def test_the_axis_has_its_unit_and_says_what_was_measured(frame, flags, said):
    label = plot_curve(frame.assign(measured=flags)).get_ylabel()
    assert label.startswith("prompt tokens per user turn")
    assert f"({said};" in label


def texts(ax):
    return [text.get_text() for text in ax.texts]


def many(text, n=6):
    """A session in which a text is observed n times."""
    return read_messages([user("Go."), *[asks(("a", {})), result(text)] * n, says("Done.")])


def test_the_comparison_has_a_block_for_each_kind_and_points_for_each_strategy():
    comparison = compare_cuts(many("ab\n" * 500 + "ERROR no\n" + "ab\n" * 1000))
    ax = plot_comparison(comparison)
    points = [line for line in ax.lines if len(line.get_xdata()) == 4]  # at 16,000 nothing is cut
    assert len(points) == 3 * 3
    assert {line.get_linestyle() for line in points} == {"None"}
    tail = comparison[(comparison["strategy"] == "tail_cut") & (comparison["cut"] > 0)]
    assert list(points[1].get_ydata()) == tail["first_lines_kept"].tolist()
    assert list(points[7].get_ydata()) == tail["error_lines_kept"].tolist()
    assert len({tuple(line.get_xdata()) for line in points}) == 9
    assert len({line.get_marker() for line in points}) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "middle_snip (keeps both ends)",
        "tail_cut (keeps head)",
        "head_cut (keeps tail)",
    ]
    assert texts(ax).count("nothing cut") == 3
    assert "first lines\nn = 6" in texts(ax)
    assert ax.get_xlabel() == "limit of an observation, characters\nnot in this session: names cited later"


def test_limits_have_equal_room_and_their_points_stay_within_it():
    ax = plot_comparison(compare_cuts(many("ab\n" * 9000), limits=(500, 1000, 16000)))
    ticks = list(ax.get_xticks())
    assert ticks[:3] == [0, 1, 2]
    for line in ax.lines:
        for x in line.get_xdata():
            if len(line.get_xdata()) == 3:
                assert min(abs(x - tick) for tick in ticks) < 0.3


def test_of_few_lines_there_are_counts_and_no_share():
    """Two observations: their first lines survive a head_cut neither time, their last lines both times."""
    comparison = compare_cuts(many("first\n" + "ab\n" * 900 + "last", n=2), ("head_cut",), (500, 1000))
    ax = plot_comparison(comparison)
    assert texts(ax) == [
        "first lines\nn = 2",
        "too few for a share: shown, of 2",
        *["0", "0"],
        "last lines\nn = 2",
        "too few for a share: shown, of 2",
        *["2", "2"],
    ]
    assert ax.get_ylabel() == "still shown"
    assert list(ax.get_yticks()) == []


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (many("short"), "Nothing was cut. All 6 observations fit whole into 500 characters, the smallest limit."),
        (many("short", 1), "Nothing was cut. The only observation fits whole into 500 characters, the smallest limit."),
        (read_messages([]), "The session has no observations, so there is nothing to cut."),
        (many(" " * 600), "The observations hold no line that could be lost."),
    ],
    ids=["all fit", "the only one fits", "no observations", "white space"],
)
def test_where_there_is_nothing_to_lose_a_sentence_says_so(session, said):
    ax = plot_comparison(compare_cuts(session))
    assert texts(ax) == [said]
    assert not ax.axison


def test_policies_without_a_common_limit_stand_side_by_side_by_name(session):
    ax = plot_comparison(compare(session, [CHAPTER, Policy("none", default=Limit(0))]))
    assert [label.get_text() for label in ax.get_xticklabels()[:2]] == ["chapter", "none"]


def requests_frame(*prompts, policy="none", measured=True):
    """Rows of calls: pairs of prompt tokens and unchanged tokens."""
    return pd.DataFrame(
        {
            "policy": policy,
            "call": range(1, len(prompts) + 1),
            "prompt_tokens": [prompt for prompt, _ in prompts],
            "unchanged_tokens": [same for _, same in prompts],
            "measured": measured,
        }
    )


@pytest.fixture(scope="module")
def requests():
    kept = requests_frame((100, 0), (150, 100), policy="keep")
    return pd.concat([kept, requests_frame((100, 0), (80, 20), policy="drop", measured=False)], ignore_index=True)


def test_requests_stand_on_what_they_share_with_the_one_before_in_a_block_per_policy(requests):
    ax = plot_requests(requests)
    same, rest = ax.containers[::2], ax.containers[1::2]
    assert [[bar.get_height() for bar in block] for block in same] == [[0, 100], [0, 20]]
    assert [[bar.get_height() for bar in block] for block in rest] == [[100, 50], [100, 60]]
    for below, above in zip(same, rest, strict=True):
        for low, high in zip(below, above, strict=True):
            assert (high.get_x(), high.get_y()) == (low.get_x(), low.get_height())
    lefts = [bar.get_x() for block in same for bar in block]
    assert lefts == sorted(set(lefts))


def test_above_each_block_stand_its_policy_its_sum_and_the_unchanged_share(requests):
    ax = plot_requests(requests)
    assert texts(ax) == ["keep\n250 tokens\n40% unchanged", "drop\n180 tokens\n11% unchanged"]
    assert ax.get_ylabel() == "prompt tokens per call (partly estimated)"
    assert ax.get_xlabel() == "model call"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as in the request before it",
        "new, changed, or behind a change",
    ]


def test_calls_are_numbered_anew_in_each_block():
    frame = pd.concat([requests_frame(*[(9, 3)] * 21, policy=name) for name in ("b", "a")], ignore_index=True)
    ax = plot_requests(frame)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10", "20"] * 2
    assert [text.split("\n")[0] for text in texts(ax)] == ["b", "a"]


def test_no_request_is_said(requests):
    assert texts(plot_requests(requests.iloc[:0])) == ["No model was called, so there is nothing to draw."]


def test_axes_that_are_given_are_drawn_into_and_returned(frame, comparison):
    from matplotlib.figure import Figure

    first, second = Figure().subplots(1, 2)
    assert plot_curve(frame, first) is first
    assert plot_comparison(comparison, second) is second
    assert first.patches
    assert second.texts


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
    assert texts(ax) == ["No model call returned, so there is nothing to draw."]
    save(ax, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000
    save(plot_comparison(comparison.iloc[:0]), tmp_path / name)


def test_a_picture_that_cannot_be_written_is_one_line(tmp_path, frame):
    ax = plot_curve(frame)
    with pytest.raises(InputError, match="cannot be written"):
        save(ax, tmp_path / "none/a.png")
    with pytest.raises(InputError, match=r"name a \.png, \.svg or \.pdf"):
        save(ax, tmp_path / "a.xyz")
