"""Grade many notebooks: here, in threads, or on a cluster; what is graded already is not graded again."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab import __version__
from agentlab.analysis.executor import mapped
from agentlab.errors import InputError
from agentlab.grading.box import Limits, Sandbox
from agentlab.grading.engine import Engine, EngineError
from agentlab.grading.exercise import PUBLIC_SECRET, Exercise
from agentlab.grading.gradebook import Graded
from agentlab.grading.grader import GRADER, grade, solution_values
from agentlab.grading.result import Result, fingerprint
from agentlab.grading.submission import Notebook, exercise_of, parse
from agentlab.providers.keys import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from agentlab.grading.collect import Handed


class Setup(msgspec.Struct, frozen=True):
    """How notebooks are graded, the same for all of a run.

    Attributes:
        sandbox: `bwrap` or `limits`.
        limits: Of each notebook.
        masked: Paths that no kernel must see.
        secret: Draws the hidden inputs.
        ahead: How many kernels are started at once in a process.
    """

    sandbox: Sandbox = "bwrap"
    limits: Limits = Limits()
    masked: tuple[str, ...] = ()
    secret: bytes = PUBLIC_SECRET
    ahead: int = 1


class Assignment(msgspec.Struct, frozen=True):
    """A notebook to grade, with all that another process needs to know."""

    exercise: Exercise
    notebook: Notebook
    expected: dict[str, str]
    setup: Setup
    another: bool


_engines: dict[bytes, Engine] = {}
_lock = threading.Lock()


def engine_for(setup: Setup) -> Engine:
    """The engine of this process for a setup: started once, ended with the process."""
    key = msgspec.json.encode(msgspec.structs.replace(setup, secret=b""))
    with _lock:
        if key not in _engines:
            from pathlib import Path

            masked = [Path(path) for path in setup.masked]
            engine = Engine(sandbox=setup.sandbox, limits=setup.limits, masked=masked, ahead=setup.ahead)
            _engines[key] = engine
            atexit.register(engine.close)
        return _engines[key]


def close_engines() -> None:
    """End all engines of this process."""
    with _lock:
        while _engines:
            _engines.popitem()[1].close()


def grade_assignment(assignment: Assignment) -> Result:
    """Grade a notebook in this process's engine."""
    return grade(
        assignment.exercise,
        assignment.notebook,
        engine_for(assignment.setup),
        expected=assignment.expected,
        secret=assignment.setup.secret,
        another=assignment.another,
    )


def grade_all(
    handed: Sequence[Handed],
    exercises: Sequence[Exercise],
    *,
    setup: Setup | None = None,
    kept: Path | None = None,
    executor: Executor | int | None = None,
    progress: Callable[[int, int, Graded], None] | None = None,
) -> list[Graded]:
    """Grade what was handed in, in its order.

    Args:
        handed: What `collect.find` found.
        exercises: The exercises that it may be of.
        setup: How.
        kept: A folder of results: what is in it is taken up, what is graded is added.
        executor: None, a number of processes, or an executor, as `agentlab.analysis.executor.mapped` takes it.
        progress: Told the number that is done, the number of all, and what was just done.

    Raises:
        EngineError: Kernels cannot be started here; what was graded before is kept.
    """
    setup = setup or Setup()
    read = [_read(each, exercises) for each in handed]
    results: dict[str, Result] = {}
    waiting: dict[str, tuple[Exercise, Notebook]] = {}
    for each in read:
        if isinstance(each, tuple):
            key = _key(*each, setup)
            result = _recall(kept, key)
            if result is None:
                waiting.setdefault(key, each)
            else:
                results[key] = result
    done = 0

    def tell(graded: Graded) -> Graded:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(handed), graded)
        return graded

    fresh = _fresh(waiting, setup, kept, executor)
    graded = []
    for one, each in zip(handed, read, strict=True):
        if not isinstance(each, tuple):
            graded.append(tell(Graded(one, refused=each)))
            continue
        key = _key(*each, setup)
        while key not in results:
            ready, result = next(fresh)
            results[ready] = result
        graded.append(tell(Graded(one, each[0].name, results[key])))
    return graded


def _read(handed: Handed, exercises: Sequence[Exercise]) -> tuple[Exercise, Notebook] | str:
    """A notebook and its exercise, or why it is refused."""
    try:
        notebook = parse(handed.read())
    except InputError as error:
        return str(error)
    exercise = exercise_of(notebook, exercises)
    if exercise is not None:
        return exercise, notebook
    known = ", ".join(exercise.name for exercise in exercises)
    named = f"says that it is {notebook.exercise!r}" if notebook.exercise else "says of no exercise that it is one"
    return redact(f"{named}, expected one of {known}: hand in the notebook of the exercise")


def _fresh(
    waiting: Mapping[str, tuple[Exercise, Notebook]], setup: Setup, kept: Path | None, executor: Executor | int | None
) -> Iterator[tuple[str, Result]]:
    """Grade what was not graded before; yields each as it is done, in order."""
    expected = _expected([exercise for exercise, _ in waiting.values()], setup)
    keys = list(waiting)
    assignments = [
        Assignment(exercise, notebook, expected[exercise.name], setup, place + setup.ahead < len(keys))
        for place, (exercise, notebook) in enumerate(waiting.values())
    ]
    for key, outcome in zip(keys, mapped(grade_assignment, assignments, executor=executor), strict=True):
        if outcome.value is None:
            error = outcome.error
            raise error if isinstance(error, EngineError) else EngineError(f"a notebook could not be run ({error!r})")
        _keep(kept, key, outcome.value)
        yield key, outcome.value


def _expected(exercises: Sequence[Exercise], setup: Setup) -> dict[str, dict[str, str]]:
    """What the checks must show, per exercise: computed in a solution's kernel where a secret draws the inputs."""
    unique = {exercise.name: exercise for exercise in exercises}
    return {name: solution_values(exercise, engine_for(setup), setup.secret) for name, exercise in unique.items()}


def _key(exercise: Exercise, notebook: Notebook, setup: Setup) -> str:
    """Names a result: whatever may change it is in it."""
    how = [GRADER, __version__, setup.sandbox, fingerprint(setup.secret)]
    parts: list[Any] = [*how, msgspec.json.encode(setup.limits), msgspec.json.encode(exercise)]
    digest = hashlib.sha256()
    for part in [*parts, notebook.digest]:
        digest.update((part if isinstance(part, bytes) else str(part).encode()) + b"\0")
    return digest.hexdigest()[:32]


def _recall(kept: Path | None, key: str) -> Result | None:
    if kept is None:
        return None
    try:
        return msgspec.json.decode((kept / f"{key}.json").read_bytes(), type=Result)
    except (OSError, msgspec.DecodeError):
        return None  # it was not graded, or its file was damaged: it is graded now


def _keep(kept: Path | None, key: str, result: Result) -> None:
    """Write a result as a whole or not at all."""
    if kept is None:
        return
    kept.mkdir(parents=True, exist_ok=True)
    part = kept / f"{key}.{os.getpid()}.part"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1))
    part.replace(kept / f"{key}.json")
