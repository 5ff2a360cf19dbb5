"""The marker read back, wherever it stands."""

from __future__ import annotations

import re

import pytest

from agentlab.truncate import MARKER, carries_marker, cut, find_marker, truncate_observation
from agentlab.truncate.marker import first_line, second_line

LOG = "".join(f"{n:04d} request served\n" for n in range(1, 5001))


def test_pitfall_10_a_copied_marker_is_found_wherever_it_stands():
    shown = truncate_observation(LOG, 500)
    for value in (
        shown,
        {"content": shown},
        {"edits": [{"old": "a", "new": ["b", shown]}]},
        {shown: 1},
        [[[[shown]]]],
        "{broken json " + shown,
        {"content": truncate_observation(LOG, 45)},
        {"content": cut(LOG, 800, ref="0a1b2c3d4e5f").text},
    ):
        assert carries_marker(value)


def test_pitfall_10_what_only_looks_like_one_passes():
    for value in (
        {},
        None,
        {"path": "a.py", "start": 5, "deep": [1.5, True, None]},
        {"text": "...[truncated]"},
        {"text": "[...truncated...]"},
        {"pattern": r"\[\.\.\.truncated: (\d+) characters"},
        {"text": "[...truncated: {n} characters omitted from the middle...]"},
    ):
        assert not carries_marker(value)


def test_deep_arguments_do_not_exhaust_the_stack():
    value: object = "[...truncated: 9 characters omitted from the end...]"
    for _ in range(50_000):
        value = [value]
    assert carries_marker(value)


def test_both_lines_are_read():
    text = "head\n\n" + first_line(123, "start") + "\n" + second_line((4, 9, 20), "abc123", (10, 133))
    read = find_marker(text)
    assert (read.omitted_chars, read.where, read.lines, read.ref, read.missing) == (
        123,
        "start",
        (4, 9, 20),
        "abc123",
        (10, 133),
    )
    assert text[slice(*read.span)] == text.removeprefix("head\n\n")


def test_lines_alone_are_read():
    read = find_marker(first_line(1, "end") + "\n" + second_line((4, 4, 20), None, (0, 1)))
    assert (read.lines, read.ref, read.missing) == ((4, 4, 20), None, None)


def test_the_cuts_own_marker_is_found_behind_older_ones():
    text = (first_line(7, "end") + "\n") * 100
    made = cut(text, 1000)
    assert find_marker(made.text).omitted_chars == 7
    assert find_marker(made.text, made.kept_head).omitted_chars == made.omitted_chars


@pytest.mark.parametrize("text", ["", "plain", "[...truncated: x]", "[...truncated: 5 characters omitted from the mid"])
def test_no_marker(text):
    assert find_marker(text) is None


def test_the_expression_is_usable_alone():
    assert re.search(MARKER, truncate_observation(LOG, 500))["where"] == "middle"
