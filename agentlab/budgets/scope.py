"""Time: one deadline and one cancellation for everything that a run does.

A `Scope` carries one deadline and one cancellation through everything that a turn does: model calls, retry waits,
tools, and agents that work for it.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from agentlab.errors import Cancelled, DeadlineExceeded, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

# One blocking wait lasts at most this long. Windows delivers Ctrl-C only between waits.
LONGEST_WAIT = 0.1 if sys.platform == "win32" else threading.TIMEOUT_MAX


class Scope:
    """A deadline and a way to cancel.

    Args:
        seconds: Time until the deadline, or None for no deadline; 0 or less: it is over already.
        clock: Monotonic clock in seconds.
        sleep: What `wait` does instead of sleeping, for a clock that does not run by itself; it is given seconds.
        parent: A scope on the same clock that ends this one too; see `child`.

    Raises:
        InputError: `seconds` is not a number.

    >>> scope = Scope()
    >>> scope.cancel("enough")
    >>> scope.check()
    Traceback (most recent call last):
    agentlab.errors.Cancelled: enough
    """

    def __init__(
        self,
        seconds: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        parent: Scope | None = None,
    ) -> None:
        if seconds is not None and seconds != seconds:  # noqa: PLR0124 - NaN is never over and never on time
            raise InputError("expected a number of seconds, or None, found nan", field="seconds")
        self.clock = clock
        self.sleep = sleep
        self._deadline = None if seconds is None else clock() + seconds
        self._reason: str | None = None
        # Reentrant: a signal handler may cancel while the same thread is in here.
        self._lock = threading.RLock()
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
        deadline = self.deadline
        if deadline is not None and self.clock() >= deadline:
            raise DeadlineExceeded("the time for this run is over")

    def cancel(self, reason: str = "cancelled") -> None:
        """End it now, for everybody who works in it; the first reason given stays."""
        from contextlib import ExitStack

        with self._lock:
            if self.reason is not None:
                return
            self._reason = reason
            watchers, self._watchers = self._watchers, []
        with ExitStack() as stack:  # one that raises does not keep the others from being woken
            for wake in reversed(watchers):
                stack.callback(wake)

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` once when it is cancelled, at once if it already was; returns a function that takes this back.

        `wake` runs on the thread that cancels, which may be in a signal handler: it must not wait for anything.
        """
        pending = [wake]

        def once() -> None:
            try:
                call = pending.pop()
            except IndexError:  # it was called, or taken back
                return
            call()

        undo_outer = self._parent.on_cancel(once) if self._parent is not None else _nothing
        with self._lock:
            self._watchers.append(once)
        # Asked after the entry is there: whoever cancels meanwhile either sees it or is seen here.
        if self._reason is not None:
            once()

        def undo() -> None:
            pending.clear()
            undo_outer()
            with self._lock:
                if once in self._watchers:
                    self._watchers.remove(once)

        return undo

    def wait(self, seconds: float) -> None:
        """Sleep for so long, or until it ends.

        Raises:
            ScopeEnded: It ended before `seconds` were over.
        """
        self.check()
        left = self.remaining()
        (self.sleep or self._pause)(min(seconds, left))
        self.check()
        if seconds >= left:
            raise DeadlineExceeded("the time for this run is over")

    def _pause(self, seconds: float) -> None:
        """Sleep until it is cancelled, at most so long."""
        gate = threading.Lock()  # no Event: its set() may wait, and a signal handler of this thread may call it
        gate.acquire()
        undo = self.on_cancel(gate.release)
        try:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0.0:
                if gate.acquire(timeout=min(left, LONGEST_WAIT)):
                    break
        finally:
            undo()

    def child(self, seconds: float | None = None) -> Scope:
        """A scope that ends with this one, or earlier by its own deadline or cancellation."""
        return Scope(seconds, clock=self.clock, sleep=self.sleep, parent=self)


def _nothing() -> None:
    """Take nothing back."""
