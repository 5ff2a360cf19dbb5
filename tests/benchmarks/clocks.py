"""What is read while a subject runs: CPU of an iteration and a turn, growth, bytes, memory.

CPU time of the whole process is the main figure, because a machine may be shared: wall time would count the
neighbours.
"""

from __future__ import annotations

import gc
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .subjects import Subject

WARM_UP = 3
CALLS_PER_TURN = 10
FEWEST = 15
"""Iterations of a kind that are needed to compare the first of them with the last."""
ENOUGH_SECONDS = 3.0
"""A measurement is not repeated again after so long: peers whose loop grows would take minutes."""


def iteration(make: Callable[..., Subject], size: int, iterations: int, repeats: int) -> dict[str, float]:
    """CPU microseconds per iteration, best of so many runs."""
    subject = make(size)
    _run(subject, WARM_UP)
    best = min(_timed(subject, iterations) for _ in _repeated(repeats))
    return {"us": best / iterations * 1e6}


def growth(make: Callable[..., Subject], size: int, iterations: int, repeats: int) -> dict[str, float]:
    """CPU microseconds of the first and of the last tenth of a run's iterations."""
    subject = make(size, time.process_time_ns)
    _run(subject, WARM_UP)
    runs = []
    for _ in _repeated(repeats):
        gc.collect()
        _run(subject, iterations)
        stamps = subject.script.stamps
        runs.append([(b - a) / 1e3 for a, b in pairwise(stamps)])
    return _tenths([min(each) for each in zip(*runs, strict=True)])


def session(make: Callable[..., Subject], size: int, turns: int, repeats: int) -> dict[str, float]:
    """CPU microseconds of a session's first and last tenth of turns, of one call each; and what was written for it."""
    subject = make(size)
    _run(subject, WARM_UP)
    runs = []
    wrote = kept = 0
    for _ in _repeated(repeats):
        subject.start_session()
        before, kept_before = bytes_written(), subject.bytes_kept()
        gc.collect()
        runs.append([_timed_turn(subject) * 1e6 for _ in range(turns)])
        wrote, kept = bytes_written() - before, subject.bytes_kept() - kept_before
        subject.end_session()
    result = _tenths([min(each) for each in zip(*runs, strict=True)])
    if wrote > 0 and kept > 0:
        result |= {"written": wrote, "kept": kept}
    return result


def forgetting(make: Callable[..., Subject], size: int, iterations: int, repeats: int) -> dict[str, float]:
    """CPU microseconds of a compacted session's first and last tenth of iterations, in turns of several calls.

    Before some iterations something is decided, before most nothing is, and a rule may decide more often later on: so
    each kind is compared with its like. What lies between two turns is left out.

    Returns:
        `with_first` and `with_last` of iterations before which something was decided, `without_first` and
        `without_last` of the others, 0 where there are too few to compare; `decisions`, and `mixed`: last over first
        of all iterations.
    """
    subject: Any = make(size, time.process_time_ns)
    runs = []
    for _ in _repeated(repeats):
        subject.start_session()
        gc.collect()
        runs.append([])
        for _ in range(iterations // CALLS_PER_TURN):
            subject.script.start(CALLS_PER_TURN - 1)
            subject.turn()
            runs[-1] += [(b - a) / 1e3 for a, b in pairwise(subject.script.stamps)]
        subject.end_session()
    us = [min(each) for each in zip(*runs, strict=True)]
    ends = [number for number in range(iterations) if number % CALLS_PER_TURN]
    found: dict[str, float] = {"decisions": len(subject.decisions.before)}
    for kind, wanted in (("with", True), ("without", False)):
        those = [one for number, one in zip(ends, us, strict=True) if (number in subject.decisions.before) is wanted]
        tenths = _tenths(those) if len(those) >= FEWEST else {"first": 0.0, "last": 0.0}
        found |= {f"{kind}_{when}": value for when, value in tenths.items()}
    every = _tenths(us)
    return found | {"mixed": every["last"] / every["first"]}


def memory(make: Callable[..., Subject], size: int, iterations: int, repeats: int) -> dict[str, float]:
    """Bytes that are held after a run, beside the characters that its tool returned."""
    import tracemalloc

    del repeats  # it does not vary
    subject = make(size)
    _run(subject, WARM_UP)
    gc.collect()
    tracemalloc.start()
    subject.script.start(iterations)
    history = subject.run(iterations)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del history
    return {"held": held, "payload": iterations * size}


def bytes_written() -> int:
    """Bytes that this process has handed to the system; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar:")), 0)


def _repeated(times: int) -> Iterator[None]:
    """So many times, or until it takes too long."""
    started = time.perf_counter()
    for _ in range(times):
        yield
        if time.perf_counter() - started > ENOUGH_SECONDS:
            return


def _run(subject: Subject, iterations: int) -> None:
    subject.prepare()
    subject.script.start(iterations)
    subject.run(iterations)


def _timed(subject: Subject, iterations: int) -> float:
    subject.prepare()
    gc.collect()
    subject.script.start(iterations)
    started = time.process_time()
    history = subject.run(iterations)
    seconds = time.process_time() - started
    del history  # so late that its end is not timed
    return seconds


def _timed_turn(subject: Subject) -> float:
    subject.script.start(1)
    started = time.process_time()
    subject.turn()
    return time.process_time() - started


def _tenths(us: Sequence[float]) -> dict[str, float]:
    """Medians of the first tenth, without the first two, and of the last tenth."""
    width = max(5, len(us) // 10)
    return {"first": median(us[2 : 2 + width]), "last": median(us[-width:])}
