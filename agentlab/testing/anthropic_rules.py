"""What the Anthropic Messages API rejects, in its own words.

Two rules follow the current models: a conversation may not end with an assistant message (prefill), and `system` is
no role of a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.testing.anthropic_shapes import check_fields
from agentlab.testing.rejection import anthropic_rejection as rejection

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BREAKPOINTS = 4


def check_anthropic(body: Any, *, counting: bool = False, prefill: bool = False) -> None:
    """Check the body of `POST /v1/messages` as the API does.

    Args:
        body: The parsed JSON body.
        counting: Check it as the body of `POST /v1/messages/count_tokens`.
        prefill: Accept a final assistant message, as models before Claude 4.6 do.

    Raises:
        RejectedRequest: The API would answer 400; the exception holds its body.

    >>> check_anthropic({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello."}]})
    >>> check_anthropic({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": ""}]})
    Traceback (most recent call last):
    agentlab.testing.rejection.RejectedRequest: messages.0: all messages must have non-empty content except for \
the optional final assistant message
    """
    check_fields(body, counting=counting)
    messages = body["messages"]
    _check_order(messages, prefill=prefill or counting)
    _check_contents(messages)
    _check_pairs(messages)
    if not body.get("tools") and any(b["type"] in ("tool_use", "tool_result") for b in _all_blocks(messages)):
        raise rejection("Requests which include `tool_use` or `tool_result` blocks must define tools")
    _check_breakpoints(body)


def blocks_of(content: Any) -> list[Any]:
    """Content as a list of blocks; a string is one text block, or none where it is empty.

    >>> blocks_of("Hello.")
    [{'type': 'text', 'text': 'Hello.'}]
    """
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or [])


def _all_blocks(messages: list[Any]) -> Iterator[Any]:
    return (block for message in messages for block in blocks_of(message["content"]))


def _check_order(messages: list[Any], *, prefill: bool) -> None:
    if messages[0]["role"] != "user":
        raise rejection('messages: first message must use the "user" role')
    if messages[-1]["role"] != "assistant":
        return
    blocks = blocks_of(messages[-1]["content"])
    # An unanswered call at the end is told as such by the pairing rule.
    if not prefill and not any(block["type"] == "tool_use" for block in blocks):
        raise rejection(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if blocks and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        raise rejection("messages: final assistant content cannot end with trailing whitespace")


def _check_contents(messages: list[Any]) -> None:
    for index, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        final = index == len(messages) - 1 and message["role"] == "assistant"
        if not blocks and not final:
            raise rejection(
                f"messages.{index}: all messages must have non-empty content except for the optional final assistant "
                "message"
            )
        for block in blocks:
            inner = blocks_of(block.get("content", "")) if block["type"] == "tool_result" else [block]
            texts = [part["text"] for part in inner if part["type"] == "text"]
            if not all(texts):
                raise rejection("messages: text content blocks must be non-empty")
            if block["type"] == "text" and not block["text"].strip():
                raise rejection("messages: text content blocks must contain non-whitespace text")


def _check_pairs(messages: list[Any]) -> None:
    seen: set[str] = set()
    asked: list[str] = []  # the calls of the previous message
    for index, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        _check_results(blocks, asked, index)
        asked = []
        for place, block in enumerate(blocks):
            if block["type"] != "tool_use":
                continue
            if block["id"] in seen:
                raise rejection(f"messages.{index}.content.{place}: `tool_use` ids must be unique")
            seen.add(block["id"])
            asked.append(block["id"])
    if asked:
        raise _unanswered(asked, len(messages) - 1)


def _check_results(blocks: list[Any], asked: list[str], index: int) -> None:
    """Check one message's results against the calls of the message before it.

    Results count only in front of everything else in their message.
    """
    answered: list[str] = []
    in_front = True
    for place, block in enumerate(blocks):
        if block["type"] != "tool_result":
            in_front = False
            continue
        call_id = block["tool_use_id"]
        if call_id not in asked:
            raise rejection(
                f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if call_id in answered:
            raise rejection(
                f"messages.{index}.content.{place}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {call_id}"
            )
        if in_front:
            answered.append(call_id)
    missing = [call_id for call_id in asked if call_id not in answered]
    if missing:
        raise _unanswered(missing, index - 1)


def _unanswered(ids: list[str], index: int) -> Exception:
    return rejection(
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _check_breakpoints(body: dict[str, Any]) -> None:
    system = body.get("system")
    marked = [body, *(body.get("tools") or []), *(system if isinstance(system, list) else [])]
    for block in _all_blocks(body["messages"]):
        marked.append(block)
        if block["type"] == "tool_result":
            marked.extend(blocks_of(block.get("content", "")))
    marks = [item["cache_control"] for item in marked if item.get("cache_control") is not None]
    for mark in marks:
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            raise rejection("cache_control.type: Input should be 'ephemeral'")
        if mark.get("ttl", "5m") not in ("5m", "1h"):
            raise rejection("cache_control.ttl: Input should be '5m' or '1h'")
    if len(marks) > _MAX_BREAKPOINTS:
        raise rejection(
            f"A maximum of {_MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {len(marks)}."
        )
