"""Time the notebooks: what a machine needs to run each, and what a reader needs to read it.

    python notebooks/source/timing.py              runs every notebook and every solved exercise, and says both
    python notebooks/source/timing.py 04 05        only those whose names begin so
    python notebooks/source/timing.py --no-run     the reader's minutes alone, in a second

The reader's minutes are an estimate by one rule for all notebooks (`RULE`), held against the minutes that each claims
in its head. Exit code 1 where a claim is off by more than `MOST_OFF`: then the claim or the notebook should change.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
CELL_SECONDS: Final = 120
CLAIM = re.compile(r"\babout (\d+) minutes", re.IGNORECASE)
OWN_LINES = re.compile(r"^ *### BEGIN SOLUTION\n(.*?)^ *### (?:STUB|END SOLUTION)", re.DOTALL | re.MULTILINE)
QUESTION = re.compile(r"^\*\*Q\d+\.\*\*", re.MULTILINE)
TABLE = re.compile(r"^\|.*$", re.MULTILINE)
WORD = re.compile(r"\w[\w'-]*")
MOST_OFF: Final = 0.3


class Rule(msgspec.Struct, frozen=True):
    """How fast a reader is. Silent reading of plain texts is at 240 words a minute; this is a text to work through.

    Attributes:
        words: Words of text in a minute.
        table_words: Words of a table, which is looked up in and not read from end to end.
        code: Lines of code in a minute.
        printed: Lines of printed output in a minute; more than `screen` of a cell are not read but skimmed.
        screen: Lines of a cell's output that are read.
        cell: Seconds to run a cell and find what it gave.
        picture: Seconds to look at a picture, a table or a widget.
        question: Seconds for a question that the text asks the reader to answer in writing (`**Q1.**`).
        own_line: Seconds for a line that a student writes, with thinking, typing and trying.
        check: Seconds for a step: running its check, and reading once what it says.
    """

    words: float = 200
    table_words: float = 400
    code: float = 25
    printed: float = 60
    screen: int = 15
    cell: float = 3
    picture: float = 15
    question: float = 90
    own_line: float = 45
    check: float = 60


RULE: Final = Rule()


class Reading(msgspec.Struct, frozen=True):
    """What there is to read and to do in a notebook."""

    words: int
    table_words: int
    code_lines: int
    printed_lines: int
    cells: int
    pictures: int
    questions: int = 0
    own_lines: int = 0
    checks: int = 0

    def minutes(self, rule: Rule = RULE) -> float:
        """Minutes by the rule."""
        seconds = self.cells * rule.cell + self.pictures * rule.picture
        seconds += self.own_lines * rule.own_line + self.checks * rule.check + self.questions * rule.question
        read = self.words / rule.words + self.table_words / rule.table_words
        return read + self.code_lines / rule.code + self.printed_lines / rule.printed + seconds / 60


class Run(msgspec.Struct, frozen=True):
    """How long a notebook ran: in all, kernel included, and cell by cell as (seconds, first line)."""

    wall: float
    cells: tuple[tuple[float, str], ...]


def notebooks(names: Sequence[str] = ()) -> list[Path]:
    """The notebooks and the students' exercises, in this order; all, or those whose names begin with one of `names`."""
    found = [*sorted((ROOT / "notebooks").glob("*.ipynb")), *sorted((ROOT / "exercises" / "student").glob("*.ipynb"))]
    return [path for path in found if path.stem.startswith(tuple(names))] if names else found


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook."""
    cells: list[dict[str, Any]] = msgspec.json.decode(path.read_bytes())["cells"]
    return cells


def text_of(cell: dict[str, Any]) -> str:
    """Its source."""
    return "".join(cell["source"])


def claimed(path: Path) -> int | None:
    """The minutes that the first cells of a notebook claim; None where they claim none."""
    texts = [text_of(cell) for cell in cells_of(path)[:3] if cell["cell_type"] == "markdown"]
    found = CLAIM.search("\n".join(texts).replace("\n", " "))
    return int(found[1]) if found else None


def reading(path: Path) -> Reading:
    """What a reader has before them: the text, the code, and what the code gives.

    Outputs of an exercise are those of its solution, which a student sees cell by cell.
    """
    cells = cells_of(path)
    exercise = path.parent.name == "student"
    shown = cells_of(_solution(path)) if exercise and _solution(path).exists() else cells
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in shown if cell["cell_type"] == "code" for output in cell["outputs"]]
    text = "\n".join(text_of(cell) for cell in cells if cell["cell_type"] == "markdown")
    return Reading(
        words=len(WORD.findall(TABLE.sub("", text))),
        table_words=len(WORD.findall("\n".join(TABLE.findall(text)))),
        code_lines=sum(1 for cell in code for line in text_of(cell).splitlines() if line.strip()),
        printed_lines=sum(min(lines, RULE.screen) for lines in map(_printed, outputs)),
        cells=len(code),
        pictures=sum(bool({"image/png", "text/html"} & output.get("data", {}).keys()) for output in outputs),
        questions=len(QUESTION.findall(text)),
        own_lines=_own_lines(path.stem) if exercise else 0,
        checks=_checks(path, code) if exercise else 0,
    )


def _printed(output: dict[str, Any]) -> int:
    data = output.get("data", {})
    if data.keys() & {"image/png", "text/html"}:
        return 0
    return len("".join(output.get("text") or data.get("text/plain") or "").splitlines())


def _solution(student: Path) -> Path:
    return student.parents[1] / "solution" / student.name


def _own_lines(name: str) -> int:
    source = ROOT / "exercises" / "source" / f"{name}.py"
    if not source.exists():
        return 0
    blocks = OWN_LINES.findall(source.read_text(encoding="utf-8"))
    return sum(1 for block in blocks for line in block.splitlines() if line.strip())


def _checks(student: Path, code: Sequence[dict[str, Any]]) -> int:
    tests = student.parents[1] / "tests" / f"{student.stem}.json"
    if not tests.exists():
        return 0
    ids = {each["id"] for each in msgspec.json.decode(tests.read_bytes())["checks"]}
    return sum(cell["metadata"].get("agentlab", {}).get("id") in ids for cell in code)


def run(path: Path) -> Run:
    """Run a notebook from top to bottom where it stands; of an exercise, its solution."""
    import time

    import nbformat
    from nbclient import NotebookClient

    place = _solution(path) if path.parent.name == "student" else path
    notebook = nbformat.read(place, as_version=4)
    start = time.perf_counter()
    resources = {"metadata": {"path": str(place.parent)}}
    NotebookClient(notebook, resources=resources, timeout=CELL_SECONDS, record_timing=True).execute()
    wall = time.perf_counter() - start
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return Run(wall, tuple((_seconds(cell), text_of(cell).partition("\n")[0]) for cell in code))


def _seconds(cell: Any) -> float:
    times = cell.metadata.get("execution", {})
    begin, end = times.get("iopub.execute_input"), times.get("shell.execute_reply")
    if not (begin and end):
        return 0.0
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def off(path: Path) -> float:
    """By which share the rule's minutes differ from the claimed ones; 0 where none are claimed."""
    claim = claimed(path)
    return reading(path).minutes() / claim - 1 if claim else 0.0


