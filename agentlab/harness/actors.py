"""Who acts in a harness and what each may spend, as data.

The texts that models read about budgets are made from these values, so that no text can say another number.

>>> ACTORS["researcher"].turns, ACTORS["cog"].ceiling
(8, 20)
"""

from __future__ import annotations

import math

import msgspec

from agentlab.budgets import TurnBudget
from agentlab.budgets.limits import LastTurn  # noqa: TC001 - msgspec reads the annotations of this module
from agentlab.errors import InputError

EXTEND = "request_more_turns"
CALLED_BY_SKILLS = {"cog": "cognitive"}


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """An actor and its budgets; another value is checked where it is set.

    Attributes:
        name: What the log and `agent_NAME` call it: a lower-case word.
        turns: Model calls that one cycle of it may make, from 1.
        ceiling: The most that it may ask for while a cycle runs, or None where it may not ask.
        errors: Failed model calls in a row after which a cycle of it ends, or None where the first one ends it.
        seconds: Time that one cycle of it may take.
        purpose: What it is for, in one sentence: the description of its `agent_NAME` tool.
        system: What its system prompt begins with.

    Raises:
        InputError: A budget that contradicts itself; the text names the field.

    >>> msgspec.structs.replace(ACTORS["cog"], turns=30)
    Traceback (most recent call last):
    agentlab.errors.InputError: ceiling: the ceiling of cog is at least its 30 turns, and 20 is not
    """

    name: str
    turns: int
    ceiling: int | None = None
    errors: int | None = None
    seconds: float
    purpose: str = ""
    system: str = ""

    def __post_init__(self) -> None:
        if not (self.name.isidentifier() and self.name.islower()):
            raise InputError(f"an actor's name is a lower-case word, and {self.name!r} is not", field="name")
        if type(self.turns) is not int or self.turns < 1:
            raise InputError(f"{self.name} needs at least 1 turn, and {self.turns} is not", field="turns")
        if self.ceiling is not None and self.ceiling < self.turns:
            raise InputError(
                f"the ceiling of {self.name} is at least its {self.turns} turns, and {self.ceiling} is not",
                field="ceiling",
            )
        if self.errors is not None and not 1 <= self.errors < self.turns:
            raise InputError(
                f"{self.name} ends after 1 to {self.turns - 1} failed calls in a row (fewer than its {self.turns} "
                f"turns), and {self.errors} is not",
                field="errors",
            )
        if not (self.seconds > 0 and math.isfinite(self.seconds)):
            raise InputError(f"the time of {self.name} is more than 0 s, and {self.seconds} is not", field="seconds")

    @property
    def called(self) -> str:
        """What skills call it."""
        return CALLED_BY_SKILLS.get(self.name, self.name)

    @property
    def extendable(self) -> bool:
        """Whether it may ask for more turns."""
        return self.ceiling is not None and self.ceiling > self.turns

    def turn_budget(self, last_turn: LastTurn = "answer") -> TurnBudget:
        """A new turn budget for one cycle."""
        return TurnBudget(self.turns, ceiling=self.ceiling, last_turn=last_turn, extend_by=EXTEND)

    def budget_text(self) -> str:
        """Its budgets, as its system prompt states them at the start.

        >>> ACTORS["observer"].budget_text()
        'Your budget: 6 turns (a turn is one reply of yours with the tool calls in it) and 90 s.'
        """
        more = f" {EXTEND} raises it, up to {self.ceiling} turns." if self.extendable else ""
        return (
            f"Your budget: {self.turns} turns (a turn is one reply of yours with the tool calls in it) and "
            f"{self.seconds:g} s.{more}"
        )


_LOOK = "say which file and line, or which page, a fact is from, and say so when you saw only a part of something."
_EARLY = (
    'Where you have to stop early, begin the answer with "partial result; would need more turns to verify X", with '
    "what X is."
)

COG = Actor(
    name="cog",
    turns=10,
    ceiling=20,
    seconds=300.0,
    purpose="Talks to the user, works with tools and hands parts of the work to agents.",
    system=(
        "You answer the user from what your tools and agents show you. Plan before the first call, look before you "
        f"answer, {_LOOK} An agent starts without your conversation: put into its instruction and context whatever it "
        "needs."
    ),
)
RESEARCHER = Actor(
    name="researcher",
    turns=8,
    errors=3,
    seconds=90.0,
    purpose="Searches and reads files of the workspace, and pages where that is switched on; reports what it found.",
    system=f"You find things out for another agent, which reads only your final reply. Search, read, {_LOOK} {_EARLY}",
)
OBSERVER = Actor(
    name="observer",
    turns=6,
    errors=3,
    seconds=90.0,
    purpose="Reads the activity and the log of cycles; says what happened, why a cycle ended, what it spent.",
    system=(
        "You explain what this harness did, from its activity and its log of cycles alone. Name cycles, turns, sizes "
        f"and reasons as the log states them; where the log does not say, say that. {_EARLY}"
    ),
)

ACTORS: dict[str, Actor] = {actor.name: actor for actor in (COG, RESEARCHER, OBSERVER)}
"""The actors that agentlab ships, by name. Numbers of the source text, but for the cog's 300 s, which is ours."""
