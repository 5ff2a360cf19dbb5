"""What the builder refuses: each case is an exercise that would be built without the refusal it names."""

from __future__ import annotations

import re

import pytest

from agentlab.cli import main
from agentlab.errors import InputError
from agentlab.grading.building.build import build, read_and_prove
from agentlab.grading.building.refusals import problems, refuse
from agentlab.grading.building.source import read_source
from tests.grading_source import NAME, SOURCE, write_source

ASSERT = """assert found == "AHOY", f"expected 'AHOY', found {found!r}: look at shout, step 1\""""
SHOW = 'show(shout(" ".join(drawn.choice(["ahoy", "Land", "7"]) for _ in range(4))))'
ONE, ANY = 'because="step 1" hint="there', 'because="step 1" kind="output"'
SHOUT = "    return text.upper()\n"
CALL = "found = shout(GREETING)\n"
SETUP = 'GREETING = "ahoy"\n'
STEP = '#     - {id: shout, title: "Shout"}\n'


def before(code):
    """A change that runs something before the visible check."""
    return (CALL, f"{code}\n{CALL}")


BY_READING = {
    "points of 0": ([("points=1", "points=0")], "one-word", "is worth 0 points"),
    "points below 0": ([("points=2", "points=-2")], "any", "is worth -2 points"),
    "no step": ([(ONE, 'because="it says so" hint="there')], "one-word", 'says because="it says so"'),
    "a step that is not there": ([(ONE, 'because="step 2" hint="there')], "one-word", 'says because="step 2"'),
    "a check of no task": ([('check id="any" task="shout"', 'check id="any" task="cry"')], "any", "to the step 'cry'"),
    "an answer of no task": ([('answer id="shout" task="shout"', 'answer id="shout" task="cry"')], "shout", "'cry'"),
    "two of one id": ([('check id="any"', 'check id="one-word"')], "one-word", "the id is there 2 times"),
    "no output check": (
        [('kind="output" hidden=true seeded=true', 'kind="assert" hidden=true seeded=true'), (SHOW, "assert seed, ''")],
        "cell-01",
        "the step 'shout' has no check of kind output",
    ),
    "output that is not shown": ([(SHOW, "print(shout('a'))")], "any", "does not end in show(value)"),
    "no assert": ([(ASSERT, "print(found)")], "one-word", "has no assert, so it cannot fail"),
    "an assert without words": ([(ASSERT, "assert found == 'AHOY'")], "one-word", "an assert without a message"),
    "no visible check": ([(f"{ONE} is a", f"{ONE.replace('hint', 'hidden=true hint')} is a")], "cell-01", "no visible"),
    "hidden without a hint": ([('hint="more than one word"', "")], "any", "is hidden and has no hint"),
    "visible and seeded": ([(ONE, f"seeded=true {ONE}")], "one-word", "is seeded and visible"),
    "a magic": ([before("%time")], "one-word", "has a magic or a shell command"),
    "a shell command": ([before("!ls")], "one-word", "has a magic or a shell command"),
    "no Python": ([before("found = (")], "one-word", "is no Python"),
    "a bare except": ([before("try:\n    shout(1)\nexcept:\n    found = 0")], "one-word", "has a bare except"),
    "a swallowed error": (
        [before("try:\n    shout(1)\nexcept Exception:\n    pass")],
        "one-word",
        "has a bare except",
    ),
    "the network": ([before("import urllib.request")], "one-word", "uses the network (urllib"),
    "a live model": ([before("from anthropic import Anthropic")], "one-word", "uses the network (anthropic"),
    "the clock": ([before("import time\nbegan = time.perf_counter()")], "one-word", "on the clock (time.perf_counter"),
    "today": ([before("import datetime\ntoday = datetime.date.today()")], "one-word", "on the clock (date.today"),
    "chance": ([before("import random\nn = random.randrange(9)")], "one-word", "on chance (random.randrange"),
    "no seed": ([("random.Random(seed)", "random.Random()")], "any", "depends on chance"),
    "other chance": ([before("import uuid\nn = uuid.uuid4()")], "one-word", "depends on chance (uuid4"),
    "an image": ([before("figure.savefig('a.png')")], "one-word", "compares an image (savefig"),
    "a repr": ([before("shown = repr(shout)")], "one-word", "compares a repr"),
    "nbval-skip": ([('name="a word"', 'name="a word" tags=["nbval-skip"]')], "one-word", "has the tag nbval-skip"),
    "raises-exception": (
        [('name="a word"', 'name="a word" tags=["raises-exception"]')],
        "one-word",
        "has the tag raises-exception",
    ),
    "a marker of nbval": ([before("# NBVAL_SKIP")], "one-word", "has the marker NBVAL_SKIP"),
    "five steps": (
        [(STEP, STEP + "".join(STEP.replace("shout,", f"s{n},") for n in range(4)))],
        "cell-01",
        "the header has 5 tasks",
    ),
    "no steps": ([(STEP, ""), ("#     tasks:\n", "#     tasks: []\n")], "cell-01", "the header has 0 tasks"),
    "more than 25 lines": ([(SHOUT, "    text = text\n" * 25 + SHOUT)], "cell-01", "26 lines of the student's own"),
    "more than 3 lines at first": (
        [(SHOUT, "    text = text\n" * 3 + SHOUT)],
        "one-word",
        "needs more than 3 lines of the student's own",
    ),
    "a loop of 41 lines": ([(SHOUT, SHOUT + "    ### STUB\n" + "    # 1\n" * 39)], "shout", "has 41 lines"),
    "no setup": ([(f'setup id="setup"\n{SETUP}', f"given\n{SETUP}")], "cell-01", "no cell of kind setup"),
    "nothing shown": ([('shown id="package"', 'given id="package"')], "cell-01", "no cell of kind shown"),
}

