"""What a run may spend: time, and dollars.

A `Scope` carries one deadline and one cancellation through everything that a turn does: model calls, retry waits,
tools, and agents that work for it.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from agentlab.errors import Cancelled, DeadlineExceeded, ScopeEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class Scope:
    """A deadline and a way to cancel.

    Args:
        seconds: Time until the deadline, or None for no deadline.
        clock: Monotonic clock in seconds.

    >>> scope = Scope()
    >>> scope.cancel("enough")
    >>> scope.check()
    Traceback (most recent call last):
    agentlab.errors.Cancelled: enough
    """

    def __init__(
        self, seconds: float | None = None, *, clock: Callable[[], float] = time.monotonic, parent: Scope | None = None
    ) -> None:
        self.clock = clock
        self._deadline = None if seconds is None else clock() + seconds
        self._reason: str | None = None
        self._lock = threading.Lock()
        self._watchers: list[Callable[[], None]] = []
        self._parent = parent

    @property
    def reason(self) -> str | None:
        """Why it was cancelled, or None."""
        return self._reason if self._parent is None or self._reason is not None else self._parent.reason

    @property
    def deadline(self) -> float | None:
        """The clock's time at which it ends: its own deadline or its parent's, whichever comes first."""
        outer = self._parent.deadline if self._parent is not None else None
        if self._deadline is None or outer is None:
            return outer if self._deadline is None else self._deadline
        return min(self._deadline, outer)

    @property
    def endless(self) -> bool:
        """True where nothing but `cancel` can end it."""
        return self.deadline is None

    def remaining(self) -> float:
        """Seconds until the deadline: never negative, 0 once cancelled, `inf` without a deadline."""
        if self.reason is not None:
            return 0.0
        deadline = self.deadline
        return float("inf") if deadline is None else max(0.0, deadline - self.clock())

    def ended(self) -> bool:
        """True once it was cancelled or its time ran out."""
        return self.remaining() <= 0.0

    def check(self) -> None:
        """Return while there is time.

        Raises:
            Cancelled: Somebody called `cancel`.
            DeadlineExceeded: The time ran out.
        """
        reason = self.reason
        if reason is not None:
            raise Cancelled(reason)
        if self.ended():
            raise DeadlineExceeded("the time for this run is over")

    def cancel(self, reason: str = "cancelled") -> None:
        """End it now, for everybody who works in it; the first reason given stays."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            watchers, self._watchers = self._watchers, []
        for wake in watchers:
            wake()

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` once when it is cancelled; returns a function that takes this back."""
        undo_outer = self._parent.on_cancel(wake) if self._parent is not None else _nothing
        with self._lock:
            late = self._reason is not None
            if not late:
                self._watchers.append(wake)
        if late:
            wake()

        def undo() -> None:
            undo_outer()
            with self._lock:
                if wake in self._watchers:
                    self._watchers.remove(wake)

        return undo

    def wait(self, seconds: float) -> None:
        """Sleep for so long, or until it ends.

        Raises:
            ScopeEnded: It ended before `seconds` were over.
        """
        ended = threading.Event()
        undo = self.on_cancel(ended.set)
        try:
            ended.wait(min(seconds, self.remaining()))
        finally:
            undo()
        self.check()

    def child(self, seconds: float | None = None) -> Scope:
        """A scope that ends with this one, or earlier by its own deadline or cancellation."""
        return Scope(seconds, clock=self.clock, parent=self)


def _nothing() -> None:
    """Take nothing back."""


_DONE = object()


def stream_in_thread(produce: Callable[[], Iterator[T]], scope: Scope | None) -> Iterator[T]:
    """Yield what `produce()` yields, from a daemon thread, until the scope ends.

    The thread may be blocked where nothing can stop it, a socket for one: it is left behind and what it still
    yields is dropped. A daemon thread does not hold up the exit of the process.

    Raises:
        ScopeEnded: The scope ended first.
        BaseException: Whatever `produce` raised.
    """
    from queue import Empty, SimpleQueue

    queue: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    abandoned = threading.Event()

    def work() -> None:
        try:
            for item in produce():
                if abandoned.is_set():
                    return
                queue.put((item, None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it again
            queue.put((_DONE, error))
        else:
            queue.put((_DONE, None))

    scope = scope or Scope()
    undo = scope.on_cancel(lambda: queue.put((_DONE, None)))
    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            left = scope.remaining()
            try:
                item, error = queue.get(timeout=None if left == float("inf") else left)
            except Empty:
                item, error = _DONE, None
            scope.check()
            if error is not None:
                raise error
            if item is _DONE:
                return
            yield item
    finally:
        abandoned.set()
        undo()


def run_in_thread(function: Callable[[], T], scope: Scope | None) -> T:
    """Return `function()`, run on a daemon thread, unless the scope ends first.

    >>> run_in_thread(lambda: 6 * 7, Scope(5))
    42

    Raises:
        ScopeEnded: The scope ended first; the thread is left behind and its result is dropped.
        BaseException: Whatever `function` raised.
    """
    for result in stream_in_thread(lambda: iter((function(),)), scope):
        return result
    raise ScopeEnded("the function ended without a result")
