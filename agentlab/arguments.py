"""Arguments as models send them: parsed, put right where the meaning is plain, and checked against the schema.

Models send arguments as an object, as JSON text, as JSON text within JSON text, as an empty text, within a list,
wrapped in `{"arguments": ...}`, and with "5" where a number is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import ArgumentError
from agentlab.truncate import carries_marker

if TYPE_CHECKING:
    from agentlab.tools import Tool

WRAPPERS = ("arguments", "parameters", "input")


class Validator(msgspec.Struct, frozen=True):
    """A compiled schema: what it was compiled from, its check, and what that raises."""

    schema: dict[str, Any]
    check: Callable[[Any], Any]
    error: type[Exception]


_validators: dict[int, Validator] = {}


def read_arguments(tool: Tool, sent: Any) -> dict[str, Any]:
    """Return arguments that the tool's schema accepts.

    >>> from agentlab.tools import Tool
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> read_arguments(Tool("echo", "Echo.", schema, print), '{"arguments": {"n": "5"}}')
    {'n': 5}

    Raises:
        ArgumentError: They cannot be read so; the text names the field, what came and what was expected.
    """
    arguments = sent if type(sent) is dict else _as_object(tool, sent)
    problem = _problem(tool, arguments)
    if problem is not None:
        arguments = _coerced(tool, _unwrapped(tool, arguments))
        problem = _problem(tool, arguments)
    if problem is not None:
        raise ArgumentError(f"{tool.name}: {problem} {_usage(tool)}")
    if carries_marker(arguments):
        raise ArgumentError(
            f"{tool.name}: an argument holds the note [...truncated: ...], which stands for text that was left out of "
            "an earlier result. It was not run. Read the missing part first, then send the whole text."
        )
    return arguments


def _as_object(tool: Tool, sent: Any) -> dict[str, Any]:
    """The object in what was sent: at most two layers of JSON text, or a list around it."""
    value = sent
    for _ in range(2):
        if isinstance(value, str):
            if not value.strip():
                return {}
            try:
                value = msgspec.json.decode(value)
            except msgspec.DecodeError as error:
                raise ArgumentError(
                    f"{tool.name}: the arguments are not valid JSON ({error}). It was not run. {_usage(tool)}"
                ) from None
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ArgumentError(f"{tool.name}: expected an object, got {_shown(value)}. {_usage(tool)}")
    return value


def _unwrapped(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """What stands in the one key `arguments`, where the schema has no such field."""
    if len(arguments) == 1:
        key, inner = next(iter(arguments.items()))
        if key in WRAPPERS and key not in tool.parameters.get("properties", {}):
            return inner if isinstance(inner, dict) else _as_object(tool, inner)
    return arguments


def _coerced(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with plain mistakes of type put right; null for a field that may be left out is left out."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", ())
    return {
        name: coerce(value, properties.get(name, {}))
        for name, value in arguments.items()
        if not (value is None and name in properties and name not in required)
    }


def coerce(value: Any, schema: dict[str, Any]) -> Any:
    """The value as the schema's type where that says the same thing, else the value.

    >>> coerce("5", {"type": "integer"}), coerce(5, {"type": "string"}), coerce("five", {"type": "integer"})
    (5, '5', 'five')
    """
    kind = schema.get("type")
    if isinstance(value, str) and kind in ("integer", "number", "boolean", "array", "object"):
        try:
            read = msgspec.json.decode(value.strip().lower() if kind == "boolean" else value.strip())
        except msgspec.DecodeError:
            return value
        return read if _is(kind, read) else _whole(read) if kind == "integer" else value
    if kind == "integer":
        return _whole(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _is(kind: str, value: Any) -> bool:
    """Whether a decoded value is of a JSON type."""
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[str, Any] = {"integer": int, "number": (int, float), "array": list, "object": dict}
    return isinstance(value, types.get(kind, ()))


def _whole(value: Any) -> Any:
    """5 for 5.0; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _problem(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """What is wrong with the arguments, as a sentence; None where the schema accepts them."""
    validator = _validators.get(id(tool.parameters))
    if validator is None or validator.schema is not tool.parameters:
        validator = _validators[id(tool.parameters)] = _compiled(tool)
    try:
        validator.check(arguments)
    except validator.error as error:
        return _worded(tool, arguments, error)
    return None


def _compiled(tool: Tool) -> Validator:
    """The compiled schema of a tool."""
    import fastjsonschema

    try:
        validate: Callable[[Any], Any] = fastjsonschema.compile(tool.parameters, use_default=False)
    except (fastjsonschema.JsonSchemaDefinitionException, AttributeError, TypeError) as error:
        raise ArgumentError(
            f"{tool.name}: the tool's own schema is not valid ({error}). It cannot be called."
        ) from None
    return Validator(tool.parameters, validate, fastjsonschema.JsonSchemaValueException)


def _worded(tool: Tool, arguments: dict[str, Any], error: Any) -> str:
    """A failed check in words: the field, what came, what was expected."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    field = ".".join(str(part) for part in error.path[1:])
    if error.rule == "required" and not field:
        missing = next((name for name in error.rule_definition if name not in arguments), "?")
        return f"field {missing!r} is missing, expected {_expected(properties.get(missing, {}))}."
    if error.rule == "additionalProperties" and not field:
        from difflib import get_close_matches

        extra = next((name for name in arguments if name not in properties), "?")
        close = get_close_matches(extra, properties, n=1)
        return f"there is no field {extra!r}{f', did you mean {close[0]!r}?' if close else '.'}"
    expected = _expected(error.definition if isinstance(error.definition, dict) else {})
    return f"field {field or 'arguments'!r}: expected {expected}, got {_shown(error.value)}."


def _expected(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "enum" in schema:
        return "one of " + ", ".join(_shown(value) for value in schema["enum"])
    kind = schema.get("type", "a value that the schema accepts")
    bounds = [
        f"{word} {schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema
    ]
    article = "an" if str(kind)[:1] in "aio" and " " not in str(kind) else "a"
    return " ".join([str(kind) if " " in str(kind) else f"{article} {kind}", *bounds])


def _usage(tool: Tool) -> str:
    """The fields of a tool in one sentence."""
    required = tool.parameters.get("required", ())
    fields = [
        f"{name} ({schema.get('type', 'any')}{', required' if name in required else ''})"
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    if not fields:
        return f"{tool.name} takes no arguments: send {{}}."
    return f"Arguments of {tool.name}: {', '.join(fields)}."


def _shown(value: Any) -> str:
    """A value as short JSON, with its kind."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError):
        text = repr(value)
    kinds = {str: "string", int: "number", float: "number", list: "list", dict: "object"}
    kind = kinds.get(type(value))
    return (f"the {kind} " if kind else "") + (text if len(text) <= 80 else text[:77] + "...")
