"""The OpenAI Chat Completions API on the wire: bodies, chunks and errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentlab.testing.openai_rules import check_openai
from agentlab.testing.prompt import PromptCache, Segment, openai_segments
from agentlab.testing.rejection import RejectedRequest
from agentlab.testing.rejection import openai_rejection as rejection
from agentlab.testing.replies import HttpFault, arguments_text
from agentlab.testing.wire import Answer, Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.messages import Usage

ID_HEADER = "x-request-id"
BUSY = HttpFault(503)

_CREATED = 1_767_225_600  # a fixed moment, so that the same script gives the same bytes
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "context_window": "length",
    "refusal": "content_filter",
}
_FAULTS: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request was rejected."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached on requests per min (RPM). Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    503: ("server_error", None, "The engine is currently overloaded, please try again later"),
}


def check_headers(headers: dict[str, str], key: str | None) -> None:
    """Ask for the key, where there is one.

    Args:
        headers: Of the request, names in lower case.
        key: The key to be asked for, as bearer token.

    Raises:
        RejectedRequest: 401 without the right key.
    """
    if key is None:
        return
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or not given:
        raise rejection("You didn't provide an API key.", status=401)
    if given != key:
        hidden = f"{given[:3]}***" if len(given) > 8 else "***"
        raise rejection(f"Incorrect API key provided: {hidden}.", status=401, code="invalid_api_key")


def check_body(body: Any, *, counting: bool, prefill: bool) -> None:  # noqa: ARG001 - the API knows neither
    """Check the body of a request."""
    check_openai(body)


def not_json(problem: str) -> RejectedRequest:
    """Word a body that does not parse."""
    return rejection(f"We could not parse the JSON body of your request. ({problem})")


def no_model(model: str) -> RejectedRequest:
    """Word an unknown model."""
    message = f"The model `{model}` does not exist or you do not have access to it."
    return rejection(message, status=404, code="model_not_found")


def too_long(tokens: int, window: int) -> RejectedRequest:
    """Word a prompt that is larger than the window."""
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. "
        "Please reduce the length of the messages."
    )
    return rejection(message, param="messages", code="context_length_exceeded")


def failure(fault: HttpFault) -> RejectedRequest:
    """Word a scripted fault."""
    default = _FAULTS[500 if fault.status != 529 else 503]
    kind, code, message = _FAULTS.get(fault.status, default)
    return rejection(fault.message or message, status=fault.status, kind=fault.kind or kind, code=code)


def segments(body: dict[str, Any]) -> list[Segment]:
    """Prompt of a checked body."""
    return openai_segments(body)


def prompt_usage(cache: PromptCache, model: str, prompt: list[Segment]) -> Usage:
    """Input side of the usage."""
    return cache.openai_usage(model, prompt)


def models(names: list[str]) -> dict[str, Any]:
    """Body of `GET /v1/models`."""
    listed = [{"id": name, "object": "model", "created": _CREATED, "owned_by": "agentlab"} for name in names]
    return {"object": "list", "data": listed}


def complete(answer: Answer) -> dict[str, Any]:
    """Body of an answer that is not streamed."""
    reply = answer.reply
    calls = [
        {
            "id": _call_id(answer, place),
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(call)},
        }
        for place, call in enumerate(reply.tool_calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None, "annotations": []}
    if calls:
        message |= {"content": reply.text or None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return _envelope(answer, "chat.completion") | {"choices": [choice], "usage": _usage(answer)}


def events(answer: Answer) -> Iterator[Event]:
    """Chunks of a streamed answer, the usage among them where `stream_options` asks for it, and the end mark."""
    counted = bool((answer.options.get("stream_options") or {}).get("include_usage"))
    extra: dict[str, Any] = {"usage": None} if counted else {}
    calls = answer.reply.tool_calls
    yield _chunk(answer, extra, {"role": "assistant", "content": None if calls else "", "refusal": None})
    for piece in answer.pieces(answer.reply.text):
        yield _chunk(answer, extra, {"content": piece}, content=True)
    for place, call in enumerate(calls):
        function = {"name": call.name, "arguments": ""}
        head = {"index": place, "id": _call_id(answer, place), "type": "function", "function": function}
        yield _chunk(answer, extra, {"tool_calls": [head]}, content=True)
        for piece in answer.pieces(arguments_text(call)):
            more = {"index": place, "function": {"arguments": piece}}
            yield _chunk(answer, extra, {"tool_calls": [more]}, content=True)
    yield _chunk(answer, extra, {}, finish_reason=_finish_reason(answer))
    if counted:
        yield _event(_envelope(answer, "chat.completion.chunk") | {"choices": [], "usage": _usage(answer)})
    yield Event(b"data: [DONE]\n\n")


def error_event(kind: str, message: str) -> Event:
    """Event that reports an error within a stream."""
    return _event({"error": {"message": message, "type": kind, "param": None, "code": None}})


def _event(payload: dict[str, Any], *, content: bool = False) -> Event:
    return Event(f"data: {json.dumps(payload)}\n\n".encode(), content=content)


def _chunk(
    answer: Answer,
    extra: dict[str, Any],
    delta: dict[str, Any],
    *,
    content: bool = False,
    finish_reason: str | None = None,
) -> Event:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    payload = _envelope(answer, "chat.completion.chunk") | {"choices": [choice]} | extra
    return _event(payload, content=content)


def _envelope(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number:06}",
        "object": kind,
        "created": _CREATED,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    """Usage as OpenAI reports it: the cached part lies inside `prompt_tokens`."""
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _finish_reason(answer: Answer) -> str:
    given = answer.reply.stop_reason or ("tool_use" if answer.reply.tool_calls else "end_turn")
    return _FINISH_REASONS.get(given, given)


def _call_id(answer: Answer, place: int) -> str:
    return answer.reply.tool_calls[place].id or f"call_{answer.number:06}_{place}"
