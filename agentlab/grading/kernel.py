"""What an exercise's notebook calls in its kernel: `begin` in the setup cell, `show` in the checks."""

from __future__ import annotations

import importlib
import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

WITHHELD = "you write this one; the package's version is shown after your checks pass"

PLAIN = (str, int, float, bool, type(None))
"""The types that `show` prints, besides lists, tuples and dicts of them; a subclass is none of them."""

mark = ""
"""Printed before what `show` prints; the grader knows the line by it."""

begun: list[str] = []
"""Names of the exercises that this kernel began; the last one counts."""


def begin(exercise: str, *, withheld: Iterable[str] = ()) -> None:
    """Begin an exercise: `%check` knows it by this, and the names that are its answer raise ImportError.

    What the package itself uses of them goes on working: its own modules are given them, now and later.

    Args:
        exercise: Its name, as `01_per_tool_limits`.
        withheld: Dotted names of functions or classes, as `agentlab.truncate.middle_snip`.

    Raises:
        ModuleNotFoundError: There is no such module.
        AttributeError: There is no such name in it.
    """
    places = [name.rpartition(".")[::2] for name in withheld]
    for module, _ in places:
        importlib.import_module(module)
    for module, name in places:
        _withhold(sys.modules[module], name)
    begun.append(exercise)


class _Withholding(ModuleType):
    """A module that gives some of its names to the package alone; they stay in it, since its own functions use them."""

    def __getattribute__(self, name: str) -> Any:
        namespace = super().__getattribute__("__dict__")
        if name in namespace.get("_withheld", ()) and not _asks_from_within():
            _refuse(namespace["__name__"], name)
        return super().__getattribute__(name)


def _withhold(module: ModuleType, name: str) -> None:
    """Keep a name of a module back, so that `from module import name` and `module.name` say why it is not there."""
    missing: dict[str, Any] = module.__dict__.setdefault("_withheld", {})
    missing[name] = getattr(module, name)
    module.__class__ = _Withholding


def _asks_from_within() -> bool:
    """Whether a module of the package asks for the name: some are imported, or import, only when they are used."""
    frame = sys._getframe(2)  # noqa: SLF001 - the frame that asks; `inspect.stack` would read source files
    while frame.f_back is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "agentlab"


def _refuse(module: str, name: str) -> NoReturn:
    raise ImportError(f"{module}.{name}: {WITHHELD}")


def show(value: Any) -> None:
    """Print a value as one line of JSON, the same for the same value.

    Raises:
        TypeError: It holds something else than text, numbers, booleans, None, lists, tuples and dicts.

    >>> show({"b": [1, 2.5], "a": None})
    {"a": null, "b": [1, 2.5]}
    >>> show({1, 2})
    Traceback (most recent call last):
    TypeError: expected text, numbers, true or false, None, or lists and dicts of them, found a set
    """
    sys.stdout.write(mark + json.dumps(_plain(value), sort_keys=True, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    """The value, of exact types: what only looks like a number or equals everything is refused."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in (list, tuple):
        return [_plain(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain(item) for key, item in value.items()}
    raise TypeError(f"expected text, numbers, true or false, None, or lists and dicts of them, found a {kind.__name__}")
