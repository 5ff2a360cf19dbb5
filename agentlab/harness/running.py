"""What a cycle is doing right now, so that the watchdog can say what it ended and what it could not end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentlab.harness.records import InFlight

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self._changed = threading.Condition()
        self._open: dict[object, tuple[str, str, float]] = {}
        self._stopped: list[InFlight] = []

    @contextmanager
    def doing(self, kind: str, name: str) -> Iterator[None]:
        """While this lasts, a model, tool or agent of that name is at work."""
        key = object()
        with self._changed:
            self._open[key] = (kind, name, self._scope.clock())
        try:
            yield
        finally:
            with self._changed:
                _, _, began = self._open.pop(key)
                if self._scope.ended():
                    self._stopped.append(InFlight(kind, name, self._since(began), stopped=True))
                self._changed.notify_all()

    def in_flight(self, *, grace: float) -> list[InFlight]:
        """What was running when the scope ended; whatever still runs after `grace` seconds could not be stopped."""
        end = time.monotonic() + grace
        with self._changed:
            while self._open and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            on = [InFlight(kind, name, self._since(began), stopped=False) for kind, name, began in self._open.values()]
            return [*self._stopped, *on]

    def _since(self, began: float) -> float:
        return round(self._scope.clock() - began, 3)
