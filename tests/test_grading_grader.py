"""Grades of single notebooks: the same for the same notebook, drawn from a secret, never with a key in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points

import msgspec
import psutil
import pytest

from agentlab.grading.box import Limits
from agentlab.grading.engine import Engine, EngineError
from agentlab.grading.exercise import Cell, seed_of
from agentlab.grading.grader import grade, solution_values
from agentlab.grading.provisioner import NAME as PROVISIONER
from agentlab.grading.submission import parse
from tests.boxes import REQUIRED, needs_box
from tests.grading_class import ALL, COUNT, DOUBLE, EXERCISE, NAME, cell, notebook, solved, student_cells

pytestmark = needs_box

KEY = "sk-ant-api03-" + "Ab3" * 12
SECRET = b"a secret of this class"


@pytest.fixture(scope="module")
def engine():
    with Engine(sandbox="bwrap", limits=Limits(cell_seconds=5, notebook_seconds=30)) as running:
        yield running


def earned(content, engine, **settings):
    return [mark.earned for mark in grade(EXERCISE, parse(content), engine, another=True, **settings).marks]


def test_same_notebook_has_the_same_grade(engine):
    first, second = (grade(EXERCISE, parse(solved()), engine, another=True) for _ in range(2))
    assert first.earned == ALL
    assert msgspec.structs.replace(first, seconds=0.0) == msgspec.structs.replace(second, seconds=0.0)


def test_untouched_notebook_earns_nothing_and_says_what_to_do(engine):
    result = grade(EXERCISE, parse(notebook(student_cells())), engine, another=True)
    assert result.earned == 0
    assert result.marks[0].feedback == "Not done yet: your code here.\nHint: What is twice a number?"
    assert result.marks[1].feedback == "Hint: Negative numbers too."


def test_wrong_output_says_what_was_expected_and_what_came(engine):
    result = grade(EXERCISE, parse(solved(count="def count(text): return 4")), engine, another=True)
    assert result.marks[2].feedback == "Expected 3, got 4."
    result = grade(EXERCISE, parse(solved(count="def count(text): return {4}")), engine, another=True)
    assert result.marks[2].feedback.startswith("Raised TypeError: expected text, numbers")


def test_hidden_check_tells_its_reason_to_the_instructor_alone(engine):
    result = grade(EXERCISE, parse(solved(double="def double(x): return x + 2")), engine, another=True)
    assert result.marks[1].feedback == "Hint: Negative numbers too."
    assert result.marks[1].reason.startswith("Expected ")
    assert result.marks[0].reason == ""


def test_hidden_check_that_a_notebook_reads_and_raises_is_not_shown(engine):
    spy = """
import inspect, linecache
read = []
def double(x):
    frame = inspect.currentframe().f_back
    read.extend(linecache.getlines(frame.f_code.co_filename))
    return 2 * x
