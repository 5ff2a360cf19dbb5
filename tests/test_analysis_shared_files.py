"""Every real log at hand: how many sessions, calls and user turns it has, and exactly what is told of it.

The figures were counted apart from the readers, or read in the logs; the logs are not part of the project.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentlab.analysis import load

SESSIONS = Path(__file__).parents[2] / "shared/data/sessions"

pytestmark = pytest.mark.skipif(not SESSIONS.exists(), reason="the real logs are not here")

FILES = [
    ("claude-code/coding-1.jsonl", "claude-code", 2, 212, 8, {}),
    ("claude-code/coding-2.jsonl", "claude-code", 1, 16, 4, {}),
    ("claude-code/coding-3.jsonl", "claude-code", 1, 90, 5, {}),
    ("claude-code/coding-4.jsonl", "claude-code", 1, 271, 17, {}),
    (
        "claude-code/edge-cases.jsonl",
        "claude-code",
        2,
        4,
        4,
        {
            10: "a message with a content",
            11: "a message with a content",
            13: "an object",
            14: "a line with a type",
            15: "an object",
            16: "an object",
        },
    ),
    ("claude-code/representative.jsonl", "claude-code", 1, 5, 4, {}),
    ("claude-code/short.jsonl", "claude-code", 1, 11, 4, {}),
    ("claude-code/tool-calls.jsonl", "claude-code", 1, 54, 9, {1: "malformed", 2: "malformed"}),
    ("codex/small.jsonl", "codex", 1, 2, 0, {2: "reasoning"}),
    ("inspect/browser.json", "inspect", 1, 5, 1, {}),
    ("inspect/message-deduplication.eval", "inspect", 1, 6, 1, {}),
    ("inspect/popularity.eval", "inspect", 10, 10, 10, {}),
    ("inspect/security-guide.json", "inspect", 3, 3, 3, {}),
    ("mini-swe-agent/github-issue.traj.json", "mini-swe-agent", 1, 10, 1, {}),
    ("mini-swe-agent/local.traj.json", "mini-swe-agent", 1, 2, 1, {}),
    ("openhands/multi-swe-bench.jsonl", "openhands", 3, 105, 3, {}),
    ("pi/large-session.jsonl", "pi", 1, 439, 88, {}),
    ("swe-agent/ctf-web.traj", "swe-agent", 1, 21, 1, {}),
    ("swe-agent/humanevalfix.traj", "swe-agent", 1, 5, 1, {}),
    ("swe-agent/marshmallow-1867-function-calling.traj", "swe-agent", 1, 11, 1, {1: "last_n_observations"}),
    ("swe-agent/marshmallow-1867-window100.traj", "swe-agent", 1, 11, 1, {1: "last_n_observations"}),
    ("swe-agent/pydicom-1458.traj", "swe-agent", 1, 12, 1, {}),
    ("tau-bench/gpt-4o-airline.json", "tau-bench", 200, 2454, 1490, {}),
    ("tau2-bench/simulation-1.json", "tau2-bench", 1, 0, 0, {1: "voice run"}),
    ("tau2-bench/simulation-2.json", "tau2-bench", 1, 0, 0, {1: "voice run"}),
]


def test_each_file_is_in_the_table():
    found = {str(path.relative_to(SESSIONS)) for path in SESSIONS.rglob("*") if path.is_file()}
    assert found == {name for name, *_ in FILES}


@pytest.mark.parametrize(
    ("name", "format_", "sessions", "calls", "turns", "told"), FILES, ids=[each[0] for each in FILES]
)
def test_a_log_has_its_sessions_and_the_problems_that_a_person_would_expect(
    name, format_, sessions, calls, turns, told
):
    found, problems = load(SESSIONS / name)
    assert {session.format for session in found} == {format_}
    assert len(found) == sessions
    assert sum(len(session.calls) for session in found) == calls
    opened = [{record.turn for record in session.records if record.opens_turn} for session in found]
    assert sum(map(len, opened)) == turns
    assert [problem.line for problem in problems] == sorted(told)
    for problem in problems:
        assert told[problem.line] in problem.reason
        assert problem.path == str(SESSIONS / name)
