"""Cuts by example: the chapter's helper, the strategies, the marker's stages, bad arguments."""

from __future__ import annotations

import re

import pytest

from agentlab.errors import InputError
from agentlab.truncate import (
    HEAD_SHARES,
    MAX_OBSERVATION_CHARS,
    STRATEGIES,
    UNITS,
    cut,
    find_marker,
    head_cut,
    head_tail,
    middle_snip,
    tail_cut,
    truncate_observation,
)

LETTERS = "".join(chr(ord("a") + n % 26) for n in range(5000))
LOG = "".join(f"{n:04d} request served\n" for n in range(1, 5001))
REF = "0a1b2c3d4e5f"


def test_pitfall_01_every_small_limit_of_the_chapters_helper_holds():
    text = "x" * 1000
    for limit in range(200):
        assert len(truncate_observation(text, limit)) <= limit
    assert truncate_observation(text, 0) == ""
    assert truncate_observation(text, 5) == "xxxxx"
    assert truncate_observation(text, 40) == "[...truncated: 1000 characters omitted f"
    assert truncate_observation(text, 100).startswith("x")


def test_pitfall_02_the_default_limit_is_kept_to_the_character():
    shown = truncate_observation(LETTERS)
    assert len(shown) == MAX_OBSERVATION_CHARS == 4000
    head, omitted, tail = re.split(
        r"\n\n\[\.\.\.truncated: (\d+) characters omitted from the middle\.\.\.\]\n\n", shown
    )
    assert head + LETTERS[len(head) : len(head) + int(omitted)] + tail == LETTERS


def test_a_text_that_fits_comes_back_as_it_is():
    for unit in UNITS:
        assert cut(LOG, 10_000_000, unit=unit).text is LOG
    assert truncate_observation(LOG, len(LOG)) is LOG


def test_strategies_keep_what_their_names_say():
    assert middle_snip(LETTERS, 500)[:5] == LETTERS[:5]
    assert middle_snip(LETTERS, 500)[-5:] == LETTERS[-5:]
    assert tail_cut(LETTERS, 500)[:400] == LETTERS[:400]
    assert tail_cut(LETTERS, 500).endswith("characters omitted from the end...]")
    assert head_cut(LETTERS, 500)[-400:] == LETTERS[-400:]
    assert head_cut(LETTERS, 500).startswith("[...truncated: ")
    mostly_head = cut(LETTERS, 500, "head_tail", ratio=0.9)
    assert mostly_head.kept_head == pytest.approx(9 * mostly_head.kept_tail, abs=10)


def test_the_dict_the_functions_and_the_names_agree():
    assert set(STRATEGIES) == set(HEAD_SHARES)
    for unit, limit in (("characters", 700), ("bytes", 700), ("lines", 40), ("tokens", 120)):
        for name, strategy in STRATEGIES.items():
            assert strategy(LOG, limit, unit=unit, ref=REF) == cut(LOG, limit, name, unit=unit, ref=REF).text
        assert middle_snip(LOG, limit, unit=unit) == head_tail(0.5)(LOG, limit, unit=unit)
        assert tail_cut(LOG, limit, unit=unit) == head_tail(1)(LOG, limit, unit=unit)
        assert head_cut(LOG, limit, unit=unit) == head_tail(0)(LOG, limit, unit=unit)


def test_lines_are_kept_whole():
    made = cut(LOG, 20, unit="lines")
    lines = made.text.splitlines()
    assert len(lines) == 20
    assert lines[:8] == LOG.splitlines()[:8]
    assert lines[-8:] == LOG.splitlines()[-8:]
    assert (made.first_line, made.last_line, made.lines) == (9, 4992, 5000)


def test_pitfall_08_cut_json_says_that_it_is_no_longer_whole():
    text = '[{"id": 1, "name": "a"}' + ', {"id": 2, "name": "b"}' * 500 + "]"
    made = cut(text, 1000, "tail_cut", ref=REF)
    read = find_marker(made.text)
    assert read.omitted_chars == made.omitted_chars > 0
    assert text[slice(*read.missing)] == text[made.kept_head :]
    assert read.ref == REF


