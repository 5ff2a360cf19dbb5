"""What the model may call: a `Tool`, made by hand or from a function.

>>> @tool
... def add(a: int, b: int = 1) -> str:
...     '''Add two numbers.
...
...     Args:
...         a: The first.
...         b: The second.
...     '''
...     return str(a + b)
>>> add.parameters["required"], add.parameters["properties"]["a"]
(['a'], {'type': 'integer', 'description': 'The first.'})
>>> add(2, 3)
'5'
"""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import msgspec

from agentlab.errors import InputError
from agentlab.truncate import MAX_OBSERVATION_CHARS, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentlab.arguments import Validator

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every provider accepts


@dataclass
class Tool:
    """A tool: what the model reads about it, the function that runs, and how its result is cut.

    Attributes:
        name: What the model calls it by: ASCII letters, digits, `_` and `-`, at most 64.
        description: What the model reads about it.
        parameters: JSON schema of its arguments, of type object.
        run: `run(**arguments) -> str`. Where it has a parameter `scope` that the schema has not, it is given the
            current `Scope`, or None.
        max_observation_chars: Limit of its result, in characters, where the policy sets none.
        strategy: How its result is cut: a name of `agentlab.truncate.STRATEGIES`.
        keep_fields: Of a result in JSON only these fields are kept.
        timeout: Seconds until it is given up, or None.
        polling: It may be called with the same arguments and give the same result for long.
        stored: False for a tool that reads stored results back: what it returns is never stored again.
        pinned: What it returned stays in every request: no compaction takes it out. A skill's text is such a result.
        takes_scope: Whether `run` is given the scope.
        validator: The compiled schema; `agentlab.arguments` keeps it here.

    Raises:
        InputError: A field is not what is said here, or `run` is an `async def`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[..., Any]
    max_observation_chars: int = MAX_OBSERVATION_CHARS
    strategy: str = "middle_snip"
    keep_fields: tuple[str, ...] | None = None
    timeout: float | None = None
    polling: bool = False
    stored: bool = True
    pinned: bool = False
    takes_scope: bool = field(init=False, repr=False, compare=False)
    validator: Validator | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or NAME.fullmatch(self.name) is None:
            raise InputError(f"a tool's name has 1 to 64 ASCII letters, digits, _ or -, and {self.name!r} has not")
        _check_settings(self)
        _check_schema(self.name, self.parameters)
        if _is_async(self.run):
            raise InputError(
                f"the tool {self.name!r} is an async def, which nobody would await: write a plain def. What must be "
                "awaited goes into asyncio.run(...) inside it; give the tool a timeout then, so that it has a thread "
                "of its own"
            )
        if self.keep_fields is not None:
            self.keep_fields = tuple(self.keep_fields)
        asked = self.parameters.get("properties", {})
        self.takes_scope = "scope" not in asked and "scope" in _parameter_names(self.run)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it as the plain function that it was made from."""
        return self.run(*args, **kwargs)


def _check_settings(tool: Tool) -> None:
    """Refuse what would only fail when a result is cut or a call is given up.

    Raises:
        InputError: A setting is none.
    """
    if not isinstance(tool.strategy, str) or tool.strategy not in STRATEGIES:
        raise InputError(
            f"unknown strategy {tool.strategy!r}: one of {', '.join(STRATEGIES)}", field=f"{tool.name}.strategy"
        )
    limit = tool.max_observation_chars
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise InputError(
            f"expected a whole number of characters, at least 0, found {limit!r}",
            field=f"{tool.name}.max_observation_chars",
        )
    timeout = tool.timeout
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise InputError(f"expected seconds above 0, or None, found {timeout!r}", field=f"{tool.name}.timeout")


