"""Which old tool results are due to be cleared: four rules, each a pure function of sizes and a prompt.

Every result of a session is in one of three states: sent, waiting to be cleared, cleared. A rule looks at those that
wait and at the size of the next prompt, and says how many of the oldest are due; what it passes over stays for good.

| rule | clears | the prompt cache is lost |
|---|---|---|
| `Sliding` | all but the newest `keep`, as soon as another comes | at every call |
| `Batched` | the same, once `every` of them wait | once per batch |
| `ClearAt` | all but the newest `keep`, once the prompt is over a threshold | once per batch |
| `OnPressure` | the oldest, as many as needed, when the request would overflow | seldom |
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from agentlab.policy.specs import Batched, ClearAt, OnPressure, Sliding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.compaction.ledger import Result
    from agentlab.policy.specs import ResultRule


class Prompt(msgspec.Struct, frozen=True):
    """The next prompt: its tokens, and how many there is room for (None where the window is not known)."""

    tokens: int
    room: int | None = None


def due(rule: ResultRule, waiting: Sequence[Result], prompt: Prompt) -> int:
    """How many of the oldest results that wait are to be cleared now.

    Args:
        rule: One of the four.
        waiting: Results that may be cleared, oldest first.
        prompt: The next request.

    >>> from agentlab.compaction.ledger import Result
    >>> waiting = [Result(n, 2_000, 440) for n in range(12)]
    >>> due(Sliding(keep=10), waiting, Prompt(9_000)), due(Batched(keep=10, every=5), waiting, Prompt(9_000))
    (2, 0)
    >>> due(OnPressure(target=0.85), waiting, Prompt(10_500, room=10_000))
    5
    """
    if isinstance(rule, Sliding):
        return max(0, len(waiting) - rule.keep)
    if isinstance(rule, Batched):
        over = len(waiting) - rule.keep
        return over if over >= rule.every else 0
    if isinstance(rule, ClearAt):
        return _clear_at(rule, waiting, prompt)
    return _on_pressure(rule, waiting, prompt)


def worth(rule: ResultRule, result: Result) -> bool:
    """Whether clearing a result saves anything, and enough for the rule."""
    return result.gain > 0 and (isinstance(rule, ClearAt) or result.chars >= rule.min_chars)


def _clear_at(rule: ClearAt, waiting: Sequence[Result], prompt: Prompt) -> int:
    if prompt.tokens <= rule.threshold:
        return 0
    over = max(0, len(waiting) - rule.keep)
    if rule.clear_at_least is not None and sum(r.gain for r in islice(waiting, over)) < rule.clear_at_least:
        return 0
    return over


def _on_pressure(rule: OnPressure, waiting: Sequence[Result], prompt: Prompt) -> int:
    if prompt.room is None or prompt.tokens <= prompt.room:
        return 0
    tokens, goal = prompt.tokens, int(prompt.room * rule.target)
    count = 0
    for count, result in enumerate(waiting, 1):  # noqa: B007 - how many it took
        if worth(rule, result):
            tokens -= result.gain
        if tokens <= goal:
            break
    return count
