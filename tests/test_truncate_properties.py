"""What holds of every cut: any text, every strategy, every unit, every limit of 0 and more."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.truncate import HEAD_SHARES, UNITS, Cut, cut, find_marker, measure

PIECES = [
    "a",
    "word ",
    "x = {'a': 1}\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\x00",
    "é",
    "e\u0301",
    "漢字",
    "😀",
    "👩\u200d🚀",
    "🇩🇪",
    "👍🏽",
    "\ud83d",
    "\ude00",
    "\ud83d\ude00",
    "\u1112\u1161\u11ab",
    "\ufffd",
    "<|endoftext|>",
    "12345",
    "=" * 40,
    " " * 200,
    "\n" * 90,
    "a" * 150,
    "e" + "\u0301" * 100,
    "Error: no such file\n",
    "[...truncated: 12 characters omitted from the middle...]",
    "[...truncated: 5 characters omitted from the end...]\n[lines 1-2 of 3]",
    '[lines 1-2 of 3; read_result("ab", start=1, end=6) returns them]',
]

RUNS = st.builds(lambda piece, times: piece * times, st.sampled_from(PIECES), st.integers(1, 12))
ANY_TEXT = st.one_of(
    st.lists(RUNS, max_size=40).map("".join),
    st.text(st.characters(), max_size=300),
    st.text(st.characters(categories=["Cs", "Mn", "Zs", "So"]), max_size=150),
)


class Case(NamedTuple):
    """One call of `cut`."""

    text: str
    unit: str
    limit: int
    strategy: str
    ratio: float
    ref: str | None
    name_lines: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    unit = draw(st.sampled_from(UNITS))
    text = draw(ANY_TEXT)
    size = measure(text, unit)
    limit = draw(st.one_of(st.integers(0, 80), st.integers(0, size + 1), st.integers(max(size - 8, 0), size + 1)))
    return Case(
        text,
        unit,
        limit,
        draw(st.sampled_from(sorted(HEAD_SHARES))),
        draw(st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0])),
        draw(st.sampled_from([None, "0a1b2c3d4e5f"])),
        draw(st.booleans()),
    )


def run(case: Case, text: str | None = None) -> Cut:
    return cut(
        case.text if text is None else text,
        case.limit,
        case.strategy,
        unit=case.unit,
        ratio=case.ratio,
        ref=case.ref,
        name_lines=case.name_lines,
    )


quick = settings(max_examples=150, deadline=None)


@quick
@given(case=cases())
def test_pitfall_01_never_over_the_limit_and_never_longer_than_the_text(case):
    made = run(case)
    assert measure(made.text, case.unit) <= case.limit
    assert len(made.text) <= len(case.text)
    if measure(case.text, case.unit) <= case.limit:
        assert made.text is case.text
        assert not made.was_cut


@quick
@given(case=cases())
def test_pitfall_02_the_counts_are_true(case):
    made = run(case)
    text, shown = case.text, made.text
    end = len(text) - made.kept_tail
    assert made.original_chars == len(text) == made.kept_head + made.omitted_chars + made.kept_tail
    assert shown.startswith(text[: made.kept_head])
    assert shown.endswith(text[end:])
    assert made.was_cut == (shown != text)
    if made.was_cut and made.lines:
        before = text[: made.kept_head].count("\n") + 1
        assert made.first_line in {before, before + 1}
        assert made.last_line == text[: end - 1].count("\n") + 1
        assert 1 <= made.first_line <= made.last_line <= made.lines == measure(text, "lines")


@quick
@given(case=cases())
def test_the_marker_reads_back(case):
    made = run(case)
    note = made.text[made.kept_head : len(made.text) - made.kept_tail]
    if not made.was_cut or not note:
        return
    read = find_marker(note)
    if read is None:
        assert made.kept_head == made.kept_tail == 0
        assert note.startswith(f"[...truncated: {made.omitted_chars} characters")
        return
    before, after = note[: read.span[0]], note[read.span[1] :]
    assert before in {"", "\n\n"}
    assert after in {"", "\n\n"}
    assert read.omitted_chars == made.omitted_chars
    assert read.lines in {None, (made.first_line, made.last_line, made.lines)}
    assert (read.ref, read.missing) in {
        (None, None),
        (case.ref, (made.kept_head, made.kept_head + made.omitted_chars)),
    }
    share = case.ratio if case.strategy == "head_tail" else HEAD_SHARES[case.strategy]
    assert read.where == {0: "start", 1: "end"}.get(share, "middle")


@quick
@given(case=cases())
def test_pitfall_03_cutting_twice_is_cutting_once(case):
    once = run(case).text
    assert run(case, once).text is once


@quick
@given(case=cases())
def test_pitfall_11_valid_text_stays_valid(case):
    made = run(case)
    text = case.text
    assert made.text.count("\ufffd") <= text.count("\ufffd")
    for place in (made.kept_head, len(text) - made.kept_tail):
        assert not ("\ud800" <= text[place - 1 : place] <= "\udbff" and "\udc00" <= text[place : place + 1] <= "\udfff")
        assert text[place - 1 : place + 1] != "\r\n"
