"""The student's code beside the package's, at the end of an exercise."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentlab.show import side_by_side, source

if TYPE_CHECKING:
    from agentlab.show import SideBySide


def beside(mine: Any, *theirs: str) -> SideBySide:
    """Show a function of one's own beside the package's.

    Args:
        mine: A function or class of the notebook.
        theirs: Dotted names of the package, withheld or not.

    >>> from agentlab.loop import agent_step
    >>> list(beside(agent_step, "agentlab.loop.run_turn").texts)
    ['yours: agent_step', 'the package: agentlab.loop.run_turn']
    """
    columns = {f"yours: {getattr(mine, '__name__', 'it')}": source(mine, docstring=False).code}
    for name in theirs:
        columns[f"the package: {name}"] = source(_found(name), docstring=False).code
    return side_by_side(columns)


def _found(name: str) -> Any:
    """What a dotted name means, where this kernel withholds it too."""
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:size])
        try:
            item = sys.modules.get(module) or import_module(module)
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            withheld = getattr(item, "__dict__", {}).get("_withheld", {})
            item = withheld[part] if part in withheld else getattr(item, part)
        return item
    raise ModuleNotFoundError(name)
