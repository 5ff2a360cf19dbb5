"""What a JSON schema asks for, as far as filling arguments needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from agentlab.messages import ToolSpec

MAX_DEPTH = 4
NEUTRAL: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": [], "null": None, "string": ""}


def as_json(value: Any) -> str:
    """A value as JSON text; its keys in their order, and its Python form where it is no JSON.

    >>> as_json({"b": 1, "a": "x"})
    '{"b":1,"a":"x"}'
    """
    try:
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return repr(value)


def definitions(tool: ToolSpec) -> dict[str, Any]:
    """The schemas that others refer to by `$ref`."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    found = schema.get("$defs") or schema.get("definitions")
    return found if isinstance(found, dict) else {}


def resolve(schema: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """Follow a local reference, and take the first of several kinds that is not null.

    >>> resolve({"anyOf": [{"type": "null"}, {"type": "integer"}]}, {})
    {'type': 'integer'}
    """
    found: dict[str, Any] = schema if isinstance(schema, dict) else {}
    for _ in range(MAX_DEPTH):
        ref = found.get("$ref")
        options = next((found[k] for k in ("anyOf", "oneOf", "allOf") if isinstance(found.get(k), list)), None)
        if isinstance(ref, str):
            following = defs.get(ref.rsplit("/", 1)[-1])
        elif options:
            real = [option for option in options if isinstance(option, dict) and option.get("type") != "null"]
            following = real[0] if real else {"type": "null"}
        else:
            break
        found = following if isinstance(following, dict) else {}
    return found


def kind_of(schema: dict[str, Any]) -> str:
    """The type of a resolved schema; text where it names none.

    >>> kind_of({"type": ["null", "number"]}), kind_of({"properties": {}}), kind_of({})
    ('number', 'object', 'string')
    """
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    return kind if isinstance(kind, str) else "string"


def neutral(schema: Any, defs: dict[str, Any], depth: int = 0) -> Any:
    """A value that says nothing but that the schema accepts, where nothing better is known.

    >>> neutral({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {})
    {'n': 1}
    """
    schema = resolve(schema, defs)
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = kind_of(schema)
    if kind != "object":
        made = NEUTRAL.get(kind, "")
        return list(made) if isinstance(made, list) else made
    have = schema.get("properties")
    have = have if isinstance(have, dict) else {}
    inner = schema.get("required") or () if depth < MAX_DEPTH else ()
    return {name: neutral(have.get(name), defs, depth + 1) for name in inner}