def test_pitfall_09_the_marker_names_the_missing_lines():
    made = cut(LOG, 2000, ref=REF)
    read = find_marker(made.text)
    assert read.lines == (made.first_line, made.last_line, 5000)
    start, end = read.missing
    assert made.text[: made.kept_head] + LOG[start:end] + made.text[len(made.text) - made.kept_tail :] == LOG
    missing = LOG[start:end].split("\n")
    assert LOG.split("\n")[read.lines[0] - 1].endswith(missing[0] or missing[1])
    assert LOG.split("\n")[read.lines[1] - 1].startswith(missing[-1])
    unstored = cut(LOG, 2000)
    assert f"[lines {unstored.first_line}-{unstored.last_line} of 5000]" in unstored.text


def test_the_second_line_goes_first_then_the_marker_is_clipped_then_the_head_stays():
    stages = []
    for limit in range(400, -1, -1):
        made = cut(LOG, limit, ref=REF)
        read = find_marker(made.text)
        kept = made.kept_head + made.kept_tail
        stage = (
            "both lines" if read and read.ref
            else "first line" if read
            else "clipped" if "truncated" in made.text
            else "head" if kept
            else "nothing"
        )  # fmt: skip
        if stage not in stages[-1:]:
            stages.append(stage)
    assert stages == ["both lines", "first line", "clipped", "head", "nothing"]
    assert cut(LOG, 12, "head_cut").text == LOG[-12:]


def test_the_second_line_is_there_only_where_half_of_the_limit_holds_both():
    for limit in range(100, 400):
        made = cut(LOG, limit, ref=REF)
        if find_marker(made.text).ref:
            assert made.kept_head + made.kept_tail >= limit // 2 - 5
            break
        assert made.kept_head + made.kept_tail > 0
    assert limit < 320


def test_pitfall_11_a_cut_does_not_part_what_is_one_character_to_a_reader():
    whole = [
        "e\u0301",
        "👩\u200d🚀",
        "🇩🇪",
        "👍🏽",
        "\r\n",
        "\u1112\u1161\u11ab",
        "\ud83d\ude00",
        "1\ufe0f\u20e3",
        "a\u0308\u0323",
    ]
    for one in whole:
        text = one * 400
        for unit, limits in (("characters", range(90, 110)), ("bytes", range(200, 220)), ("tokens", range(60, 70))):
            for limit in limits:
                made = cut(text, limit, unit=unit)
                assert made.kept_head % len(one) == 0, (one, unit, limit)
                assert made.kept_tail % len(one) == 0, (one, unit, limit)


def test_pitfall_12_special_tokens_are_ordinary_text():
    text = "log <|endoftext|> line <|fim_prefix|>\n" * 400
    made = cut(text, 200, unit="tokens")
    assert made.was_cut
    assert made.text.startswith("log <|endoftext|> line")


def test_pitfall_14_head_cut_keeps_the_exit_line():
    text = "compiling\n" * 3000 + "error: linking failed\nexit code: 1\n"
    for name in ("head_cut", "middle_snip"):
        assert cut(text, 500, name).text.endswith("error: linking failed\nexit code: 1\n")


def test_the_store_is_asked_for_an_id_only_where_something_is_cut():
    asked = []

    def keep() -> str:
        asked.append(1)
        return REF

    assert cut("short", 100, ref=keep).text == "short"
    assert asked == []
    assert find_marker(cut(LOG, 1000, ref=keep).text).ref == REF
    assert asked == [1]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": 5, "strategy": "middle-snip"}, "strategy"),
        ({"limit": 5, "unit": "words"}, "unit"),
        ({"limit": 5, "strategy": "head_tail", "ratio": 1.5}, "ratio"),
        ({"limit": 5, "strategy": "head_tail", "ratio": float("nan")}, "ratio"),
    ],
)
def test_bad_arguments_are_named_in_one_line(arguments, field):
    with pytest.raises(InputError) as caught:
        cut("some text", **arguments)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_a_bad_ratio_is_refused_when_the_strategy_is_made():
    with pytest.raises(InputError, match="ratio"):
        head_tail(-0.1)
