"""Mistakes on purpose: the model that mends them skips only to what an observation names; tools fail as told."""

from __future__ import annotations

import traceback

import pytest

from agentlab.grading.building.mistakes import (
    Turn,
    calls_per_turn,
    failing,
    loop_that_says,
    mentions,
    session,
    syntax_error,
    with_notes,
)
from agentlab.grading.building.pictures import survivors
from agentlab.grading.building.probe import observations
from agentlab.loop import agent_step
from agentlab.providers.scripted import call
from agentlab.tools import tool

TURNS = [
    Turn("Which?", (call("reed"), call("raed"), call("read")), "read", "That one."),
    Turn("And again?", (call("read"),), "", "The same."),
]


@tool
def read() -> str:
    """Read it."""
    return "a word"


def test_model_tries_all_where_nothing_is_said_and_skips_where_the_clue_is():
    silent = loop_that_says(lambda _name, _names: "Error", lambda _error: "Error", [read])
    helps = loop_that_says(lambda _name, names: f"Try {names[0]}.", lambda _error: "Error", [read])
    misleads = loop_that_says(lambda _name, _names: "Try reader.", lambda _error: "Error", [read])
    assert calls_per_turn(session(silent, TURNS, system="")) == [3, 1]
    assert calls_per_turn(session(helps, TURNS, system="")) == [2, 1]
    assert calls_per_turn(session(misleads, TURNS, system="")) == [3, 1]


def test_session_ends_each_turn_with_its_answer():
    messages = session(loop_that_says(lambda _name, _names: "", str, [read]), TURNS, system="")
    said = [each["content"] for each in messages if each["role"] == "assistant" and "tool_calls" not in each]
    assert said == ["That one.", "The same."]


def test_loop_shows_results_and_exceptions_in_the_words_that_it_was_given():
    loop = loop_that_says(
        lambda name, names: f"{name}: {names}", lambda error: f"<{error}>", [read, failing(KeyError(1))]
    )
    assert observations(loop, call("read"), call("fail"), call("rid")) == ["a word", "<1>", "rid: ['read', 'fail']"]


def test_loop_ends_at_its_cap():
    model = Turn("Which?", tuple(call(f"no_{n}") for n in range(20)), "", "Never.")
    assert calls_per_turn(session(loop_that_says(lambda *_: "", str, []), [model], system="")) == [10]


@pytest.mark.parametrize(("text", "count"), [("unknown", 0), ("now", 1), ("now, 'now' or now_utc", 2), ("", 0)])
def test_mentions_counts_whole_words(text, count):
    assert mentions(text, "now") == count


def test_failing_raises_what_it_was_given():
    with pytest.raises(SystemExit, match="no width"):
        failing(SystemExit("no width")).run()


def test_text_that_compiles_is_refused():
    with pytest.raises(ValueError, match="cannot be compiled"):
        syntax_error("plan = ()")


def test_compiler_error_of_one_line_keeps_its_end_in_the_middle_cut_alone():
    whole = "".join(traceback.format_exception_only(syntax_error("plan = [" + "'step', " * 1_900 + "(")))
    assert 30_000 < len(whole) < 31_000
    line = "SyntaxError: '(' was never closed"
    assert whole.endswith(f"{line}\n")
    assert survivors(whole, {"line": line}, 4_000).to_dict("list") == {"middle_snip": ["kept"], "tail_cut": ["lost"]}


def test_line_between_source_and_notes_is_lost_in_both_cuts():
    error = with_notes(syntax_error("plan = [" + "'step', " * 950 + "("), *(f"note {n:04}" for n in range(1_500)))
    whole = "".join(traceback.format_exception_only(error))
    shown = survivors(whole, {"line": "SyntaxError: '(' was never closed"}, 4_000)
    assert shown.to_dict("list") == {"middle_snip": ["lost"], "tail_cut": ["lost"]}
    seen = observations(lambda *given: agent_step(*given, tools=[failing(error)]), call("fail"))
    assert "SyntaxError: '(' was never closed" in seen[0]
