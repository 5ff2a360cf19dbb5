"""The shapes that the Anthropic Messages API accepts: which fields there are, and of which type.

The keys of messages, blocks and tools are those that the official SDK (2.14) knows. Blocks that only Anthropic's own
server tools make are not simulated and count as unknown.
"""

from __future__ import annotations

import re
from typing import Any

from agentlab.testing.rejection import anthropic_rejection as rejection

_COUNT_KEYS = frozenset(
    """
    cache_control messages model output_config speed system thinking tool_choice tools user_profile_id
    workspace_id
    """.split()  # noqa: SIM905 - one word per line would fill the screen
)
_CREATE_KEYS = _COUNT_KEYS | frozenset(
    """
    container diagnostics inference_geo max_tokens metadata service_tier stop_sequences stream temperature top_k
    top_p
    """.split()  # noqa: SIM905 - one word per line would fill the screen
)
_MESSAGE_KEYS = frozenset(("role", "content"))
_TOOL_KEYS = frozenset(
    """
    allowed_callers cache_control defer_loading description eager_input_streaming input_examples input_schema
    name strict type
    """.split()  # noqa: SIM905 - one word per line would fill the screen
)
_BLOCKS = {  # for each type: the keys that it must have, and those that it may have
    "text": (("text",), ("cache_control", "citations")),
    "tool_use": (("id", "name", "input"), ("cache_control", "caller", "toolset_name")),
    "tool_result": (("tool_use_id",), ("cache_control", "content", "is_error", "toolset_name")),
    "image": (("source",), ("cache_control", "transformations")),
    "document": (("source",), ("cache_control", "citations", "context", "title")),
    "thinking": (("thinking", "signature"), ()),
    "redacted_thinking": (("data",), ()),
}
_IN_RESULT = ("text", "image", "document")
_ONLY_ROLE = {"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant", "tool_result": "user"}
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CHOICES = ("auto", "any", "tool", "none")


def check_fields(body: Any, *, counting: bool) -> None:
    """Check every field of a request on its own.

    Args:
        body: The parsed JSON body.
        counting: It is the body of a request for a count.

    Raises:
        RejectedRequest: The first field that is wrong.

    >>> check_fields({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}, counting=False)
    """
    _check_top(body, counting=counting)
    _check_system(body.get("system"))
    for index, message in enumerate(body["messages"]):
        _check_message(message, f"messages.{index}")
    _check_tools(body)


def _known_keys(value: dict[str, Any], allowed: frozenset[str] | tuple[str, ...], path: str) -> None:
    for key in value:
        if key not in allowed:
            raise rejection(f"{path}{key}: Extra inputs are not permitted")


def _check_top(body: Any, *, counting: bool) -> None:
    if not isinstance(body, dict):
        raise rejection("Input should be a valid dictionary")
    _known_keys(body, _COUNT_KEYS if counting else _CREATE_KEYS, "")
    for key in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if key not in body:
            raise rejection(f"{key}: Field required")
    if not isinstance(body["model"], str):
        raise rejection("model: Input should be a valid string")
    limit = body.get("max_tokens", 1)
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise rejection("max_tokens: Input should be a valid integer")
    if limit < 1:
        raise rejection("max_tokens: Input should be greater than or equal to 1")
    if not isinstance(body["messages"], list):
        raise rejection("messages: Input should be a valid list")
    if not body["messages"]:
        raise rejection("messages: at least one message is required")


def _check_system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise rejection("system: Input should be a valid list")
    for index, block in enumerate(system):
        _check_block(block, f"system.{index}", ("text",))
        if not block["text"]:
            raise rejection("system: text content blocks must be non-empty")


