"""`agentlab exercises`: build the notebooks of exercises, compare them with their sources, make a class bundle."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agentlab.errors import InputError

EPILOG = """\
examples:
  agentlab exercises build                 all of exercises/source
  agentlab exercises build 03              those whose names begin with 03
  agentlab exercises check                 exit code 1 where a file is not what its source makes
  agentlab exercises answers 03            exit code 1 where a wrong answer passes, or a right one does not
  agentlab exercises release --out class   what a class gets: no solution, no checks, no wrong answers
"""


def add(commands: Any) -> None:
    """Describe the commands."""
    parser = commands.add_parser(
        "exercises",
        help="build, check and release the exercises",
        description="Build the notebooks and checks of exercises from their sources.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    steps = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    build = steps.add_parser("build", help="write student notebooks, executed solutions, checks and nbgrader's sources")
    check = steps.add_parser("check", help="change nothing; exit code 1 where a file is not what its source makes")
    answers = steps.add_parser("answers", help="see what the checks pay the wrong, right and book answers")
    release = steps.add_parser("release", help="write the class bundle")
    for each in (build, check, answers):
        each.add_argument("names", metavar="NN", nargs="*", help="beginnings of names, such as 03; without them all")
    for each in (build, check, answers, release):
        each.add_argument(
            "--root", metavar="DIR", default="exercises", help="folder of the exercises (default exercises)"
        )
    release.add_argument("--out", metavar="DIR", required=True, help="folder to make")
    build.set_defaults(run=run_build)
    check.set_defaults(run=run_check)
    answers.set_defaults(run=run_answers)
    release.set_defaults(run=run_release)


def run_build(arguments: argparse.Namespace) -> int:
    """Write what the sources make."""
    _need_jupytext()
    from agentlab.grading.building.build import build, sources

    for path in sources(_root(arguments), arguments.names):
        files = build(path)
        sys.stdout.write(f"{path.stem}: wrote {len(files)} files\n")
        sys.stdout.flush()
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    """Compare what is there with what the sources make."""
    _need_jupytext()
    from agentlab.grading.building.build import orphans, sources, stale

    root = _root(arguments)
    found = list(orphans(root))
    for path in sources(root, arguments.names):
        found += stale(path)
    for line in found:
        sys.stdout.write(f"{line}\n")
    return 1 if found else 0


def run_answers(arguments: argparse.Namespace) -> int:
    """Try the answers whose worth is known."""
    _need_jupytext()
    from agentlab.grading.building.build import sources
    from agentlab.grading.building.trust import distrust, papers
    from agentlab.grading.exercise import read

    root, good = _root(arguments), True
    for path in sources(root, arguments.names):
        exercise = read(root / "tests" / f"{path.stem}.json")
        found = list(distrust(root, exercise))
        good = good and not found
        said = found or [f"{path.stem}: {len(papers(root, exercise))} answers, each paid what it is owed"]
        sys.stdout.write("".join(f"{line}\n" for line in said))
        sys.stdout.flush()
    return 0 if good else 1


def run_release(arguments: argparse.Namespace) -> int:
    """Write the class bundle."""
    from agentlab.grading.building.release import release

    files = release(_root(arguments), Path(arguments.out))
    sys.stdout.write(f"{len(files)} files in {arguments.out}: give the folder to your class\n")
    return 0


def _root(arguments: argparse.Namespace) -> Path:
    root = Path(arguments.root)
    if not root.is_dir():
        raise InputError("no such folder: name the folder that holds source/ with --root", path=root)
    return root


def _need_jupytext() -> None:
    from importlib.util import find_spec

    for name in ("jupytext", "nbclient"):
        if find_spec(name) is None:
            raise InputError(f"building exercises needs {name}: python -m pip install jupytext nbclient")
