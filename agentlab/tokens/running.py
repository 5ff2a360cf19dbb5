"""The count that a conversation keeps: every message is counted once, when it comes.

What a provider said about its last call is the base; only what came after it is estimated. So the error of an estimate
never grows beyond one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentlab.tokens.count import LENGTH, TokenCount, join_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentlab.messages import ToolSpec, Usage

PER_MESSAGE: Final = 4
"""Tokens that an estimate adds for what surrounds a message's text."""


def estimate_message(message: Mapping[str, Any]) -> int:
    """Estimate one message from lengths alone: characters/4, rounded up, and 4.

    The names and arguments of its tool calls count as text. Nothing is read: the time does not depend on the sizes.

    Args:
        message: A message in the chapter's shape; `content` may also be None or a list of parts.

    Returns:
        Tokens.

    >>> estimate_message({"role": "user", "content": "tiktoken is great!"})
    9
    """
    content = message.get("content")
    if isinstance(content, str):
        characters = len(content)
    elif content:
        characters = sum(len(part if isinstance(part, str) else part.get("text") or "") for part in content)
    else:
        characters = 0
    calls = message.get("tool_calls")
    if calls:
        for call in calls:
            function = call["function"]
            characters += len(function["name"]) + len(function["arguments"])
    return (characters + 3) // 4 + PER_MESSAGE


def estimate_base(system: str, tools: Iterable[ToolSpec] = ()) -> int:
    """Estimate the system prompt and the tools' schemas from their lengths.

    Args:
        system: The system prompt.
        tools: Objects with `name`, `description` and `parameters`.

    Returns:
        Tokens.

    >>> estimate_base("Be brief.")
    7
    """
    import msgspec

    total = (len(system) + 3) // 4 + PER_MESSAGE if system else 0
    for tool in tools:
        size = len(tool.name) + len(tool.description) + len(msgspec.json.encode(tool.parameters))
        total += (size + 3) // 4 + PER_MESSAGE
    return total


class RunningCount:
    """Tokens of the next prompt, kept up to date in constant time per message.

    The order in a loop is: `add` each message that goes into the prompt, call the provider, `report` its usage, `add`
    the assistant message. The usage already holds that message as its output, so `add` leaves the total as it is.

    >>> from agentlab.messages import Usage
    >>> count = RunningCount()
    >>> count.add({"role": "user", "content": "What is in this folder?"})
    10
    >>> print(count.total)
    ≈10
    >>> count.report(Usage(input_tokens=250, output_tokens=12))
    >>> count.add({"role": "assistant", "content": "Three files, all of them notes."})
    12
    >>> print(count.total)
    262

    Attributes:
        exact: True where a provider counted all of it, or a tokenizer that is exact for this model.
    """

    __slots__ = ("_base", "_counter", "_methods", "_reply", "_reported", "_total", "exact")

    def __init__(self, counter: Callable[[Mapping[str, Any]], TokenCount] | None = None) -> None:
        """Start at 0.

        Args:
            counter: Counts one message, as `message_counter(model)` does; None estimates from lengths.
        """
        self._counter = counter
        self._total = 0
        self._base: int | None = None
        self._reported = False
        self._methods: dict[str, None] = {}
        self._reply: int | None = None
        self.exact = True

    def __int__(self) -> int:
        return self._total

    @property
    def total(self) -> TokenCount:
        """Tokens of the next prompt as it stands."""
        methods = self._methods
        return TokenCount(self._total, self.exact, join_methods(*methods) if len(methods) > 1 else "".join(methods))

    def add(self, message: Mapping[str, Any], *, counted: int | None = None) -> int:
        """Take in one message that was appended.

        Args:
            message: The message. The assistant message that follows a `report` is the output of that call: its size
                is what the provider reported, and the total already holds it.
            counted: Its size, where the total already holds it for another reason.

        Returns:
            Tokens of this message.
        """
        reply, self._reply = self._reply, None
        if counted is not None:
            return counted
        if reply is not None and message["role"] == "assistant":
            return reply
        if self._counter is None:
            tokens = estimate_message(message)
            self.exact = False
            self._methods[LENGTH] = None
        else:
            count = self._counter(message)
            tokens = count.n
            self.exact = self.exact and count.exact
            self._methods[count.method] = None
        self._total += tokens
        return tokens

    def report(self, usage: Usage) -> None:
        """Take a provider's word for a call: it replaces all that was counted before.

        A usage without prompt tokens says nothing and is passed over.

        Args:
            usage: Usage of the call whose prompt was all that has been added so far, and whose assistant message is
                added next.
        """
        prompt_tokens = usage.prompt_tokens
        if prompt_tokens <= 0:
            return
        self._total = prompt_tokens + usage.output_tokens
        self._reply = usage.output_tokens
        self._reported = True
        self.exact = usage.exact
        self._methods = {"usage" if usage.exact else "estimated usage": None}

    def set_base(self, system: str, tools: Iterable[ToolSpec] = (), *, counted: TokenCount | None = None) -> int:
        """Count the system prompt and the tools, once at the start and again when either changes.

        A `report` holds them too: after one, only the difference to the last base is added, and nothing where this is
        the first.

        Args:
            system: The system prompt.
            tools: Objects with `name`, `description` and `parameters`.
            counted: Their count, where a tokenizer gave one; None estimates from lengths.

        Returns:
            Tokens of both.
        """
        base = TokenCount(estimate_base(system, tools), False, LENGTH) if counted is None else counted
        before, self._base = self._base, base.n
        if before is None:
            before = base.n if self._reported else 0
        if base.n != before:
            self._total += base.n - before
            self.exact = self.exact and base.exact
            self._methods[base.method] = None
        return base.n

    def adjust(self, delta: int) -> None:
        """Add the difference that a substitution in the view makes, an estimate.

        Args:
            delta: Tokens, negative where messages became shorter.
        """
        if delta:
            self._total = max(0, self._total + delta)
            self.exact = False
            self._methods[LENGTH] = None
