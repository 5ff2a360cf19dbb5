"""The provider seam, and how a reader's own provider fits into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentlab.errors import ProviderError
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
    `.id`, `.name`, `.arguments`) are enough; `as_reply` says what else can be read. A provider of this package is
    returned as it is.

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
        return reply if _is_whole(reply) else as_reply(reply)


def _is_whole(reply: Any) -> bool:
    """Whether it is a `Reply` of which nothing has to be put right."""
    return (
        type(reply) is Reply
        and type(reply.text) is str
        and type(reply.tool_calls) is tuple
        and all(
            type(call) is ToolCall
            and type(call.id) is type(call.name) is str
            and (type(call.arguments) is dict or type(call.arguments) is str)
            for call in reply.tool_calls
        )
        and reply.usage is usage_of(reply.usage)
        and (reply.stop_reason is None or type(reply.stop_reason) is str)
        and (reply.model is None or type(reply.model) is str)
    )


def as_reply(reply: Any) -> Reply:
    """Read an object, or a dict, as a `Reply`; what is missing or None gets its default.

    Args:
        reply: Has `text` (or `content`) and `tool_calls`, each with `id`, `name` and `arguments`, or with a `function`
            that has the last two, as attributes or as keys.

    Raises:
        ProviderError: It is none.

    >>> sent = {"id": 7, "function": {"name": "now", "arguments": "{}"}}
    >>> as_reply({"content": None, "tool_calls": [sent]}).tool_calls
    (ToolCall(id='7', name='now', arguments={}),)
    """
    if not any(_has(reply, key) for key in ("text", "content", "tool_calls")):
        raise ProviderError(f"call returned {_kind(reply)}; expected an object with .text and .tool_calls")
    text = _read(reply, "text")
    text = _read(reply, "content") if text is None else text
    if text is not None and not isinstance(text, str):
        raise ProviderError(f"call returned a reply whose text is {_kind(text)}; expected a string")
    calls = _read(reply, "tool_calls")
    if calls is not None and not isinstance(calls, list | tuple):
        raise ProviderError(f"call returned a reply whose tool_calls is {_kind(calls)}; expected a list of calls")
    reason, model = _read(reply, "stop_reason"), _read(reply, "model")
    return Reply(
        text=str(text or ""),
        tool_calls=tuple(map(call_of, calls or ())),
        usage=usage_of(_read(reply, "usage")),
        stop_reason=reason if isinstance(reason, str) else None,
        model=model if isinstance(model, str) else None,
    )


def call_of(call: Any) -> ToolCall:
    """Read an object, or a dict, as a `ToolCall`; see `as_reply`.

    Raises:
        ProviderError: It has neither a name nor a function.
    """
    function = _read(call, "function")
    named = call if function is None else function
    if not _has(named, "name"):
        raise ProviderError(f"call returned a tool call that is {_kind(call)}; expected .id, .name and .arguments")
    identity, name = _read(call, "id"), _read(named, "name")
    return ToolCall("" if identity is None else str(identity), "" if name is None else str(name), arguments_of(named))


def arguments_of(call: Any) -> Any:
    """The arguments of a reader's own call: JSON text is parsed where that gives an object, none are `{}`."""
    arguments = _read(call, "arguments")
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        parsed = msgspec.json.decode(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments
    return parsed if isinstance(parsed, dict) else arguments


def usage_of(usage: Any) -> Usage | None:
    """A `Usage` of whole counts as it is; None for anything else, so that the loop estimates it."""
    if type(usage) is not Usage:
        return None
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return usage if all(type(count) is int and count >= 0 for count in counts) else None


def _has(value: Any, name: str) -> bool:
    return name in value if isinstance(value, dict) else hasattr(value, name)


def _read(value: Any, name: str) -> Any:
    """An attribute, or what stands under a key; None where there is none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _kind(value: Any) -> str:
    """What a value is, in words."""
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
