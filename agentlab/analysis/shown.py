"""What a policy shows of observations: cut by the code that the loop runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from agentlab.analysis.session import Observed, by_iteration
from agentlab.errors import InputError
from agentlab.messages import ToolCall
from agentlab.observe import READ_BACK, Outcome, finish
from agentlab.policy import CHAPTER, Limit, Policy
from agentlab.tools import Tool
from agentlab.truncate import MAX_OBSERVATION_CHARS, STRATEGIES, UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.truncate.units import Unit


UNCUT = Limit(10**9, strategy="tail_cut")
"""No result is over it."""


class Shown(msgspec.Struct, frozen=True):
    """What a policy shows of an observation: its text, and which of the full text that is.

    The full text stands in it up to `head`, and from `tail_start` on.
    """

    text: str
    head: int
    tail_start: int


def cut_policies(strategies: Sequence[str], limits: Sequence[int], unit: Unit = "characters") -> list[Policy]:
    """A policy for each strategy and limit, which cuts every observation to it, errors too.

    Args:
        strategies: Names of `agentlab.truncate.STRATEGIES`.
        limits: At least 0, in `unit`.
        unit: `characters`, `tokens`, `lines` or `bytes`.

    Raises:
        InputError: An unknown strategy or unit, or a negative limit.

    >>> [policy.name for policy in cut_policies(["tail_cut"], [500, 1000])]
    ['tail_cut 500', 'tail_cut 1000']
    """
    for name, known, allowed in (("strategies", set(strategies), STRATEGIES), ("unit", {unit}, UNITS)):
        if unknown := sorted(known - set(allowed)):
            raise InputError(f"unknown {unknown[0]!r}: one of {', '.join(allowed)}", field=name)
    if any(limit < 0 for limit in limits):
        raise InputError(f"a limit is at least 0, and {min(limits)} is not", field="limits")
    cuts = [Limit(limit, unit, strategy) for strategy in strategies for limit in limits]
    return [Policy(f"{each.strategy} {each.value}", default=each, errors=each) for each in cuts]


def show(
    observations: Sequence[Observed],
    policy: Policy,
    toolbox: Mapping[str, Tool] | None = None,
    *,
    elsewhere: bool = False,
) -> list[Shown]:
    """Cut every observation as the loop would, those of one iteration together.

    Args:
        observations: Of one session, in order, in full where they are.
        policy: Says how.
        toolbox: The tools, for their own limits; a tool that is not in it has the chapter's 4,000 characters.
        elsewhere: The log is another agent's: its tools have no limits of their own but under the chapter's policy,
            and agentlab's limit for errors holds only where the policy sets one.

    Returns:
        What is shown of each, in the same order.

    >>> from agentlab.policy import Limit
    >>> seen = Observed(0, 1, 1, "look", "x" * 900, True, False, 1)
    >>> show([seen], Policy(default=Limit(500, strategy="tail_cut")))[0].tail_start
    900
    """
    own = MAX_OBSERVATION_CHARS
    if elsewhere and policy != CHAPTER:
        own = UNCUT.value
        policy = replace(policy, errors=UNCUT) if policy.errors == CHAPTER.errors else policy
    tools = {seen.tool: (toolbox or {}).get(seen.tool) or _stand_in(seen.tool, own) for seen in observations}
    shown = []
    for group in by_iteration(observations):
        calls = [ToolCall("", seen.tool, {}) for seen in group]
        outcomes = [Outcome(seen.text, seen.is_error) for seen in group]
        made = finish(calls, outcomes, tools, policy=policy)
        shown += [kept_of(seen.text, each.text) for seen, each in zip(group, made, strict=True)]
    return shown


def _stand_in(name: str, own: int) -> Tool:
    """A tool to be cut like, with its name and limit."""
    made = Tool("unnamed", "", {}, str, own, stored=name != READ_BACK)
    made.name = name
    return made


def kept_of(text: str, shown: str) -> Shown:
    """How much of the beginning and of the end of a text is shown."""
    if shown == text:
        return Shown(shown, len(text), len(text))
    head = _common(text, shown)
    return Shown(shown, head, max(head, len(text) - _common(text[::-1], shown[::-1])))


def _common(a: str, b: str) -> int:
    """Length of what two texts have in common at their beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a.startswith(b[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