def _check_schema(name: str, schema: Any) -> None:
    """Refuse a schema that has not the form of one for an object; what stands inside is left to its validator.

    Raises:
        InputError: It has not.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise InputError(f"expected a JSON schema of type object, found {schema!r:.80}", field=f"{name}.parameters")
    for key, kind, words in (("properties", dict, "an object: {} for none"), ("required", list, "a list: [] for none")):
        if not isinstance(schema.get(key, kind()), kind):
            raise InputError(f"expected {words}, found {schema[key]!r:.80}", field=f"{name}.parameters.{key}")


def _is_async(function: Any) -> bool:
    """Whether calling it would give something to await, and no result."""
    return any(
        inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each)
        for each in (function, getattr(function, "__call__", None))  # noqa: B004 - an object may have an async one
    )


def toolbox(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Tools by name.

    Raises:
        InputError: Two tools have the same name, or one is no tool.
    """
    box: dict[str, Tool] = {}
    for each in tools:
        if not hasattr(each, "name"):
            called = getattr(each, "__name__", repr(each))
            raise InputError(f"{called} is no tool: put @tool above the function, or make a Tool of it")
        if each.name in box:
            raise InputError(f"two tools are named {each.name!r}: give one of them another name")
        box[each.name] = each
    return box


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    max_observation_chars: int = MAX_OBSERVATION_CHARS,
    strategy: str = "middle_snip",
    keep_fields: Iterable[str] | None = None,
    timeout: float | None = None,
    polling: bool = False,
    stored: bool = True,
    pinned: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, *, name: str | None = None, **settings: Any) -> Any:
    """Make a `Tool` from a function: its schema from the signature, its texts from the docstring.

    Args:
        function: Annotated with `str`, `int`, `float`, `bool`, `Literal`, `list[...]`, `dict[...]` or an optional of
            them; described in a docstring with a Google-style `Args:` section. What msgspec describes besides, such
            as an `Enum`, a `TypedDict` or a `Struct`, is checked by its schema and arrives as plain JSON values.
        name: Another name than the function's.
        settings: The settings of `Tool`.

    Raises:
        InputError: A parameter has no annotation, or one that JSON cannot carry; there is no docstring.
    """
    if function is None:
        return lambda decorated: tool_from(decorated, name=name, **settings)
    return tool_from(function, name=name, **settings)


def tool_from(function: Callable[..., Any], *, name: str | None = None, **settings: Any) -> Tool:
    """Make a `Tool` from a function; see `tool`."""
    description, explained = read_docstring(inspect.getdoc(function) or "")
    called = name or str(getattr(function, "__name__", ""))
    if not description:
        raise InputError(f"the function {called!r} has no docstring: the model needs one sentence on what it does")
    return Tool(called, description, schema_of(function, explained), function, **settings)


def schema_of(function: Callable[..., Any], explained: dict[str, str]) -> dict[str, Any]:
    """JSON schema of a function's parameters, but for `scope`; types with a name stand in its `$defs`."""
    hints = typing.get_type_hints(function)
    asked: dict[str, Any] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "scope":
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InputError(
                f"parameter {parameter.name!r}: a tool's parameters are passed by name; *args, **kwargs and "
                "positional-only ones cannot be described to a model"
            )
        if parameter.name not in hints:
            raise InputError(
                f"parameter {parameter.name!r} has no annotation: write {parameter.name}: str, or the like"
            )
        hint = hints[parameter.name]
        asked[parameter.name] = _without_none(hint) if parameter.default is None else hint
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    properties, named = _schemas_of_types(asked)
    for name in properties.keys() & explained.keys():
        properties[name]["description"] = explained[name]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return schema | {"$defs": named} if named else schema


def _without_none(hint: Any) -> Any:
    """An optional without its `None`, which the model may simply not give."""
    arms = typing.get_args(hint)
    if type(None) not in arms:
        return hint
    rest = tuple(arm for arm in arms if arm is not type(None))
    return rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007 - built at run time


def _schemas_of_types(hints: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """JSON schemas of annotations by parameter, and of the named types that they refer to.

    Raises:
        InputError: JSON has no form for one.
    """
    for name, hint in hints.items():
        try:
            msgspec.json.schema(hint)
        except TypeError as error:
            raise InputError(f"parameter {name!r}: JSON has no form for {hint!r}") from error
    # All at once, so that types of the same name are told apart.
    schemas, named = msgspec.json.schema_components(hints.values(), ref_template="#/$defs/{name}")
    return dict(zip(hints, map(dict, schemas), strict=True)), named


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    r"""Split a Google-style docstring into its description and what its `Args:` section says of each parameter.

    >>> read_docstring("Add.\n\nArgs:\n    a: One.\n        More.\n    b: Two.\n\nReturns:\n    A sum.")
    ('Add.', {'a': 'One. More.', 'b': 'Two.'})
    """
    sections = ("Args:", "Arguments:", "Returns:", "Raises:", "Yields:", "Example:", "Examples:")
    description: list[str] = []
    explained: dict[str, str] = {}
    section, current = "", ""
    for line in text.splitlines():
        if line.strip() in sections and not line.startswith(" "):
            section = line.strip()
        elif not section:
            description.append(line)
        elif section in ("Args:", "Arguments:") and line.strip():
            head, colon, rest = line.strip().partition(":")
            indent = len(line) - len(line.lstrip())
            if colon and indent <= 4 and " " not in head.split("(")[0].strip():
                current = head.split("(")[0].strip()
                explained[current] = rest.strip()
            elif current:
                explained[current] = f"{explained[current]} {line.strip()}"
    return "\n".join(description).strip(), explained


def _parameter_names(function: Callable[..., Any]) -> set[str]:
    """Names of a function's parameters; none where it cannot say."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()
