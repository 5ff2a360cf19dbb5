"""The provider seam, and how a reader's own provider fits into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from agentlab.messages import Reply, ToolCall, ToolChoice, ToolSpec, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message

OPTIONAL = ("on_text_delta", "scope", "tool_choice", "max_output_tokens")


class Provider(Protocol):
    """Turns messages into a reply.

    A provider may also have the attributes `name`, `model` and `window` (tokens); readers of them accept their absence.
    """

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
        """Make one model call.

        Args:
            messages: In the chapter's shape; a provider never changes them.
            system: The system prompt.
            tools: What the model may call.
            on_text_delta: Called with each piece of text as it arrives.
            scope: The call returns within 0.2 s of its end, by raising `ScopeEnded`.
            tool_choice: Whether the model may, must not or must call a tool.
            max_output_tokens: Limit of the reply, or None for the provider's own.

        Raises:
            ProviderError: The call failed.
            ScopeEnded: The scope ended first.
        """


def adapt(provider: Any) -> Provider:
    """Let any object with a `call` method be a provider.

    Its signature is read once and it is given only what it accepts. Of its reply, `.text` and `.tool_calls` (each with
    `.id`, `.name`, `.arguments`) are enough. A provider that accepts everything is returned as it is.

    >>> class Book:
    ...     def call(self, messages, system, tools, on_text_delta=None):
    ...         from types import SimpleNamespace
    ...         return SimpleNamespace(text="hi", tool_calls=None)
    >>> adapt(Book()).call([], system="", tools=[]).text
    'hi'

    Raises:
        TypeError: There is no `call` method.
    """
    if getattr(type(provider), "native", False) or isinstance(provider, Adapted):
        return provider  # type: ignore[no-any-return]  # a provider of ours, or one adapted before
    call = getattr(provider, "call", None)
    if not callable(call):
        kind = type(provider).__name__
        raise TypeError(f"a provider needs a method call(messages, system=, tools=), and {kind} has none")
    return Adapted(provider, accepted_options(call))


def accepted_options(call: Callable[..., Any]) -> frozenset[str]:
    """Which of the optional arguments of `Provider.call` a function accepts."""
    import inspect

    parameters: Mapping[str, inspect.Parameter] = inspect.signature(call).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return frozenset(OPTIONAL)
    return frozenset(name for name in OPTIONAL if name in parameters)


class Adapted:
    """A provider with the chapter's signature, called with what it accepts."""

    def __init__(self, provider: Any, accepts: frozenset[str]) -> None:
        self.provider = provider
        self.accepts = accepts
        self.name: str = getattr(provider, "name", None) or type(provider).__name__
        self.model: str | None = getattr(provider, "model", None)
        self.window: int | None = getattr(provider, "window", None)

    def call(self, messages: Sequence[Message], *, system: str, tools: Sequence[ToolSpec], **options: Any) -> Reply:
        """Make one call; options that the provider does not accept are left out."""
        accepts = self.accepts
        reply = self.provider.call(
            messages, system=system, tools=tools, **{k: v for k, v in options.items() if k in accepts}
        )
        return reply if isinstance(reply, Reply) else as_reply(reply)


def as_reply(reply: Any) -> Reply:
    """Read any object with `.text` and `.tool_calls` as a `Reply`; what is missing gets its default."""
    calls = tuple(
        call
        if isinstance(call, ToolCall)
        else ToolCall(getattr(call, "id", None) or "", getattr(call, "name", None) or "", arguments_of(call))
        for call in getattr(reply, "tool_calls", None) or ()
    )
    usage = getattr(reply, "usage", None)
    return Reply(
        text=getattr(reply, "text", None) or "",
        tool_calls=calls,
        usage=usage if isinstance(usage, Usage) else None,
        stop_reason=getattr(reply, "stop_reason", None),
        model=getattr(reply, "model", None),
    )


def arguments_of(call: Any) -> Any:
    """The arguments of a reader's own call: `{}` where there are none."""
    arguments = getattr(call, "arguments", None)
    return {} if arguments is None else arguments