"""
    told = "def count(text):\n    raise ValueError(''.join(read))"
    content = solved(double=spy, count=told)
    result = grade(EXERCISE, parse(content), engine, another=True)
    assert [mark.earned for mark in result.marks] == [1, 2, 0, 0]
    assert result.marks[2].feedback == "What was raised repeats a hidden check, and is not shown."
    assert "seed" in result.marks[2].reason
    assert "seed" not in "".join([*result.problems, *(mark.feedback for mark in result.marks)])


def test_values_of_any_text_and_length_are_compared(engine):
    text = "\u2028 \x85 \x1c \r\n" + "long " * 2_000
    checks = list(EXERCISE.checks)
    shown = json.dumps(text, ensure_ascii=False) + "\n"
    checks[2] = msgspec.structs.replace(checks[2], code="show(1)\nshow(count(words))", expected="1\n" + shown)
    exercise = msgspec.structs.replace(EXERCISE, checks=checks)
    for answer, points in ((text, 1), (text + ".", 0)):
        content = solved(count=f"def count(text):\n    print('here')\n    return {answer!r}")
        assert grade(exercise, parse(content), engine, another=True).marks[2].earned == points


def test_secret_draws_what_no_reader_of_the_repository_knows(engine):
    known = seed_of(NAME, "double-seed") % 1000
    cheat = solved(double=f"def double(x):\n    return 2 * x if x in (2, {known}) else 0")
    assert earned(cheat, engine) == [1, 2, 1, 1]
    values = solution_values(EXERCISE, engine, SECRET)
    assert values["double-seed"] == f"{2 * (seed_of(NAME, 'double-seed', SECRET) % 1000)}\n"
    assert values["count-words"] == "3\n"
    assert earned(cheat, engine, expected=values, secret=SECRET) == [1, 0, 1, 1]
    assert earned(solved(), engine, expected=values, secret=SECRET) == [1, 2, 1, 1]
    assert solution_values(EXERCISE, engine, SECRET) == values


def test_solution_that_fails_its_own_checks_grades_nobody(engine):
    wrong = {"count": "count = None"}
    cells = [msgspec.structs.replace(each, solution=wrong.get(each.id, each.solution)) for each in EXERCISE.cells]
    broken = msgspec.structs.replace(EXERCISE, cells=cells)
    with pytest.raises(EngineError, match="the solution of 07_double fails in 'count-words'"):
        solution_values(broken, engine, SECRET)


def test_key_is_reported_and_never_repeated(engine):
    content = solved(double=f"KEY = '{KEY}'\nraise ValueError(KEY)", count=f"def count(text):\n    return '{KEY}'")
    result = grade(EXERCISE, parse(content), engine, another=True)
    assert "cell 2 holds what looks like a key" in result.problems[0]
    assert KEY not in msgspec.json.encode(result).decode()
    assert "[key]" in result.marks[2].feedback


def test_state_before_the_end_of_a_kernel_is_there_again_after_it(engine):
    cells = student_cells(double=DOUBLE, count=COUNT)
    cells.insert(1, cell("helper = 2"))
    cells.insert(4, cell("import os\nos._exit(3)"))
    cells[5] = cell("words = 'one two three' if helper == 2 else ''", "session")
    result = grade(EXERCISE, parse(notebook(cells)), engine, another=True)
    assert result.earned == ALL
    assert result.problems == ["cell 5: the kernel ended while it ran; the rest was graded without it"]


def test_notebook_that_takes_too_long_keeps_what_it_earned():
    slow = "import time\ndef count(text):\n    time.sleep(9)"
    with Engine(sandbox="bwrap", limits=Limits(cell_seconds=5, notebook_seconds=2)) as brief:
        result = grade(EXERCISE, parse(solved(count=slow)), brief)
    assert [mark.earned for mark in result.marks] == [1, 2, 0, 0]
    assert result.marks[2].feedback == "Took too long, and was stopped."


def test_setup_is_ours_and_may_take_longer_than_a_cell():
    late = f"import time\ntime.sleep(1.5)\n{EXERCISE.cells[0].source}"
    slow = msgspec.structs.replace(EXERCISE, cells=[Cell("setup", "setup", late), *EXERCISE.cells[1:]])
    with Engine(sandbox="bwrap", limits=Limits(cell_seconds=1)) as engine:
        cells = student_cells(double=DOUBLE, count=f"{COUNT}\nimport time\ntime.sleep(1.5)")
        result = grade(slow, parse(notebook(cells)), engine)
    assert result.earned == ALL
    assert [text for text in result.problems if "took too long" in text] == [
        "cell 5 (count): took too long, and was stopped"
    ]


def test_setup_that_fails_is_said(engine):
    broken = msgspec.structs.replace(EXERCISE, cells=[Cell("setup", "setup", "import nowhere"), *EXERCISE.cells[1:]])
    result = grade(broken, parse(solved()), engine, another=True)
    assert result.problems[1] == "cell 'setup': raised ModuleNotFoundError: No module named 'nowhere'"


def test_nothing_runs_on_when_an_engine_is_closed():
    engine = Engine(sandbox="bwrap", limits=Limits(cell_seconds=5), ahead=2)
    assert grade(EXERCISE, parse(solved()), engine, another=True).earned == ALL
    worker = psutil.Process(engine._process.pid)
    family = [worker, *worker.children(recursive=True)]
    assert len(family) > 3
    engine.close()
    psutil.wait_procs(family, timeout=5)
    assert [each for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []


def test_worker_that_is_killed_costs_nobody_anything():
    slow = solved(double="import time\ntime.sleep(1.5)\n" + DOUBLE)
    with Engine(sandbox="bwrap", limits=Limits(cell_seconds=5)) as engine, ThreadPoolExecutor(1) as pool:
        engine.start()
        waiting = pool.submit(grade, EXERCISE, parse(slow), engine)
        time.sleep(1.5)
        engine._process.kill()
        assert waiting.result().earned == ALL
        assert waiting.result().problems == []


def test_limits_without_a_box_grade_too_and_say_so():
    with Engine(sandbox="limits", limits=Limits(cell_seconds=5)) as engine:
        result = grade(EXERCISE, parse(solved(double="import os\nos.kill(os.getppid(), 9)")), engine)
    assert result.sandbox == "limits"
    assert [mark.earned for mark in result.marks] == [0, 0, 1, 1]


def test_provisioner_works_under_unmodified_nbval(tmp_path):
    installed = [each.name for each in entry_points(group="jupyter_client.kernel_provisioners")]
    if PROVISIONER not in installed and not REQUIRED:
        pytest.skip("agentlab was installed before it had a kernel provisioner: install it again")
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "boxed",
        "language": "python",
        "metadata": {"kernel_provisioner": {"provisioner_name": PROVISIONER, "config": {}}},
    }
    (tmp_path / "kernels" / "boxed").mkdir(parents=True)
    (tmp_path / "kernels" / "boxed" / "kernel.json").write_bytes(msgspec.json.encode(spec))
    code = f"import os\nassert os.getcwd() == '/tmp/work', os.getcwd()\nassert not os.path.exists({str(tmp_path)!r})"
    (tmp_path / "a.ipynb").write_bytes(notebook([cell(code)]))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval-lax",
        "--nbval-kernel-name=boxed",
        "-p",
        "no:cacheprovider",
    ]
    ran = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path / "a.ipynb")],
        env=os.environ | {"JUPYTER_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in ran.stdout, ran.stdout
