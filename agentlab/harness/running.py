"""What a cycle is doing right now, so that the watchdog can say what it ended and what it could not end."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from agentlab.harness.records import InFlight

if TYPE_CHECKING:
    from types import TracebackType

    from agentlab.budgets import Scope


class Running:
    """The work of one cycle that is in flight.

    Args:
        scope: The cycle's; work that ends after it was ended by it.

    >>> from agentlab.budgets import Scope
    >>> running = Running(Scope())
    >>> with running.doing("tool", "grep"):
    ...     [(work.kind, work.name, work.stopped) for work in running.in_flight(grace=0.0)]
    [('tool', 'grep', False)]
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._open: dict[Work, float] = {}
        self._stopped: list[InFlight] = []

    def doing(self, kind: str, name: str) -> Work:
        """While this lasts, a model, tool or agent of that name is at work."""
        return Work(self, kind, name)

    def begin(self, work: Work) -> None:
        """A piece of work begins."""
        with self._lock:
            self._open[work] = self._scope.clock()

    def end(self, work: Work) -> None:
        """It is over: by itself, or because the scope ended."""
        with self._lock:
            began = self._open.pop(work)
            if self._scope.ended():  # before that nobody waits for it
                self._stopped.append(InFlight(work.kind, work.name, self._since(began), stopped=True))
                self._changed.notify_all()

    def in_flight(self, *, grace: float) -> list[InFlight]:
        """What was running when the scope ended; whatever still runs after `grace` seconds could not be stopped."""
        end = time.monotonic() + grace
        with self._changed:
            while self._open and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            on = [InFlight(w.kind, w.name, self._since(began), stopped=False) for w, began in self._open.items()]
            return [*self._stopped, *on]

    def _since(self, began: float) -> float:
        return round(self._scope.clock() - began, 3)


class Work:
    """A piece of work of a cycle; in flight while its `with` block lasts."""

    __slots__ = ("_running", "kind", "name")

    def __init__(self, running: Running, kind: str, name: str) -> None:
        self._running, self.kind, self.name = running, kind, name

    def __enter__(self) -> None:
        self._running.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.end(self)
