"""A live session: one conversation with one provider, its tools, its limits and its folder.

The command line, notebooks and widgets run sessions through this; the loop itself is `agentlab.loop`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from agentlab.builtin_tools import TOOLS, now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.events import CallRetried
from agentlab.loop import TurnResult, run_turn
from agentlab.policy import CHAPTER, Policy
from agentlab.providers.base import adapt
from agentlab.store import Store
from agentlab.transcript import MESSAGES, STORE, SessionWriter
from agentlab.truncate import MAX_OBSERVATION_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from agentlab.budgets import Budget, Scope, TurnBudget
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
        policy: How observations are cut.
        sinks: Are given every event of every turn.
        budget: Tokens and dollars that the session may spend.
        max_iterations: Cap of model calls per turn; None takes the loop's.
        settings: What else stands in the session's header.

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
    ) -> None:
        self.provider = adapt(provider)
        self.policy = policy
        self.budget = budget
        self.max_iterations = max_iterations
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
        """Run one user turn; see `agentlab.loop.run_turn`."""
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
        )
        self.results.append(result)
        return result

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

    def _say_retried(self, attempt: int, wait: float, reason: str) -> None:
        event = CallRetried(self.conversation.turn, attempt, wait, reason)
        for sink in self.sinks:
            if CallRetried in getattr(sink, "hears", (CallRetried,)):
                sink(event)


def _conversation(folder: str | Path | None, system: str | None) -> Conversation:
    """The conversation that a folder holds, or a new one."""
    messages = None if folder is None else Path(folder, MESSAGES)
    if messages is None or not messages.exists() or messages.stat().st_size == 0:
        return Conversation(system=SYSTEM if system is None else system)
    recorded = Conversation.load(messages.parent)
    if system is not None and system != recorded.system:
        recorded.notes.append("the session goes on with another system prompt than the one in its header")
        recorded.system = system
    return recorded


def _page_size(policy: Policy) -> int:
    """Characters that `read_result` gives at once: no more than the policy would leave of them."""
    limit = policy.limit_for(READ_RESULT, MAX_OBSERVATION_CHARS)
    return min(MAX_OBSERVATION_CHARS, limit.value) if limit.unit == "characters" else MAX_OBSERVATION_CHARS


def _default_tools(workspace: str | Path | None, *, commands: bool) -> list[Tool]:
    """The chapter's tools, or those that read one folder."""
    if workspace is None:
        return list(TOOLS)
    return [now, wordcount, *workspace_tools(workspace, commands=commands)]
