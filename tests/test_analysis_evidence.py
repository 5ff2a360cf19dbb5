"""Evidence: names that stand where they were put, and what cuts keep of them."""

from __future__ import annotations

import math

import pytest
from analysis_sessions import asks, result, says, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentlab.analysis import read_messages
from agentlab.analysis.citations import citations
from agentlab.analysis.evidence import EVIDENCE_COLUMNS, evidence
from agentlab.analysis.shown import cut_policies, show
from agentlab.plots import plot_evidence
from agentlab.policy import Limit, Policy

FILLER = "word " * 400


def planted(head: str = "", middle: str = "", tail: str = "") -> str:
    return f"{head} {FILLER}{middle} {FILLER}{tail}"


def citing(*atoms: str, text: str, task: int | None = None, tool: str = "look"):
    """A session that sees a text and then calls with names from it."""
    talk = [user("Hi"), asks((tool, {})), result(text), asks(*(("use", {"id": atom}) for atom in atoms))]
    talk += [*(result("ok", n) for n in range(len(atoms))), says("Done.")]
    session = read_messages(talk)
    return session if task is None else replace(session, labels={"task_id": task})


TEXT = planted("id_head", "id_middle", "id_tail")


@pytest.mark.parametrize(
    ("strategy", "kept"),
    [("tail_cut", {"id_head"}), ("head_cut", {"id_tail"}), ("middle_snip", {"id_head", "id_tail"})],
)
def test_a_strategy_keeps_the_names_of_its_end(strategy, kept):
    found = evidence([citing("id_head", "id_middle", "id_tail", text=TEXT)], cut_policies([strategy], [1000]))
    assert {each.atom for each in found.cited if each.kept[0]} == kept
    row = found.by_policy().iloc[0]
    assert (row["n"], row["clusters"], row["at_risk"]) == (3, 1, 3)
    assert row["kept"] == row["at_risk_kept"] == pytest.approx(len(kept) / 3)
    assert row["shown_characters"] == pytest.approx(1000 / len(TEXT), abs=0.01)


def test_the_marker_counts_inside_the_limit():
    """A name that the limit alone would just hold is not shown, since the marker takes its place."""
    text = "x" * 480 + " id_edge " + FILLER
    found = evidence([citing("id_edge", text=text)], cut_policies(["tail_cut"], [500, 700]))
    assert [each.kept for each in found.cited] == [(False, True)]


def test_one_source_that_is_shown_is_enough_and_a_name_with_one_whole_source_is_not_at_risk():
    talk = [user("Hi"), asks(("a", {})), result(planted(middle="id_seen")), asks(("b", {})), result("id_seen")]
    session = read_messages([*talk, asks(("use", {"id": "id_seen"})), result("ok"), says("Done.")])
    (each,) = evidence([session], cut_policies(["tail_cut"], [500])).cited
    assert (each.kept, each.at_risk, each.tool) == ((True,), (False,), "b")


def test_tools_are_told_apart_by_the_newest_source():
    sessions = [citing("id_head", text=TEXT, tool="first"), citing("id_tail", text=TEXT, tool="last")]
    frame = evidence(sessions, cut_policies(["tail_cut"], [500])).by_policy(by_tool=True).set_index("tool")
    assert frame["kept"].to_dict() == {"first": 1.0, "last": 0.0}


def test_runs_of_one_task_are_one_cluster_and_one_cluster_has_no_interval():
    one = evidence([citing("id_head", text=TEXT, task=1) for _ in range(9)], cut_policies(["tail_cut"], [500]))
    row = one.by_policy().iloc[0]
    assert (row["n"], row["clusters"]) == (9, 1)
    assert math.isnan(row["low"])


def test_the_interval_is_that_of_tasks_not_of_names():
    """Two of four tasks keep all of their many names: by names the interval would be narrow."""
    sessions = []
    for task in range(4):
        atoms = [f"id_{task}_{n}" for n in range(50)]
        text = f"{' '.join(atoms)} {FILLER}" if task % 2 else f"{FILLER}{' '.join(atoms)} {FILLER}"
        sessions.append(citing(*atoms, text=text, task=task))
    row = evidence(sessions, cut_policies(["tail_cut"], [1000])).by_policy().iloc[0]
    assert row["n"] == 200
    assert row["kept"] == pytest.approx(0.5)
    assert row["low"] == pytest.approx(0)
    assert row["high"] == pytest.approx(1)


def test_differences_are_taken_in_pairs():
    sessions = [citing("id_head", "id_tail", text=TEXT, task=task) for task in range(5)]
    frame = evidence(sessions, cut_policies(["middle_snip", "tail_cut"], [1000])).differences()
    row = frame.iloc[0]
    assert (row["policy"], row["against"]) == ("middle_snip 1000", "tail_cut 1000")
    assert (row["difference"], row["low"], row["high"]) == (0.5, 0.5, 0.5)


