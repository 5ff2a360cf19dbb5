"""That the subjects of `make bench` still do what they are timed at; no time is judged here."""

from __future__ import annotations

from benchmarks.policies import FORGETTING, POLICIES
from benchmarks.rounds import Rounds

from agentlab.policy import load_policy, preset_names

ONCE = Rounds(1, 1)


def test_the_harness_and_a_turn_with_a_deadline_run() -> None:
    found = ONCE.best("iteration", ["ours-timed", "harness-in-memory", "harness"], size=100, count=5)
    assert list(found) == ["ours-timed", "harness-in-memory", "harness"]
    assert all(one["us"] > 0 for one in found.values())


def test_a_session_that_forgets_does_forget() -> None:
    names = [f"{FORGETTING}{name}" for name in ("sliding", "consolidate at 21,000")]
    sliding, consolidated = ONCE.best("forgetting", names, size=2_000, count=100).values()
    assert sliding["decisions"] == 80  # 90 results, of which ten stay
    assert sliding["with_first"] > 0
    assert 2 <= consolidated["decisions"] <= 10
    assert consolidated["without_last"] > 0


def test_every_preset_that_compacts_is_timed() -> None:
    assert {name for name in preset_names() if load_policy(name).compaction is not None} <= POLICIES.keys()


def test_each_widget_is_updated_on_a_session_of_so_many_calls() -> None:
    found = ONCE.best("widgets", ["ours"], size=0, count=40)["ours"]
    assert {name.partition(",")[0] for name in found} == {
        "first policies",
        "chat meter",
        "SessionExplorer",
        "BudgetLab",
        "CutExplorer",
    }
    assert all(ms > 0 for ms in found.values())
