"""How many iterations, tokens and dollars a run may spend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.messages import Usage

LastTurn = Literal["plain", "answer"]


class Budget:
    """Tokens and dollars that a run may spend, summed over its calls.

    Args:
        max_tokens: Prompt and output tokens of all calls together, or None.
        max_cost: Dollars, or None.
        price: Dollars of one call's usage, or None where the model's price is not known.

    Raises:
        InputError: A limit below 0.

    >>> from agentlab.messages import Usage
    >>> budget = Budget(max_tokens=100)
    >>> budget.spend(Usage(60, 10)), budget.spend(Usage(60, 10))
    (None, 'token_budget')
    """

    def __init__(
        self,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: Callable[[Usage], float | None] | None = None,
    ) -> None:
        for field, limit in (("max_tokens", max_tokens), ("max_cost", max_cost)):
            if limit is not None and not limit >= 0:
                raise InputError(f"a limit is at least 0, and {limit} is not", field=field)
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self.price = price
        self.tokens = 0
        self.cost = 0.0

    def spend(self, usage: Usage) -> str | None:
        """Add a call; returns what `reached` does."""
        self.tokens += usage.prompt_tokens + usage.output_tokens
        if self.price is not None:
            self.cost += self.price(usage) or 0.0
        return self.reached()

    def reached(self) -> str | None:
        """The reason to stop, `max_cost` or `token_budget`, once a limit is reached."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            return "max_cost"
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return "token_budget"
        return None


class Extension(msgspec.Struct, frozen=True):
    """What a request for more turns came to.

    Attributes:
        requested: As it was asked for.
        granted: Turns that were added, 0 where it was refused.
        before: Turns allowed before.
        after: Turns allowed now.
        ceiling: More than this is never allowed.
        reason: Why it was asked for.
        refused: Why it was refused; empty where something was granted.
    """

    requested: int
    granted: int
    before: int
    after: int
    ceiling: int
    reason: str
    refused: str = ""


class TurnBudget:
    """Iterations of one user turn, with a ceiling up to which they may be extended while it runs.

    Args:
        turns: Iterations allowed at first, from 1.
        ceiling: The most that `extend` gives; None for no extension.
        last_turn: `"plain"` runs the tools of the last iteration too, as the chapter's loop does; with `"answer"` the
            model is told before its last iteration, and calls are not run in it, but for `extend_by`.
        extend_by: Name of the tool that asks for more turns.

    Attributes:
        allowed: Iterations allowed now.
        used: Iterations begun.

    Raises:
        InputError: Fewer turns than 1, or a ceiling below them.

    >>> budget = TurnBudget(10, ceiling=20)
    >>> budget.extend(999, "a long chain").granted, budget.allowed
    (10, 20)
    """

    def __init__(
        self,
        turns: int = 10,
        *,
        ceiling: int | None = None,
        last_turn: LastTurn = "plain",
        extend_by: str = "request_more_turns",
    ) -> None:
        if turns < 1:
            raise InputError(f"a run needs at least 1 turn, and {turns} is not", field="turns")
        if ceiling is not None and ceiling < turns:
            raise InputError(
                f"the ceiling is at least the {turns} turns of the start, and {ceiling} is not", field="ceiling"
            )
        self.allowed = turns
        self.ceiling = turns if ceiling is None else ceiling
        self.last_turn = last_turn
        self.extend_by = extend_by
        self.used = 0

    @property
    def left(self) -> int:
        """Iterations that may still begin."""
        return self.allowed - self.used

    @property
    def extendable(self) -> bool:
        """Whether more may be asked for."""
        return self.allowed < self.ceiling

    def extend(self, additional: int, reason: str) -> Extension:
        """Allow more turns, up to the ceiling."""
        before = self.allowed
        refused = ""
        if additional < 1:
            refused = f"ask for at least 1 turn, and {additional} is not"
        elif not reason.strip():
            refused = "say what the turns are for"
        elif not self.extendable:
            refused = f"the ceiling of {self.ceiling} turns is reached"
        else:
            self.allowed = min(self.ceiling, before + additional)
        granted = self.allowed - before
        return Extension(additional, granted, before, self.allowed, self.ceiling, reason, refused)
