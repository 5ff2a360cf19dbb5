"""What another program measured on public logs, and ours beside it; `python -m tests.field_notes` prints all rows."""

from __future__ import annotations

import pytest
from field_notes import names, usage
from field_notes.__main__ import SECTIONS
from field_notes.rows import DATA, PARTLY, Logs

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the public logs are not here")

DIFFER = {
    "claude-code/tool-calls.jsonl: % of input lost to breaks": 36.6,
    "claude-code/tool-calls.jsonl: largest |tau|, at most": 0.47,
    "coding-1 to 4: max slope": 1.85,
    "tool-calls: slope": 1.49,
    "tool-calls: median error %": 2.74,
    "tau: sliding, last 5, prefix of 15,000, tokens %": 98.7,
    "tau: sliding, last 5, prefix of 15,000, cost %": 105.1,
    "tau: sliding, last 5, prefix of 3,500, cost %": 117.1,
}
"""Rows that differ, with our figure; each says why in its own words."""

GIVEN = {
    "tau at 500: head %": 49.6,
    "tau at 500: tail %": 81.1,
    "tau at 500: middle %": 56.4,
    "tau at 500: 80/20 %": 71.1,
    "tau at 1000: head %": 88.0,
    "tau at 1000: middle %": 99.5,
    "tau at 500: middle less head": 6.7,
    "tau at 500: middle less tail": -24.7,
}
"""What agentlab itself gives, since its limit has the marker in it."""


@pytest.fixture(scope="module")
def rows():
    """Those whose data is here in whole; the others cost time and hold nothing."""
    logs = Logs()
    found = []
    for section in SECTIONS:
        if section in (names.same_saving, names.anchors):
            continue
        if section is usage.replays:
            found += usage.replays_of_tau(logs)
        elif section in (names.kept, names.differences, names.positions, names.every_use, names.masked):
            found += section(logs, ("tau",))
        else:
            found += section(logs)
    return found


def test_every_row_that_can_be_met_is_met(rows):
    assert not [row.name for row in rows if row.partly]
    assert len(rows) >= 141
    assert {row.name for row in rows if not row.same} == DIFFER.keys()


def test_a_row_that_differs_says_why_and_stays_where_it_was(rows):
    ours = {row.name: row.ours for row in rows if row.name in DIFFER}
    assert ours == pytest.approx(DIFFER, rel=0.005)
    assert not [row.name for row in rows if row.name in DIFFER and not row.why]


def test_a_limit_with_the_marker_in_it_keeps_less(rows):
    given = {row.name: row.given for row in rows if row.name in GIVEN and row.section != "at risk"}
    assert given == pytest.approx(GIVEN, abs=0.05)


def test_rows_for_orientation_say_what_is_missing():
    made = list(names.masked(Logs(), ("pi",)))
    assert [row.verdict for row in made] == [f"orientation: {PARTLY['pi']}"] * 2


def test_without_the_logs_rows_are_missing_not_met(tmp_path):
    for section in (usage.usage, usage.once, names.masked, names.by_tool):
        assert {row.verdict for row in section(Logs(tmp_path))} == {"missing: no session of it can be read"}
