"""A run that outlives a few failed model calls, and ends with the cause when they do not stop.

`Retry` repeats one call for a while. This counts what is left after it: calls that failed for good, one after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.budgets import Scope
from agentlab.errors import InputError, ProviderError, TransportError
from agentlab.providers.retry import Heard, asked_to_wait, may_pass, short_reason
from agentlab.providers.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.messages import Message, Reply, ToolChoice, ToolSpec

    OnError = Callable[[int, int, str], None]


class Tolerant(Wrapper):
    """A provider that is asked again after a failed call, until so many have failed in a row.

    Any good reply sets the count back. A failed call is no turn: it ran no tools. The end of the scope and Ctrl-C are
    no errors. An error that the same call would meet again (a refused key, a prompt that is too large) ends it at once.

    Args:
        provider: Any provider; `Retry` belongs inside of this.
        errors: Failed calls in a row after which the last error is raised, from 1.
        on_error: Called at each with how many there were in a row, the limit and the reason.

    Raises:
        InputError: Fewer errors than 1.

    >>> from agentlab.providers.scripted import ScriptedModel
    >>> model = Tolerant(ScriptedModel([TransportError("broke off"), "Hello."]), on_error=print)
    >>> model.call([], system="", tools=()).text
    1 3 broke off
    'Hello.'
    """

    def __init__(self, provider: Any, errors: int = 3, *, on_error: OnError | None = None) -> None:
        if errors < 1:
            raise InputError(f"expected a number of errors from 1, found {errors}", field="errors")
        super().__init__(provider)
        self.errors = errors
        self.on_error = on_error

    def call(
        self,
        messages: Sequence[Message],
        *,
        system: str,
        tools: Sequence[ToolSpec],
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Make one model call, or several until one succeeds; see `Provider.call`.

        Raises:
            ProviderError: The last error of so many in a row, or one that no repetition changes.
            ScopeEnded: The scope ended.
        """
        heard = Heard(on_text_delta)
        in_a_row = 0
        while True:
            try:
                return self.provider.call(
                    messages,
                    system=system,
                    tools=tools,
                    on_text_delta=None if on_text_delta is None else heard,
                    scope=scope,
                    tool_choice=tool_choice,
                    max_output_tokens=max_output_tokens,
                )
            except (ProviderError, ConnectionError, TimeoutError) as error:
                in_a_row += 1
                self._say(in_a_row, error)
                wait = asked_to_wait(error)
                late = scope is not None and wait >= scope.remaining()
                if in_a_row >= self.errors or late or heard.anything or not may_pass(error):
                    if late:
                        error.add_note(f"not asked again: a wait of {wait:.1f} s would pass the deadline of this run")
                    if in_a_row > 1:
                        error.add_note(f"the last of {in_a_row} failed model calls in a row")
                    if isinstance(error, ProviderError):
                        raise
                    raise TransportError(f"the model call failed: {short_reason(error)}") from error
            (scope or Scope()).wait(wait)

    def _say(self, in_a_row: int, error: Exception) -> None:
        if self.on_error is not None:
            self.on_error(in_a_row, self.errors, short_reason(error))
