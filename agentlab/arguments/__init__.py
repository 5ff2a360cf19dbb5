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
LOOSE = frozenset((float, list, dict))  # types of values that may hold a whole float


class Validator(msgspec.Struct, frozen=True):
    """A compiled schema: what it was compiled from, its check, what that raises, and if it asks for whole numbers."""

    schema: dict[str, Any]
    check: Callable[[Any], Any]
    error: type[Exception]
    whole: bool


def read_arguments(tool: Tool, sent: Any) -> dict[str, Any]:
    """Return arguments that the tool's schema accepts; what is an integer there is an int.

    >>> from agentlab.tools import Tool
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> read_arguments(Tool("echo", "Echo.", schema, print), '{"arguments": {"n": "5"}}')
    {'n': 5}

    Raises:
        ArgumentError: They cannot be read so; the text names the field, what came and what was expected.
    """
    arguments = sent if type(sent) is dict else _as_object(tool, sent)
    parameters = tool.parameters
    validator = tool.validator
    if validator is None or validator.schema is not parameters:
        validator = tool.validator = _compiled(tool)
    try:
        validator.check(arguments)
    except validator.error:
        arguments = _put_right(tool, validator, arguments)
    else:
        if validator.whole:
            for value in arguments.values():
                if type(value) in LOOSE:  # a schema takes 5.0 for an integer, and a slice does not
                    from agentlab.arguments.coercion import coerce

                    arguments = coerce(arguments, parameters)
                    break
    if carries_marker(arguments):
        raise ArgumentError(
            f"{tool.name}: an argument holds the note [...truncated: ...], which stands for text that was left out of "
            "an earlier result. It was not run. Read the missing part first, then send the whole text."
        )
    return arguments


def _put_right(tool: Tool, validator: Validator, arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments that the schema refused, with plain mistakes put right.

    Raises:
        ArgumentError: That is not enough.
    """
    from agentlab.arguments.coercion import coerce

    arguments = coerce(_without_nulls(tool, _unwrapped(tool, arguments)), tool.parameters)
    try:
        validator.check(arguments)
    except validator.error as error:
        from agentlab.arguments.wording import usage, worded

        raise ArgumentError(f"{tool.name}: {worded(error, tool.parameters)} {usage(tool)}") from None
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
            except (ValueError, RecursionError) as error:
                from agentlab.arguments.wording import usage

                raise ArgumentError(
                    f"{tool.name}: the arguments are not valid JSON ({error}). It was not run. {usage(tool)}"
                ) from None
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        from agentlab.arguments.wording import shown, usage

        raise ArgumentError(f"{tool.name}: expected an object, got {shown(value)}. {usage(tool)}")
    return value


def _unwrapped(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """What stands in the one key `arguments`, where the schema has no such field."""
    if len(arguments) == 1:
        key, inner = next(iter(arguments.items()))
        if key in WRAPPERS and key not in tool.parameters.get("properties", {}):
            return inner if isinstance(inner, dict) else _as_object(tool, inner)
    return arguments


def _without_nulls(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without the fields that may be left out and are null."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", ())
    return {
        name: value
        for name, value in arguments.items()
        if not (value is None and name in properties and name not in required)
    }


def _compiled(tool: Tool) -> Validator:
    """The compiled schema of a tool."""
    import re

    import fastjsonschema

    def refuse(address: str) -> Any:
        raise fastjsonschema.JsonSchemaDefinitionException(f"it refers to {address}, which is not looked up")

    elsewhere = dict.fromkeys(("http", "https", "ftp", "file"), refuse)
    try:
        validate: Callable[[Any], Any] = fastjsonschema.compile(tool.parameters, handlers=elsewhere, use_default=False)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, SyntaxError, re.error) as error:
        raise ArgumentError(
            f"{tool.name}: the tool's own schema is not valid ({error}). It cannot be called."
        ) from None
    whole = "'integer'" in repr(tool.parameters)
    return Validator(tool.parameters, validate, fastjsonschema.JsonSchemaValueException, whole)
