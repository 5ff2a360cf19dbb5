"""When turns are consolidated: as the prompt nears the window, and when nobody uses a session.

A summariser that fails changes nothing. It is asked again after a pause, and given up after some failures in a row.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentlab.compaction.consolidate import Plan, Selection, plan, select
from agentlab.compaction.summariser import Summariser
from agentlab.errors import ProviderError
from agentlab.events import CompactionFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.conversation import Conversation
    from agentlab.policy.specs import Consolidate
    from agentlab.scribe import Scribe

RULE = "consolidate"


class Setbacks:
    """What keeps a conversation from being consolidated for now.

    Attributes:
        failures: Of the summariser, in a row.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._not_before = 0
        self._settled: tuple[int, int] | None = None

    def may_try(self, spec: Consolidate, turn: int, cursor: int) -> bool:
        """Whether another attempt makes sense in this turn."""
        return self.failures < spec.attempts and turn >= self._not_before and self._settled != (turn, cursor)

    def failed(self, spec: Consolidate, turn: int) -> None:
        """The summariser failed in this turn."""
        self.failures += 1
        self._not_before = turn + spec.pause + 1

    def nothing_to_do(self, turn: int, cursor: int) -> None:
        """In this turn nothing may go."""
        self._settled = (turn, cursor)

    def succeeded(self) -> None:
        """The summariser works."""
        self.failures = 0


class Consolidator:
    """Consolidates one conversation by the rules of a policy.

    In three steps, of which only the second is slow and needs nobody to wait: `select`, `summarise`, `settle`.

    Args:
        spec: The rules.
        conversation: What is consolidated.
        providers: Who summarises, and whom it falls back to.
        room: Tokens that a prompt may have; None where no window is known.
        pinned_tools: Names of the tools whose results stay in full.
        settings: Of `Summariser`: `scope`, `spend`.
    """

    def __init__(
        self,
        spec: Consolidate,
        conversation: Conversation,
        providers: Sequence[Any],
        *,
        room: int | None = None,
        pinned_tools: frozenset[str] = frozenset(),
        **settings: Any,
    ) -> None:
        self.spec = spec
        self.conversation = conversation
        self.providers = providers
        self.room = room
        self.pinned_tools = pinned_tools
        self._settings = settings

    def near_the_window(self, scribe: Scribe) -> bool:
        """Consolidate if the next prompt is over its share of the room; says whether it did.

        Raises:
            ScopeEnded: The scope ended first.
            SinkError: The decision could not be written.
        """
        tokens = int(self.conversation.count)
        if self.room is None or tokens <= self.room * self.spec.trigger:
            return False
        selection = self.select(tokens - int(self.room * self.spec.target))
        return selection is not None and self.settle(self.summarise(selection), scribe)

    def select(self, excess: int | None = None) -> Selection | None:
        """Choose the turns to summarise; None where nothing may go, or not now."""
        talk, setbacks = self.conversation, setbacks_of(self.conversation)
        turn, cursor = talk.turn, talk.cursor
        if not setbacks.may_try(self.spec, turn, cursor):
            return None
        selection = select(talk, self.spec, excess=excess, pinned_tools=self.pinned_tools)
        if selection is None:
            setbacks.nothing_to_do(turn, cursor)
        return selection

    def summarise(self, selection: Selection) -> Plan | ProviderError:
        """Have a selection summarised; returns what went wrong where it failed. The conversation is not touched.

        Raises:
            ScopeEnded: The scope ended first.
        """
        summariser = Summariser(self.providers, max_tokens=self.spec.summary_tokens, **self._settings)
        try:
            return plan(selection, self.spec, summariser)
        except ProviderError as error:
            return error

    def settle(self, made: Plan | ProviderError, scribe: Scribe) -> bool:
        """Let a plan hold, unless another was faster; what came since it was made stays. Says whether it holds.

        Raises:
            SinkError: The decision could not be written; it holds all the same.
        """
        setbacks, turn = setbacks_of(self.conversation), self.conversation.turn
        if isinstance(made, ProviderError):
            setbacks.failed(self.spec, turn)
            scribe.audience.tell(CompactionFailed(turn, scribe.iteration, RULE, str(made)))
            return False
        setbacks.succeeded()
        if self.conversation.cursor != made.since:
            return False
        what = {field: getattr(made, field) for field in ("cursor", "summary", "pinned", "place", "usage")}
        scribe.decide(RULE, **what)
        return True


def setbacks_of(conversation: Conversation) -> Setbacks:
    """The setbacks of a conversation, which go with it from turn to turn."""
    if conversation.setbacks is None:
        conversation.setbacks = Setbacks()
    return conversation.setbacks


def between_turns(consolidator: Consolidator, turn: threading.Lock, scribe: Callable[[], Scribe]) -> bool:
    """Consolidate a session that other threads may use; says whether a summary stands now.

    The summary is made while nobody waits: a message that arrives meanwhile gets its turn, and stays.

    Args:
        consolidator: What does it.
        turn: Held while a turn runs; then nothing is done.
        scribe: Makes one, to record the decision.

    Raises:
        SinkError: The decision could not be written; it holds all the same.
    """
    if not turn.acquire(blocking=False):
        return False
    try:
        selection = consolidator.select()
    finally:
        turn.release()
    if selection is None:
        return False
    made = consolidator.summarise(selection)
    with turn:
        return consolidator.settle(made, scribe())


class IdleSession(Protocol):
    """What `Idle` needs to know of a session, such as `agentlab.runner.Runner`."""

    @property
    def active(self) -> bool:
        """Whether a turn runs."""

    @property
    def last_used(self) -> float:
        """When its last turn ended, in seconds by the clock that `Idle` reads."""

    def consolidate(self) -> bool:
        """Let a summary stand for all turns that may go; says whether it did."""


class Seen(msgspec.Struct):
    """A session that is watched; `done` is the use after which it was consolidated."""

    session: IdleSession
    done: float | None = None


class Idle:
    """Consolidates sessions that nobody used for a while, each once per pause.

    Off unless a policy sets `idle_minutes`. Nothing runs by itself: whoever serves sessions calls `check` now and then.

    Args:
        minutes: A session is idle after so many; None never.
        clock: Seconds, the same that the sessions' `last_used` are in.

    >>> Idle(None).check()
    []
    """

    def __init__(self, minutes: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.minutes = minutes
        self.clock = clock
        self._seen: dict[str, Seen] = {}
        self._lock = threading.Lock()

    def watch(self, name: str, session: IdleSession) -> None:
        """Watch a session from now on."""
        with self._lock:
            self._seen[name] = Seen(session)

    def forget(self, name: str) -> None:
        """Watch it no longer."""
        with self._lock:
            self._seen.pop(name, None)

    def check(self) -> list[str]:
        """Consolidate what is idle now; returns the names of those that were."""
        if self.minutes is None:
            return []
        with self._lock:
            known = list(self._seen.items())
        return [name for name, seen in known if self._is_due(seen) and self._consolidated(seen)]

    def _is_due(self, seen: Seen) -> bool:
        used = seen.session.last_used
        idle = self.clock() - used >= (self.minutes or 0) * 60
        return idle and not seen.session.active and seen.done != used

    def _consolidated(self, seen: Seen) -> bool:
        used = seen.session.last_used
        if not seen.session.consolidate():
            return False
        seen.done = used
        return True
