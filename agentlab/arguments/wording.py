"""What a schema refused, in words that a model can act on: the field, what came, what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.arguments.coercion import arms_of, resolved

if TYPE_CHECKING:
    from agentlab.tools import Tool

BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "that is a multiple of {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "minItems": "of at least {} items",
    "maxItems": "of at most {} items",
    "pattern": "that matches the pattern {}",
    "format": "in the format {}",
}


def worded(error: Any, root: dict[str, Any]) -> str:
    """A failed check in words: the field, what came, what was expected."""
    schema = error.definition if isinstance(error.definition, dict) else {}
    place = ".".join(str(part) for part in error.path[1:])
    inside = f"field {place!r}: its " if place else ""
    where = f"field {place!r}" if place else "the arguments"
    if error.definition is False:
        return f"{where} must not be given."
    properties = schema.get("properties", {})
    if error.rule == "required":
        missing = next((name for name in error.rule_definition if name not in error.value), "?")
        return f"{inside}field {missing!r} is missing, expected {_expected(properties.get(missing), root)}."
    if error.rule == "additionalProperties":
        return (f"in {where} " if place else "") + _no_such_field(error.value, schema)
    if error.rule in ("anyOf", "oneOf"):
        arms = "; ".join(dict.fromkeys(_expected(arm, root) for arm in error.rule_definition))
        must = "fits none of" if error.rule == "anyOf" else "must fit exactly one of"
        return f"{where}: {shown(error.value)} {must}: {arms}."
    if error.rule in ("type", "enum", "const", *BOUNDS):
        return f"{where}: expected {_expected(schema, root)}, got {shown(error.value)}."
    return f"{where}: {shown(error.value)} is against the schema's {error.rule}: {shown(error.rule_definition)}."


def _no_such_field(value: dict[str, Any], schema: dict[str, Any]) -> str:
    """Which field an object has that its schema has not, and which of the schema's it may stand for."""
    import re
    from difflib import get_close_matches

    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = next((n for n in value if n not in known and not any(re.search(p, n) for p in patterns)), "?")
    close = get_close_matches(extra, known, n=1)
    return f"there is no field {extra!r}{f', did you mean {close[0]!r}?' if close else '.'}"


def _expected(schema: Any, root: Any) -> str:
    """A schema in a few words."""
    schema = resolved(schema, root)
    if not isinstance(schema, dict):
        return "any value"
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ("one of " if len(values) > 1 else "") + ", ".join(shown(value) for value in values)
    arms = arms_of(schema)
    if arms:
        return " or ".join(dict.fromkeys(_expected(arm, root) for arm in arms))
    kind = schema.get("type", "object" if "required" in schema else "value")
    words = kind if kind == "null" else f"an {kind}" if kind[:1] in "aio" else f"a {kind}"
    if kind == "object" and schema.get("required"):
        words += f" with {' and '.join(map(repr, schema['required']))}"
    return " ".join([words, *(text.format(schema[key]) for key, text in BOUNDS.items() if key in schema)])


def usage(tool: Tool) -> str:
    """The fields of a tool in one sentence."""
    required = tool.parameters.get("required", ())
    fields = [
        f"{name} ({_kind(schema, tool.parameters)}{', required' if name in required else ''})"
        for name, schema in tool.parameters.get("properties", {}).items()
        if schema is not False
    ]
    if not fields:
        return f"{tool.name} takes no arguments: send {{}}."
    return f"Arguments of {tool.name}: {', '.join(fields)}."


def _kind(schema: Any, root: Any) -> str:
    """The JSON type of a schema in a word."""
    schema = resolved(schema, root)
    if not isinstance(schema, dict):
        return "any"
    arms = arms_of(schema)
    return " or ".join(dict.fromkeys(_kind(arm, root) for arm in arms)) if arms else str(schema.get("type", "any"))


def shown(value: Any) -> str:
    """A value as short JSON, with its kind."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    kinds = {str: "string", int: "number", float: "number", list: "list", dict: "object"}
    kind = kinds.get(type(value))
    return (f"the {kind} " if kind else "") + (text if len(text) <= 80 else text[:77] + "...")
