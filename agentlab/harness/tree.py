"""A cycle as a tree of text: its turns, what each called, sizes before and after the cut, why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.harness.reading import ABANDONED
from agentlab.harness.records import CycleComplete, CycleStart, LlmRequest, clip
from agentlab.harness.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.harness.reading import CycleView


def tree(view: CycleView, cycles: Sequence[CycleView] = (), *, running: bool = False) -> list[str]:
    """A cycle and the agents' cycles within it, a line each.

    Args:
        view: The cycle.
        cycles: Where those that work for it are found.
        running: Whether it is known to run still, so that it is not abandoned.
    """
    return _lines(view, cycles, 0, running=running)


def ending(view: CycleView, *, running: bool = False) -> str:
    """Why a cycle ended and what was left of its turns."""
    if view.end is not None:
        return in_words(view.end)
    state = "still runs" if running else ABANDONED
    return f"{state}: no terminal line, after turn {view.turns} of {view.allowed}"


def _lines(view: CycleView, cycles: Sequence[CycleView], depth: int, *, running: bool) -> list[str]:
    pad = "  " * depth
    start = view.start
    said = f': "{clip(start.prompt, 80)}"' if start is not None else ": its first line is missing"
    lines = [f"{pad}{view.actor} {view.id}{said}"]
    agents = [other for other in cycles if other.parent == view.id]
    turn = 0
    for record in view.records:
        if record.turn != turn:
            lines += _agents(agents, cycles, turn, depth, running=running)
            turn = record.turn
        if isinstance(record, LlmRequest):
            lines.append(f"{pad}  turn {record.turn}/{record.allowed}: {in_words(record)}")
        elif not isinstance(record, CycleStart | CycleComplete):
            lines.append(f"{pad}    {in_words(record)}")
    lines += _agents(agents, cycles, turn, depth, running=running)
    lines += [line for other in agents for line in _lines(other, cycles, depth + 2, running=running)]
    lines.append(f"{pad}  end: {ending(view, running=running)}")
    return lines


def _agents(agents: list[CycleView], cycles: Sequence[CycleView], turn: int, depth: int, *, running: bool) -> list[str]:
    """The agents' cycles that began in a turn, which are then done with."""
    found = [other for other in agents if other.parent_turn == turn]
    agents[:] = [other for other in agents if other.parent_turn != turn]
    return [line for other in found for line in _lines(other, cycles, depth + 2, running=running)]
