"""All sessions of a report as one."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.replayed import Replay
from agentlab.report.findings import Found
from agentlab.report.sentences import NAMES, changed, saved, went

if TYPE_CHECKING:
    from collections.abc import Sequence


class Together(msgspec.Struct, frozen=True):
    """All sessions of a report.

    Attributes:
        found: Each of them; what sent most stands first.
        tokens: Prompt tokens.
        calls: Model calls.
        measured: Of these, with recorded usage.
        once: Prompt tokens that were sent for the first time.
        kinds: Prompt tokens by kind of message: once and again.
        tools: Prompt tokens of each tool's results, most first.
        dollars: At list price, of the sessions that have one; NaN where none has.
        lost: Tokens that breaks of the cache billed again, by session, most first.
        replay: Under the recorded policy and the others.
    """

    found: tuple[Found, ...]
    tokens: int
    calls: int
    measured: int
    once: int
    kinds: dict[str, tuple[int, int]]
    tools: dict[str, int]
    dollars: float
    replay: Replay

    def sentences(self) -> tuple[str, str, str]:
        """Where the tokens went, what changed the curve, what would have saved most and what it would have cost."""
        return went(self), changed(self), saved(self)


def together(found: Sequence[Found], policies: Sequence[str]) -> Together:
    """Put sessions together.

    Args:
        found: What is found out about each.
        policies: The names of the policies that were asked of.
    """
    ordered = sorted(found, key=lambda each: (-each.tokens, each.id))
    kinds: dict[str, tuple[int, int]] = dict.fromkeys(NAMES, (0, 0))
    tools: dict[str, int] = {}
    for each in ordered:
        for kind, (once, again) in each.kinds.items():
            kinds[kind] = (kinds[kind][0] + once, kinds[kind][1] + again)
        for tool, tokens in each.replayed.runs[0].by_tool.items():
            tools[tool] = tools.get(tool, 0) + tokens
    return Together(
        found=tuple(ordered),
        tokens=sum(each.tokens for each in ordered),
        calls=sum(each.calls for each in ordered),
        measured=sum(each.measured for each in ordered),
        once=sum(once for once, _ in kinds.values()),
        kinds=kinds,
        tools=dict(sorted(tools.items(), key=lambda pair: -pair[1])),
        dollars=sum(each.bill.dollars for each in ordered if not isnan(each.bill.dollars)) or nan,
        replay=Replay(("recorded", *policies), tuple(each.replayed for each in ordered)),
    )
