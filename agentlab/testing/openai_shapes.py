"""The shapes that the OpenAI Chat Completions API accepts: which fields there are, and of which type.

The keys of messages are those that the official SDK (3.57) knows: a tool message has no `name`.
"""

from __future__ import annotations

import re
from typing import Any

from agentlab.testing.rejection import openai_rejection as rejection

_KEYS = frozenset(
    """
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty
    prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format
    safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user verbosity web_search_options
    """.split()  # noqa: SIM905 - one word per line would fill the screen
)
_MESSAGE_KEYS = {
    "system": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "tool_calls", "refusal", "audio", "function_call"),
    "user": ("role", "content", "name"),
    "function": ("role", "content", "name"),
    "tool": ("role", "content", "tool_call_id"),
    "developer": ("role", "content", "name"),
}
_ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
_PART_KEYS = {
    "text": "text",
    "image_url": "image_url",
    "input_audio": "input_audio",
    "file": "file",
    "refusal": "refusal",
}
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_MAX_ID = 40
_MAX_NAME = 64
_ARRAY_TOO_SHORT = "empty array. Expected an array with minimum length 1, but got an empty array instead."


def check_fields(body: Any) -> None:
    """Check every field of a request on its own.

    Args:
        body: The parsed JSON body.

    Raises:
        RejectedRequest: The first field that is wrong.

    >>> check_fields({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    """
    _check_top(body)
    _check_limits(body)
    for index, message in enumerate(body["messages"]):
        _check_message(message, f"messages[{index}]")
    _check_tools(body)


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array"}
    return names.get(type(value), "an object")


def _missing(param: str) -> Exception:
    return rejection(f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter")


def _wrong_type(param: str, expected: str, value: Any) -> Exception:
    message = f"Invalid type for '{param}': expected {expected}, but got {_type_name(value)} instead."
    return rejection(message, param=param, code="invalid_type")


def _empty(param: str) -> Exception:
    return rejection(f"Invalid '{param}': {_ARRAY_TOO_SHORT}", param=param, code="empty_array")


def _bad_pattern(param: str) -> Exception:
    text = (
        f"Invalid '{param}': string does not match pattern. Expected a string that matches the pattern "
        "'^[a-zA-Z0-9_-]+$'."
    )
    return rejection(text, param=param, code="invalid_value")


def _too_long(param: str, limit: int, length: int) -> Exception:
    text = (
        f"Invalid '{param}': string too long. Expected a string with maximum length {limit}, but got a string with "
        f"length {length} instead."
    )
    return rejection(text, param=param, code="string_above_max_length")


def _known_keys(value: dict[str, Any], allowed: frozenset[str] | tuple[str, ...], path: str) -> None:
    for key in value:
        if key not in allowed:
            param = f"{path}{key}"
            raise rejection(f"Unknown parameter: '{param}'.", param=param, code="unknown_parameter")


def _check_top(body: Any) -> None:
    if not isinstance(body, dict):
        raise rejection("We could not parse the JSON body of your request: an object was expected.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise rejection("you must provide a model parameter")
    if "messages" not in body:
        raise _missing("messages")
    _known_keys(body, _KEYS, "")
    if not isinstance(body["messages"], list):
        raise _wrong_type("messages", "an array of objects", body["messages"])
    if not body["messages"]:
        raise _empty("messages")
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise rejection(message, param="stream_options")


def _check_limits(body: dict[str, Any]) -> None:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise rejection(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", param="max_tokens"
        )
    for key in ("max_tokens", "max_completion_tokens"):
        limit = body.get(key)
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool)):
            raise _wrong_type(key, "an integer", limit)
        if limit is not None and limit < 1:
            message = f"Invalid '{key}': integer below minimum value. Expected a value >= 1, but got {limit} instead."
            raise rejection(message, param=key, code="integer_below_min_value")


def _check_message(message: Any, path: str) -> None:
    if not isinstance(message, dict):
        raise _wrong_type(path, "an object", message)
    if "role" not in message:
        raise _missing(f"{path}.role")
    role = message["role"]
    if not isinstance(role, str) or role not in _MESSAGE_KEYS:
        text = f"Invalid value: '{role}'. Supported values are: {_ROLES}."
        raise rejection(text, param=f"{path}.role", code="invalid_value")
    _known_keys(message, _MESSAGE_KEYS[role], f"{path}.")
    _check_content(message, path)
    name = message.get("name")
    if name is not None and (not isinstance(name, str) or not _NAME.fullmatch(name)):
        raise _bad_pattern(f"{path}.name")
    if message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{path}.tool_calls")
    if role == "tool":
        if "tool_call_id" not in message:
            raise _missing(f"{path}.tool_call_id")
        _check_id(message["tool_call_id"], f"{path}.tool_call_id")


