"""Making a message list valid, with everything that was observed kept.

Lists come in from saved sessions, other agents and interrupted turns. A provider rejects a call without a result, a
result without a call, an empty text; here each is put right and said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.messages import CallDict, Message, ToolCall

INTERRUPTED = (
    "Error: interrupted before this call had a result. It may or may not have taken effect; call it again if needed."
)
NO_BEGINNING = "(the beginning of this conversation is missing)"
NO_TEXT = {"user": "(empty message)", "assistant": "(no text)"}


def tool_message(call_id: str, name: str, content: str, *, is_error: bool = False) -> Message:
    """A tool message; `is_error` is there only when true."""
    message: Message = {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}
    if is_error:
        message["is_error"] = True
    return message


def encodable(text: str) -> str:
    """The text as it can be encoded: a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    from agentlab.tokens import valid_text

    return valid_text(text)


def call_dict(call: ToolCall) -> CallDict:
    """A call as it stands in the messages; arguments that did not parse stay as they came."""
    arguments: Any = call.arguments
    text = encodable(arguments if isinstance(arguments, str) else json_text(arguments))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}


def json_text(value: Any) -> str:
    """A value as JSON text; as a text that describes it where it holds what JSON has not, or itself.

    >>> json_text({"path": "a.txt"}), json_text({"size": {1, 2}})
    ('{"path":"a.txt"}', '{"size":[1,2]}')
    """
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        import json
        from reprlib import repr as short_repr

        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):
            return json.dumps(short_repr(value), ensure_ascii=False)


def open_calls(messages: Sequence[Message]) -> list[CallDict]:
    """The calls of the last assistant message that have no result yet, where nothing but results follows it.

    >>> call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    >>> open_calls([{"role": "assistant", "content": "", "tool_calls": [call]}])[0]["id"]
    'a'
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(message["tool_call_id"])
        elif message["role"] == "assistant":
            return [call for call in message.get("tool_calls", ()) if call["id"] not in answered]
        else:
            return []
    return []


def repaired(messages: Sequence[Any], places: dict[int, int] | None = None) -> tuple[list[Message], list[str]]:
    """A valid list with everything that was observed, and a note for each thing that was put right.

    Results are paired with calls within the assistant message that made them: ids may come again in later turns.

    Args:
        messages: What came from outside.
        places: Filled, where it is given: where each message that was kept stood, and where it stands now.
    """
    places = {} if places is None else places
    taken = [False] * len(messages)
    result: list[Message] = []
    notes: list[str] = []
    for index, raw in enumerate(messages):
        if taken[index]:
            continue
        message, problem = _readable(raw)
        if problem:
            notes.append(f"message {index}: {problem}")
        if message is None:
            continue
        if message["role"] == "tool":
            notes.append(f"message {index}: dropped, a result of {message.get('name') or 'a tool'} without a call")
            continue
        if not result and message["role"] != "user":
            notes.append(f"message {index}: the list does not begin with a user message, one was put in front")
            result.append({"role": "user", "content": NO_BEGINNING})
        calls = _valid_calls(message, index, notes)
        places[index] = len(result)
        result.append(message)
        for original_id, call in calls:
            seen, found = _result_for(original_id, call, messages, index=index, taken=taken, notes=notes)
            if found is not None:
                places[found] = len(result)
            result.append(seen)
    return result, notes


def _readable(raw: Any) -> tuple[Message | None, str]:
    """A message with a known role and a text that is not empty; what was wrong with it, or ""."""
    if not isinstance(raw, dict) or raw.get("role") not in ("user", "assistant", "tool"):
        role = raw.get("role") if isinstance(raw, dict) else type(raw).__name__
        return None, f"dropped, expected the role user, assistant or tool and found {role!r}"
    message: dict[str, Any] = dict(raw)
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    text = content if isinstance(content, str) else ""
    problem = ""
    if not text.strip() and not (message["role"] == "assistant" and message.get("tool_calls")):
        text = NO_TEXT.get(message["role"]) or f"({message.get('name') or 'the tool'} returned nothing)"
        problem = "empty text replaced"
    message["content"] = text
    return message, problem  # type: ignore[return-value]  # a Message by the checks above


def _valid_calls(message: Message, index: int, notes: list[str]) -> list[tuple[str, CallDict]]:
    """The calls of a message, made valid in place, each with the id that its result carries."""
    pairs: list[tuple[str, CallDict]] = []
    used: set[str] = set()
    sent = _calls_in(message.pop("tool_calls", None), index, notes)
    if sent and message["role"] != "assistant":
        notes.append(f"message {index}: tool_calls dropped, a {message['role']} message makes no calls")
        sent = ()
    for raw in sent:
        function = raw.get("function") if isinstance(raw, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not name:
            notes.append(f"message {index}: dropped a call without a name")
            continue
        original = str(raw.get("id") or "")
        arguments = function.get("arguments", "{}")
        if not isinstance(arguments, str):
            arguments = encodable(json_text(arguments))
        call_id = unique_id(original, used)
        if call_id != original:
            notes.append(f"message {index}: the id {original!r} came twice or was empty, now {call_id!r}")
        pairs.append(
            (original, {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
        )
    if pairs:
        message["tool_calls"] = [call for _, call in pairs]
    elif not message["content"].strip():
        message["content"] = NO_TEXT.get(message["role"], "(no text)")
    return pairs


def _calls_in(calls: Any, index: int, notes: list[str]) -> Sequence[Any]:
    """The calls that a message has, none where they are no list."""
    if calls and not isinstance(calls, list | tuple):
        notes.append(f"message {index}: tool_calls dropped, expected a list and found {type(calls).__name__}")
    return calls if isinstance(calls, list | tuple) else ()


def unique_id(wanted: str, used: set[str]) -> str:
    """The id, or one made from it that is not in `used`; it is added there.

    >>> used = {"a"}
    >>> unique_id("a", used), unique_id("", used)
    ('a_2', 'call_1')
    """
    call_id, n = wanted or "call_1", 1
    while call_id in used:
        n += 1
        call_id = f"{wanted or 'call'}_{n}"
    used.add(call_id)
    return call_id


def _result_for(
    original_id: str, call: CallDict, messages: Sequence[Any], *, index: int, taken: list[bool], notes: list[str]
) -> tuple[Message, int | None]:
    """The result of a call, and where it stood: the next with its id, before the same id is called again."""
    name, call_id = call["function"]["name"], call["id"]
    displaced = False
    for later in range(index + 1, len(messages)):
        raw = messages[later]
        if not isinstance(raw, dict):
            continue
        if raw.get("role") == "tool":
            if not taken[later] and str(raw.get("tool_call_id") or "") == original_id:
                taken[later] = True
                message, problem = _readable(raw)
                if displaced:
                    notes.append(f"message {later}: the result of {name} moved to its call")
                if problem:
                    notes.append(f"message {later}: {problem}")
                result: Message = {**(message or {}), "role": "tool", "tool_call_id": call_id, "name": name}  # type: ignore[typeddict-item]
                return result, later
        else:
            displaced = True
            if any(
                isinstance(c, dict) and str(c.get("id") or "") == original_id
                for c in _calls_in(raw.get("tool_calls"), later, [])
            ):
                break
    notes.append(f"message {index}: the call of {name} has no result, marked as interrupted")
    return tool_message(call_id, name, INTERRUPTED, is_error=True), None
