"""`%check` says in the notebook what grading will say of the visible checks, and soon."""

from __future__ import annotations

import time

import pytest
from IPython.core.interactiveshell import InteractiveShell

from agentlab.grading import kernel
from agentlab.grading.magic import feedback, load_ipython_extension
from tests.grading_class import COUNT, DOUBLE, EXERCISE, NAME, write_exercise


@pytest.fixture
def folder(tmp_path):
    return [write_exercise(tmp_path)]


def defined(*codes):
    namespace = {}
    for code in codes:
        exec(code, namespace)
    return namespace | {"words": "one two three"}


def test_right_answers_pass_and_nothing_else_is_run(folder):
    namespace = defined(DOUBLE, COUNT)
    before = set(namespace)
    assert list(feedback(namespace, name=NAME, folders=folder)) == [
        "✓ 1/1  doubles two",
        "✓ 1/1  counts the session's words",
        "2 of 2 points. Hidden checks run at grading.",
    ]
    assert set(namespace) == before


def test_wrong_answers_say_what_was_expected_what_came_and_where_to_look(folder):
    said = list(feedback(defined("def double(x): return 5", "def count(t): return 4"), name=NAME, folders=folder))
    assert said == [
        "✗ 0/1  doubles two",
        "        Expected 4, got 5.\n        Hint: What is twice a number?",
        "✗ 0/1  counts the session's words",
        "        Expected 3, got 4.",
        "0 of 2 points. Hidden checks run at grading.",
    ]


def test_one_step_or_one_check_is_run_by_its_name(folder):
    namespace = defined(DOUBLE)
    assert next(feedback(namespace, "doubling", name=NAME, folders=folder)) == "✓ 1/1  doubles two"
    assert len(list(feedback(namespace, "double-two", name=NAME, folders=folder))) == 2
    said = "".join(feedback(namespace, "double-seed", name=NAME, folders=folder))
    assert said.startswith("There is no visible check 'double-seed': say %check alone, or one of doubling, double-two,")


def test_answer_within_two_seconds_and_debug_prints_are_no_mistake(folder):
    began = time.monotonic()
    said = list(feedback(defined(DOUBLE, "def count(t):\n    print('here')\n    return 3"), name=NAME, folders=folder))
    assert said[-1].startswith("2 of 2")
    assert time.monotonic() - began < 2


def test_whatever_an_answer_raises_is_feedback(folder):
    odd = "class Odd(BaseException):\n    def __str__(self): raise ValueError\ndef double(x): raise Odd"
    said = list(feedback(defined(odd, "def count(t): raise SystemExit(3)"), name=NAME, folders=folder))
    assert said[1] == "        Raised Odd.\n        Hint: What is twice a number?"
    assert said[3] == "        Raised SystemExit: 3."
    with pytest.raises(KeyboardInterrupt):
        list(feedback(defined("def double(x): raise KeyboardInterrupt"), name=NAME, folders=folder))


def test_extension_adds_the_magic_to_a_shell(capsys):
    shell = InteractiveShell()
    try:
        load_ipython_extension(shell)
        kernel.begun.clear()
        shell.run_line_magic("check", "")
        assert "run the notebook's first code cell" in capsys.readouterr().out
        kernel.begin("99_nowhere")
        shell.run_line_magic("check", "")
        assert "The checks of 99_nowhere are not here" in capsys.readouterr().out
    finally:
        kernel.begun.clear()
        shell.history_manager.end_session()
    assert EXERCISE.name not in kernel.begun
