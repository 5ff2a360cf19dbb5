"""`%check` in an exercise's notebook: its visible checks, run on what the cells above defined, answered in the cell."""

from __future__ import annotations

import io
import signal
import threading
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError
from agentlab.grading import kernel
from agentlab.grading.exercise import read
from agentlab.grading.feedback import feedback_of, with_hint
from agentlab.grading.job import Ran

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from agentlab.grading.exercise import Check, Exercise

SECONDS = 10.0
"""Wall time of a check, as in grading."""
LATER = "Hidden checks run at grading."


class Overdue(BaseException):
    """A check takes too long; no `except Exception` of the student's stops it."""


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook `%check`: `%load_ext agentlab` calls this."""

    def check(line: str) -> None:
        """Run the visible checks of this notebook's exercise: all, or those of a task, or one.

        %check            all of them
        %check NAME       those of a step, or one check
        """
        for text in feedback(shell.user_ns, line.strip()):
            print(text)  # noqa: T201 - what a magic is for

    shell.register_magic_function(check, "line", "check")


def feedback(
    namespace: dict[str, Any],
    wanted: str = "",
    *,
    name: str | None = None,
    folders: Sequence[Path] | None = None,
) -> Iterator[str]:
    """Run checks, and yield a line for each as it is done.

    Args:
        namespace: What the notebook defined; the checks change nothing in it.
        wanted: Id of a task or check; empty for all.
        name: The exercise; the one that the notebook began where it is not given.
        folders: Where exercises are; the package's own where it is not given.
    """
    try:
        exercise = find_exercise(name, folders=folders)
    except InputError as error:
        yield str(error)
        return
    visible = [check for check in exercise.checks if not check.hidden]
    chosen = [check for check in visible if wanted in ("", check.id, check.task)]
    if not chosen:
        known = dict.fromkeys(name for check in visible for name in (check.task, check.id))
        yield f"There is no visible check {wanted!r}: say %check alone, or one of {', '.join(known)}."
        return
    earned = 0.0
    for check in chosen:
        problem = problem_of(check, namespace)
        earned += 0.0 if problem else check.points
        yield f"{'✗' if problem else '✓'} {0 if problem else check.points:g}/{check.points:g}  {check.name}"
        if problem:
            yield "\n".join(f"        {line}" for line in problem.splitlines())
    yield f"{earned:g} of {sum(check.points for check in chosen):g} points. {LATER}"


def problem_of(check: Check, namespace: dict[str, Any]) -> str:
    """Why a check does not pass on what a notebook defined; "" where it passes."""
    printed = io.StringIO()
    ran = Ran(0, ok=False, status="ok")
    own = dict(namespace) | {"show": kernel.show}
    try:
        with _limited(), redirect_stdout(printed), redirect_stderr(io.StringIO()):
            exec(compile(check.code, f"<check {check.id}>", "exec"), own)  # noqa: S102 - the check's own code
    except Overdue:
        ran = Ran(0, ok=False, cut_off="time")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the student's code raises is what the check says
        ran = Ran(0, ok=False, status="error", ename=type(error).__name__, evalue=_text(error))
    if ran.status == "ok":
        # Not splitlines, since a value may hold U+2028; what was printed for oneself comes before what is shown.
        lines, wanted = (text.removesuffix("\n").split("\n") for text in (printed.getvalue(), check.expected))
        values = lines[-len(wanted) :]
        if check.kind == "assert" or values == wanted:
            return ""
        ran = Ran(0, ok=False, status="ok", values=values)
    return with_hint(feedback_of(check, ran, check.expected, believed=True), check.hint)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of the student's may not even have a text
        return ""


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `Overdue` in what takes too long, where the system can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def overdue(_signal: int, _frame: FrameType | None) -> None:
        raise Overdue

    before = signal.signal(signal.SIGALRM, overdue)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def find_exercise(name: str | None = None, *, folders: Sequence[Path] | None = None) -> Exercise:
    """The exercise that this kernel began: as it came with the package.

    Raises:
        InputError: None was begun, or its checks are nowhere.
    """
    name = name or (kernel.begun[-1] if kernel.begun else None)
    if name is None:
        raise InputError("No exercise was begun in this kernel: run the notebook's first code cell, then %check again.")
    package = Path(__file__).resolve().parents[1]
    for folder in folders or (package / "materials" / "exercises" / "tests", package.parent / "exercises" / "tests"):
        if (folder / f"{name}.json").is_file():
            return read(folder / f"{name}.json")
    raise InputError(f"The checks of {name} are not here: run the check cells of the notebook one by one.")
