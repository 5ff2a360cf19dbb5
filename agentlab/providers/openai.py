"""OpenAI's models and every server that speaks their Chat Completions API, on OpenAI's SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.wire import WireProvider, parse_arguments, sendable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import CallDict, Message, ToolChoice, ToolSpec

_STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class OpenAIProvider(WireProvider):
    """A model of OpenAI, or of a compatible server.

    Args:
        model: Its name.
        base_url: Address of a compatible server, with its `/v1`; None for `OPENAI_BASE_URL` or OpenAI's own.
        key: The key to send; None for `use_key`'s or the environment's. A server on this machine gets none of those.
        max_output_tokens: Limit of a reply where the call sets none. A compatible server is sent none otherwise.
        timeout: Longest wait in seconds for the next byte.

    Raises:
        MissingKeyError: No key is set.
        InputError: An argument is not what was expected, or the SDK is not installed.

    >>> OpenAIProvider("qwen2.5-coder", base_url="http://localhost:8080/v1")
    OpenAIProvider('qwen2.5-coder', base_url='http://localhost:8080/v1', caching='up to the server')
    """

    name = "openai"
    package = "openai"
    client_class = "OpenAI"
    base_error = "OpenAIError"
    base_url_variable = "OPENAI_BASE_URL"
    extra = "openai"

    @property
    def caching(self) -> str:
        """Whether the prompt is cached, in words: nothing that a request asks for."""
        return "up to the server" if self.base_url else "automatic"

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
        request: dict[str, Any] = {
            "model": self.model,
            "messages": to_openai(messages, system),
            "stream_options": {"include_usage": True},
        }
        if tools:
            request["tools"] = [_tool(tool) for tool in tools]
            request["tool_choice"] = "required" if tool_choice == "any" else tool_choice
        request |= self._output_limit(max_output_tokens or self.max_output_tokens)
        return self.complete(request, _Assembly(), messages=messages, on_text_delta=on_text_delta, scope=scope)

    def open_stream(self, request: dict[str, Any], timeout: Any) -> Any:
        """Send the request; returns the SDK's stream of chunks."""
        return self.client.chat.completions.create(**request, stream=True, timeout=timeout)

    def _output_limit(self, asked: int | None) -> dict[str, int]:
        """The limit of the reply: OpenAI has a new name for it, most compatible servers know the old one."""
        if self.base_url is None:
            return {"max_completion_tokens": asked or self.default_output}
        return {"max_tokens": asked} if asked else {}


def to_openai(messages: Sequence[Message], system: str) -> list[dict[str, Any]]:
    """Convert messages to the Chat Completions shape: ours, without the keys that the API does not know.

    >>> to_openai([{"role": "user", "content": "Go on.", "origin": "loop"}], "Be brief.")
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Go on.'}]
    """
    sent: list[dict[str, Any]] = []
    if system and not system.isspace():
        sent.append({"role": "system", "content": sendable(system, "")})
    for message in messages:
        content = message.get("content")
        if message["role"] == "tool":
            text = sendable(content, f"({message.get('name') or 'the tool'} returned nothing)")
            sent.append({"role": "tool", "tool_call_id": message.get("tool_call_id", ""), "content": text})
        elif message["role"] == "assistant":
            sent.append(_assistant(content, message.get("tool_calls") or []))
        else:
            sent.append({"role": "user", "content": sendable(content, "(empty message)")})
    return sent


def _assistant(content: str | None, calls: Sequence[CallDict]) -> dict[str, Any]:
    """An assistant message; one with calls may have no text."""
    if not calls:
        return {"role": "assistant", "content": sendable(content, "(no text)")}
    return {
        "role": "assistant",
        "content": sendable(content, "") or None,
        "tool_calls": [
            {
                "id": call["id"],
                "type": "function",
                "function": {
                    "name": call["function"]["name"],
                    "arguments": sendable(call["function"]["arguments"], "{}"),
                },
            }
            for call in calls
        ],
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool as the API takes it."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


class _Assembly:
    """Puts a stream of chunks together."""

    def __init__(self) -> None:
        self.stop_reason: str | None = None
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._at: dict[int | None, _Call] = {}
        self._model: str | None = None
        self._usage: Usage | None = None
        self._refused = False

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "".join(self._text)

    def take(self, event: Any) -> str:
        """Take one chunk; returns the text that it adds."""
        self._model = getattr(event, "model", None) or self._model
        self._usage = _usage(getattr(event, "usage", None)) or self._usage
        added = ""
        for choice in getattr(event, "choices", None) or ():
            if getattr(choice, "finish_reason", None):
                self.stop_reason = _STOP_REASONS.get(choice.finish_reason, choice.finish_reason)
            delta = getattr(choice, "delta", None)
            refusal = getattr(delta, "refusal", None) or ""
            self._refused = self._refused or bool(refusal)
            added += (getattr(delta, "content", None) or "") + refusal
            for piece in getattr(delta, "tool_calls", None) or ():
                self._take_call(piece)
        if added:
            self._text.append(added)
        return added

    def reply(self) -> Reply:
        """The reply as far as it has come."""
        reason = self.stop_reason
        if reason == "end_turn" and (self._refused or self._calls):
            # Some servers say stop after calls; a refusal has no word of its own.
            reason = "refusal" if self._refused else "tool_use"
        return Reply(
            text=self.text,
            tool_calls=tuple(ToolCall(c.id, c.name, parse_arguments("".join(c.arguments))) for c in self._calls),
            usage=self._usage,
            stop_reason=reason,
            model=self._model,
        )

    def _take_call(self, piece: Any) -> None:
        """Add a piece to its call; a new id is a new call, since some servers number all of them 0."""
        index = getattr(piece, "index", None)
        call = self._at.get(index)
        if call is None or (piece.id and call.id and piece.id != call.id):
            call = self._at[index] = _Call()
            self._calls.append(call)
        function = getattr(piece, "function", None)
        call.id = call.id or piece.id or ""
        call.name = call.name or getattr(function, "name", None) or ""
        call.arguments.append(getattr(function, "arguments", None) or "")


class _Call:
    """A call while it arrives."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


def _usage(reported: Any) -> Usage | None:
    """Usage with the cached part taken out of the input; None where the server counts nothing."""
    prompt: int = getattr(reported, "prompt_tokens", None) or 0
    if not prompt:
        return None
    details = getattr(reported, "prompt_tokens_details", None)
    read = min(prompt, getattr(details, "cached_tokens", None) or 0)
    write = min(prompt - read, getattr(details, "cache_write_tokens", None) or 0)
    output: int = getattr(reported, "completion_tokens", None) or 0
    return Usage(prompt - read - write, output, cache_read_tokens=read, cache_write_tokens=write)
