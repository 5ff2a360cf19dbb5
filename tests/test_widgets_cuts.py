"""CutExplorer without a browser: what a slider's value shows, and what is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import InputError
from agentlab.truncate import STRATEGIES, cut, measure
from agentlab.widgets import CutExplorer
from agentlab.widgets.cut_view import cut_view, side_by_side_html, view_html

OBSERVATIONS = Path(__file__).parents[1] / "data" / "observations"
LINES = [f"line {n:04d}" for n in range(1, 1_001)]
LINES[499] = "ValueError: no such shelf"
LINES[997] = "exit code: 2"
TEXT = "\n".join(LINES)


def test_both_ends_the_gap_and_what_is_lost_stand_side_by_side():
    explorer = CutExplorer(TEXT, limit=1_000)
    left, right = explorer.views
    assert (left.strategy, right.strategy) == ("middle_snip", "tail_cut")
    assert left.head.startswith("line 0001\nline 0002")
    assert left.tail.endswith("exit code: 2\nline 0999\nline 1000")
    assert right.tail == ""
    assert left.head + left.gap + left.tail == TEXT
    assert left.head + left.marker + left.tail == left.cut.text == cut(TEXT, 1_000, "middle_snip").text
    assert left.lost() == [
        f"{len(left.gap):,} of {len(TEXT):,} characters are lost (91%).",
        f"The gap is lines {left.cut.first_line} to {left.cut.last_line} of 1,000.",
        "Of 2 lines that report an error, 1 is lost: line 500: ValueError: no such shelf.",
    ]
    assert right.lost()[-1] == (
        "Of 2 lines that report an error, 2 are lost: line 500: ValueError: no such shelf; line 998: exit code: 2."
    )


def test_an_error_in_a_part_that_is_shown_is_not_lost():
    assert cut_view(TEXT, 9_000, "tail_cut").named == ((998, "exit code: 2"),)
    assert cut_view(TEXT, 9_000, "head_cut").lost_errors == 0
    cut_in_two = cut_view(TEXT, TEXT.index("no such shelf") + 70, "tail_cut")
    assert cut_in_two.named[0] == (500, "ValueError: no such shelf")


def test_the_gap_is_shown_with_the_numbers_of_its_lines():
    page = view_html(cut_view(TEXT, 1_000, "tail_cut"))
    view = cut_view(TEXT, 1_000, "tail_cut")
    assert view.cut.first_line is not None
    assert f"The gap, lines {view.cut.first_line:,} to 1,000: what the model does not see" in page
    for number in (view.cut.first_line + 1, 1_000):
        assert re.search(rf"\n +{number}  {LINES[number - 1]}", page), number
    assert f"… {1_000 - view.cut.first_line + 1 - 60:,} lines …" in page


def test_the_slider_moves_both_cuts_and_its_end_shows_all():
    explorer = CutExplorer(TEXT, limit=1_000)
    explorer.limit.value = 2_000
    assert [len(view.cut.text) for view in explorer.views] == [1_999, 2_000]  # a line's number has one digit less
    assert "tail_cut: 2,000 of 10,018 characters shown" in explorer.html()
    explorer.limit.value = explorer.limit.max
    assert [view.cut.was_cut for view in explorer.views] == [False, False]
    assert explorer.views[0].lost() == ["Nothing is lost: the text has 10,018 characters, and the limit is 10,018."]


def test_the_strategies_can_be_picked_and_the_heads_share_moves_head_tail_alone():
    explorer = CutExplorer(TEXT, limit=1_000)
    assert explorer.ratio.disabled
    explorer.strategy.value, explorer.other.value = "head_cut", "head_tail"
    assert not explorer.ratio.disabled
    heads = [len(view.head) for view in explorer.views]
    assert heads[0] == 0
    explorer.ratio.value = 0.9
    assert len(explorer.views[0].head) == 0
    assert len(explorer.views[1].head) > 1.5 * heads[1]


def test_tokens_take_the_same_share_and_count_as_the_package_counts():
    explorer = CutExplorer(TEXT, limit=1_000)
    explorer.unit.value = "tokens"
    size = measure(TEXT, "tokens")
    assert explorer.limit.max == size
    assert explorer.limit.value == round(1_000 * size / len(TEXT))
    for view in explorer.views:
        assert view.shown == measure(view.cut.text, "tokens") <= explorer.limit.value
    assert f"of {size:,} tokens shown" in explorer.html()
    explorer.unit.value = "characters"
    assert explorer.limit.value == pytest.approx(1_000, abs=3)


def test_another_text_keeps_the_limit_as_far_as_it_is_large_enough():
    explorer = CutExplorer({"long": TEXT, "short": "a\nb\n" * 50}, limit=1_000)
    explorer.file.value = "short"
    assert (explorer.limit.value, explorer.limit.max) == (200, 200)
    assert explorer.text == "a\nb\n" * 50
    explorer.file.value = "long"
    assert (explorer.limit.value, explorer.limit.max) == (200, len(TEXT))


def test_the_limit_to_begin_with_is_the_chapters_or_half_of_a_short_text():
    assert CutExplorer(TEXT).limit.value == 4_000
    assert CutExplorer(TEXT, unit="tokens").limit.value == 1_000
    assert CutExplorer("x" * 300).limit.value == 150


def test_the_observations_of_the_course_can_be_opened_as_a_folder_and_one_by_one():
    explorer = CutExplorer(OBSERVATIONS)
    assert {"build.log", "orders.json", "services.yaml"} <= set(explorer.texts)
    explorer.file.value = "build.log"
    assert explorer.views[1].lost()[2].startswith("Of 3 lines that report an error, 3 are lost: line 209: src/engine")
    assert list(CutExplorer(OBSERVATIONS / "services.yaml").texts) == ["services.yaml"]


@pytest.mark.parametrize("text", ["", "x", "one line without an end " * 400, "\n" * 3_000, "é🎉\r\n" * 900])
@pytest.mark.parametrize("unit", ["characters", "tokens"])
def test_odd_texts_can_be_cut_to_nothing_and_to_all(text, unit):
    explorer = CutExplorer(text, unit=unit)
    for limit in (0, 1, explorer.limit.max):
        explorer.limit.value = limit
        for view in explorer.views:
            assert view.shown <= max(limit, measure(text, unit) if not view.cut.was_cut else limit)
            assert not view.cut.was_cut or view.head + view.gap + view.tail == text
        assert "shown</h4>" in explorer.html()


@given(
    text=st.text(alphabet=st.sampled_from("ab\n<&Error: é"), max_size=600),
    limit=st.integers(0, 700),
    strategy=st.sampled_from(list(STRATEGIES)),
)
def test_nothing_is_shown_twice_and_nothing_gets_lost_unsaid(text, limit, strategy):
    view = cut_view(text, limit, strategy)
    if view.cut.was_cut:
        assert view.head + view.gap + view.tail == text
        assert view.head + view.marker + view.tail == view.cut.text
        assert len(view.gap) == view.cut.omitted_chars
    else:
        assert (view.head, view.gap, view.tail) == (text, "", "")
    assert view.lost_errors <= len(view.errors)


def test_a_text_is_shown_as_it_is_and_makes_no_markup():
    page = side_by_side_html(cut_view("<script>alert(1)</script>\n" * 300, 500, "middle_snip"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_long_end_is_drawn_by_its_two_ends_and_says_so():
    page = view_html(cut_view("a" * 50_000, 40_000, "tail_cut"))
    assert len(page) < 12_000
    assert "characters that are shown to the model, not here" in page


def test_the_bar_shows_where_the_gap_is_and_marks_errors():
    page = view_html(cut_view(TEXT, 5_000, "tail_cut"))
    assert 'aria-label="The text: 4,9' in page
    marks = [1_000 * TEXT.index(line) // len(TEXT) for line in ("ValueError", "exit code")]
    assert "".join(f"M{place} 0V16" for place in marks) in page


def test_what_cannot_be_read_is_refused_with_its_name(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match=r"picture\.png: is no text in UTF-8"):
        CutExplorer(tmp_path / "picture.png")
    with pytest.raises(InputError, match="there is no text in this folder"):
        CutExplorer(tmp_path)
    with pytest.raises(InputError, match=r"missing\.log: cannot be read"):
        CutExplorer(tmp_path / "missing.log")
    with pytest.raises(InputError, match="expected at least one text"):
        CutExplorer({})
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    assert list(CutExplorer(tmp_path).texts) == ["a.txt"]


def test_unknown_strategies_and_units_are_named_with_the_known_ones():
    with pytest.raises(InputError, match="unknown strategy 'middle': one of middle_snip"):
        CutExplorer("a", strategies=("middle", "tail_cut"))
    with pytest.raises(InputError, match="unknown unit 'words': one of characters, tokens"):
        CutExplorer("a", unit="words")
