"""One way to map over files or sessions: here, on all cores, or on a cluster.

Whatever maps takes `executor=`: None for processes where there is enough to do, a number of processes (1: none), or any
`concurrent.futures.Executor`, such as `distributed.Client(address).get_executor()`. Results come in order, a few at a
time; what fails costs no other item.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import ProcessPoolExecutor

    Progress = Callable[[int, int], None]
    """Told what is done and of how much, in bytes where the sizes of the items are known."""

Item = TypeVar("Item")
Value = TypeVar("Value")

ENOUGH = 32 * 2**20
"""Bytes of input from which on processes are started: below, their start takes longer than they save."""

AHEAD = 64
"""So many items are given to an executor before the first result is taken."""


class Outcome(msgspec.Struct, Generic[Item, Value], frozen=True):
    """What became of an item.

    Attributes:
        item: The item.
        value: What the function returned; None where it raised.
        error: What it raised, or a `BrokenExecutor` where its process was killed.
    """

    item: Item
    value: Value | None = None
    error: BaseException | None = None


def mapped(
    function: Callable[[Item], Value],
    items: Iterable[Item],
    *,
    executor: Executor | int | None = None,
    progress: Progress | None = None,
    work: Callable[[Item], int] | None = None,
) -> Iterator[Outcome[Item, Value]]:
    """Call a function on each item, and yield what became of each, in order.

    Args:
        function: At the top of a module, where other processes find it.
        items: Any number.
        executor: None, a number of processes, or an executor.
        progress: Called after each item.
        work: Bytes that an item has to be read; without it, None as `executor` starts no process.

    An abandoned iteration cancels what has not begun, and ends the processes that it started.

    >>> [outcome.value for outcome in mapped(len, ["a", "bcd"])]
    [1, 3]
    >>> [type(outcome.error).__name__ for outcome in mapped(int, ["1", "one"])]
    ['NoneType', 'ValueError']
    """
    listed = list(items)
    sizes = [1 if work is None else work(item) for item in listed]
    if isinstance(executor, Executor):
        outcomes = _submitted(function, listed, executor, AHEAD)
    elif (processes := _processes(executor, sizes, known=work is not None)) > 1:
        outcomes = _in_processes(function, listed, processes)
    else:
        outcomes = (_inline(function, item) for item in listed)
    done, total = 0, sum(sizes)
    for size, outcome in zip(sizes, outcomes, strict=True):
        yield outcome
        done += size
        if progress is not None:
            progress(done, total)


def _processes(wanted: int | None, sizes: Sequence[int], *, known: bool) -> int:
    """How many processes to start; 1 means none."""
    if wanted is None:
        enough = known and sum(sizes) >= ENOUGH and _can_spawn()
        wanted = (os.cpu_count() or 1) if enough else 1
    return min(wanted, len(sizes))


def _can_spawn() -> bool:
    """Whether a new process may import the main module: a script without `if __name__ ==` would run once more in it."""
    import multiprocessing

    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    if multiprocessing.parent_process() is not None:
        return False
    if path is None or getattr(main, "__spec__", None) is not None:
        return True
    try:
        return "__name__" in Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # it is not imported then


def _inline(function: Callable[[Item], Value], item: Item) -> Outcome[Item, Value]:
    try:
        return Outcome(item, function(item))
    except Exception as error:  # noqa: BLE001 - as a future would keep it: the caller looks at it
        return Outcome(item, error=error)


def _in_processes(function: Callable[[Item], Value], items: Sequence[Item], n: int) -> Iterator[Outcome[Item, Value]]:
    """Map in processes of our own; when one is killed, what was under way is done once more, each item by itself."""
    rest = deque(items)
    while rest:
        with _pool(n) as pool:
            for outcome in _submitted(function, list(rest), pool, 2 * n):
                if isinstance(outcome.error, BrokenExecutor):
                    break
                rest.popleft()
                yield outcome
        for _ in range(min(2 * n, len(rest))):
            with _pool(1) as pool:
                yield from _submitted(function, [rest.popleft()], pool, 1)


@contextmanager
def _pool(n: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes that leave Ctrl-C to this one; they end with the block, whatever they do."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(n, multiprocessing.get_context("spawn"), _ignore_interrupts)
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _submitted(
    function: Callable[[Item], Value], items: Iterable[Item], executor: Executor, ahead: int
) -> Iterator[Outcome[Item, Value]]:
    """Keep some items under way and yield their outcomes in order."""
    left = iter(items)
    waiting = deque((item, _submit(function, item, executor)) for item in islice(left, ahead))
    try:
        while waiting:
            item, future = waiting[0]
            outcome = _outcome(item, future)
            waiting.popleft()
            waiting.extend((item, _submit(function, item, executor)) for item in islice(left, 1))
            yield outcome
    finally:
        for _, future in waiting:
            future.cancel()


def _submit(function: Callable[[Item], Value], item: Item, executor: Executor) -> Future[Value]:
    try:
        return executor.submit(function, item)
    except BrokenExecutor as error:
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _outcome(item: Item, future: Future[Value]) -> Outcome[Item, Value]:
    try:
        error = future.exception()
    except CancelledError as cancelled:
        error = cancelled
    return Outcome(item, future.result()) if error is None else Outcome(item, error=error)
