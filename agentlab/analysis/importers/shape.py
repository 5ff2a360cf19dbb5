"""Foreign messages in the chapter's shape, and the calls that made them.

A log is evidence: nothing is moved, invented or dropped to please a provider, as `agentlab.repair` does before a list
is sent again. What has no place in the shape becomes a problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.session import Call, Record
from agentlab.messages import Usage
from agentlab.tokens import valid_text
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agentlab.analysis.importers.peek import Peek

    Report = Callable[[str], None]
    Picture = Callable[[dict[str, Any]], None]

MOST_TOKENS = 10**12  # of one call: more is no count, and sums of such numbers leave the columns of a frame
MOST_CHARS = 10**12  # of one result
ROLES = ("user", "assistant", "tool", "system", "developer")
RESPONSES = ("function_call", "function_call_output", "reasoning", "item_reference", "web_search_call")
IMAGES = ("image_url", "input_image")


def reporter(peek: Peek, where: str = "", line: int = 1) -> Report:
    """Adds reasons to the problems of a file, each with its line and its place in the line."""
    path, problems = str(peek.path), peek.problems
    return lambda reason: problems.append(Problem(path, line, f"{where}: {reason}" if where else reason))


def message_of(
    raw: Any, report: Report, names: dict[str, str], picture: Picture | None = None
) -> dict[str, Any] | None:
    """A message in the chapter's shape, or None where it is none.

    Args:
        raw: What the log has.
        report: Told what could not be taken as it is.
        names: Tool names by call id; read for a result without a name, and written for each call.
        picture: Given each image of the content; None reports them.

    >>> message_of({"role": "assistant", "content": None}, print, {})
    {'role': 'assistant', 'content': ''}
    """
    if not isinstance(raw, dict) or raw.get("role") not in ROLES:
        report(f"skipped: expected a message with one of the roles {', '.join(ROLES)}, found {_found(raw)}")
        return None
    message: dict[str, Any] = {"role": raw["role"], "content": text_of(raw.get("content"), report, picture)}
    if isinstance(raw.get("tool_calls"), list) and raw["role"] == "assistant":
        calls = [call for each in raw["tool_calls"] if (call := _call_of(each, report)) is not None]
        names.update((call["id"], call["function"]["name"]) for call in calls)
        if calls:
            message["tool_calls"] = calls
    if raw["role"] == "tool":
        call_id = str(raw.get("tool_call_id") or "")
        message |= {"tool_call_id": call_id, "name": str(raw.get("name") or names.get(call_id, ""))}
        if raw.get("is_error") is True:
            message["is_error"] = True
    if raw["role"] == "user" and raw.get("origin") == "loop":
        message["origin"] = "loop"
    return message


def text_of(content: Any, report: Report, picture: Picture | None = None) -> str:
    r"""The text of a content, which may be null or a list of parts; images go to `picture` if there is one.

    >>> text_of([{"type": "text", "text": "a"}, "b"], print)
    'a\nb'
    """
    if isinstance(content, str):
        return valid_text(content)
    if content is None:
        return ""
    if not isinstance(content, list):
        report(f"content: expected a text or a list of parts, found {_kind(content)}; it counts as empty")
        return ""
    texts = []
    for part in content:
        text = part.get("text") or part.get("refusal") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(valid_text(text))
        elif picture is not None and isinstance(part, dict) and part.get("type") in IMAGES:
            picture(part)
        else:
            kind = part.get("type") if isinstance(part, dict) else _kind(part)
            report(f"content: a part of type {kind!r} has no text and counts nothing")
    return "\n".join(texts)


def usage_of(raw: Any) -> Usage | None:
    """The usage of a call: OpenAI's, whose cached tokens stand inside `prompt_tokens`, or one as `Usage` names it.

    None where it says nothing.

    >>> usage_of({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}})
    Usage(input_tokens=40, output_tokens=7, cache_read_tokens=60, cache_write_tokens=0, exact=True)
    >>> usage_of({"input_tokens": 40, "output_tokens": 7, "cache_read_tokens": 60}).prompt_tokens
    100
    """
    if not isinstance(raw, dict):
        return None
    if "prompt_tokens" not in raw and "input_tokens" in raw:
        return _own_usage(raw)
    prompt, output = raw.get("prompt_tokens"), raw.get("completion_tokens")
    if not isinstance(prompt, int) or prompt <= 0:
        return None
    details = raw.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    cached = min(cached, prompt) if isinstance(cached, int) and cached > 0 else 0
    return Usage(prompt - cached, output if isinstance(output, int) and output > 0 else 0, cached)


def _own_usage(raw: dict[str, Any]) -> Usage | None:
    def count(name: str) -> int:
        value = raw.get(name)
        return value if type(value) is int else 0

    cached = count("cache_read_tokens"), count("cache_write_tokens")
    usage = Usage(count("input_tokens"), count("output_tokens"), *cached, exact=raw.get("exact") is not False)
    return usage if usage.prompt_tokens else None


def plausible(usage: Usage | None, report: Report) -> Usage | None:
    """The usage, or None where a count in it cannot be one.

    >>> plausible(Usage(10**20), print)
    usage: 100000000000000000000 tokens are no count: expected 0 to 1000000000000; the usage is left out
    """
    if usage is None:
        return None
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    for count in counts:
        if not 0 <= count <= MOST_TOKENS:
            report(f"usage: {count} tokens are no count: expected 0 to {MOST_TOKENS}; the usage is left out")
            return None
    return usage


def plausible_size(chars: int | None, report: Report) -> int | None:
    """The size that a result had before it was cut, or None where it cannot be one.

    >>> plausible_size(10**20, print)
    original size: 100000000000000000000 characters are no size: expected 0 to 1000000000000; it is left out
    """
    if chars is None or 0 <= chars <= MOST_CHARS:
        return chars
    report(f"original size: {chars} characters are no size: expected 0 to {MOST_CHARS}; it is left out")
    return None


def tools_of(raw: Any) -> tuple[dict[str, Any], ...]:
    """Tools as name, description and parameters; what has no name is left out.

    A schema that is none is put into the description, so that it still counts.
    """
    tools = []
    for each in raw if isinstance(raw, list) else ():
        function = each.get("function", each) if isinstance(each, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            continue
        described, schema = function.get("description"), function.get("parameters")
        described = valid_text(described) if isinstance(described, str) else ""
        if not _is_schema(schema):
            described += "" if schema is None else msgspec.json.encode(schema).decode()
            schema = {}
        tools.append({"name": function["name"], "description": described, "parameters": schema})
    return tuple(tools)


def records_of(messages: Iterable[dict[str, Any]]) -> tuple[Record, ...]:
    """Place messages: a user message opens a turn, each assistant message an iteration."""
    turn = iteration = 0
    records = []
    for message in messages:
        if message["role"] == "user" and "origin" not in message:
            turn, iteration = turn + 1, 0
        elif message["role"] == "assistant":
            iteration += 1
        records.append(Record(message, turn, iteration))
    return tuple(records)


def calls_of(records: Sequence[Record], usages: dict[int, Usage], model: str | None = None) -> tuple[Call, ...]:
    """A call for each assistant message: its prompt is all that stands before it.

    What an assistant says before the first user message is a greeting that no call made.
    """
    return tuple(
        Call(record.turn, record.iteration, 0, index, index, usages.get(index), None, model)
        for index, record in enumerate(records)
        if record.role == "assistant" and record.turn > 0
    )


def _call_of(raw: Any, report: Report) -> dict[str, Any] | None:
    function = raw.get("function") if isinstance(raw, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        report("tool_calls: a call without the name of a function is left out")
        return None
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else msgspec.json.encode(arguments).decode()
    call_id = str(raw.get("id") or "")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": valid_text(arguments)}}


def _is_schema(schema: Any) -> bool:
    """Whether it is an object schema whose properties can be counted one by one."""
    if not isinstance(schema, dict):
        return False
    properties = schema.get("properties")
    if not properties:
        return properties is None or isinstance(properties, dict)
    return isinstance(properties, dict) and all(
        isinstance(value, dict) and isinstance(value.get("enum", []), list) for value in properties.values()
    )


def _found(raw: Any) -> str:
    """What stands where a message was expected."""
    if not isinstance(raw, dict):
        return _kind(raw)
    if raw.get("role") is None and raw.get("type") in RESPONSES:
        return f"an item {raw['type']!r} of OpenAI's Responses, which this reader does not know"
    return f"the role {raw.get('role')!r}"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a truth value"}
    return names.get(type(value), "a number")
