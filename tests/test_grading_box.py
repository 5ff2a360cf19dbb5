"""What a box shows: Python, the packages and the course; what is named to be hidden is hidden there, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import agentlab
from agentlab.errors import InputError
from agentlab.grading import box_trial
from agentlab.grading.box import Limits, box_command, box_environment, import_path
from agentlab.grading.watch import Watch
from tests.boxes import needs_box

PACKAGE = Path(agentlab.__file__).resolve().parent


def run_boxed(code, tmp_path, *, masked=(), limits=None, user=0):
    """Run Python code in a box; returns what it printed."""
    private = tmp_path / "private"
    private.mkdir(exist_ok=True)
    command = box_command(
        [sys.executable, "-c", code],
        sandbox="bwrap",
        private=private,
        limits=limits or Limits(),
        masked=masked,
        environment=box_environment("bwrap"),
        user=user,
    )
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return (ran.stdout + ran.stderr).strip()


@needs_box
def test_package_is_imported_from_where_it_is_and_its_folder_holds_nothing_else(tmp_path):
    code = "import agentlab, os; print(agentlab.__file__); print(sorted(os.listdir(os.environ['PYTHONPATH'])))"
    file, listed = run_boxed(code, tmp_path).splitlines()
    assert Path(file).parent == PACKAGE
    if not (Path(import_path()) / "pip").is_dir():  # it is not installed among other packages
        shown = {"agentlab", "data", "notebooks"}
        if Path(sys.prefix).is_relative_to(PACKAGE.parent):
            shown.add(Path(sys.prefix).relative_to(PACKAGE.parent).parts[0])  # the interpreter lies beside it
        assert set(eval(listed)) <= shown


@needs_box
def test_what_an_exercise_asks_for_can_be_read_where_it_is_recorded_and_not_where_it_is_planned(tmp_path):
    data = next(each for each in (PACKAGE / "materials" / "data", PACKAGE.parent / "data") if each.is_dir())
    week, plan, compiled = data / "transcripts" / "week.jsonl", data / "week_plan.py", data / "__pycache__"
    size = "import os, sys; print(sum(os.path.getsize(path) for path in sys.argv[1:] if os.path.exists(path)))"
    assert int(run_boxed(size.replace("sys.argv[1:]", repr([str(week)])), tmp_path)) == week.stat().st_size > 100_000
    assert plan.stat().st_size > 1_000
    seen = size.replace("sys.argv[1:]", repr([str(plan), *map(str, compiled.glob("week_plan*"))]))
    assert run_boxed(seen, tmp_path) == "0"


@needs_box
def test_hidden_folders_and_files_are_empty_where_they_lie_in_what_is_shown(tmp_path):
    folder, file = PACKAGE / "policies", PACKAGE / "messages.py"
    listed, read = f"import os; print(len(os.listdir({str(folder)!r})))", f"print(len(open({str(file)!r}).read()))"
    hidden = [folder, file]
    assert int(run_boxed(listed, tmp_path)) > 3
    assert run_boxed(listed, tmp_path, masked=hidden) == "0"
    assert int(run_boxed(read, tmp_path)) > 100
    assert "Permission denied" in run_boxed(read, tmp_path, masked=hidden)
    # What lies around the package hides nothing of it.
    assert int(run_boxed(read, tmp_path, masked=[PACKAGE.parent.parent, tmp_path])) > 100


@needs_box
def test_hidden_folder_cannot_be_written_to(tmp_path):
    code = f"open({str(PACKAGE / 'policies' / 'x')!r}, 'w')"
    assert "Error" in run_boxed(code, tmp_path, masked=[PACKAGE / "policies"])


@needs_box
def test_environment_is_ours_alone(tmp_path):
    said = run_boxed("import os; print(sorted(os.environ))", tmp_path)
    assert set(eval(said)) - {"PWD", "LC_CTYPE"} == set(box_environment("bwrap"))


@needs_box
def test_where_we_are_root_a_kernel_is_not(tmp_path):
    user = box_trial.user_of_kernel(7)
    if not box_trial.can_drop_root():
        pytest.skip("we are not root, or what a kernel imports is readable for root alone")
    code = "import os; print(os.getuid(), os.getgid(), os.getgroups()); os.setuid(0)"
    said = run_boxed(code, tmp_path, user=user).splitlines()
    assert said[0] == f"{user} {user} [{user}]" or said[0] == f"{user} {user} []"
    assert "PermissionError" in said[-1]


@needs_box
def test_system_bounds_processes_memory_files(tmp_path):
    user = box_trial.user_of_kernel(8) if box_trial.can_drop_root() else 0
    limits = Limits(memory=2**30, file_bytes=1000, disk_bytes=4096 * 4, processes=2)
    forks = "import os, time\nfor n in range(500):\n    if os.fork() == 0: time.sleep(9)"
    cases = {
        "bytearray(2**40)": "MemoryError",
        "f = open('a', 'wb', 0); f.write(bytes(1000)); f.write(b'x')": "File too large",
        "import pathlib\nfor n in range(9): pathlib.Path(f'a{n}').write_bytes(bytes(900))": "No space left",
    }
    if user:
        cases[forks] = "BlockingIOError"
    for code, error in cases.items():
        assert error in run_boxed(code, tmp_path, limits=limits, user=user)


def test_crowd_in_the_shared_folder_is_seen(tmp_path):
    watch = Watch(1 << 30, tmp_path, Limits())
    assert watch.excess() is None
    for number in range(20):
        (tmp_path / str(number)).touch()
    assert watch.excess() == "it wrote into the folder of its own connection"


def test_processes_and_memory_are_counted_with_all_children(tmp_path):
    nap = "import time; time.sleep(30)"
    sleep = f"import subprocess, sys, time; print(subprocess.Popen([sys.executable, '-c', '{nap}']).pid, flush=True)"
    started = subprocess.Popen([sys.executable, "-c", sleep + "; time.sleep(30)"], stdout=subprocess.PIPE)
    with started:
        child = int(started.stdout.readline())
        try:
            few = msgspec.structs.replace(Limits(), processes=1)
            assert Watch(started.pid, tmp_path, few).excess() == "it started more than 1 processes"
            little = msgspec.structs.replace(Limits(), memory=2**20)
            assert Watch(started.pid, tmp_path, little).excess() == "its processes took more than 1 MB of memory"
            assert Watch(started.pid, tmp_path, Limits()).excess() is None
        finally:
            os.kill(child, signal.SIGKILL)
            started.kill()


def test_remedy_is_said_where_there_is_no_box(tmp_path):
    code = "from agentlab.grading.box_trial import require_box\nrequire_box()"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert InputError.__name__ in ran.stderr
    assert "apt-get install bubblewrap" in ran.stderr


def test_limits_alone_are_no_box(tmp_path):
    command = box_command(["true"], sandbox="limits", private=tmp_path, limits=Limits())
    assert "bwrap" not in command
    assert command[-1] == "true"
