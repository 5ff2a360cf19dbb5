"""Claude, on Anthropic's SDK: the Messages API with streaming, tools, prompt caching and the counting endpoint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from agentlab.budgets import run_in_thread
from agentlab.errors import InputError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.wire import WireProvider, parse_arguments, sendable
from agentlab.tokens import TokenCount

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, ToolChoice, ToolSpec

CacheFor = Literal[False, "5m", "1h"]

COUNT_SECONDS = 10.0

_STOP_REASONS = {"model_context_window_exceeded": "context_window"}
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")


class AnthropicProvider(WireProvider):
    """A Claude model.

    Args:
        model: Its name.
        base_url: Address of another server, without `/v1`; None for `ANTHROPIC_BASE_URL` or Anthropic's own.
        key: The key to send; None for `use_key`'s or the environment's. A server on this machine gets none of those.
        cache: How long the provider keeps the prompt in its cache after each call, or False for no caching: writing
            costs more than plain input, reading much less.
        max_output_tokens: Limit of a reply where the call sets none.
        timeout: Longest wait in seconds for the next byte.

    Raises:
        MissingKeyError: No key is set.
        InputError: An argument is not what was expected.

    >>> provider = AnthropicProvider("claude-haiku-4-5", base_url="http://localhost:8080", cache="1h")
    >>> provider.caching
    'on, 1 hour'
    """

    name = "anthropic"
    package = "anthropic"
    client_class = "Anthropic"
    base_error = "AnthropicError"
    base_url_variable = "ANTHROPIC_BASE_URL"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        cache: CacheFor = False,
        max_output_tokens: int | None = None,
        timeout: float = 600.0,
    ) -> None:
        if cache not in {False, "5m", "1h"}:
            raise InputError(f"expected False, '5m' or '1h', found {cache!r}", field="cache")
        super().__init__(model, base_url=base_url, key=key, max_output_tokens=max_output_tokens, timeout=timeout)
        self.cache = cache

    @property
    def caching(self) -> str:
        """Whether prompt caching is switched on, in words."""
        return {"5m": "on, 5 minutes", "1h": "on, 1 hour"}.get(self.cache or "", "off")

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
        """Make one model call; see `Provider.call`."""
        request = self._prompt(messages, system, tools)
        if "tools" in request:
            request["tool_choice"] = {"type": tool_choice if tools else "none"}
        request["max_tokens"] = max_output_tokens or self.max_output_tokens or self.default_output
        return self.complete(request, _Assembly(), messages=messages, on_text_delta=on_text_delta, scope=scope)

    def count_tokens(
        self,
        messages: Sequence[Message],
        *,
        system: str = "",
        tools: Sequence[ToolSpec] = (),
        scope: Scope | None = None,
    ) -> TokenCount:
        """Ask the provider how many tokens a prompt has; this costs nothing and calls no model.

        Returns:
            The count, marked as an estimate: Anthropic's documentation calls it one.

        Raises:
            ProviderError: There was no answer within ten seconds, or it was an error.
        """
        request = self._prompt(messages, system, tools)

        def ask() -> int:
            client = self.client.with_options(timeout=COUNT_SECONDS, max_retries=0)
            try:
                return int(client.messages.count_tokens(**request).input_tokens)
            except self.failures() as error:
                raise self.translate(error, messages) from None

        return TokenCount(run_in_thread(ask, scope), exact=False, method="anthropic count_tokens")

    def open_stream(self, request: dict[str, Any], timeout: Any) -> Any:
        """Send the request; returns the SDK's stream of raw events."""
        return self.client.messages.create(**request, stream=True, timeout=timeout)

    def _prompt(self, messages: Sequence[Message], system: str, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        """What both endpoints take: model, messages, system, tools, with the cache's marks."""
        request: dict[str, Any] = {"model": self.model, "messages": to_anthropic(messages)}
        if system and not system.isspace():
            request["system"] = [{"type": "text", "text": sendable(system, "")}]
        definitions = [_definition(tool.name, tool.description, tool.parameters) for tool in tools]
        if definitions or (definitions := _definitions_of_history(messages)):
            request["tools"] = definitions
        if self.cache:
            _mark(request, {"type": "ephemeral", "ttl": self.cache})
        return request


def to_anthropic(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Convert messages to the Messages API's shape.

    All results of an iteration, and user messages after them, go into one user message: the API wants every result
    directly after its call, and roles that alternate.

    >>> to_anthropic([{"role": "user", "content": "hi"}, {"role": "user", "content": "again"}])
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'hi'}, {'type': 'text', 'text': 'again'}]}]
    """
    ids = _Ids()
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        if message["role"] == "assistant":
            blocks = _assistant_blocks(message, ids)
        elif message["role"] == "tool":
            blocks = [_result_block(message, ids)]
        else:
            blocks = [{"type": "text", "text": sendable(message["content"], "(empty message)")}]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


class _Ids:
    """Call ids as the API takes them: of its letters only, and none used twice in a conversation.

    Replayed sessions and other providers count `call_0`, `call_1` anew in every iteration.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._current: dict[str, str] = {}

    def new_message(self) -> None:
        """Start an assistant message: results belong to the calls of the last one."""
        self._current = {}

    def assign(self, raw: str) -> str:
        """The id to send for a call."""
        stem = clean = _NOT_IN_AN_ID.sub("_", raw) or "call"
        while clean in self._used:
            self._used[stem] += 1
            clean = f"{stem}_{self._used[stem]}"
        self._used[clean] = 1
        self._current[raw] = clean
        return clean

    def of(self, raw: str) -> str:
        """The id that was sent for the call that this result answers."""
        return self._current.get(raw) or _NOT_IN_AN_ID.sub("_", raw)


