"""`agentlab grade`: run what a class handed in, each notebook in a box of its own, and say what it earned."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.terminal import decoded
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.grading.batch import Setup
    from agentlab.grading.collect import Handed
    from agentlab.grading.exercise import Exercise

EXAMPLES = """\
Paths are notebooks, folders (a folder per student, nbgrader's submitted/), or the zips that Moodle and Canvas make of
all submissions. A cell may take 10 s, a notebook 90 s. DIR gets grades.csv (a row per person), grades.json, and
feedback/ with a page per notebook; a run that was interrupted goes on where it was.

examples:
  agentlab grade 01_limits.ipynb                                     one notebook, with all feedback
  agentlab grade submissions.zip --roster class.csv --out week1      a class; who is missing gets 0
  agentlab grade submitted --secret secret.txt                       hidden inputs that nobody can have read
  agentlab grade inbox --review texts.csv                            what a person has to mark
  agentlab grade inbox --merge texts.csv                             ... and has marked
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "grade",
        help="grade the notebooks that a class handed in",
        description="Run notebooks that were handed in, each in a box of its own, and grade them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="notebook, folder or zip")
    parser.add_argument(
        "--out", metavar="DIR", default="grades", help="folder for grades and feedback (default grades)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="notebooks at a time (default: a core each)")
    parser.add_argument("--roster", metavar="CSV", help="who is in the class: a column id, and name if you like")
    parser.add_argument("--id-from", metavar="REGEX", help="finds the student in a path: its first group")
    parser.add_argument("--review", metavar="FILE", help="write the texts that a person has to mark as CSV")
    parser.add_argument("--merge", metavar="FILE", help="take up what a person gave in that file")
    parser.add_argument("--secret", metavar="FILE", help="draw hidden inputs from this file's bytes (at least 16)")
    boxes = ("bwrap", "limits")
    parser.add_argument("--sandbox", choices=boxes, default=boxes[0], help="limits: bounds without a box")
    parser.add_argument("--exercises", metavar="DIR", help="folder of NN_name.json (default: those of agentlab)")
    parser.add_argument("--json", action="store_true", help="print grades.json")
    parser.add_argument("--csv", action="store_true", help="print grades.csv")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from concurrent.futures import ThreadPoolExecutor

    from agentlab.cli.grades import Report, progress
    from agentlab.grading.batch import close_engines, grade_all
    from agentlab.grading.box_trial import require_box
    from agentlab.grading.collect import find
    from agentlab.grading.review import read_review
    from agentlab.grading.roster import read_roster

    workers = _workers(arguments)
    exercises = find_exercises(arguments.exercises)
    handed, problems = find(
        arguments.paths, exercises=[exercise.name for exercise in exercises], id_from=arguments.id_from
    )
    people = None if arguments.roster is None else read_roster(arguments.roster)
    given = {} if arguments.merge is None else read_review(arguments.merge)
    setup = _setup(arguments, handed, workers)
    if arguments.sandbox == "bwrap":
        require_box()
    out = _out(arguments.out)
    shown = progress(quiet=arguments.json or arguments.csv)
    # Threads suffice: the work is done in processes of their own.
    with shown, ThreadPoolExecutor(workers) as pool:
        try:
            graded = grade_all(handed, exercises, setup=setup, kept=out / "results", executor=pool, progress=shown)
        finally:
            close_engines()  # before the pool is left: after Ctrl-C it would wait for what is under way
    report = Report.of(graded, exercises, setup, people=people, given=given, problems=problems)
    report.write(out, review=arguments.review)
    report.show(as_json=arguments.json, as_csv=arguments.csv, out=out)
    return 0


def _workers(arguments: argparse.Namespace) -> int:
    if arguments.workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if arguments.workers < 1:
        raise InputError(f"found {arguments.workers}, expected 1 or more", field="--workers")
    return int(arguments.workers)


def find_exercises(folder: str | None) -> list[Exercise]:
    """The exercises that can be graded: in a folder, else agentlab's own.

    Raises:
        InputError: There are none, or one of them cannot be read.
    """
    from agentlab.cli.lab import materials
    from agentlab.grading.exercise import read

    place = materials() / "exercises" / "tests" if folder is None else Path(folder)
    files = sorted(place.glob("*.json"))
    if not files:
        what = "build them with `agentlab exercises build`" if folder is None else "name a folder of NN_name.json"
        raise InputError(f"holds no exercise: {what}", path=place)
    return [read(file) for file in files]


def _setup(arguments: argparse.Namespace, handed: Sequence[Handed], workers: int) -> Setup:
    """How to grade; whatever was named on the command line is hidden from notebooks."""
    from agentlab.grading.batch import Setup
    from agentlab.grading.exercise import PUBLIC_SECRET

    secret = PUBLIC_SECRET if arguments.secret is None else read_secret(arguments.secret)
    named = [*arguments.paths, arguments.out, arguments.exercises]
    named += [arguments.roster, arguments.review, arguments.merge, arguments.secret]
    masked = tuple(sorted({str(Path(name).resolve()) for name in named if name is not None}))
    return Setup(sandbox=arguments.sandbox, masked=masked, secret=secret, ahead=max(1, min(workers, len(handed))))


def read_secret(path: str) -> bytes:
    """The bytes of a secret file.

    Raises:
        InputError: It cannot be read, or is too short to be one.
    """
    try:
        secret = Path(path).read_bytes().strip()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}): make it with `openssl rand -hex 32`", path=path) from None
    if len(secret) < 16:
        problem = f"holds {len(secret)} bytes, expected at least 16: make it with `openssl rand -hex 32`"
        raise InputError(problem, path=path)
    return secret


def _out(path: str) -> Path:
    """The folder for grades.

    Raises:
        InputError: The system refuses.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror}): name another folder with --out"
        raise InputError(problem, path=decoded(path)) from None
    if not os.access(folder, os.W_OK):
        raise InputError("cannot be written to: name another folder with --out", path=decoded(path))
    return folder