def lines(paths: Sequence[Path], *, runs: bool) -> Iterator[str]:
    """The table, row by row, with the slowest cells below a row."""
    heads = ("notebook", "claimed", "by rule", "off", "words", "code", "cells", "pictures", "own")
    yield "{:<34}{:>8}{:>9}{:>7}{:>7}{:>6}{:>7}{:>10}{:>5}".format(*heads) + ("  runs in" if runs else "")
    for path in paths:
        what, claim = reading(path), claimed(path)
        row = f"{path.stem:<34}{claim or '-':>8}{what.minutes():>9.1f}{off(path):>+7.0%}"
        row += f"{what.words + what.table_words:>7}{what.code_lines:>6}{what.cells:>7}"
        row += f"{what.pictures:>10}{what.own_lines:>5}"
        if not runs:
            yield row
            continue
        took = run(path)
        yield f"{row}{took.wall:>7.1f} s"
        for seconds, first in sorted(took.cells, reverse=True)[:3]:
            yield f"    {seconds:>6.2f} s  {first}"


def main(arguments: list[str] | None = None) -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description="Time the notebooks, for a machine and for a reader.")
    parser.add_argument("--no-run", action="store_true", help="only estimate the reader's minutes")
    parser.add_argument("names", nargs="*", help="beginnings of the names of notebooks, such as 02; without them all")
    given = parser.parse_args(arguments)
    chosen = notebooks(given.names)
    if not chosen:
        parser.error(f"no notebook's name begins with {' or '.join(given.names)}")
    for line in lines(chosen, runs=not given.no_run):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    wrong = [path.stem for path in chosen if abs(off(path)) > MOST_OFF]
    if wrong:
        sys.stdout.write(f"off by more than {MOST_OFF:.0%}: {', '.join(wrong)}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
