"""An exercise that does not hold together is refused; a notebook that is none is, too; names are withheld."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import msgspec
import pytest

from agentlab.errors import InputError
from agentlab.grading.exercise import Cell, encode, problems, read
from agentlab.grading.kernel import WITHHELD, show
from agentlab.grading.submission import MAX_BYTES, changed, exercise_of, paragraph_of, parse
from tests.grading_class import EXERCISE, NAME, cell, notebook, solved, student_cells, write_exercise

replace = msgspec.structs.replace


def test_exercise_reads_as_it_was_written(tmp_path):
    assert read(write_exercise(tmp_path) / f"{NAME}.json") == EXERCISE
    assert encode(EXERCISE) == encode(EXERCISE)
    assert list(problems(EXERCISE)) == []
    assert EXERCISE.points == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "other/1"}, "is of schema 'other/1'"),
        ({"cells": [*EXERCISE.cells, Cell("setup", "setup")]}, "two of kind cell have the id 'setup'"),
        ({"cells": EXERCISE.cells[:2]}, "check 'count-all' has no cell"),
        ({"tasks": EXERCISE.tasks[:1]}, "belongs to the task 'counting', which is not there"),
        ({"checks": [replace(EXERCISE.checks[0], points=0), *EXERCISE.checks[1:]]}, "worth 0 points"),
        ({"checks": [replace(EXERCISE.checks[0], because="so"), *EXERCISE.checks[1:]]}, "says 'so' for because"),
        ({"checks": [replace(EXERCISE.checks[0], seeded=True), *EXERCISE.checks[1:]]}, "seeded and visible"),
        (
            {"checks": [EXERCISE.checks[0], replace(EXERCISE.checks[1], expected=""), *EXERCISE.checks[2:]]},
            "no output is",
        ),
    ],
)
def test_exercise_that_does_not_hold_together_is_refused(tmp_path, change, said):
    path = tmp_path / f"{NAME}.json"
    path.write_bytes(encode(replace(EXERCISE, **change)))
    with pytest.raises(InputError, match=said):
        read(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"{", "is damaged"),
        (b"[1]", "no notebook of format 4"),
        (b'{"worksheets": [{"cells": []}]}', "no notebook of format 4"),
        (b"[" * 10**5, "is damaged"),
        (b"\xff\xfe", "is damaged"),
        (b"x" * (MAX_BYTES + 1), "clear its outputs"),
        (b'{"cells": [' + b"0," * 2_000 + b"0]}", "2,001 cells"),
    ],
)
def test_what_is_no_notebook_is_refused(content, said):
    with pytest.raises(InputError, match=said):
        parse(content)


def test_odd_cells_are_read_as_far_as_they_go():
    odd = [None, 7, {"cell_type": "code"}, {"cell_type": "code", "source": 5, "metadata": []}, cell("a", "double")]
    odd += [{"cell_type": "code", "source": ["a", 1, "b"], "metadata": {"agentlab": "x"}}, cell("t", kind="raw")]
    read_cells = parse(json.dumps({"cells": odd, "metadata": 3}).encode()).cells
    assert [(each.ident, each.code, each.place) for each in read_cells] == [
        ("", "", 3),
        ("", "", 4),
        ("double", "a", 5),
        ("", "ab", 6),
    ]


def test_exercise_is_found_by_metadata_else_by_most_ids():
    other = replace(EXERCISE, name="08_other", cells=[Cell("x", "answer")], checks=[], paragraphs=[])
    assert exercise_of(parse(solved()), [other, EXERCISE]) is EXERCISE
    assert exercise_of(parse(notebook(student_cells(), exercise="")), [other, EXERCISE]) is EXERCISE
    assert exercise_of(parse(notebook(student_cells(), exercise="99_x")), [other, EXERCISE]) is EXERCISE
    assert exercise_of(parse(notebook([cell("1")], exercise="")), [other, EXERCISE]) is None


def test_changed_checks_and_setup_are_named():
    cells = student_cells()
    cells[0] = cell("pass", "setup")
    del cells[2]
    assert changed(parse(notebook(cells)), EXERCISE) == [
        "setup cell 'setup' was edited, and ran as it was",
        "check cell 'double-two' was deleted, and ran as it was",
    ]
    cells = student_cells()
    cells[2]["source"].append("\nprint('passed')")
    assert changed(parse(notebook(cells)), EXERCISE) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("why = 'So.'", "So."),
        ("why = '''\nSo\n'''\nwhy = 'No.'", "No."),
        ("why = f(", ""),
        ("why = f'So {2 + 2}.'", "f'So {2 + 2}.'"),
        ("why = 'So ' + str(4)", "'So ' + str(4)"),
        ("why = 1", ""),
        ("other = 'x'", ""),
    ],
)
def test_paragraph_is_read_without_running_it(code, text):
    assert paragraph_of(parse(notebook([cell(code, "why")])).cells, EXERCISE.paragraphs[0]) == text


def test_show_prints_no_value_that_only_looks_like_one(capsys):
    class Equal(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    show([1, (2.5, None), {"b": "ü", "a": True}])
    assert capsys.readouterr().out == '[1, [2.5, null], {"a": true, "b": "ü"}]\n'
    for value in (Equal(3), [Equal(3)], {1: 2}, {"a": {1}}, type("Text", (str,), {})("x")):
        with pytest.raises(TypeError, match="found a"):
            show(value)


def test_withheld_names_raise_import_error_and_the_package_goes_on():
    code = """
from agentlab.grading.kernel import begin, begun
begin("01_a", withheld=["agentlab.truncate.truncate_observation", "agentlab.loop.MAX_ITERATIONS"])
begin("01_a", withheld=["agentlab.truncate.truncate_observation"])
for line in ("from agentlab.truncate import truncate_observation", "import agentlab.loop as l; l.MAX_ITERATIONS"):
    try:
        exec(line)
    except ImportError as error:
        print(error)
from agentlab.loop import agent_step
from agentlab.observe import observe
print(begun, agent_step.__name__)
try:
    import agentlab.truncate; agentlab.truncate.nonsense
except AttributeError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        f"agentlab.truncate.truncate_observation: {WITHHELD}",
        f"agentlab.loop.MAX_ITERATIONS: {WITHHELD}",
        "['01_a', '01_a'] agent_step",
        "module 'agentlab.truncate' has no attribute 'nonsense'",
    ]


def test_package_itself_imports_withheld_names_later():
    code = """
from agentlab.grading.kernel import begin
begin("01_a", withheld=["agentlab.truncate.cut"])
from agentlab.grading.building.pictures import survivors
print(survivors("a" * 400, {"head": "aaa"}, 100).to_dict("list"))
try:
    from agentlab.truncate import cut
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "{'middle_snip': ['kept'], 'tail_cut': ['kept']}",
        f"agentlab.truncate.cut: {WITHHELD}",
    ]


def test_extension_is_loaded_by_the_packages_name():
    assert importlib.import_module("agentlab").load_ipython_extension.__module__ == "agentlab.grading.magic"