def _assistant_blocks(message: Message, ids: _Ids) -> list[dict[str, Any]]:
    """Text first, then calls; a message with calls needs no text."""
    ids.new_message()
    calls = message.get("tool_calls") or []
    text = sendable(message.get("content"), "" if calls else "(no text)")
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for call in calls:
        arguments = parse_arguments(call["function"]["arguments"])
        if not isinstance(arguments, dict):  # the API takes objects only: what the model wrote is shown to it as it was
            arguments = {"not_an_object": sendable(arguments, "")}
        use = {"type": "tool_use", "id": ids.assign(call["id"]), "name": call["function"]["name"], "input": arguments}
        blocks.append(use)
    return blocks


def _result_block(message: Message, ids: _Ids) -> dict[str, Any]:
    """One observation."""
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": ids.of(message.get("tool_call_id") or ""),
        "content": sendable(message.get("content"), f"({message.get('name') or 'the tool'} returned nothing)"),
    }
    if message.get("is_error"):
        block["is_error"] = True
    return block


def _definition(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A tool as the API takes it."""
    return {"name": name, "description": description, "input_schema": parameters}


def _definitions_of_history(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Stand-ins for the tools of earlier calls: the API refuses calls in the history where it is sent no tools."""
    names = {call["function"]["name"]: None for message in messages for call in message.get("tool_calls") or ()}
    return [_definition(name, "Not available now.", {"type": "object"}) for name in names]


def _mark(request: dict[str, Any], cache_control: dict[str, str]) -> None:
    """Set the cache's marks, four at most: tools, system, the end of this prompt, and that of the prompt before.

    The last but one lets this call read what the call before wrote, however much has been added since.
    """
    ends = [turn["content"][-1] for turn in request["messages"] if turn["role"] == "user"][-2:]
    for blocks in (request.get("tools"), request.get("system")):
        if blocks:
            ends.append(blocks[-1])
    for block in ends:
        block["cache_control"] = cache_control


class _Assembly:
    """Puts a stream of Messages events together; blocks that are neither text nor calls are left out."""

    def __init__(self) -> None:
        self.stop_reason: str | None = None
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._model: str | None = None
        self._usage: dict[str, int] = {}

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "".join(self._text)

    def take(self, event: Any) -> str:
        """Take one event; returns the text that it adds."""
        match event.type:
            case "message_start":
                self._model = event.message.model
                self._count(event.message.usage)
            case "content_block_start":
                return self._start(event.index, event.content_block)
            case "content_block_delta" if event.delta.type == "text_delta":
                return self._add(event.delta.text)
            case "content_block_delta" if event.delta.type == "input_json_delta":
                self._calls[event.index].json.append(event.delta.partial_json)
            case "message_delta":
                reason = event.delta.stop_reason
                self.stop_reason = _STOP_REASONS.get(reason, reason) or self.stop_reason
                self._count(event.usage)
        return ""

    def reply(self) -> Reply:
        """The reply as far as it has come."""
        calls = (self._calls[index] for index in sorted(self._calls))
        return Reply(
            text=self.text,
            tool_calls=tuple(ToolCall(call.id, call.name, call.arguments()) for call in calls),
            usage=self._reported_usage(),
            stop_reason=self.stop_reason,
            model=self._model,
        )

    def _start(self, index: int, block: Any) -> str:
        if block.type == "tool_use":
            self._calls[index] = _Call(block)
        return self._add(block.text) if block.type == "text" else ""

    def _add(self, text: str) -> str:
        self._text.append(text)
        return text

    def _count(self, usage: Any) -> None:
        """Keep the latest figures: those at the end are totals, and may leave out what the start has said."""
        for field in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            figure = getattr(usage, field, None)
            if figure is not None:
                self._usage[field] = figure

    def _reported_usage(self) -> Usage | None:
        """Usage, or None where the server counts nothing: a prompt is never empty."""
        figures = self._usage
        usage = Usage(
            figures.get("input_tokens", 0),
            figures.get("output_tokens", 0),
            cache_read_tokens=figures.get("cache_read_input_tokens", 0),
            cache_write_tokens=figures.get("cache_creation_input_tokens", 0),
        )
        return usage if usage.prompt_tokens else None


class _Call:
    """A call while it arrives."""

    def __init__(self, block: Any) -> None:
        self.id: str = block.id
        self.name: str = block.name
        self.start: Any = block.input
        self.json: list[str] = []

    def arguments(self) -> dict[str, Any] | str:
        """What arrived in pieces, else what the block began with."""
        text = "".join(self.json)
        return dict(self.start) if not text and isinstance(self.start, dict) else parse_arguments(text)
