"""Calls that are made again: a wrapper around any provider.

What may pass is told apart by type and status, never by words in a text. The official SDKs make three attempts, the
first wait about half a second, the longest 8; so does this, except that it knows how much time the run has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.budgets import Scope
from agentlab.errors import CassetteMiss, ContextWindowError, InputError, ProviderError
from agentlab.providers.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.messages import Message, Reply, ToolChoice, ToolSpec

    OnRetry = Callable[[int, float, str], None]

REASON_CHARS = 200


class Retry(Wrapper):
    """A provider that calls another one again after a failure that may pass.

    That is: no answer or a broken one, the statuses 408, 409, 429, 529 and those from 500 on, and what the provider
    itself calls transient. Never after text was streamed, which somebody has read by then; never a prompt that is too
    large; never after the scope has ended or Ctrl-C.

    Args:
        provider: Any provider, its own retries off. A `Recorder` belongs inside of this, so that it sees each attempt.
        attempts: Calls in all, from 1.
        base: Seconds of the first wait, doubled with each further one.
        cap: Longest of these waits, in seconds.
        max_wait: Longest wait that a provider may ask for by Retry-After, in seconds. If it asks for more, the error is
            raised at once.
        jitter: A `random.Random`, or a function that returns a number from 0 up to 1. A wait is between half and all
            of what `base` and `cap` say; one that the provider asked for is lengthened by up to `base`.
        on_retry: Called before each wait with which retry it is (from 1), the seconds to wait and the reason.

    Raises:
        InputError: A setting is out of range.

    >>> from agentlab.errors import TransportError
    >>> from agentlab.providers.scripted import ScriptedModel
    >>> model = Retry(ScriptedModel([TransportError("no answer"), "Hello."]), base=0.0, on_retry=print)
    >>> model.call([], system="", tools=()).text
    1 0.0 no answer
    'Hello.'
    """

    def __init__(
        self,
        provider: Any,
        *,
        attempts: int = 3,
        base: float = 0.5,
        cap: float = 8.0,
        max_wait: float = 60.0,
        jitter: Any = None,
        on_retry: OnRetry | None = None,
    ) -> None:
        if attempts < 1:
            raise InputError(f"expected a number of calls from 1, found {attempts}", field="attempts")
        for field, value in (("base", base), ("cap", cap), ("max_wait", max_wait)):
            if not value >= 0:
                raise InputError(f"expected seconds from 0, found {value}", field=field)
        super().__init__(provider)
        self.attempts = attempts
        self.base = base
        self.cap = cap
        self.max_wait = max_wait
        self.on_retry = on_retry
        self._jitter: Callable[[], float] | None = getattr(jitter, "random", jitter)

    def reporting_to(self, on_retry: OnRetry) -> Retry:
        """The same, which tells `on_retry` too: each run can hear of its own retries, several side by side."""
        first = self.on_retry

        def both(attempt: int, wait: float, reason: str) -> None:
            if first is not None:
                first(attempt, wait, reason)
            on_retry(attempt, wait, reason)

        return Retry(
            self.provider,
            attempts=self.attempts,
            base=self.base,
            cap=self.cap,
            max_wait=self.max_wait,
            jitter=self._jitter,
            on_retry=both,
        )

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
            ProviderError: The last error, where no further attempt is worth it; a note says why it was the last.
            ScopeEnded: The scope ended, in a call or in a wait.
        """
        heard = Heard(on_text_delta)
        retry = 0
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
                retry += 1
                wait = self._wait(error, retry)
                obstacle = self._obstacle(error, retry, wait, scope, spoken=heard.anything)
                if obstacle is not None:
                    if obstacle:
                        error.add_note(f"not tried again: {obstacle}")
                    raise
                reason = short_reason(error)
            # Outside of the handler: what goes wrong here has nothing to do with the error of the call.
            if self.on_retry is not None:
                self.on_retry(retry, wait, reason)
            (scope or Scope()).wait(wait)

    def _obstacle(self, error: Exception, retry: int, wait: float, scope: Scope | None, *, spoken: bool) -> str | None:
        """Why there is no further attempt: empty where the error itself says so, None where there is one."""
        if not may_pass(error):
            return ""
        if spoken:
            return "a part of the reply was shown already"
        if retry >= self.attempts:
            return f"it failed {retry} times" if retry > 1 else ""
        asked = asked_to_wait(error)
        if asked > self.max_wait:
            return f"the provider asks to wait {asked:g} s, longer than {self.max_wait:g} s"
        if scope is not None and wait >= scope.remaining():
            return f"a wait of {wait:.1f} s would pass the deadline of this run"
        return None

    def _wait(self, error: Exception, retry: int) -> float:
        """Seconds before the next attempt."""
        if self._jitter is None:
            from random import random

            self._jitter = random
        chance = self._jitter()
        # A very long series would overflow the power; 2**62 s is beyond any cap.
        backoff = min(self.cap, self.base * 2.0 ** min(retry - 1, 62)) * (0.5 + 0.5 * chance)
        asked = asked_to_wait(error)
        return max(asked + self.base * chance, backoff) if asked else backoff


class Heard:
    """Hands text on and knows whether there was any."""

    def __init__(self, hand_on: Callable[[str], None] | None) -> None:
        self.anything = False
        self._hand_on = hand_on

    def __call__(self, piece: str) -> None:
        """Hand on a piece."""
        if piece:
            self.anything = True
        if self._hand_on is not None:
            self._hand_on(piece)


def may_pass(error: Exception) -> bool:
    """Whether the same call may succeed later, by the type and the status of its error.

    >>> may_pass(ProviderError("timeout in field 'messages'", status=400)), may_pass(ProviderError("", status=503))
    (False, True)
    """
    if not isinstance(error, ProviderError):
        return isinstance(error, ConnectionError | TimeoutError)
    if isinstance(error, ContextWindowError | CassetteMiss):
        return False
    from agentlab.providers.failures import is_transient

    return error.transient or is_transient(error.status, [error.kind] if error.kind else [])


def asked_to_wait(error: Exception) -> float:
    """Seconds that the provider asked to wait, 0 where it did not.

    >>> asked_to_wait(ProviderError("slow down", status=429, retry_after=2.5))
    2.5
    """
    seconds = getattr(error, "retry_after", None)
    return float(seconds) if seconds is not None and seconds > 0 else 0.0


def short_reason(error: Exception) -> str:
    """What failed, in one short line without secrets."""
    from agentlab.providers.keys import redact

    status = getattr(error, "status", None)
    text = " ".join(redact(str(error)).split()) or type(error).__name__
    text = f"{status} {text}" if status is not None and str(status) not in text else text
    return text if len(text) <= REASON_CHARS else text[: REASON_CHARS - 1] + "…"
