"""The course's papers through nbgrader's own `generate_assignment` and `autograde`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.course.handed_in import their_papers
from tests.course.places import EXERCISES, NBGRADER, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.course.ours import Paid

    Papers = dict[str, dict[str, dict[str, str]]]
    """Texts by cell, by student, by exercise."""


def grade(names: Sequence[str], place: Path) -> dict[str, Paid]:
    """Grade all papers of some exercises: a course on each core, with its share of the students."""
    cores = os.cpu_count() or 1
    shares: list[Papers] = [{} for _ in range(cores)]
    for name in names:
        for number, (who, paper) in enumerate(sorted(their_papers(name).items())):
            shares[number % cores].setdefault(name, {})[who] = paper.cells
    with ThreadPoolExecutor(cores) as pool:
        done = list(pool.map(course, shares, [place / f"course{number}" for number in range(cores)]))
    return {name: {who: paid for part in done for who, paid in part.get(name, {}).items()} for name in names}


def lay_out(folder: Path, names: Iterable[str]) -> None:
    """Make a course of some exercises in a folder: sources, settings, and a kernel that is this Python."""
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "language": "python", "display_name": "Python 3", "env": {"PYTHONPATH": str(ROOT)}}
    kernel = folder / "jupyter" / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps(spec), encoding="utf-8")
    for name in names:
        shutil.copytree(EXERCISES / "nbgrader" / "source" / name, folder / "source" / name)
    config = (EXERCISES / "nbgrader" / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(f"{config}c.CourseDirectory.root = {str(folder)!r}\n", encoding="utf-8")


def variables(folder: Path, python: Path) -> dict[str, str]:
    """What nbgrader needs in its environment; it calls programs beside its Python by name."""
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    return {"PATH": path, "JUPYTER_PATH": str(folder / "jupyter"), "HOME": str(folder), "PYTHONPATH": ""}


def course(papers: Papers, folder: Path) -> dict[str, Paid]:
    """Grade some papers in a course of their own."""
    lay_out(folder, papers)
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [str(NBGRADER), str(Path(__file__).with_name("nbgrader_course.py")), str(folder)],
        input=json.dumps(papers),
        env=kept | variables(folder, NBGRADER),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"nbgrader: {done.stderr[-2_000:]}")
    paid: dict[str, Paid] = json.loads(done.stdout)
    return paid
