"""A live session: one conversation with one provider, its tools, its limits and its folder.

The command line, notebooks and widgets run sessions through this; the loop itself is `agentlab.loop`.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from agentlab.builtin_tools import TOOLS, now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.events import Audience, CallRetried
from agentlab.loop import TurnResult, run_turn
from agentlab.policy import CHAPTER, Policy
from agentlab.providers.base import adapt
from agentlab.scribe import Scribe
from agentlab.store import Store
from agentlab.transcript import MESSAGES, STORE, SessionWriter, never_begun
from agentlab.truncate import MAX_OBSERVATION_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from agentlab.budgets import Budget, Scope, TurnBudget
    from agentlab.compaction.auto import Idle
    from agentlab.events import Sink
    from agentlab.tools import Tool

SYSTEM = (
    "You answer from what your tools show you. Look before you answer, say which file and line a fact is from, and say "
    "so when you saw only a part of something."
)

READ_RESULT = "read_result"


class Runner:
    """A session that goes on from turn to turn.

    Args:
        provider: Anything with `call(messages, system=, tools=)`.
        folder: Session folder; None keeps the session in memory. A session that the folder holds goes on: what had to
            be put right in it stands in `conversation.notes`.
        workspace: Folder whose files the tools read; None offers the chapter's `TOOLS`.
        tools: The tools, instead of those of the workspace.
        commands: Whether `run_command` is offered in the workspace.
        system: The system prompt; None takes that of the session that goes on, else `SYSTEM`.
        policy: How observations are cut, and what is no longer sent later on.
        sinks: Are given every event of every turn.
        budget: Tokens and dollars that the session may spend.
        max_iterations: Cap of model calls per turn; None takes the loop's.
        settings: What else stands in the session's header.
        summariser: The provider that summarises old turns where the policy says so; None takes `provider`.
        clock: Seconds, to tell how long nobody used the session.

    Attributes:
        last_used: When the last turn ended, by `clock`; for a session that goes on, when its folder was written.

    Raises:
        InputError: No such workspace, or a session that cannot be read.

    >>> from agentlab.providers.scripted import ScriptedModel, call
    >>> with Runner(ScriptedModel([call("wordcount", text="a b"), "Two."])) as session:
    ...     session.send("How many words?").text
    'Two.'
    """

    def __init__(
        self,
        provider: Any,
        *,
        folder: str | Path | None = None,
        workspace: str | Path | None = None,
        tools: Iterable[Tool] | None = None,
        commands: bool = False,
        system: str | None = None,
        policy: Policy = CHAPTER,
        sinks: Iterable[Sink] = (),
        budget: Budget | None = None,
        max_iterations: int | None = None,
        settings: dict[str, Any] | None = None,
        summariser: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = adapt(provider)
        self.policy = policy
        self.budget = budget
        self.max_iterations = max_iterations
        self.summariser = summariser
        self.last_used = clock() - _age(folder)
        self._clock = clock
        self._turn = threading.Lock()  # held while a turn runs
        self._idle: Idle | None = None
        self.conversation = _conversation(folder, system)
        self.results: list[TurnResult] = []
        self.store = Store(None if folder is None else Path(folder, STORE))
        self.tools = list(tools) if tools is not None else _default_tools(workspace, commands=commands)
        if not any(t.name == READ_RESULT for t in self.tools):
            self.tools.append(read_result_tool(self.store, max_chars=_page_size(policy)))
        self._writer: SessionWriter | None = None
        if folder is not None:
            self._writer = SessionWriter(
                folder,
                provider=getattr(self.provider, "name", ""),
                model=getattr(self.provider, "model", None),
                system=self.conversation.system,
                tools=self.tools,
                policy=msgspec.to_builtins(policy),
                settings=settings,
                store=self.store,
            )
        self.sinks: list[Sink] = [*([self._writer] if self._writer is not None else []), *sinks]
        retrying = getattr(self.provider, "reporting_to", None)
        if retrying is not None:
            self.provider = retrying(self._say_retried)

    def send(
        self,
        prompt: str,
        on_text_delta: Callable[[str], None] | None = None,
        *,
        scope: Scope | None = None,
        turns: TurnBudget | None = None,
    ) -> TurnResult:
        """Run one user turn; see `agentlab.loop.run_turn`. A turn that runs already is waited for."""
        if self.policy.compaction is not None and self.policy.compaction.idle_minutes is not None:
            self._if_idle(self.policy.compaction.idle_minutes)
        with self._turn:
            result = run_turn(
                self.conversation,
                prompt,
                self.provider,
                tools=self.tools,
                policy=self.policy,
                on_text_delta=on_text_delta,
                scope=scope,
                sinks=self.sinks,
                store=self.store,
                budget=self.budget,
                max_iterations=self.max_iterations,
                turns=turns,
                summariser=self.summariser,
            )
            self.last_used = self._clock()
        self.results.append(result)
        return result

    @property
    def active(self) -> bool:
        """Whether a turn runs."""
        return self._turn.locked()

    def consolidate(self) -> bool:
        """Let a summary stand for all old turns that may go; says whether it did. It does not while a turn runs."""
        from agentlab.compaction.auto import Consolidator, between_turns
        from agentlab.compaction.compactor import pinned_tools
        from agentlab.policy import Consolidate

        spec = None if self.policy.compaction is None else self.policy.compaction.consolidate
        consolidator = Consolidator(
            spec or Consolidate(),
            self.conversation,
            [self.provider] if self.summariser is None else [self.summariser, self.provider],
            pinned_tools=pinned_tools({tool.name: tool for tool in self.tools}),
            spend=None if self.budget is None else self.budget.spend,
        )
        return between_turns(consolidator, self._turn, self._scribe)

    def close(self) -> None:
        """Close the files of the session folder."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _scribe(self) -> Scribe:
        scribe = Scribe(self.conversation, Audience(self.sinks))
        scribe.turn = self.conversation.turn
        return scribe

    def _if_idle(self, minutes: float) -> None:
        """Consolidate where nobody used the session for a while: its cached prompt is gone by then anyway."""
        if self._idle is None:
            from agentlab.compaction.auto import Idle

            self._idle = Idle(minutes, clock=self._clock)
            self._idle.watch("", self)
        self._idle.check()

    def _say_retried(self, attempt: int, wait: float, reason: str) -> None:
        event = CallRetried(self.conversation.turn, attempt, wait, reason)
        for sink in self.sinks:
            if CallRetried in getattr(sink, "hears", (CallRetried,)):
                sink(event)


