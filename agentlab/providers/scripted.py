"""A model that says what a script says: for tests, benchmarks and lessons that need every reply to be known.

>>> model = ScriptedModel([call("now", zone="UTC"), say("It is noon.")])
>>> model.call([], system="", tools=()).tool_calls
(ToolCall(id='call_0', name='now', arguments={'zone': 'UTC'}),)
>>> model.call([], system="", tools=()).text
'It is noon.'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError, ProviderError
from agentlab.messages import Message, Reply, ToolCall, ToolChoice, ToolSpec

if TYPE_CHECKING:
    from agentlab.budgets import Scope

# The id of a call that is numbered when its reply is given.
NUMBERED = "call_#"
TOLD = ("system", "tools", "tool_choice", "max_output_tokens", "scope")

Step = str | ToolCall | Sequence[ToolCall] | Reply | BaseException | Callable[..., Any]


def say(text: str, *calls: ToolCall, stop_reason: str | None = None) -> Reply:
    """Write a reply: text, and calls that come with it.

    Args:
        text: What the model says.
        calls: What it asks for, made by `call`.
        stop_reason: Why it stopped; by default `tool_use` with calls and `end_turn` without.

    >>> say("Cut in the mid", stop_reason="max_tokens").stop_reason
    'max_tokens'
    """
    return Reply(text, calls, stop_reason=stop_reason or ("tool_use" if calls else "end_turn"))


def call(name: str, /, id: str | None = None, **arguments: Any) -> ToolCall:  # noqa: A002 - the word of the wire format
    """Write a tool call.

    Args:
        name: The tool.
        id: Its id. By default `ScriptedModel` numbers the calls of each reply: `call_0`, `call_1` and so on, the same
            in every turn, as recorded models and small servers do.
        arguments: Its arguments. One that is called `id` needs `ToolCall` itself.

    >>> call("read_file", id="toolu_1", path="a.txt")
    ToolCall(id='toolu_1', name='read_file', arguments={'path': 'a.txt'})
    """
    return ToolCall(NUMBERED if id is None else id, name, arguments)


class Request(msgspec.Struct, frozen=True):
    """What a scripted model was shown in one call; `messages` is a copy."""

    messages: list[dict[str, Any]]
    system: str
    tools: tuple[Any, ...]
    tool_choice: ToolChoice
    max_output_tokens: int | None


class ScriptedModel:
    """A provider that replies by a script.

    Args:
        script: The replies in order: a text, a `ToolCall` or several, a `Reply`, an exception to raise (the text of a
            `ProviderError` is streamed first), or a function of the messages that returns one of these. Or one such
            function for all calls. A function that names `system`, `tools`, `tool_choice`, `max_output_tokens` or
            `scope` among its parameters is given them.
        model: Name that its replies carry.
        window: What it says is its window, in tokens; not enforced: the script may hold a `ContextWindowError`.
        stream_by: Length of the pieces in which text is streamed, in characters.
        unique_ids: Number calls through the whole script instead of within each reply.
        keep_requests: Keep a copy of each request in `requests`, for tests.

    Raises:
        InputError: The script holds something else, or a setting is out of range.

    >>> model = ScriptedModel(lambda messages: messages[-1]["content"].upper())
    >>> model.call([{"role": "user", "content": "hi"}], system="", tools=()).text
    'HI'
    """

    native = True
    name = "scripted"

    def __init__(
        self,
        script: Sequence[Step] | Callable[..., Any],
        *,
        model: str = "scripted",
        window: int | None = None,
        stream_by: int = 16,
        unique_ids: bool = False,
        keep_requests: bool = False,
    ) -> None:
        if stream_by < 1:
            raise InputError(f"expected a number of characters from 1, found {stream_by}", field="stream_by")
        self.model = model
        self.window = window
        self.stream_by = stream_by
        self.calls = 0
        self.requests: list[Request] = []
        self._keep = keep_requests
        self._unique = unique_ids
        self._numbered = 0
        self._always = _function(script) if callable(script) else None
        self._steps = () if callable(script) else tuple(self._step(step, i) for i, step in enumerate(script))

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
        """Give the next reply of the script; see `Provider.call`.

        Raises:
            ProviderError: The script is used up.
            InputError: A function of the script returned something that is no reply.
        """
        if scope is not None:
            scope.check()
        if self._keep:
            self.requests.append(_request(messages, system, tools, tool_choice, max_output_tokens))
        index = self.calls
        self.calls = index + 1
        if self._always is not None:
            step: Any = self._always
        elif index < len(self._steps):
            step = self._steps[index]
        else:
            raise ProviderError(_used_up(len(self._steps)))
        if callable(step):
            told = (system, tools, tool_choice, max_output_tokens, scope)
            step = self._reply(
                step(messages, dict(zip(TOLD, told, strict=True))), f"what the function of call {index} returned"
            )
        if on_text_delta is not None or step.__class__ is not Reply:
            self._stream(step, on_text_delta, scope)
        return step  # type: ignore[no-any-return]  # anything else was raised by _stream

    def _step(self, step: Step, index: int) -> Any:
        """A step of the list, made ready: a reply, an exception or a function."""
        return _function(step) if callable(step) else self._reply(step, f"script[{index}]")

    def _reply(self, step: Any, where: str) -> Reply | BaseException:
        """Read a step that is no function as the reply or the exception that it stands for."""
        if isinstance(step, str):
            return Reply(step, stop_reason="end_turn", model=self.model)
        if isinstance(step, BaseException):
            return step
        if isinstance(step, ToolCall):
            step = (step,)
        if isinstance(step, Sequence) and step and all(isinstance(c, ToolCall) for c in step):
            step = Reply("", tuple(step), stop_reason="tool_use")
        if not isinstance(step, Reply):
            expected = "a text, a ToolCall, a Reply, an exception or a function"
            raise InputError(f"expected {expected}, found {type(step).__name__}", field=where)
        return msgspec.structs.replace(
            step, tool_calls=self._number(step.tool_calls), model=self.model if step.model is None else step.model
        )

    def _number(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Give the calls that have none their id."""
        first = self._numbered if self._unique else 0
        self._numbered += len(calls)
        return tuple(
            msgspec.structs.replace(c, id=f"call_{i}") if c.id == NUMBERED else c for i, c in enumerate(calls, first)
        )

    def _stream(
        self, step: Reply | BaseException, on_text_delta: Callable[[str], None] | None, scope: Scope | None
    ) -> None:
        """Stream the text of a step; an exception is raised after it."""
        if on_text_delta is not None:
            text = step.text if isinstance(step, Reply | ProviderError) else ""
            for start in range(0, len(text), self.stream_by):
                if scope is not None:
                    scope.check()
                on_text_delta(text[start : start + self.stream_by])
        if isinstance(step, BaseException):
            raise step


def _function(function: Callable[..., Any]) -> Callable[[Sequence[Message], Mapping[str, Any]], Any]:
    """A function of the script, called with the messages and what else it names."""
    from inspect import signature

    try:
        parameters: Mapping[str, object] = signature(function).parameters
    except ValueError:  # some built-in functions tell nothing about themselves
        parameters = {}
    named = [name for name in TOLD if name in parameters]
    return lambda messages, told: function(messages, **{name: told[name] for name in named})


def _request(
    messages: Sequence[Message], system: str, tools: Sequence[ToolSpec], tool_choice: ToolChoice, limit: int | None
) -> Request:
    from copy import deepcopy

    return Request([deepcopy(dict(m)) for m in messages], system, tuple(tools), tool_choice, limit)


def _used_up(replies: int) -> str:
    """What to say when the script has no reply left."""
    count = "1 reply" if replies == 1 else f"{replies} replies"
    return f"the script has {count} and this is call {replies + 1}: add a reply, or give a function as the script"
