"""The rows on grading: a class of honest notebooks, boxed, beside plain nbval and nbgrader's autograde.

All three run the same answers to the first exercise of the course on the same kernel: two of three are right, the rest
are wrong in the ways that the course knows. A verdict is whether a notebook has full points.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

from tests.course.handed_in import hand_in
from tests.course.theirs import lay_out, variables

from .figures import Row
from .rounds import ROOT, BenchError, Rounds, environment, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLASS, QUICK = 40, 6
EXERCISES = ROOT / "exercises"
Verdicts = dict[str, bool]


def grading(rounds: Rounds, peers: Sequence[str]) -> Iterator[Row]:
    """All rows on grading."""
    size = QUICK if rounds.rounds == 1 else CLASS
    with tempfile.TemporaryDirectory() as folder:
        course = Course(Path(folder), size)
        took, verdicts = {}, {}
        runs = {"ours": course.ours, "nbval": course.nbval}
        if "nbgrader" in peers:
            python = rounds.pythons["nbgrader"]
            course.release(python)
            runs["nbgrader"] = lambda: course.nbgrader(python)
        for name, run in runs.items():
            say(f"grading {size} notebooks with {name}")
            started = time.perf_counter()
            verdicts[name] = run()
            took[name] = time.perf_counter() - started
        rounds.raw[f"grading {size} notebooks"] = {name: {"wall": seconds} for name, seconds in took.items()}
    figure = f"grading {size} honest notebooks on {os.cpu_count()} cores, boxed"
    for name, beside, times in (("nbval", "plain nbval", 1.7), ("nbgrader", "nbgrader autograde", 2.7)):
        if name not in took:
            yield Row(f"  beside {beside}", f">= {times}x (PEERS={name})", "not asked for", f"{took['ours']:.0f} s", "")
            continue
        ratio, same = took[name] / took["ours"], verdicts[name] == verdicts["ours"]
        said = f"{ratio:.1f}x faster, {'same' if same else 'OTHER'} verdicts"
        what = figure if name == "nbval" else "  the same"
        meets = ratio >= times and same
        yield Row(
            f"{what}, beside {beside}", f">= {times}x", f"{took[name]:.0f} s", f"{took['ours']:.0f} s", said, meets
        )


class Course:
    """A class's notebooks, in the three forms that the graders read."""

    def __init__(self, folder: Path, size: int) -> None:
        from agentlab.grading.building.answers import read_answer
        from agentlab.grading.exercise import read

        self.folder = folder
        self.file = min((EXERCISES / "tests").glob("*.json"))
        self.name = self.file.stem
        exercise = read(self.file)
        number = self.name.split("_")[0]
        solution = {cell.id: cell.solution for cell in exercise.cells if cell.kind == "answer"}
        wrong = [read_answer(path, exercise).cells for path in sorted((EXERCISES / "wrong" / number).glob("*.py"))]
        self.answers = {
            f"s{place:02}": solution if place % 3 else wrong[place // 3 % len(wrong)] for place in range(size)
        }
        for form in ("student", "solution"):
            self._write(EXERCISES / form / f"{self.name}.ipynb", folder / form)

    def _write(self, source: Path, target: Path, *, deep: bool = False) -> None:
        """Write a class's notebooks, made from one whose answers are replaced."""
        for student, answers in self.answers.items():
            path = target / student / self.name / f"{self.name}.ipynb" if deep else target / f"{student}.ipynb"
            hand_in(source, {ident: f"# answer of {student}\n{text}" for ident, text in answers.items()}, path)

    def _run(self, command: Sequence[str | Path], allowed: Sequence[int] = (0,), **more: str) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            env=environment() | {"PYTHONPATH": str(ROOT)} | more,
            capture_output=True,
            text=True,
            timeout=3_600,
            check=False,
        )
        if done.returncode not in allowed:
            last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            raise BenchError(f"{Path(command[0]).name} {' '.join(map(str, command[1:4]))}: {last}")
        return done.stdout

    def ours(self) -> Verdicts:
        """Grade with `agentlab grade`."""
        command = [sys.executable, "-m", "agentlab", "grade", "student", "--exercises", self.file.parent, "--csv"]
        lines = csv.DictReader(self._run(command).splitlines())
        return {line["id"]: float(line["points"]) == float(line["max"]) for line in lines}

    def nbval(self) -> Verdicts:
        """Run with nbval, which is no grader: a notebook passes where all its cells do."""
        report = self.folder / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--nbval-lax"]
        command += ["--nbval-current-env", "--nbval-cell-timeout=60", f"--junitxml={report}", "--rootdir=."]
        self._run([*command, "solution"], allowed=(0, 1))
        verdicts: Verdicts = {}
        for case in ET.parse(report).iter("testcase"):
            student = Path(case.get("classname", "").replace(".", "/")).parts[1]
            failed = case.find("failure") is not None or case.find("error") is not None
            verdicts[student] = verdicts.get(student, True) and not failed
        return verdicts

    def release(self, python: Path) -> None:
        """Make nbgrader's release of the exercise, and hand in the answers there; that is not timed."""
        lay_out(self.folder, [self.name])
        self._nbgrader(python, "generate_assignment", self.name)
        self._write(self.folder / "release" / self.name / f"{self.name}.ipynb", self.folder / "submitted", deep=True)

    def nbgrader(self, python: Path) -> Verdicts:
        """Grade with nbgrader's autograde."""
        self._nbgrader(python, "autograde", self.name)
        self._nbgrader(python, "export", "--to=grades.csv")
        with (self.folder / "grades.csv").open(newline="", encoding="utf-8") as stream:
            return {
                line["student_id"]: float(line["score"]) == float(line["max_score"]) for line in csv.DictReader(stream)
            }

    def _nbgrader(self, python: Path, *command: str) -> None:
        self._run([python, "-m", "nbgrader", *command], **variables(self.folder, python))
