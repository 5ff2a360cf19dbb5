"""What every message list of agentlab has to keep so that both APIs accept it.

Stricter than either API: these are the invariants that the loop promises after any ending.
"""

from __future__ import annotations

from typing import Any

from agentlab.testing.rejection import RejectedRequest

_KEYS = {
    "user": {"role", "content", "origin"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id", "name", "is_error"},
}


def check_messages(messages: Any) -> None:
    """Check a list of messages in agentlab's own shape.

    It starts with a user message; every assistant message with calls is directly followed by exactly one result for
    each, in any order, and by nothing else before they are complete; ids are unique within their assistant message;
    texts say something, but for an assistant's that makes calls; names are not empty; arguments are text, which need
    not parse (OpenAI takes any text, and the Anthropic adapter wraps what is no object).

    Args:
        messages: What would be sent next.

    Raises:
        RejectedRequest: The first thing wrong, with the index of its message.

    >>> check_messages([{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}])
    >>> check_messages([{"role": "user", "content": " "}])
    Traceback (most recent call last):
    agentlab.testing.rejection.RejectedRequest: messages[0]: content is blank
    """
    if not isinstance(messages, list):
        raise _wrong(f"messages: expected a list, found {type(messages).__name__}")
    waiting: dict[str, str] = {}  # id: name of the calls that have no result yet
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        _check_shape(message, where)
        if index == 0 and message["role"] != "user":
            raise _wrong(f"{where}: the first message has role {message['role']}, expected user")
        if message["role"] == "tool":
            _take_result(message, waiting, where)
            continue
        if waiting:
            raise _wrong(f"{where}: role {message['role']}, but these calls have no result yet: {_names(waiting)}")
        waiting = _calls(message, where)
    if waiting:
        raise _wrong(f"messages: the list ends, but these calls have no result: {_names(waiting)}")


def _wrong(message: str) -> RejectedRequest:
    return RejectedRequest(message, status=400, kind="invalid_messages", body={"error": message})


def _names(calls: dict[str, str]) -> str:
    return ", ".join(f"{name} ({call_id})" for call_id, name in calls.items())


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _check_shape(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise _wrong(f"{where}: expected a dict, found {type(message).__name__}")
    role = message.get("role")
    if not isinstance(role, str) or role not in _KEYS:
        raise _wrong(f"{where}: role {role!r}, expected user, assistant or tool")
    unknown = sorted(set(message) - _KEYS[role])
    if unknown:
        raise _wrong(f"{where}: a {role} message has no {', '.join(unknown)}")
    content = message.get("content")
    if not isinstance(content, str):
        raise _wrong(f"{where}: content is {type(content).__name__}, expected text")
    if not content.strip() and not message.get("tool_calls"):
        raise _wrong(f"{where}: content is blank")
    if message.get("is_error", True) is not True:
        raise _wrong(f"{where}: is_error is {message['is_error']!r}; it is there only when true")
    if message.get("origin", "loop") != "loop":
        raise _wrong(f"{where}: origin is {message['origin']!r}, expected loop")


def _take_result(message: dict[str, Any], waiting: dict[str, str], where: str) -> None:
    call_id = message.get("tool_call_id")
    if not _is_name(call_id) or not _is_name(message.get("name")):
        raise _wrong(f"{where}: a result has a tool_call_id and a name that are not empty")
    if call_id not in waiting:
        raise _wrong(f"{where}: no call {call_id} waits for a result in the assistant message before it")
    if message["name"] != waiting[str(call_id)]:
        raise _wrong(f"{where}: the result is named {message['name']}, its call {waiting[str(call_id)]}")
    del waiting[str(call_id)]


def _calls(message: dict[str, Any], where: str) -> dict[str, str]:
    if "tool_calls" not in message:
        return {}
    if not isinstance(message["tool_calls"], list) or not message["tool_calls"]:
        raise _wrong(f"{where}: tool_calls is a list with at least one call, or not there")
    found: dict[str, str] = {}
    for place, call in enumerate(message["tool_calls"]):
        at = f"{where}.tool_calls[{place}]"
        if not isinstance(call, dict) or set(call) != {"id", "type", "function"} or call["type"] != "function":
            raise _wrong(f"{at}: expected id, type 'function' and function")
        function = call["function"]
        if not isinstance(function, dict) or set(function) != {"name", "arguments"}:
            raise _wrong(f"{at}: a function has a name and arguments")
        if not _is_name(call["id"]) or not _is_name(function["name"]):
            raise _wrong(f"{at}: id and name are not empty")
        if not isinstance(function["arguments"], str):
            raise _wrong(f"{at}: arguments is {type(function['arguments']).__name__}, expected JSON text")
        if call["id"] in found:
            raise _wrong(f"{at}: id {call['id']} is used twice in one message")
        found[call["id"]] = function["name"]
    return found
