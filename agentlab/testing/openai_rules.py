"""What the OpenAI Chat Completions API rejects, in its own words."""

from __future__ import annotations

from typing import Any

from agentlab.testing.openai_shapes import check_fields
from agentlab.testing.rejection import openai_rejection as rejection


def check_openai(body: Any) -> None:
    """Check the body of `POST /v1/chat/completions` as the API does.

    Args:
        body: The parsed JSON body.

    Raises:
        RejectedRequest: The API would answer 400; the exception holds its body.

    >>> check_openai({"model": "m", "messages": [{"role": "user", "content": "Hello."}]})
    >>> check_openai({"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]})
    Traceback (most recent call last):
    agentlab.testing.rejection.RejectedRequest: Invalid parameter: messages with role 'tool' must be a response to \
a preceeding message with 'tool_calls'.
    """
    check_fields(body)
    _check_pairs(body["messages"])


def _check_pairs(messages: list[Any]) -> None:
    asked: list[str] = []
    answered: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            _check_result(message["tool_call_id"], index, asked, answered)
            continue
        _check_answered(asked, answered, index)
        asked = [call["id"] for call in message.get("tool_calls") or []]
        answered = {}
    _check_answered(asked, answered, len(messages))


def _check_result(call_id: str, index: int, asked: list[str], answered: dict[str, int]) -> None:
    if not asked:
        raise rejection(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            param=f"messages.[{index}].role",
        )
    param = f"messages.[{index}].tool_call_id"
    if call_id not in asked:
        text = f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
        raise rejection(text, param=param)
    if call_id in answered:
        raise rejection(
            f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', in messages[{answered[call_id]}] "
            f"and messages[{index}].",
            param=param,
        )
    answered[call_id] = index


def _check_answered(asked: list[str], answered: dict[str, int], index: int) -> None:
    missing = [call_id for call_id in asked if call_id not in answered]
    if missing:
        raise rejection(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}",
            param=f"messages.[{index}].role",
        )