BY_THE_READER = {
    "no because": ([(f" {ONE}", ' hint="there')], "cell one-word", 'has no because: give it because="step 1"'),
    "no points": ([(" points=1", "")], "cell one-word", "has no points: give it points=1"),
    "points that are no number": ([("points=1", 'points="one"')], "cell one-word", "Expected `float`"),
    "a begin without an end": ([("    ### END SOLUTION\n", "")], "cell shout", "has no ### END SOLUTION"),
    "an end without a begin": ([("    ### BEGIN SOLUTION\n", "")], "cell shout", "has no ### BEGIN SOLUTION"),
    "no kind of cell": ([('shown id="package"', 'showing id="package"')], "cell package", "'showing' is no kind"),
    "a check without an id": ([('check id="any"', "check")], "cell cell-06", "has no id"),
    "an unknown attribute": ([("points=1", "points=1 point=2")], "cell one-word", "unknown attribute 'point'"),
    "an unknown key": ([("#     number: 7", "#     number: 7\n#     level: 3")], "agentlab", "level"),
    "no title": ([('#     title: "Shout"\n', "")], "agentlab", "needs number, title, minutes, tasks"),
}

BY_RUNNING = {
    "a check that fails on the solution": ([("text.upper()", "text.title()")], "one-word", "fails on the solution"),
    "a check that passes on the unsolved notebook": (
        [(ASSERT, "assert callable(shout), 'expected a function'"), (CALL, "")],
        "one-word",
        "passes on the unsolved notebook",
    ),
    "an unsolved notebook that pays for an error": (
        [(CALL, "try:\n    found = shout(GREETING)\nexcept Exception:\n    found = 'AHOY'\n")],
        "one-word",
        "passes on the unsolved notebook",
    ),
    "output that changes": (
        [(SHOW, "import os\nshow([shout('a'), os.getpid()])")],
        "any",
        "prints something else at a second run",
    ),
}


def test_the_source_that_the_cases_change_is_built(tmp_path):
    refuse(read_source(write_source(tmp_path)))
    assert list(problems(read_source(write_source(tmp_path)))) == []


@pytest.mark.parametrize("case", BY_READING)
def test_source_is_refused_by_reading_it(tmp_path, case):
    changes, cell, said = BY_READING[case]
    found = list(problems(read_source(write_source(tmp_path, *changes))))
    assert [(where, why) for where, why in found if said in why and where == cell], found


@pytest.mark.parametrize("case", BY_THE_READER)
def test_source_is_refused_before_it_is_a_source(tmp_path, case):
    changes, field, said = BY_THE_READER[case]
    path = write_source(tmp_path, *changes)
    with pytest.raises(InputError) as refused:
        read_source(path)
    assert said in refused.value.problem
    assert (refused.value.path, refused.value.field) == (path, field)


@pytest.mark.parametrize("case", BY_RUNNING)
def test_source_is_refused_by_running_it(tmp_path, case):
    changes, cell, said = BY_RUNNING[case]
    path = write_source(tmp_path, *changes)
    with pytest.raises(InputError) as refused:
        read_and_prove(path)
    assert said in str(refused.value)
    assert refused.value.field == f"cell {cell}"


@pytest.mark.parametrize("value", ["None", "0", '""', "[]", "True", "{}"])
def test_trivial_answer_that_has_all_points_is_refused(tmp_path, value):
    lax = f"assert type(found) is type({value}), 'expected another kind of value'"
    changes = [("return text.upper()", f"return {value}"), (ASSERT, lax), (SHOW, "show(type(shout('a')).__name__)")]
    with pytest.raises(InputError, match=re.escape(f"all checks pass with shout made `return {value}`")):
        read_and_prove(write_source(tmp_path, *changes))


def test_refused_source_writes_nothing_and_is_one_line(tmp_path, capsys):
    write_source(tmp_path, ("points=1", "points=0"))
    assert main(["exercises", "build", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert f"{NAME}.py" in said
    assert "cell one-word: is worth 0 points" in said
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_provider_may_be_called_at_our_own_server_alone(tmp_path):
    own = "from anthropic import Anthropic\nfrom agentlab.testing import provider_server"
    assert list(problems(read_source(write_source(tmp_path, before(own))))) == []


def test_built_exercise_is_current_and_an_edit_is_seen(tmp_path, capsys):
    build(write_source(tmp_path))
    assert main(["exercises", "check", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "student" / f"{NAME}.ipynb").write_text("{}")
    (tmp_path / "student" / "08_gone.ipynb").write_text("{}")
    (tmp_path / "tests" / f"{NAME}.json").unlink()
    assert main(["exercises", "check", "--root", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(f"{tmp_path}/") for line in lines] == [
        "student/08_gone.ipynb: there is no source/08_gone.py: remove it",
        f"student/{NAME}.ipynb: is not what {NAME}.py makes: run `agentlab exercises build`",
        f"tests/{NAME}.json: is not there: run `agentlab exercises build`",
    ]
    assert "return text.upper()" in SOURCE
