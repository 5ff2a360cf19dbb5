"""The Anthropic Messages API on the wire: bodies, events and errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentlab.testing.anthropic_rules import check_anthropic
from agentlab.testing.prompt import PromptCache, Segment, anthropic_segments
from agentlab.testing.rejection import RejectedRequest
from agentlab.testing.rejection import anthropic_rejection as rejection
from agentlab.testing.replies import HttpFault, arguments_text
from agentlab.testing.wire import Answer, Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.messages import Usage

ID_HEADER = "request-id"
BUSY = HttpFault(529)

_STOP_REASONS = {"context_window": "model_context_window_exceeded"}
_FAULTS = {
    400: ("invalid_request_error", "The request was rejected."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not Found"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timed out."),
    529: ("overloaded_error", "Overloaded"),
}


def check_headers(headers: dict[str, str], key: str | None) -> None:
    """Ask for the version and, where there is one, the key, as bearer token or `x-api-key`.

    Args:
        headers: Of the request, names in lower case.
        key: The key to be asked for.

    Raises:
        RejectedRequest: 401 without the right key, 400 without a version.
    """
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    given = headers.get("x-api-key") or bearer
    if key is not None and not given:
        raise rejection("x-api-key header is required", status=401, kind="authentication_error")
    if key is not None and given != key:
        problem = "Invalid bearer token" if given == bearer else "invalid x-api-key"
        raise rejection(problem, status=401, kind="authentication_error")
    if "anthropic-version" not in headers:
        raise rejection("anthropic-version: header is required")


def check_body(body: Any, *, counting: bool, prefill: bool) -> None:
    """Check the body of a request for a message or, `counting`, for a count."""
    check_anthropic(body, counting=counting, prefill=prefill)


def not_json(problem: str) -> RejectedRequest:
    """Word a body that does not parse."""
    return rejection(f"The request body is not valid JSON: {problem}")


def no_model(model: str) -> RejectedRequest:
    """Word an unknown model."""
    return rejection(f"model: {model}", status=404, kind="not_found_error")


def too_long(tokens: int, window: int) -> RejectedRequest:
    """Word a prompt that is larger than the window."""
    return rejection(f"prompt is too long: {tokens} tokens > {window} maximum")


def failure(fault: HttpFault) -> RejectedRequest:
    """Word a scripted fault."""
    kind, message = _FAULTS.get(fault.status, ("api_error", "Internal server error"))
    return rejection(fault.message or message, status=fault.status, kind=fault.kind or kind)


def segments(body: dict[str, Any]) -> list[Segment]:
    """Prompt of a checked body."""
    return anthropic_segments(body)


def prompt_usage(cache: PromptCache, model: str, prompt: list[Segment]) -> Usage:
    """Input side of the usage."""
    return cache.anthropic_usage(model, prompt)


def models(names: list[str]) -> dict[str, Any]:
    """Body of `GET /v1/models`."""
    listed = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names
    ]
    return {
        "data": listed,
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }


def complete(answer: Answer) -> dict[str, Any]:
    """Body of an answer that is not streamed."""
    reply = answer.reply
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    for place, call in enumerate(reply.tool_calls):
        block = {"id": _call_id(answer, place), "name": call.name, "input": _input(arguments_text(call))}
        content.append({"type": "tool_use", **block})
    message = _message(answer)
    message |= {"content": content, "stop_reason": _stop_reason(answer)}
    message["usage"]["output_tokens"] = answer.usage.output_tokens
    return message


def events(answer: Answer) -> Iterator[Event]:
    """Events of a streamed answer, in the order of the real API."""
    yield _event("message_start", message=_message(answer))
    opened = 0
    for index, (block, deltas) in enumerate(_blocks(answer)):
        yield _event("content_block_start", index=index, content_block=block)
        if index == 0:
            yield _event("ping")
        for delta in deltas:
            yield _event("content_block_delta", content=True, index=index, delta=delta)
        yield _event("content_block_stop", index=index)
        opened += 1
    if not opened:
        yield _event("ping")
    delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=_usage(answer) | {"output_tokens": answer.usage.output_tokens})
    yield _event("message_stop")


def error_event(kind: str, message: str) -> Event:
    """Event that reports an error within a stream."""
    return _event("error", error={"details": None, "type": kind, "message": message})


def _event(name: str, /, *, content: bool = False, **fields: Any) -> Event:
    return Event(f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode(), content=content)


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.usage.input_tokens,
        "cache_creation_input_tokens": answer.usage.cache_write_tokens,
        "cache_read_input_tokens": answer.usage.cache_read_tokens,
    }


def _message(answer: Answer) -> dict[str, Any]:
    """Message as it is announced: nothing said yet."""
    return {
        "id": f"msg_{answer.number:06}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(answer) | {"output_tokens": 1, "service_tier": "standard"},
    }


def _stop_reason(answer: Answer) -> str:
    given = answer.reply.stop_reason or ("tool_use" if answer.reply.tool_calls else "end_turn")
    return _STOP_REASONS.get(given, given)


def _call_id(answer: Answer, place: int) -> str:
    return answer.reply.tool_calls[place].id or f"toolu_{answer.number:06}_{place}"


def _input(text: str) -> dict[str, Any]:
    """Object that the arguments parse to; the API never sends half of one outside a stream."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every content block, empty as it starts, with its deltas."""
    if answer.reply.text:
        texts = [{"type": "text_delta", "text": piece} for piece in answer.pieces(answer.reply.text)]
        yield {"type": "text", "text": ""}, texts
    for place, call in enumerate(answer.reply.tool_calls):
        pieces = ["", *answer.pieces(arguments_text(call))]
        block = {"type": "tool_use", "id": _call_id(answer, place), "name": call.name, "input": {}}
        yield block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
