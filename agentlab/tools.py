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
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import msgspec

from agentlab.errors import InputError
from agentlab.truncate import MAX_OBSERVATION_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass
class Tool:
    """A tool: what the model reads about it, the function that runs, and how its result is cut.

    Attributes:
        name: What the model calls it by: letters, digits, `_` and `-`, at most 64.
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
    takes_scope: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 64 or not self.name.replace("_", "a").replace("-", "a").isalnum():
            raise InputError(f"a tool's name has 1 to 64 letters, digits, _ or -, and {self.name!r} has not")
        if self.keep_fields is not None:
            self.keep_fields = tuple(self.keep_fields)
        asked = self.parameters.get("properties", {})
        self.takes_scope = "scope" not in asked and "scope" in _parameter_names(self.run)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it as the plain function that it was made from."""
        return self.run(*args, **kwargs)


def toolbox(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Tools by name.

    Raises:
        InputError: Two tools have the same name.
    """
    box: dict[str, Tool] = {}
    for each in tools:
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
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, *, name: str | None = None, **settings: Any) -> Any:
    """Make a `Tool` from a function: its schema from the signature, its texts from the docstring.

    Args:
        function: Annotated with `str`, `int`, `float`, `bool`, `Literal`, `list[...]`, `dict[...]` or an optional of
            them; described in a docstring with a Google-style `Args:` section.
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
    """JSON schema of a function's parameters, but for `scope`."""
    hints = typing.get_type_hints(function)
    properties: dict[str, Any] = {}
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
        described = _schema_of_type(parameter.name, hints[parameter.name], optional=parameter.default is None)
        if parameter.name in explained:
            described["description"] = explained[parameter.name]
        properties[parameter.name] = described
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema_of_type(name: str, hint: Any, *, optional: bool) -> dict[str, Any]:
    """JSON schema of one annotation; `None` is left out of an optional, which the model may simply not give."""
    arms = typing.get_args(hint)
    if optional and type(None) in arms:
        rest = tuple(arm for arm in arms if arm is not type(None))
        hint = rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007 - built at run time
    try:
        schema = msgspec.json.schema(hint)
    except TypeError as error:
        raise InputError(f"parameter {name!r}: JSON has no form for {hint!r}") from error
    return dict(schema)


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
