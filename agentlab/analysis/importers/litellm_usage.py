"""The usage of a call as LiteLLM reports it, through which several agents call their models.

Read and written tokens stand inside `prompt_tokens`; where they are more than that, as in some of its versions, they
stand beside it. OpenAI's Responses API names the sum `input_tokens`, with the cached part inside.

Source: LiteLLM, `Usage`; OpenAI, Responses.
"""

from __future__ import annotations

from typing import Any

from agentlab.messages import Usage


def litellm_usage(raw: Any) -> Usage | None:
    """The usage of a call; None where it says nothing.

    >>> litellm_usage({"prompt_tokens": 900, "completion_tokens": 7, "cache_creation_input_tokens": 300})
    Usage(input_tokens=600, output_tokens=7, cache_read_tokens=0, cache_write_tokens=300, exact=True)
    >>> litellm_usage({"prompt_tokens": 10, "cache_read_tokens": 80, "cache_write_tokens": 5}).prompt_tokens
    95
    >>> litellm_usage({"input_tokens": 50, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 40}})
    Usage(input_tokens=10, output_tokens=2, cache_read_tokens=40, cache_write_tokens=0, exact=True)
    """
    if not isinstance(raw, dict):
        return None
    prompt = _count(raw, "prompt_tokens", "input_tokens")
    read = _count(raw, "cache_read_tokens", "cache_read_input_tokens")
    for name in ("prompt_tokens_details", "input_tokens_details"):
        if isinstance(raw.get(name), dict):
            read = read or _count(raw[name], "cached_tokens")
    written = _count(raw, "cache_write_tokens", "cache_creation_input_tokens")
    uncached = prompt - read - written if read + written <= prompt else prompt
    usage = Usage(uncached, _count(raw, "completion_tokens", "output_tokens"), read, written)
    return usage if usage.prompt_tokens > 0 else None


def _count(raw: dict[str, Any], *names: str) -> int:
    """The first of some fields that counts something."""
    return next((raw[name] for name in names if type(raw.get(name)) is int and raw[name] > 0), 0)