def _conversation(folder: str | Path | None, system: str | None) -> Conversation:
    """The conversation that a folder holds, or a new one."""
    messages = None if folder is None else Path(folder, MESSAGES)
    if messages is None or not messages.exists() or never_begun(messages):
        return Conversation(system=SYSTEM if system is None else system)
    recorded = Conversation.load(messages.parent)
    if system is not None and system != recorded.system:
        recorded.notes.append("the session goes on with another system prompt than the one in its header")
        recorded.system = system
    return recorded


def _age(folder: str | Path | None) -> float:
    """Seconds since a session in a folder was written; 0 for a new one."""
    messages = None if folder is None else Path(folder, MESSAGES)
    return max(0.0, time.time() - messages.stat().st_mtime) if messages is not None and messages.exists() else 0.0


def _page_size(policy: Policy) -> int:
    """Characters that `read_result` gives at once: no more than the policy would leave of them."""
    limit = policy.limit_for(READ_RESULT, MAX_OBSERVATION_CHARS)
    return min(MAX_OBSERVATION_CHARS, limit.value) if limit.unit == "characters" else MAX_OBSERVATION_CHARS


def _default_tools(workspace: str | Path | None, *, commands: bool) -> list[Tool]:
    """The chapter's tools, or those that read one folder."""
    if workspace is None:
        return list(TOOLS)
    return [now, wordcount, *workspace_tools(workspace, commands=commands)]
