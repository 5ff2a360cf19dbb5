"""Every error that agentlab raises on purpose.

```
AgentlabError
├── InputError               a file, argument or setting is not what was expected   (command line: exit code 2)
│   ├── MissingKeyError      a hosted provider was asked for and no key is set
│   └── MissingRanksError    the tokenizer's rank files are not there or damaged
├── ScopeEnded               a Scope is over
│   ├── Cancelled            somebody called Scope.cancel
│   └── DeadlineExceeded     its time ran out
├── ProviderError            a model call failed
│   ├── ContextWindowError   the prompt is larger than the model's window
│   ├── TransportError       no answer, or one that broke off
│   └── CassetteMiss         a replayed session asked for a call that was not recorded
├── SinkError                an event could not be written
├── RejectedRequest          a real API would reject this request   (in `agentlab.testing`)
└── ToolError                a tool says why it could not do what was asked
    ├── ArgumentError        the arguments of a call cannot be read, or its schema does not accept them
    ├── UnknownToolError     there is no tool of that name
    ├── UnknownResultError   no stored result has that id
    └── AgentEnded           an agent ended without a final reply
```
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class AgentlabError(Exception):
    """Base of all errors that agentlab raises on purpose."""


class InputError(AgentlabError):
    """A file, argument or setting is not what was expected.

    The text is one line: what was found where, what was expected, what to do.

    >>> print(InputError("expected an object, found a list", path="a.jsonl", line=3, field="policy"))
    a.jsonl:3: policy: expected an object, found a list
    """

    def __init__(
        self, problem: str, *, path: str | Path | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.problem = problem
        self.path = path
        self.line = line
        self.field = field
        where = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(where + (f"{field}: " if field else "") + problem)


class MissingKeyError(InputError):
    """A hosted provider was asked for and no key is set."""


class MissingRanksError(InputError):
    """The tokenizer's rank files are not there, or are not what their checksum says."""


class ScopeEnded(AgentlabError):
    """A `Scope` is over: whoever works in it stops."""


def is_stop(error: BaseException) -> bool:
    """Whether somebody wants what runs to stop: Ctrl-C, or a cancelled task of asyncio. No tool may swallow either.

    >>> is_stop(KeyboardInterrupt()), is_stop(ValueError())
    (True, False)
    """
    asyncio = sys.modules.get("asyncio")  # where nobody imported it, nobody has a task
    return isinstance(error, KeyboardInterrupt) or (asyncio is not None and isinstance(error, asyncio.CancelledError))


class Cancelled(ScopeEnded):
    """Somebody called `Scope.cancel`."""


class DeadlineExceeded(ScopeEnded):
    """The time of a `Scope` ran out."""


class ProviderError(AgentlabError):
    """A model call failed.

    Attributes:
        status: HTTP status, where there was an answer.
        kind: The provider's own name for the error (`rate_limit_error`, `invalid_request_error`), where it gave one.
        retry_after: Seconds that the provider asked to wait, where it did.
        transient: True where the same call may succeed later; decided by type and status, never by the text.
        text: Reply text that had been streamed before the call failed.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str | None = None,
        retry_after: float | None = None,
        transient: bool = False,
        text: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after
        self.transient = transient
        self.text = text


class ContextWindowError(ProviderError):
    """The prompt is larger than the model's window.

    Attributes:
        prompt_tokens: Size of the prompt, where it is known.
        window: Size of the window, where it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        prompt_tokens: int | None = None,
        window: int | None = None,
        status: int | None = None,
        kind: str | None = None,
    ) -> None:
        super().__init__(message, status=status, kind=kind)
        self.prompt_tokens = prompt_tokens
        self.window = window


class TransportError(ProviderError):
    """No answer came, or one that broke off; the same call may succeed later."""

    def __init__(self, message: str, *, text: str = "", kind: str | None = None) -> None:
        super().__init__(message, kind=kind, transient=True, text=text)


class CassetteMiss(ProviderError):
    """A replayed session asked for a call that was not recorded."""


class SinkError(AgentlabError):
    """An event could not be written; the cause is chained."""


class ToolError(AgentlabError):
    """A tool says why it could not do what was asked; the model reads the text.

    A tool may raise any exception. This one says that the text alone is worth reading: it names what was expected
    and the nearest valid choice.
    """


class ArgumentError(ToolError):
    """The arguments of a call cannot be read, or the tool's schema does not accept them."""


class UnknownToolError(ToolError):
    """There is no tool of that name."""


class UnknownResultError(ToolError):
    """No stored result has that id."""


class AgentEnded(ToolError):
    """An agent ended without a final reply; the text says why, what it spent and what it had by then."""
