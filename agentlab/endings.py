"""How a turn ends: its status and reason, and the words that stand in place of a reply."""

from __future__ import annotations

from typing import Any

import msgspec

from agentlab.errors import Cancelled, ContextWindowError, ScopeEnded, SinkError, is_stop
from agentlab.messages import Usage

STOPPED_AT = 5
SENTENCES = {
    "max_turns": "I stopped after {iterations} model calls without a final reply. What I found so far is above.",
    "max_cost": "I stopped because the cost limit of this run was reached. What I found so far is above.",
    "token_budget": "I stopped because the token limit of this run was reached. What I found so far is above.",
    "output_limit": "I stopped because my reply was cut at the output limit twice.",
    "repeated_call": "I stopped because I made the same call {stopped_at} times with the same result.",
    "deadline": "I stopped because the time for this run was over. What I found so far is above.",
    "blank_reply": "The model gave an empty reply twice, so there is no answer.",
    "sink_error": "I stopped because this session could not be written: {error}",
    "interrupted": "I was stopped: {error}",
}


class Ending(msgspec.Struct, frozen=True):
    """How a turn ended; see `TurnResult`."""

    status: str
    reason: str
    text: str | None = None
    error: BaseException | None = None


class TurnResult(msgspec.Struct, frozen=True):
    """What a turn gave.

    Attributes:
        text: The reply, or the sentence that was appended in its place.
        status: `complete`, `partial`, `failed` or `cancelled`.
        reason: `reply`; `max_turns`, `max_cost`, `token_budget`, `output_limit`, `repeated_call`; `provider_error`,
            `context_window`, `deadline`, `blank_reply`, `sink_error`; `interrupted`.
        iterations: Model calls made.
        usage: Summed over them.
        tool_calls: Name, size before and after the cut, and whether it failed, for each call in order.
        error: What was raised, where something was.
    """

    text: str
    status: str
    reason: str
    iterations: int
    usage: Usage
    tool_calls: list[dict[str, Any]]
    error: BaseException | None = None


def ending_of(error: BaseException) -> Ending:
    """The ending that an error makes.

    >>> ending_of(Cancelled("stop button")).reason
    'interrupted'
    """
    if is_stop(error) or isinstance(error, Cancelled):
        return Ending("cancelled", "interrupted", error=error)
    if isinstance(error, ScopeEnded):
        return Ending("failed", "deadline", error=error)
    if isinstance(error, ContextWindowError):
        return Ending("failed", "context_window", error=error)
    return Ending("failed", "sink_error" if isinstance(error, SinkError) else "provider_error", error=error)


def last_words(ending: Ending, so_far: str, iterations: int) -> str:
    """What is appended where there is no reply: the text that had come, and a sentence on why there is no more."""
    from agentlab.providers.keys import redact

    so_far = so_far or getattr(ending.error, "text", "")
    if ending.error is not None and is_stop(ending.error):
        sentence = "[interrupted by the user]" if so_far.strip() else ""
    else:
        sentence = SENTENCES.get(ending.reason, "").format(
            iterations=iterations, stopped_at=STOPPED_AT, error=ending.error
        )
    return redact("\n\n".join(part for part in (so_far, sentence) if part.strip()))
