"""An exercise run on given answers, in a process of its own: what each check says.

It is for the builder and its tests, whose answers are ours: there is no box. Each trial is a fork of one process that
has imported what is slow, so that a hundred of them take seconds.

    python -m agentlab.grading.building.trial < jobs.json > verdicts.json
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.grading.exercise import PUBLIC_SECRET, Exercise, code_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TRIAL_SECONDS = 180
AT_A_TIME = os.cpu_count() or 1
SLOW = (
    "matplotlib.figure",
    "pandas",
    "scipy.stats",
    "agentlab.analysis",
    "agentlab.plots",
    "agentlab.loop",
    "anthropic",
)
OURS = "agentlab.grading.building"
"""What the course's own exercises import; an exercise that does not needs nothing that is slow."""


class Verdict(msgspec.Struct, frozen=True):
    """What a check said: whether it raised nothing, what its cell printed, the error's last line."""

    ran: bool
    printed: str = ""
    error: str = ""

    def passes(self, expected: str | None) -> bool:
        """Whether it earns its points; `expected` is None for a check of kind assert."""
        return self.ran and (expected is None or last_line(self.printed) == last_line(expected))


class Jobs(msgspec.Struct, frozen=True):
    """What the process is told: the exercise, the secret, and the answers of each trial by cell."""

    exercise: Exercise
    secret: bytes
    answers: list[dict[str, str]]


Verdicts = dict[str, Verdict]


def last_line(text: str) -> str:
    r"""The last line that says something.

    >>> last_line("debug\n[1]\n\n")
    '[1]'
    """
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def try_answers(
    exercise: Exercise, answers: Sequence[Mapping[str, str]], *, secret: bytes = PUBLIC_SECRET
) -> list[Verdicts]:
    """Run an exercise once for each set of answers.

    Args:
        exercise: Its `expected` may still be empty.
        answers: Texts by id of an answer cell; a cell that is not there keeps the student's stub.
        secret: Draws the seeds.

    Returns:
        For each, the verdict of every check.

    Raises:
        InputError: The process failed.
    """
    jobs = msgspec.json.encode(Jobs(exercise, secret, [dict(each) for each in answers]))
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "agentlab.grading.building.trial"],
        input=jobs,
        capture_output=True,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise InputError(f"the trial of {exercise.name} failed: {said}")
    return msgspec.json.decode(done.stdout, type=list[Verdicts])


def passed(exercise: Exercise, verdicts: Verdicts) -> dict[str, bool]:
    """Which checks earn their points."""
    return {
        check.id: verdicts[check.id].passes(check.expected if check.kind == "output" else None)
        for check in exercise.checks
    }


def points(exercise: Exercise, verdicts: Verdicts) -> float:
    """What the checks come to; a person's points are not in it."""
    good = passed(exercise, verdicts)
    return sum(check.points for check in exercise.checks if good[check.id])


def solution_of(exercise: Exercise) -> dict[str, str]:
    """The answers that solve it."""
    return {cell.id: cell.solution for cell in exercise.cells if cell.kind == "answer"}


def _main() -> None:
    import contextlib
    import importlib

    jobs = msgspec.json.decode(sys.stdin.buffer.read(), type=Jobs)
    slow = SLOW if any(OURS in cell.source for cell in jobs.exercise.cells if cell.kind == "setup") else ()
    for name in slow:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if slow:
        _count_once()
    found: list[bytes] = []
    running: deque[tuple[int, int]] = deque()
    for answers in jobs.answers:
        if len(running) == AT_A_TIME:
            found.append(_ended(jobs.exercise, *running.popleft()))
        running.append(_in_a_fork(jobs.exercise, jobs.secret, answers))
    found += [_ended(jobs.exercise, *each) for each in running]
    sys.stdout.buffer.write(b"[" + b",".join(found) + b"]")


def _count_once() -> None:
    """Build the tokenizer here, so that no fork has to."""
    from agentlab.errors import MissingRanksError
    from agentlab.tokens import count_text

    try:
        count_text("once")
    except MissingRanksError:
        return


def _in_a_fork(exercise: Exercise, secret: bytes, answers: dict[str, str]) -> tuple[int, int]:
    """Begin one trial in a fork; returns its process and where its verdicts can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(writing, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(msgspec.json.encode(_run(exercise, secret, answers)))
        os._exit(0)
    os.close(writing)
    return child, reading


def _ended(exercise: Exercise, child: int, reading: int) -> bytes:
    """The verdicts of a trial; one that hangs or dies has none but its end."""
    with open(reading, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    lost = {check.id: Verdict(ran=False, error="the process ended or took too long") for check in exercise.checks}
    return said or msgspec.json.encode(lost)


def _run(exercise: Exercise, secret: bytes, answers: dict[str, str]) -> Verdicts:
    """Run the cells in order, as a notebook would, and go on after an error."""
    import signal
    import tempfile
    import types

    signal.alarm(TRIAL_SECONDS)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    verdicts: Verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for cell in exercise.cells:
            if cell.kind == "check":
                verdicts[cell.id] = run_cell(code_of(exercise, exercise.check(cell.id), secret), main.__dict__, cell.id)
            elif cell.kind != "shown":
                text = answers.get(cell.id, cell.source) if cell.kind == "answer" else cell.source
                run_cell(text, main.__dict__, cell.id)
        os.chdir("/")
    return verdicts


def run_cell(text: str, names: dict[str, Any], ident: str) -> Verdict:
    """Run a cell's text in a namespace, and catch what it prints and raises."""
    import contextlib
    import io
    import linecache

    file = f"<cell {ident}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(text, file, "exec"), names)  # noqa: S102 - what a notebook does
    except BaseException as error:  # noqa: BLE001 - a cell may raise anything, and the next one runs
        said = f"{type(error).__name__}: {error}".strip()
        return Verdict(ran=False, printed=out.getvalue(), error=said)
    return Verdict(ran=True, printed=out.getvalue())


if __name__ == "__main__":
    _main()