def _check_message(message: Any, path: str) -> None:
    if not isinstance(message, dict):
        raise rejection(f"{path}: Input should be a valid dictionary")
    for key in ("role", "content"):
        if key not in message:
            raise rejection(f"{path}.{key}: Field required")
    role, content = message["role"], message["content"]
    if role == "system":
        raise rejection(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
            "as an input message role."
        )
    if role not in ("user", "assistant"):
        raise rejection(f"{path}.role: Input should be 'user' or 'assistant'")
    _known_keys(message, _MESSAGE_KEYS, f"{path}.")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise rejection(f"{path}.content: Input should be a valid list")
    for index, block in enumerate(content):
        _check_block(block, f"{path}.content.{index}", tuple(_BLOCKS))
        only = _ONLY_ROLE.get(block["type"], role)
        if role != only:
            raise rejection(f"{path}: `{block['type']}` blocks can only be in `{only}` messages")


def _check_block(block: Any, path: str, allowed: tuple[str, ...]) -> None:
    if not isinstance(block, dict):
        raise rejection(f"{path}: Input should be a valid dictionary")
    kind = block.get("type")
    if kind not in allowed:
        tags = ", ".join(f"'{tag}'" for tag in allowed)
        raise rejection(
            f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        )
    required, optional = _BLOCKS[kind]
    for key in required:
        if key not in block:
            raise rejection(f"{path}.{kind}.{key}: Field required")
    _known_keys(block, ("type", *required, *optional), f"{path}.{kind}.")
    if kind == "text" and not isinstance(block["text"], str):
        raise rejection(f"{path}.text.text: Input should be a valid string")
    if kind == "tool_use":
        _check_tool_use(block, f"{path}.tool_use")
    if kind == "tool_result":
        _check_tool_result(block, f"{path}.tool_result")


def _check_tool_use(block: dict[str, Any], path: str) -> None:
    if not isinstance(block["id"], str) or not _ID.fullmatch(block["id"]):
        raise rejection(f"{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block["name"], str) or not block["name"]:
        raise rejection(f"{path}.name: String should have at least 1 character")
    if len(block["name"]) > 200:
        raise rejection(f"{path}.name: String should have at most 200 characters")
    if not isinstance(block["input"], dict):
        raise rejection(f"{path}.input: Input should be a valid dictionary")


def _check_tool_result(block: dict[str, Any], path: str) -> None:
    if not isinstance(block["tool_use_id"], str) or not _ID.fullmatch(block["tool_use_id"]):
        raise rejection(f"{path}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block.get("is_error", False), bool):
        raise rejection(f"{path}.is_error: Input should be a valid boolean")
    content = block.get("content", "")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise rejection(f"{path}.content: Input should be a valid list")
    for index, inner in enumerate(content):
        _check_block(inner, f"{path}.content.{index}", _IN_RESULT)


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise rejection("tools: Input should be a valid list")
    names: set[str] = set()
    for index, tool in enumerate(tools or []):
        _check_tool(tool, f"tools.{index}")
        if tool["name"] in names:
            raise rejection("tools: Tool names must be unique.")
        names.add(tool["name"])
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in _CHOICES:
        raise rejection(
            "tool_choice: Input should be a valid dictionary with a 'type' of 'auto', 'any', 'tool', 'none'"
        )
    if not names:
        raise rejection("tool_choice: tool_choice may only be specified while providing tools")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise rejection(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")


def _check_tool(tool: Any, path: str) -> None:
    if not isinstance(tool, dict):
        raise rejection(f"{path}: Input should be a valid dictionary")
    if tool.get("type") not in (None, "custom"):
        raise rejection(
            f"{path}: Input tag '{tool['type']}' found using 'type' does not match any of the expected tags"
        )
    path += ".custom"
    for key in ("name", "input_schema"):
        if key not in tool:
            raise rejection(f"{path}.{key}: Field required")
    _known_keys(tool, _TOOL_KEYS, f"{path}.")
    if not isinstance(tool["name"], str) or not _NAME.fullmatch(tool["name"]):
        raise rejection(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(tool.get("description", ""), str):
        raise rejection(f"{path}.description: Input should be a valid string")
    schema = tool["input_schema"]
    if not isinstance(schema, dict):
        raise rejection(f"{path}.input_schema: Input should be a valid dictionary")
    if "type" not in schema:
        raise rejection(f"{path}.input_schema.type: Field required")
    if schema["type"] != "object":
        raise rejection(f"{path}.input_schema.type: Input should be 'object'")
