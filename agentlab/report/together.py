"""All sessions of a report as one, and the three sentences that it begins with."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.replayed import Replay
from agentlab.analysis.session import counted
from agentlab.report.findings import Found

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST = 0.9
"""Dollars are spoken of where sessions with a price have more than this share of the tokens."""

NAMES = {
    "system": "the system prompt, tools and what a log does not hold",
    "user": "the user's words",
    "assistant": "the assistant's words",
    "calls": "the arguments of calls",
    "results": "results of tools",
    "summaries": "summaries",
    "loop": "what the loop said",
}


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
        return self._went(), self._changed(), self._saved()

    def _went(self) -> str:
        if not self.tokens:
            return "No model call was sent anything."
        again = 1 - self.once / self.tokens
        kind, (once, resent) = max(self.kinds.items(), key=lambda each: sum(each[1]))
        said = (
            f"{self.tokens:,} prompt tokens went to {counted(self.calls, 'model call')} in "
            f"{counted(len(self.found), 'session')}, and {again:.0%} of them had been sent before: {NAMES[kind]} make "
            f"{(once + resent) / self.tokens:.0%}"
        )
        tool = next(iter(self.tools), None)
        if kind == "results" and tool is not None:
            said += f", those of {tool} alone {self.tools[tool] / self.tokens:.0%}"
        price = "" if isnan(self.dollars) else f" At list price that is {self.dollars:,.2f} dollars."
        return f"{said}.{price}"

    def _changed(self) -> str:
        jumped = [(each, jump) for each in self.found for jump in each.jumps]
        if not jumped:
            return "No prompt grew, so no call changed the curve."
        most, jump = max(jumped, key=lambda pair: pair[1].tokens * (1 + pair[1].later))
        said = (
            f"What changed the curve most is a jump by {jump.tokens:,} tokens at call {jump.call} of {most.id}, "
            f"by {jump.by or 'nothing new'}, which {counted(jump.later, 'later call')} carried on"
        )
        verdicts = [each.verdict for each in self.found]
        told = {name: verdicts.count(name) for name in ("linear", "super-linear", "sub-linear")}
        grows = [f"{name}ly in {counted(n, 'session')}" for name, n in told.items() if n]
        grow = f"; prompts grow {', '.join(grows)}" if grows else ""
        compacted = sum(each.segments - 1 for each in self.found)
        cut = (
            f", and {counted(compacted, 'time')} a prompt was cut down by a summary or a new start" if compacted else ""
        )
        broken = sum(each.bill.breaks[0] for each in self.found)
        cache = f" The cache seems to have broken {counted(broken, 'time')}." if broken else ""
        return f"{said}{grow}{cut}.{cache}"

    def _saved(self) -> str:
        rows = self.replay.by_policy().to_dict("records")
        if len(rows) < 2 or not self.tokens:
            return "No other policy was asked of."
        in_dollars = rows[0]["dollars_cover"] > MOST
        low, high = ("dollars_share", "dollars_share_high") if in_dollars else ("share", "share_high")
        best = min(rows[1:], key=lambda row: (row[high], row[low]))
        what = "dollars" if in_dollars else "prompt tokens"
        if best[low] >= 0.995:
            return "None of the policies asked would have saved anything to speak of."
        saved = _range(1 - best[high], 1 - best[low])
        lost = rows[0]["kept"] - best["kept"]
        names = int(best["names"])
        if not names:
            cost = "no call cites a name that it could have hidden"
        elif not lost > 0:
            cost = f"all of the {names:,} names that later calls cite would still have been shown as before"
        else:
            cost = (
                f"{round(lost * names):,} of the {names:,} names that later calls cite would have been hidden, up to "
                f"{counted(int(best['more_calls']), 'call')} to read again"
            )
        rough = ", roughly" if best["rough"] else ""
        return f"Of the policies asked, {best['policy']} would have saved most: {saved} of the {what}{rough}; {cost}."


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


def _range(low: float, high: float) -> str:
    """A saving from its pessimistic to its optimistic end; less than nothing is said so."""
    ends = [f"{value:.0%}" if value >= 0 else f"minus {-value:.0%}" for value in (low, high)]
    return ends[1] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
