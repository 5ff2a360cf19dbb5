"""Misbehaviour on purpose, for lessons on what a loop must survive.

Each kind spoils one reply of a user turn, or all of them (`endless`); after it the model reads the error observation
and goes on as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.messages import ToolCall
from agentlab.providers.offline.desk import Planned
from agentlab.providers.offline.planner import Decision, forced
from agentlab.providers.offline.schemas import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.messages import ToolSpec
    from agentlab.providers.offline.history import History, Turn

KINDS = ("bad_json", "unknown_tool", "wrong_arguments", "cut_reply", "blank", "endless", "endless_varied")
ENDLESS = ("endless", "endless_varied")


class Spoiled(msgspec.Struct, frozen=True):
    """A reply after misbehaviour."""

    text: str
    calls: tuple[ToolCall, ...]
    stop_reason: str


def plan_of(misbehave: str | Mapping[int, str] | None) -> dict[int, str]:
    """Read the option: a kind for the first reply of each turn that it fits, or kinds by iteration of the turn, from 1.

    Returns:
        Kinds by iteration; 0 stands for the first that fits.

    Raises:
        InputError: There is no such kind, or an iteration below 1.

    >>> plan_of("bad_json"), plan_of({2: "blank"})
    ({0: 'bad_json'}, {2: 'blank'})
    """
    plan = {} if misbehave is None else {1: misbehave} if isinstance(misbehave, str) else dict(misbehave)
    for iteration, kind in plan.items():
        if kind not in KINDS:
            raise InputError(f"expected one of {', '.join(KINDS)}, found {kind!r}", field="misbehave")
        if not isinstance(iteration, int) or iteration < 1:
            raise InputError(f"expected iterations from 1, found {iteration!r}", field="misbehave")
    return {0: misbehave} if isinstance(misbehave, str) else plan


def due(plan: Mapping[int, str], turn: Turn) -> str | None:
    """The misbehaviour of this iteration of the turn, or None; an endless one goes on once it has begun."""
    iteration = turn.iterations + 1
    first = plan.get(0)
    if first is not None:
        fits = first in ENDLESS or (not turn.notes if first == "blank" else iteration == 1)
        return first if fits else None
    running = next((kind for at, kind in plan.items() if kind in ENDLESS and at <= iteration), None)
    return running or plan.get(iteration)


def spoil(
    kind: str, decision: Decision, calls: tuple[ToolCall, ...], history: History, tools: Sequence[ToolSpec]
) -> Spoiled | None:
    """Spoil what was decided; None where there is nothing to spoil in that way.

    A blank reply needs a final answer, all but the endless ones need a call.
    """
    if kind in ENDLESS:
        return _endless(decision, history, tools, varied=kind == "endless_varied")
    if kind == "blank" or not calls:
        return Spoiled("", (), "end_turn") if kind == "blank" and not calls else None
    first, rest = calls[0], calls[1:]
    if kind == "cut_reply":
        raw = as_json(first.arguments)
        half = raw[: max(1, len(raw) * 2 // 3)] if len(raw) > 2 else "{"
        return Spoiled(decision.text, (ToolCall(first.id, first.name, half),), "max_tokens")
    if kind == "bad_json":
        wrong = ToolCall(first.id, first.name, _broken(as_json(first.arguments)))
    elif kind == "unknown_tool":
        wrong = ToolCall(first.id, _misspelt(first.name, {tool.name for tool in tools}), first.arguments)
    else:
        wrong = ToolCall(first.id, first.name, _wrong(first.arguments))
    return Spoiled(decision.text, (wrong, *rest), "tool_use")


def _broken(raw: str) -> str:
    """Arguments as a careless model writes them: single quotes and no closing brace."""
    return raw.replace('"', "'")[:-1] if len(raw) > 2 else "{'"


def _misspelt(name: str, known: set[str]) -> str:
    wrong = name[:-1] if len(name) > 2 else f"{name}_"
    while wrong in known or not wrong:
        wrong += "_"
    return wrong


def _wrong(arguments: Any) -> dict[str, Any]:
    """The same arguments with a wrong type, or with one that no tool has."""
    made = dict(arguments) if isinstance(arguments, dict) else {}
    if not made:
        return {"unexpected": True}
    name = next(iter(made))
    made[name] = [made[name]] if not isinstance(made[name], list) else {"value": made[name]}
    return made


def _endless(decision: Decision, history: History, tools: Sequence[ToolSpec], *, varied: bool) -> Spoiled | None:
    """The turn's first call again, or something close to it."""
    if not tools:
        return None
    seen = history.current.observations
    planned = decision.calls[0] if decision.calls else None
    if seen and seen[0].name in {tool.name for tool in tools}:
        planned = Planned(seen[0].name, seen[0].arguments)
    if planned is None:
        planned = forced(history, tools)
    arguments = dict(planned.arguments)
    if varied:
        arguments = _varied(arguments, next(t for t in tools if t.name == planned.name), history.current.steps)
    return Spoiled("", (ToolCall(f"call_{history.calls + 1}", planned.name, arguments),), "tool_use")


def _varied(arguments: dict[str, Any], tool: ToolSpec, step: int) -> dict[str, Any]:
    """Change one argument a little at each step, so that no two calls are the same."""
    from agentlab.providers.offline.roles import properties

    have = properties(tool)
    number = next((n for n in have if have[n].get("type") == "integer" or "anyOf" in have[n]), None)
    if number is not None:
        return {**arguments, number: step + 1}
    text = next((n for n in have if have[n].get("type") == "string" and isinstance(arguments.get(n), str)), None)
    return arguments if text is None else {**arguments, text: str(arguments[text]).rstrip() + " " * (step + 1)}
