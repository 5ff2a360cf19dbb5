"""Providers and tools that tell the running cycle what they do; what they were wrapped around does not notice."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from agentlab.budgets import run_in_thread
from agentlab.harness.cycle import CURRENT
from agentlab.providers.base import Adapted
from agentlab.providers.retry import Retry
from agentlab.providers.tolerant import Tolerant
from agentlab.providers.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, Reply
    from agentlab.providers.retry import OnRetry
    from agentlab.tools import Tool


class Watched(Wrapper):
    """A provider with all that stands between it and an actor: retries, the count of errors, the cycle's eyes.

    A reader's own provider that takes no scope is called on a thread, so that the deadline ends the wait for it.

    Args:
        provider: Any provider; one that is a `Retry` keeps its own settings.
        errors: Failed calls in a row that end a cycle; None for 1.
    """

    def __init__(self, provider: Any, errors: int | None = None) -> None:
        self._retry = provider if hasattr(provider, "reporting_to") else Retry(provider)
        self._errors = errors
        super().__init__(Tolerant(self._retry, errors or 1, on_error=_failed))
        innermost: Any = self.provider
        while isinstance(innermost, Wrapper):
            innermost = innermost.provider
        self._deaf = isinstance(innermost, Adapted) and "scope" not in innermost.accepts

    def reporting_to(self, on_retry: OnRetry) -> Watched:
        """The same, which tells `on_retry` of each retry too."""
        return Watched(self._retry.reporting_to(on_retry), self._errors)

    def call(
        self,
        messages: Sequence[Message],
        *,
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        **request: Any,
    ) -> Reply:
        """Make one model call; see `Provider.call`."""
        cycle = CURRENT.get()
        if cycle is None:
            return self.provider.call(messages, on_text_delta=on_text_delta, scope=scope, **request)

        def paint(piece: str) -> None:
            if on_text_delta is not None and not cycle.scope.ended():  # what comes after the end is dropped
                on_text_delta(piece)

        def ask() -> Reply:
            with cycle.running.doing("model", cycle.model):
                said = None if on_text_delta is None else paint
                return self.provider.call(messages, on_text_delta=said, scope=scope, **request)

        return run_in_thread(ask, scope) if self._deaf else ask()


def _failed(in_a_row: int, limit: int, reason: str) -> None:  # noqa: ARG001 - the limit stands in the cycle's first line
    cycle = CURRENT.get()
    if cycle is not None:
        cycle.writer.failed(in_a_row, reason)


def watched(tool: Tool, kind: str = "tool") -> Tool:
    """The tool, and the running cycle knows of its calls while they last.

    Args:
        tool: Any tool.
        kind: What the log calls it: `tool` or `agent`.
    """
    hands_on = tool.takes_scope or "scope" in tool.parameters.get("properties", {})

    def run(scope: Any = None, **arguments: Any) -> Any:
        if hands_on:
            arguments["scope"] = scope
        cycle = CURRENT.get()
        if cycle is None:
            return tool.run(**arguments)
        with cycle.running.doing(kind, tool.name):
            return tool.run(**arguments)

    return dataclasses.replace(tool, run=run)
