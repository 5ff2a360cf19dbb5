"""What a failed call to a hosted model becomes: an error that says what to do and shows nothing secret.

Errors are told apart by type, status and the provider's own code, never by words in a text. The one exception is the
prompt that is too large: Anthropic says so with a general code, so its documented sentence is read, as a whole and on
that status and code only. Both official SDKs name their errors alike; `sdk` below is either module.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from agentlab.errors import ContextWindowError, ProviderError, TransportError
from agentlab.providers.keys import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.messages import Message

TRANSIENT = frozenset({408, 409, 429, 529})
"""Statuses after which the same call may succeed, with all from 500 on."""

LASTING = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"})
"""Codes that waiting does not change, whatever their status."""

STATUS_OF_KIND = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "timeout_error": 504,
    "api_error": 500,
    "server_error": 500,
    "conflict_error": 409,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
}
"""The status that an error in the middle of a stream would have had: by then the answer has begun with 200."""

ADVICE = {
    400: "the provider does not accept this request",
    401: "the key was not accepted: check it, or enter another with agentlab.use_key()",
    402: "the account cannot pay for this call: see its billing page",
    403: "this key may not use this model: check the model's name and the account's permissions",
    404: "no such model or address: check the model's name and the base URL",
    408: "the provider took too long",
    409: "the request collided with another one",
    422: "the provider does not accept this request",
    429: "the rate limit of this key is reached: wait, or send less per minute",
    529: "the provider is overloaded",
}

_WINDOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_WINDOW_SENTENCES = (
    re.compile(r"prompt is too long: (?P<prompt>\d+) tokens > (?P<window>\d+) maximum"),
    re.compile(r"input length and `max_tokens` exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<window>\d+)\b.*"),
    re.compile(
        r"This model's maximum context length is (?P<window>\d+) tokens\."
        r"(?:.*?(?:resulted in|requested|contains at least) (?P<prompt>\d+)\b)?.*",
        re.DOTALL,
    ),
)
_LONGEST_QUOTE = 300


def translate(sdk: Any, error: Exception, *, provider: str, model: str, messages: Sequence[Message]) -> ProviderError:
    """The error of ours for one that an SDK or its HTTP layer raised.

    Args:
        sdk: The module `anthropic` or `openai`.
        error: What was raised while a call was made or its stream was read.
        provider: Name for the text.
        model: The model that was asked for.
        messages: What was sent; the largest are named where the prompt was too large.
    """
    if isinstance(error, sdk.APITimeoutError):
        return TransportError(f"{provider} did not answer in time", kind="timeout")
    if isinstance(error, sdk.APIConnectionError):
        cause = type(error.__cause__ or error).__name__
        return TransportError(f"no connection to {provider} ({cause}): check the network and the base URL", kind=cause)
    if isinstance(error, sdk.APIError) and not isinstance(error, sdk.APIResponseValidationError):
        return _answered(error, provider=provider, model=model, messages=messages)
    kind = type(error).__name__
    if isinstance(error, ValueError):
        return TransportError(f"{provider} sent something that cannot be read ({kind})", kind=kind)
    return TransportError(f"the answer of {provider} broke off ({kind})", kind=kind)


def _answered(error: Any, *, provider: str, model: str, messages: Sequence[Message]) -> ProviderError:
    """The error for an answer that says what went wrong: an error status, or an error inside a stream."""
    detail = _detail(error.body)
    kinds = [str(detail[key]) for key in ("code", "type") if detail.get(key)]
    kind = kinds[0] if kinds else None
    status = getattr(error, "status_code", None)
    if status is None or status < 400:
        status = next((s for s in map(_status_of, kinds) if s is not None), None)
    said = detail["message"] if isinstance(detail.get("message"), str) else ""
    sizes = _window_sizes(status, kinds, said, detail)
    if sizes is not None:
        return too_large(model, messages, prompt_tokens=sizes[0], window=sizes[1], status=status, kind=kind)
    response = getattr(error, "response", None)
    return ProviderError(
        _sentence(provider, model, status, kind, said),
        status=status,
        kind=kind,
        retry_after=retry_after(response.headers) if response is not None else None,
        transient=is_transient(status, kinds),
    )


def is_transient(status: int | None, kinds: Iterable[str] = ()) -> bool:
    """Whether the same call may succeed later; an unknown error is not worth repeating.

    >>> is_transient(503), is_transient(400), is_transient(429, ["insufficient_quota"])
    (True, False, False)
    """
    return status is not None and (status in TRANSIENT or status >= 500) and LASTING.isdisjoint(kinds)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

    >>> retry_after({"retry-after": "2.5"})
    2.5
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            return _seconds_until(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    return None


def too_large(
    model: str,
    messages: Sequence[Message],
    *,
    prompt_tokens: int | None,
    window: int | None,
    status: int | None = None,
    kind: str | None = None,
) -> ContextWindowError:
    """The error for a prompt that is larger than the window: says by how much, what is largest, what to cut."""
    size = f" of {prompt_tokens} tokens" if prompt_tokens is not None else ""
    limit = f" of {window} tokens" if window is not None else ""
    return ContextWindowError(
        f"the prompt{size} is larger than the window{limit} of {model}; largest of its {len(messages)} messages: "
        f"{_largest(messages)}. Set lower limits for tool results, read less per call, or start a new session",
        prompt_tokens=prompt_tokens,
        window=window,
        status=status,
        kind=kind,
    )


def _largest(messages: Sequence[Message], count: int = 3) -> str:
    """The largest messages by their place (from 0), role, tool and size in characters."""
    sized = sorted(((len(m.get("content") or ""), i) for i, m in enumerate(messages)), key=lambda s: (-s[0], s[1]))
    parts = []
    for size, index in sized[:count]:
        name = messages[index].get("name")
        parts.append(f"{index} ({messages[index]['role']}{f' {name}' if name else ''}, {size} characters)")
    return ", ".join(parts) or "none"


def _window_sizes(
    status: int | None, kinds: Sequence[str], said: str, detail: Mapping[str, Any]
) -> tuple[int | None, int | None] | None:
    """Prompt and window in tokens, each where it is said, of a prompt that is too large; None for any other error."""
    if status not in {None, 400, 413}:
        return None
    found = next((m for m in (p.fullmatch(said) for p in _WINDOW_SENTENCES) if m), None)
    by_code = status == 413 or not _WINDOW_CODES.isdisjoint(kinds)
    if not by_code and (found is None or status != 400):
        return None
    if found is None:  # llama.cpp's server gives its figures as fields
        return _whole(detail.get("n_prompt_tokens")), _whole(detail.get("n_ctx"))
    return _whole(found["prompt"]), _whole(found["window"])


def _whole(figure: Any) -> int | None:
    """A whole number that a server sent, or None where it sent something else."""
    return int(figure) if isinstance(figure, int | str) and str(figure).isdecimal() else None


def _sentence(provider: str, model: str, status: int | None, kind: str | None, said: str) -> str:
    """What happened and what to do; what the provider says is quoted where it is about the request alone."""
    if status is None:
        advice = "the provider reports an error"
    else:
        advice = ADVICE.get(status) or ("the provider failed" if status >= 500 else "the provider refused the call")
    code = "" if status is None and kind is None else f" ({', '.join(str(c) for c in (status, kind) if c is not None)})"
    quote = " ".join(redact(said).split()) if status in {400, 404, 409, 422} else ""
    if len(quote) > _LONGEST_QUOTE:
        quote = quote[:_LONGEST_QUOTE] + "..."
    return f"{provider}, {model}: {advice}{redact(code)}" + (f'; it says "{quote}"' if quote else "")


def _detail(body: object) -> Mapping[str, Any]:
    """The object that describes an error: both SDKs and most compatible servers nest it differently."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, dict):
        return inner
    return {"message": inner} if isinstance(inner, str) and isinstance(body, dict) else {}


def _status_of(kind: str) -> int | None:
    """The status that belongs to a code; some servers send the status itself as the code."""
    if kind.isascii() and kind.isdigit() and 400 <= int(kind) <= 599:
        return int(kind)
    return STATUS_OF_KIND.get(kind)


def _seconds_until(date: str) -> float | None:
    """Seconds until an HTTP date, or None where it is none."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
