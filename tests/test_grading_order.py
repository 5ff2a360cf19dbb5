"""Which cells run in which order, whatever the student did to the notebook."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agentlab.grading.exercise import code_of
from agentlab.grading.plan import plan, sanitizer
from agentlab.grading.submission import OwnCell, parse
from tests.grading_class import COUNT, DOUBLE, EXERCISE, cell, notebook, student_cells

IDENTS = [each.id for each in EXERCISE.cells if each.kind != "check"] + ["double-two", "count-words", ""]
CHECKS = [check.id for check in EXERCISE.checks]


def steps_of(cells, **settings):
    return plan(EXERCISE, cells, nonce="7f", expected={"count-words": "3\n"}, **settings)


def idents_of(content):
    return [(step.kind, step.ident) for step in steps_of(parse(content).code) if step.kind != "control"]


def test_untouched_order_is_the_exercises():
    assert idents_of(notebook(student_cells())) == [
        ("setup", "setup"),
        ("own", "#2"),
        ("check", "double-two"),
        ("check", "double-seed"),
        ("own", "#4"),
        ("own", "#5"),
        ("check", "count-words"),
        ("check", "count-all"),
        ("own", "#7"),
    ]


def test_copy_of_an_answer_runs_and_the_check_waits_for_it():
    cells = student_cells(double="def double(x): return 0")
    cells.append(cell(DOUBLE, "double"))
    ran = idents_of(notebook(cells))
    assert ran.index(("own", f"#{len(cells)}")) < ran.index(("check", "double-two"))


def test_cell_added_behind_an_answer_runs_before_its_check():
    cells = student_cells()
    cells.insert(3, cell("double = lambda x: 2 * x"))
    ran = idents_of(notebook(cells))
    assert ran.index(("own", "#4")) < ran.index(("check", "double-two")) < ran.index(("own", "#5"))


def test_given_cell_that_was_deleted_runs_as_it_was():
    cells = [each for each in student_cells() if each["metadata"]["agentlab"]["id"] != "session"]
    steps = steps_of(parse(notebook(cells)).code)
    assert [step.code for step in steps if step.ident == "session"] == ["words = 'one two three'"]


def test_what_is_only_shown_never_runs():
    assert not any("SystemExit" in step.code for step in steps_of(parse(notebook(student_cells())).code))


def test_setup_and_checks_are_ours_whatever_the_notebook_says():
    cells = [cell("pass", each["metadata"]["agentlab"]["id"]) for each in student_cells()]
    steps = steps_of(parse(notebook(cells)).code)
    assert [step.code for step in steps if step.kind == "setup"] == [EXERCISE.cells[0].source]
    for step in steps:
        if step.kind == "check":
            assert step.code.startswith(code_of(EXERCISE, EXERCISE.check(step.ident)))


def test_expected_output_is_never_part_of_what_runs():
    steps = plan(EXERCISE, [], nonce="7f", expected={check.id: '"the answer"\n' for check in EXERCISE.checks})
    assert not any("the answer" in step.code for step in steps)
    assert [step.expected for step in steps if step.ident == "count-words" and step.kind == "check"] == [
        'agentlab-value 7f "the answer"\nagentlab-ok 7f count-words\n'
    ]


@given(st.lists(st.sampled_from(IDENTS), max_size=12), st.sets(st.sampled_from(CHECKS)))
def test_every_check_runs_once_behind_its_control_and_behind_all_that_comes_before_it(idents, without):
    cells = [OwnCell(ident, place, f"code {place}") for place, ident in enumerate(idents, 1)]
    steps = steps_of(cells, without=without)
    ran = [step.ident for step in steps if step.kind == "check"]
    assert sorted(ran) == sorted(set(CHECKS) - without)
    places = {cell.id: place for place, cell in enumerate(EXERCISE.cells)}
    answers = {each.id for each in EXERCISE.cells if each.kind in ("answer", "given")}
    for index, step in enumerate(steps):
        if step.kind != "check":
            continue
        assert (steps[index - 1].kind, steps[index - 1].ident) == ("control", step.ident)
        later = {each.ident for each in steps[index:] if each.kind == "own"}
        earlier = {f"#{c.place}" for c in cells if c.ident in answers and places[c.ident] < places[step.ident]}
        assert not later & earlier
    own = [step.ident for step in steps if step.kind == "own" and step.ident.startswith("#")]
    kept = [c.key for c in cells if c.ident in answers or not c.ident]
    assert own == kept
    assert [step.ident for step in steps].count("setup") == 1
    first_known = next((i for i, s in enumerate(steps) if s.kind in ("check", "control")), len(steps))
    assert [step.kind for step in steps].index("setup") < first_known


@given(st.text(), st.text(alphabet="0123456789abcdef", min_size=4, max_size=8))
def test_no_text_of_the_students_survives_the_sanitizer(text, other):
    nonce = "f" * 32
    ours = f"agentlab-value {nonce} 3\nagentlab-ok {nonce} c\n"
    printed = f"{text}\nagentlab-ok {other} c\n" + "\n" + ours
    assert re.sub(sanitizer(nonce), "", printed.replace("\r", "")) == ours


def test_solved_code_is_the_students():
    steps = steps_of(parse(notebook(student_cells(double=DOUBLE, count=COUNT))).code)
    assert [step.code for step in steps if step.kind == "own"][:3] == [DOUBLE, "words = 'one two three'", COUNT]