def _check_content(message: dict[str, Any], path: str) -> None:
    content = message.get("content")
    if content is None:
        if message.get("tool_calls") or message.get("function_call") or message.get("refusal"):
            return
        param = path.replace("[", ".[") + ".content"
        raise rejection("Invalid value for 'content': expected a string, got null.", param=param)
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise _wrong_type(f"{path}.content", "one of a string or array of objects", content)
    if not content:
        raise _empty(f"{path}.content")
    for index, part in enumerate(content):
        where = f"{path}.content[{index}]"
        if not isinstance(part, dict):
            raise _wrong_type(where, "an object", part)
        key = _PART_KEYS.get(str(part.get("type", "")))
        if key is None:
            supported = ", ".join(f"'{kind}'" for kind in _PART_KEYS)
            text = f"Invalid value: '{part.get('type')}'. Supported values are: {supported}."
            raise rejection(text, param=f"{where}.type", code="invalid_value")
        if key not in part:
            raise _missing(f"{where}.{key}")
        _known_keys(part, ("type", key, "prompt_cache_breakpoint"), f"{where}.")


def _check_calls(calls: Any, path: str) -> None:
    if not isinstance(calls, list):
        raise _wrong_type(path, "an array of objects", calls)
    if not calls:
        raise _empty(path)
    ids: set[str] = set()
    for index, call in enumerate(calls):
        where = f"{path}[{index}]"
        if not isinstance(call, dict):
            raise _wrong_type(where, "an object", call)
        for key in ("id", "type", "function"):
            if key not in call:
                raise _missing(f"{where}.{key}")
        _known_keys(call, ("id", "type", "function"), f"{where}.")
        _check_id(call["id"], f"{where}.id")
        if call["id"] in ids:
            raise rejection(f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call['id']}'.", param=where)
        ids.add(call["id"])
        if call["type"] != "function":
            text = f"Invalid value: '{call['type']}'. Supported values are: 'function'."
            raise rejection(text, param=f"{where}.type", code="invalid_value")
        _check_function(call["function"], f"{where}.function")


def _check_function(function: Any, path: str) -> None:
    if not isinstance(function, dict):
        raise _wrong_type(path, "an object", function)
    for key in ("name", "arguments"):
        if key not in function:
            raise _missing(f"{path}.{key}")
        if not isinstance(function[key], str):
            raise _wrong_type(f"{path}.{key}", "a string", function[key])
    _known_keys(function, ("name", "arguments"), f"{path}.")
    _check_name(function["name"], f"{path}.name")


def _check_name(name: Any, param: str) -> None:
    if not isinstance(name, str):
        raise _wrong_type(param, "a string", name)
    if not _NAME.fullmatch(name):
        raise _bad_pattern(param)
    if len(name) > _MAX_NAME:
        raise _too_long(param, _MAX_NAME, len(name))


def _check_id(value: Any, param: str) -> None:
    if not isinstance(value, str):
        raise _wrong_type(param, "a string", value)
    if not value:
        text = (
            f"Invalid '{param}': empty string. Expected a string with minimum length 1, but got an empty string "
            "instead."
        )
        raise rejection(text, param=param, code="empty_string")
    if len(value) > _MAX_ID:
        raise _too_long(param, _MAX_ID, len(value))


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        for key in ("tool_choice", "parallel_tool_calls"):
            if body.get(key) is not None:
                raise rejection(f"'{key}' is only allowed when 'tools' are specified.", param=key)
        return
    if not isinstance(tools, list):
        raise _wrong_type("tools", "an array of objects", tools)
    if not tools:
        raise _empty("tools")
    for index, tool in enumerate(tools):
        _check_tool(tool, f"tools[{index}]")
    _check_choice(body.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def _check_tool(tool: Any, path: str) -> None:
    if not isinstance(tool, dict):
        raise _wrong_type(path, "an object", tool)
    for key in ("type", "function"):
        if key not in tool:
            raise _missing(f"{path}.{key}")
    _known_keys(tool, ("type", "function"), f"{path}.")
    if tool["type"] != "function":
        text = f"Invalid value: '{tool['type']}'. Supported values are: 'function'."
        raise rejection(text, param=f"{path}.type", code="invalid_value")
    function = tool["function"]
    if not isinstance(function, dict):
        raise _wrong_type(f"{path}.function", "an object", function)
    if "name" not in function:
        raise _missing(f"{path}.function.name")
    _known_keys(function, ("name", "description", "parameters", "strict"), f"{path}.function.")
    _check_name(function["name"], f"{path}.function.name")
    schema = function.get("parameters", {"type": "object"})
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind != "object":
        raise rejection(
            f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of 'type: \"object\"', "
            f"got 'type: \"{kind}\"'.",
            param=f"{path}.function.parameters",
            code="invalid_function_parameters",
        )


def _check_choice(choice: Any, names: list[str]) -> None:
    if choice is None or choice in ("none", "auto", "required"):
        return
    if isinstance(choice, dict) and choice.get("type") == "function":
        name = (choice.get("function") or {}).get("name")
        if name in names:
            return
        text = f"Invalid value for 'tool_choice': no function named '{name}' was specified in the 'tools' parameter."
        raise rejection(text, param="tool_choice")
    text = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
    raise rejection(text, param="tool_choice", code="invalid_value")
