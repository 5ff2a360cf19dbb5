"""Work on daemon threads, which a scope can leave behind: they do not hold up the exit of the process."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from agentlab.budgets.scope import LONGEST_WAIT, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_DONE = object()
_WAKE = object()


def stream_in_thread(produce: Callable[[], Iterator[T]], scope: Scope | None) -> Iterator[T]:
    """Yield what `produce()` yields, from a daemon thread, until the scope ends.

    The thread may be blocked where nothing can stop it, a socket for one: it is left behind and what it still
    yields is dropped. What `produce` returned is closed on that thread as soon as it gets there. A daemon thread does
    not hold up the exit of the process. It runs in a copy of the caller's context variables.

    Raises:
        ScopeEnded: The scope ended first; if it had ended before, `produce` was not called.
        BaseException: Whatever `produce` raised.
    """
    from contextvars import copy_context
    from queue import Empty, SimpleQueue

    scope = scope or Scope()
    scope.check()
    queue: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    abandoned = threading.Event()
    undo = scope.on_cancel(lambda: queue.put((_WAKE, None)))
    work = _feed(produce, queue.put, abandoned)
    try:
        threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
        while True:
            try:
                item, error = queue.get(timeout=min(scope.remaining(), LONGEST_WAIT))
            except Empty:
                item, error = _WAKE, None
            scope.check()
            if error is not None:
                raise error
            if item is _DONE:
                return
            if item is not _WAKE:
                yield item
    finally:
        abandoned.set()
        undo()


def _feed(
    produce: Callable[[], Iterator[T]],
    put: Callable[[tuple[Any, BaseException | None]], None],
    abandoned: threading.Event,
) -> Callable[[], None]:
    """The thread's side of `stream_in_thread`: put items, then `_DONE` with what was raised."""

    def work() -> None:
        try:
            items = produce()
            try:
                for item in items:
                    if abandoned.is_set():
                        break
                    put((item, None))
            finally:
                close = getattr(items, "close", None)
                if close is not None:
                    close()
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it again
            put((_DONE, error))
        else:
            put((_DONE, None))

    return work


def run_in_thread(function: Callable[[], T], scope: Scope | None) -> T:
    """Return `function()`, run on a daemon thread, unless the scope ends first.

    Threads are used again, since to start one costs more than all the rest; one that was left behind once it is done.

    >>> run_in_thread(lambda: 6 * 7, Scope(5))
    42

    Raises:
        ScopeEnded: The scope ended first; the thread is left behind and its result is dropped. If it had ended
            before, `function` was not called.
        BaseException: Whatever `function` raised.
    """
    from contextvars import copy_context
    from queue import Empty, SimpleQueue

    scope = scope or Scope()
    scope.check()
    answers: SimpleQueue[Any] = SimpleQueue()
    undo = scope.on_cancel(lambda: answers.put(_WAKE))
    context = copy_context()
    try:
        _hand_over(lambda: context.run(function), answers.put)
        answer: Any = _WAKE
        while answer is _WAKE:
            try:
                answer = answers.get(timeout=min(scope.remaining(), LONGEST_WAIT))
            except Empty:
                answer = _WAKE
            scope.check()
    finally:
        undo()
    results, error = answer
    if error is not None:
        raise error
    return results[0]  # type: ignore[no-any-return]  # what `function` returned


MOST_IDLE = 16
_idle: list[_Worker] = []


class _Worker:
    """A daemon thread that runs one task after another."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()
        self._task: tuple[Callable[[], Any], Callable[[Any], None]] | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def take(self, function: Callable[[], Any], deliver: Callable[[Any], None]) -> None:
        """Run a function; `deliver` is given its results, and what it raised or None."""
        self._task = (function, deliver)
        self._gate.release()

    def _work(self) -> None:
        while True:
            self._gate.acquire()
            task, self._task = self._task, None
            if task is None:
                continue
            answer = _attempt(task[0])
            idle = len(_idle) < MOST_IDLE
            if idle:  # before it delivers: whoever waits for that may have the next task
                _idle.append(self)
            task[1](answer)
            del task, answer
            if not idle:
                return


def _attempt(function: Callable[[], Any]) -> tuple[list[Any], BaseException | None]:
    try:
        return [function()], None
    except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it again
        return [], error


def _hand_over(function: Callable[[], Any], deliver: Callable[[Any], None]) -> None:
    """Let an idle thread run a function, or a new one."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(function, deliver)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has no threads but its own