def test_chance_is_how_often_a_name_stands_in_another_task():
    sessions = [citing("id_head", text=planted("id_head"), task=1), citing("other_1", text="other_1", task=2)]
    assert evidence(sessions, []).chance == 0
    both = [*sessions, citing("other_2", text=f"other_2 id_head {FILLER}", task=3)]
    assert evidence(both, []).chance == pytest.approx(1 / 6)  # of three names each looked for in two others
    assert math.isnan(evidence(sessions[:1], []).chance)


def test_positions_are_tenths_of_the_newest_source_of_each_use():
    session = citing("id_head", "id_middle", "id_tail", "id_tail", text=TEXT)
    frame = evidence([session], []).positions()
    assert frame["n"].tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert frame["share"].sum() == pytest.approx(1)
    assert evidence([citing("id_head", text="id_head")], []).positions()["n"].sum() == 0


def test_a_long_name_at_the_end_of_its_source_stands_in_the_last_tenth():
    path = "/".join(["folder"] * 40)
    session = citing(path, text=f"{FILLER[:600]} {path}")
    assert evidence([session], []).positions()["n"].tolist() == [0] * 9 + [1]
    whole = "/".join(["folder"] * 80)
    assert evidence([citing(whole, text=whole)], []).positions()["n"].tolist() == [1] + [0] * 9


def test_what_a_log_had_cut_already_is_counted():
    session = citing("id_head", text="id_head\n[...truncated: 900 characters omitted from the end...]")
    found = evidence([session], [])
    assert (found.only_cut, found.observations) == (1, 2)


def test_no_sessions_make_empty_frames():
    found = evidence([])
    assert found.by_policy()["n"].sum() == 0
    assert list(found.by_policy().columns) == [column.name for column in EVIDENCE_COLUMNS]
    assert len(found.by_policy(by_tool=True)) == 0


@given(st.lists(st.integers(0, 800), min_size=1, max_size=6, unique=True), st.integers(0, 2000))
def test_a_name_that_is_kept_is_in_the_text_that_the_policy_shows(places, limit):
    """And the other way round: what a policy shows of a name, whole, counts as kept."""
    words = ["word"] * 801
    for place in places:
        words[place] = f"id_{place}_x"
    session = citing(*(f"id_{place}_x" for place in places), text=" ".join(words))
    policy = Policy("p", default=Limit(limit))
    text = show(session.observations(), policy)[0].text
    for each in evidence([session], [policy]).cited:
        assert each.kept[0] == (each.atom in text)


def test_uses_of_known_names_count_when_asked_for():
    session = citing("id_head", "id_head", text=TEXT)
    observations = session.observations()
    assert [each.atom for each in citations(session, observations)] == ["id_head"]
    assert [each.atom for each in citations(session, observations, exclusive=False)] == ["id_head", "id_head"]


def test_the_picture_has_a_line_for_each_strategy_and_says_how_many_names():
    sessions = [citing("id_head", "id_tail", text=TEXT, task=task) for task in range(5)]
    policies = cut_policies(["middle_snip", "tail_cut"], [500, 1000, 4000])
    ax = plot_evidence(evidence(sessions, policies).by_policy())
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_legend_handles_labels()[0]}
    assert lines == {"middle_snip (keeps both ends)": [1, 1, 1], "tail_cut (keeps head)": [0.5, 0.5, 0.5]}
    assert "10 names" in ax.get_title(loc="left") + ax.get_ylabel()
    assert "nothing to draw" in plot_evidence(evidence([], policies).by_policy()).texts[0].get_text()


def test_policies_without_one_limit_stand_by_name():
    ax = plot_evidence(
        evidence([citing("id_head", text=TEXT)], [Policy("a"), Policy("b", default=Limit(9))]).by_policy()
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_sessions_can_be_asked_in_other_processes():
    sessions = [citing("id_head", "id_tail", text=TEXT, task=task) for task in range(3)]
    policies = cut_policies(["tail_cut"], [1000])
    assert evidence(sessions, policies, executor=2) == evidence(sessions, policies)


def test_a_session_and_those_that_it_started_are_one_cluster():
    parent = replace(citing("id_head", text=TEXT), id="a")
    child = replace(citing("id_tail", text=TEXT), id="b", parent="a")
    assert evidence([parent, child], cut_policies(["tail_cut"], [1000])).by_policy()["clusters"].item() == 1


def test_by_tool_a_name_is_kept_where_that_tools_result_shows_it():
    talk = [user("Hi"), asks(("a", {})), result("id_seen"), asks(("b", {})), result(planted(middle="id_seen"))]
    session = read_messages([*talk, asks(("use", {"id": "id_seen"})), result("ok"), says("Done.")])
    found = evidence([session], cut_policies(["tail_cut"], [500]))
    assert found.by_policy()["kept"].item() == 1
    assert found.by_policy(by_tool=True).set_index("tool")["kept"].to_dict() == {"b": 0.0}
