"""What a reply may look like: one call or one answer, as a JSON schema that a grammar is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.messages import ToolChoice, ToolSpec

KEPT = frozenset({"type", "enum", "const", "required"})
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})

ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


def reply_schema(
    tools: Sequence[ToolSpec], tool_choice: ToolChoice = "auto", *, any_name: bool = False
) -> dict[str, Any]:
    """The schema of a reply: a union of one call per tool and an answer.

    Args:
        tools: What may be called, at least one.
        tool_choice: "none" leaves the answer alone, "any" leaves it out.
        any_name: The name of the tool is any text and its arguments any object, as where nothing holds a model to
            the tools that there are.

    Raises:
        InputError: A call is asked for and there is no tool.

    >>> from agentlab.builtin_tools import now
    >>> [list(branch["properties"]) for branch in reply_schema([now])["anyOf"]]
    [['tool', 'arguments'], ['answer']]
    """
    if tool_choice == "any" and not tools:
        raise InputError("a call is asked for and there is no tool: give tools, or choose 'auto'", field="tool_choice")
    if tool_choice == "none" or not tools:
        return ANSWER
    if any_name:
        calls = [_call({"type": "string"}, {"type": "object"})]
    else:
        calls = [_call({"const": tool.name}, arguments_schema(tool.parameters)) for tool in tools]
    return {"anyOf": calls if tool_choice == "any" else [*calls, ANSWER]}


def arguments_schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a tool's schema that a grammar can hold: shapes and choices, not lengths, patterns or texts.

    What is left out is checked when the call is made, like that of any model. Arguments that the schema does not name
    are not allowed unless it says so.

    >>> arguments_schema({"type": "object", "properties": {"n": {"type": "integer", "description": "How many."}}})
    {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'additionalProperties': False}
    """
    shape: dict[str, Any] = _shape(dict(parameters))
    return {"type": "object", "properties": {}, "additionalProperties": False} | shape


def _call(name: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": name, "arguments": arguments},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _shape(schema: Any) -> Any:
    """A schema without what no grammar is made from; what a reference stands for may be anything."""
    if not isinstance(schema, dict):
        return schema  # true and false are schemas too
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in KEPT:
            kept[key] = value
        elif key in ("items", "additionalProperties"):
            kept[key] = _shape(value)
        elif key in LISTS and isinstance(value, list):
            kept[key] = [_shape(each) for each in value]
        elif key == "properties" and isinstance(value, dict):
            kept[key] = {name: _shape(each) for name, each in value.items()}
    return kept
