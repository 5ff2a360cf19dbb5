"""Edit anchors: the lines that an edit names, and the observations that have them."""

from __future__ import annotations

from analysis_sessions import asks, result, says, user

from agentlab.analysis import read_messages
from agentlab.analysis.anchors import edit_anchors

FILE = "     1→def total(prices):\n     2→    return sum(prices)\n     3→\n     4→print(total([1, 2]))"


def anchors_of(*calls, seen=FILE):
    talk = [user("Hi"), asks(("read", {})), result(seen), asks(*calls)]
    session = read_messages([*talk, *(result("ok", n) for n in range(len(calls))), says("Done.")])
    return edit_anchors(session, session.observations())


def test_each_long_line_of_the_old_text_is_an_anchor_and_the_new_text_is_none():
    old = "def total(prices):\n    return sum(prices)\n\nshort"
    found = anchors_of(("edit", {"old_string": old, "new_string": "def total(prices: list[float]):"}))
    assert [(each.atom, each.cited_at) for each in found] == [("def total(prices):", 3), ("return sum(prices)", 3)]
    assert found[0].sources == {2: [(7, 25)]}
    assert FILE[slice(*found[1].sources[2][0])] == "return sum(prices)"


def test_several_edits_in_one_call_and_other_names_of_the_argument_count():
    many = ("multi_edit", {"edits": [{"old_string": "def total(prices):"}, {"old_string": "return sum(prices)"}]})
    others = [("edit", {name: "print(total([1, 2]))"}) for name in ("old_str", "old_text", "oldText")]
    assert [each.atom for each in anchors_of(many, *others)] == [
        "def total(prices):",
        "return sum(prices)",
        *["print(total([1, 2]))"] * 3,
    ]


def test_a_line_that_no_observation_has_is_an_anchor_without_sources():
    assert [each.sources for each in anchors_of(("edit", {"old_string": "was written by the agent"}))] == [{}]


def test_an_observation_that_comes_later_is_no_source():
    talk = [user("Hi"), asks(("edit", {"old_string": "print(total([1, 2]))"})), result(FILE), says("Done.")]
    session = read_messages(talk)
    assert [each.sources for each in edit_anchors(session, session.observations())] == [{}]


def test_calls_without_an_old_text_and_torn_arguments_have_none():
    torn = asks(("edit", {}))
    torn["tool_calls"][0]["function"]["arguments"] = '{"old_string": "print(total([1'
    session = read_messages(
        [user("Hi"), asks(("read", {"old_string": 7})), result(FILE), torn, result("ok"), says("x")]
    )
    assert edit_anchors(session, session.observations()) == []
    assert anchors_of(("edit", {"path": "old_string stands here"})) == []
