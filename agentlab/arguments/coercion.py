"""Values as a schema's types, where the meaning is plain: "5" where a number is asked for, 5.0 for an integer."""

from __future__ import annotations

from typing import Any

import msgspec

DECODED = ("integer", "number", "boolean", "array", "object")  # types that may come as text
TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def coerce(value: Any, schema: Any, root: Any = None) -> Any:
    """The value with what stands in it as the schema's types, where that says the same thing; else the value.

    A value that the schema accepts stays equal: only a whole float becomes an int where an integer is asked for.

    Args:
        value: Any JSON value.
        schema: One that compiles.
        root: The schema that references are looked up in; None: this one.

    >>> coerce("5", {"type": "integer"}), coerce(5, {"type": "string"}), coerce("five", {"type": "integer"})
    (5, '5', 'five')
    >>> coerce(["1", 2.0], {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}})
    [1, 2]
    """
    root = schema if root is None else root
    schema = resolved(schema, root)
    if not isinstance(schema, dict):
        return value
    for part in schema.get("allOf", ()):
        value = coerce(value, part, root)
    kind = schema.get("type")
    value = _as_kind(value, kind) if isinstance(kind, str) else _as_one_of(value, arms_of(schema), root)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [coerce(item, schema["items"], root) for item in value]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        others = None if "patternProperties" in schema else schema.get("additionalProperties")
        return {name: coerce(item, properties.get(name, others), root) for name, item in value.items()}
    return value


def resolved(schema: Any, root: Any) -> Any:
    """The schema that a reference within the root stands for; None where it leads nowhere."""
    for _ in range(8):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return schema
        schema = root if reference.startswith("#") else None
        for part in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            schema = schema.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(schema, dict) else None
    return None


def arms_of(schema: dict[str, Any]) -> list[Any]:
    """The schemas of which a value may fit one, none where it has no choice."""
    kinds = schema.get("type")
    return [{"type": kind} for kind in kinds] if isinstance(kinds, list) else _choices(schema)


def _choices(schema: dict[str, Any]) -> list[Any]:
    return [arm for key in ("anyOf", "oneOf") for arm in schema.get(key, ())]


def _as_one_of(value: Any, arms: list[Any], root: Any) -> Any:
    """The value as the one of some schemas for which the meaning is plain: all that it can be read as agree."""
    candidates = [arm for arm in arms if _fits(value, arm, root)] or arms
    made = [new for arm in candidates if _fits(new := coerce(value, arm, root), arm, root)]
    made = [new for new in made if new == value] or made
    return made[0] if made and all(repr(new) == repr(made[0]) for new in made) else value


def _fits(value: Any, schema: Any, root: Any) -> bool:
    """Whether a value is of a schema's type, or one of those it names; what stands in it is not looked at."""
    schema = resolved(schema, root)
    if not isinstance(schema, dict):
        return schema is not False
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kind = schema.get("type")
    if isinstance(kind, str):
        return _is(kind, value)
    arms = arms_of(schema)
    return not arms or any(_fits(value, arm, root) for arm in arms)


def _as_kind(value: Any, kind: str) -> Any:
    """The value as a JSON type where that says the same thing."""
    if isinstance(value, str) and kind in DECODED:
        try:
            read = msgspec.json.decode(value.strip().lower() if kind == "boolean" else value.strip())
        except (ValueError, RecursionError):
            return value
        read = _whole(read) if kind == "integer" else read
        return read if _is(kind, read) else value
    if kind == "integer":
        return _whole(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _is(kind: str, value: Any) -> bool:
    """Whether a value is of a JSON type."""
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES.get(kind, ()))


def _whole(value: Any) -> Any:
    """5 for 5.0; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
