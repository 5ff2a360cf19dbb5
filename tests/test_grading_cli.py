"""`agentlab grade` on a class: rows, pages, refusals, a run that goes on, and other machines."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import Executor, ThreadPoolExecutor

import psutil
import pytest

from agentlab.cli import main
from agentlab.grading.batch import Setup, close_engines, grade_all
from agentlab.grading.box import Limits
from agentlab.grading.collect import find
from tests.boxes import needs_box
from tests.grading_class import COUNT, EXERCISE, NAME, cell, notebook, solved, student_cells, write_exercise

KEY = "sk-ant-api03-" + "Zz9" * 12

LEAK = f"import os\nprint(os.environ.get('ANTHROPIC_API_KEY'))\nKEY = '{KEY}'\nraise ValueError(KEY)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class that was graded once: the folder, what was printed, and the exit code."""
    place = tmp_path_factory.mktemp("class")
    write_exercise(place / "ex")
    inbox = place / "inbox"
    inbox.mkdir()
    files = {
        "ada": solved(why="why = '=Since two and two are four.'"),
        "bob": solved(double="def double(x): return x + 2"),
        "cy": notebook(student_cells()),
        "dan": solved(double=LEAK),
        "eve": b'{"cells": [',
        "foreign": notebook([cell("1 + 1")], exercise="holiday"),
        "gil": solved(count="import os\nos._exit(1)"),
    }
    for name, content in files.items():
        (inbox / f"{name}_{NAME}.ipynb").write_bytes(content)
    with zipfile.ZipFile(inbox / "late.zip", "w") as archive:
        archive.writestr("Ada Lovelace_815_assignsubmission_file_/z.ipynb", solved(count="def count(t): return 3"))
    (inbox / "conftest.py").write_text("raise SystemExit('imported')")
    (inbox / "agentlab.py").write_text("raise SystemExit('imported')")
    (place / "class.csv").write_text("id,name\nada,Ada Lovelace\nbob,Bob\nzed,Zed\n")
    command = [sys.executable, "-m", "agentlab", "grade", "inbox", "--exercises", "ex", "--roster", "class.csv"]
    ran = subprocess.run(
        [*command, "--review", "texts.csv", "--out", "out"],
        cwd=place,
        env=os.environ | {"ANTHROPIC_API_KEY": KEY, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    return place, ran


def rows_of(place):
    with (place / "grades.csv").open(newline="") as stream:
        return {row["id"]: row for row in csv.DictReader(stream)}


@needs_box
def test_class_is_graded_whatever_is_handed_in(graded):
    place, ran = graded
    assert ran.returncode == 0, ran.stderr
    rows = rows_of(place / "out")
    points = {who: row["points"] for who, row in rows.items()}
    assert points == {"ada": "4", "bob": "3", "zed": "0", "cy": "0", "dan": "2", "eve": "0", "foreign": "0", "gil": "3"}
    assert "z.ipynb counts, not inbox/ada_07_double.ipynb (5)" in rows["ada"]["notes"]
    assert rows["zed"]["notes"] == "nothing handed in"
    assert "is damaged" in rows["eve"]["notes"]
    assert "'holiday'" in rows["foreign"]["notes"]
    assert rows["gil"]["notes"].startswith("not on the roster")
    assert rows["bob"]["name"] == "Bob"
    assert "8/8 inbox/late.zip/" in ran.stderr
    assert "WITHOUT" not in ran.stdout


@needs_box
def test_key_is_reported_and_in_no_file_and_no_line(graded):
    place, ran = graded
    report = (place / "out" / "grades.json").read_text()
    assert "holds what looks like a key" in report
    written = [path.read_text() for path in (place / "out").rglob("*") if path.is_file()]
    assert len(written) > 8
    assert not any(KEY in text for text in [*written, ran.stdout, ran.stderr])


@needs_box
def test_every_graded_notebook_has_its_page(graded):
    place, _ = graded
    feedback = place / "out" / "feedback"
    pages = {str(path.relative_to(feedback)): path.read_text() for path in feedback.rglob("*.html")}
    names = [name for name in sorted(pages) if not name.startswith(f"ada/{NAME}-")]
    assert names == [f"{who}/{NAME}.html" for who in ("ada", "bob", "cy", "dan", "gil")]
    assert len(pages) == 6  # the last is of Ada's notebook that does not count
    assert "Negative numbers too." in pages[f"bob/{NAME}.html"]
    assert not any("seed %" in page for page in pages.values())


@needs_box
def test_same_class_gives_the_same_bytes_with_any_number_of_workers(graded, capsys):
    place, _ = graded
    files = [place / "inbox" / f"{who}_{NAME}.ipynb" for who in ("bob", "eve", "cy")]
    common = [*files, "--exercises", place / "ex", "--roster", place / "class.csv"]
    for workers, out in ((1, "a"), (3, "b")):
        assert main(["grade", *map(str, common), "--out", str(place / out), "--json", "--workers", str(workers)]) == 0
    first, second = capsys.readouterr().out.split("\n}\n{")
    assert first.strip("{}\n") == second.strip("{}\n")
    assert (place / "a" / "grades.json").read_bytes() == (place / "b" / "grades.json").read_bytes()
    assert (place / "a" / "grades.csv").read_bytes() == (place / "b" / "grades.csv").read_bytes()


class Refusing(Executor):
    """An executor that nothing may be given to."""

    def submit(self, *_, **__):
        pytest.fail("what was graded was to be taken up again")


@needs_box
def test_interrupted_run_goes_on_where_it_was(tmp_path):
    for number in range(3):
        (tmp_path / f"s{number}.ipynb").write_bytes(solved(count=f"{COUNT}\nme = {number}"))
    handed, _ = find([tmp_path])
    kept = tmp_path / "kept"

    def stop(done, _total, _graded):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(1) as pool:
        grade_all(handed, [EXERCISE], kept=kept, executor=pool, progress=stop)
    done = sorted(path.name for path in kept.iterdir())
    assert 1 <= len(done) < 3
    torn = kept / done[0]
    torn.write_bytes(torn.read_bytes()[:50])
    result = grade_all(handed, [EXERCISE], kept=kept, executor=1)
    close_engines()
    assert [each.earned for each in result] == [5, 5, 5]
    assert grade_all(handed, [EXERCISE], kept=kept, executor=Refusing()) == result


@needs_box
def test_texts_that_a_person_marked_are_merged(graded, capsys):
    place, _ = graded
    lines = list(csv.reader((place / "texts.csv").read_text().splitlines()))
    texts = {line[5]: line for line in lines[1:]}
    assert set(texts) == {"'=Since two and two are four.", "So."}
    texts["So."][7] = "1.5"
    with (place / "marked.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    files = [str(place / "inbox" / f"{who}_{NAME}.ipynb") for who in ("ada", "bob", "cy")]
    arguments = ["grade", *files, "--exercises", str(place / "ex"), "--out", str(place / "merged")]
    assert main([*arguments, "--merge", str(place / "marked.csv"), "--csv"]) == 0
    rows = {row["id"]: row["points"] for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    assert (rows["bob"], rows["cy"], rows["ada"]) == ("4.5", "0", "5")
    assert "points wait" not in rows["bob"]


@needs_box
def test_secret_is_stamped_and_never_told(graded, capsys, tmp_path):
    place, _ = graded
    (tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    arguments = ["grade", str(place / "inbox" / f"bob_{NAME}.ipynb"), "--exercises", str(place / "ex")]
    arguments += ["--secret", str(tmp_path / "secret"), "--out", str(tmp_path / "out"), "--json"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert json.loads(told)["seed"] != "public"
    assert json.loads(told)["stamp"].endswith(f"drawn from the secret {json.loads(told)['seed']}.")
    assert "0123456789abcdef" not in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.ipynb"], "no such file or folder"),
        (["{ex}", "--workers", "0"], "--workers: found 0"),
        (["{ex}", "--exercises", "{tmp}"], "holds no exercise"),
        (["{ex}", "--roster", "{tmp}/none.csv"], "cannot be read"),
        (["{ex}", "--secret", "{short}"], "holds 3 bytes, expected at least 16"),
        (["{ex}", "--id-from", "("], "no regular expression"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, capsys, arguments, said):
    (tmp_path / "short").write_text("abc\n")
    named = {"ex": write_exercise(tmp_path / "ex"), "tmp": tmp_path, "short": tmp_path / "short"}
    given = ["grade", "--out", str(tmp_path / "out"), *(argument.format(**named) for argument in arguments)]
    given += [] if "--exercises" in given else ["--exercises", str(named["ex"])]
    assert main(given) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def without_bwrap(tmp_path, *more):
    """Grade where no `bwrap` is found."""
    write_exercise(tmp_path / "ex")
    (tmp_path / "ada.ipynb").write_bytes(solved(count=COUNT))
    return subprocess.run(
        [sys.executable, "-m", "agentlab", "grade", "ada.ipynb", "--exercises", "ex", "--out", "out", *more],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_box_nothing_is_graded_and_the_remedy_is_said(tmp_path):
    ran = without_bwrap(tmp_path)
    assert ran.returncode == 2
    for word in ("bubblewrap (`bwrap`) is not installed", "apt-get install bubblewrap", "--sandbox limits"):
        assert word in ran.stderr
    assert not (tmp_path / "out").exists()


def test_limits_are_asked_for_and_stamped_on_every_report(tmp_path):
    ran = without_bwrap(tmp_path, "--sandbox", "limits")
    assert ran.returncode == 0, ran.stderr
    reports = [ran.stdout, (tmp_path / "out" / "grades.json").read_text()]
    reports += [page.read_text() for page in (tmp_path / "out").rglob("*.html")]
    assert len(reports) == 3
    assert all("WITHOUT a box" in report for report in reports)
    assert rows_of(tmp_path / "out")["ada"]["points"] == "5"


@needs_box
def test_cluster_gives_the_same_grades(tmp_path):
    distributed = pytest.importorskip("distributed")
    for number in range(10):
        wrong = "def double(x): return 4" if number % 3 == 0 else None
        answers = {} if wrong is None else {"double": wrong}
        (tmp_path / f"s{number}.ipynb").write_bytes(solved(count=COUNT + f"\nme = {number}", **answers))
    handed, _ = find([tmp_path])
    setup = Setup(limits=Limits(cell_seconds=20))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        graded = grade_all(handed, [EXERCISE], setup=setup, executor=client.get_executor())
        client.run(close_engines)
    assert [each.earned for each in graded] == [3 if number % 3 == 0 else 5 for number in range(10)]


@needs_box
def test_interrupt_ends_all_that_runs_at_once(tmp_path):
    write_exercise(tmp_path / "ex")
    (tmp_path / "ada.ipynb").write_bytes(solved(double="while True: pass"))
    command = [sys.executable, "-m", "agentlab", "grade", "ada.ipynb", "--exercises", "ex", "--out", "out"]
    path = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.PIPE) as ran:
        family = []
        until = time.monotonic() + 20
        while not any("ipykernel_launcher" in part for each in family for part in _command(each)):
            assert time.monotonic() < until
            time.sleep(0.1)
            family = psutil.Process(ran.pid).children(recursive=True)
        time.sleep(1)
        began = time.monotonic()
        ran.send_signal(signal.SIGINT)
        assert ran.wait(8) == 130
        assert time.monotonic() - began < 5
        assert ran.stderr.read() == b"agentlab: interrupted\n"
    gone, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
    assert len(gone) == len(family)


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
