"""The three sentences that a report begins with."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from agentlab.analysis.parts import BASE
from agentlab.printable import counted, printable, shortened

if TYPE_CHECKING:
    from agentlab.report.together import Together

MOST = 0.9
"""Dollars are spoken of where sessions with a price have more than this share of the tokens."""

NOTHING = 0.005
"""A saving below this share is none to speak of."""

LONGEST_NAME = 60

NAMES = {
    "system": "the system prompt, tools and what a log does not hold",
    "user": "the user's words",
    "assistant": "the assistant's words",
    "calls": "the arguments of calls",
    "results": "results of tools",
    "summaries": "summaries",
    "loop": "what the loop said",
}

GROWN_BY = {
    "": "with no new message in the log",
    "user": "by the user's message",
    "loop": "by what the loop said",
    "assistant": "by the assistant's own words",
    BASE: f"by a larger {BASE}",
}


def went(whole: Together) -> str:
    """Where the tokens went, and what they cost."""
    if not whole.tokens:
        return "No model call was sent anything."
    kind, (once, resent) = max(whole.kinds.items(), key=lambda each: sum(each[1]))
    make = "makes" if kind == "loop" else "make"
    said = (
        f"{whole.tokens:,} prompt tokens{_guessed(whole.calls - whole.measured, whole.calls)} went to "
        f"{counted(whole.calls, 'model call')} in {counted(len(whole.found), 'session')}, and "
        f"{_part(1 - whole.once / whole.tokens)} of them had been sent before: {NAMES[kind]} {make} up "
        f"{_part((once + resent) / whole.tokens)}"
    )
    tool = next(iter(whole.tools), None)
    if kind == "results" and tool is not None:
        said += f", those of {_name(tool)} alone {_part(whole.tools[tool] / whole.tokens)}"
    return f"{said}.{_price(whole)}"


def changed(whole: Together) -> str:
    """What changed the curve."""
    jumped = [(each, jump) for each in whole.found for jump in each.jumps]
    if not jumped:
        return "No prompt grew, so no call changed the curve."
    most, jump = max(jumped, key=lambda pair: pair[1].tokens * (1 + pair[1].later))
    said = (
        f"What changed the curve most is a jump by {jump.tokens:,} tokens at call {jump.call} of {_name(most.id)}, "
        f"{GROWN_BY.get(jump.by) or f'by a result of {_name(jump.by)}'}"
    )
    if jump.later:
        said += f", which {counted(jump.later, 'later call')} carried on"
    compacted = sum(each.segments - 1 for each in whole.found)
    cut = f"; {_times(compacted)} a summary or a new start made a prompt smaller" if compacted else ""
    broken = sum(each.bill.breaks[0] for each in whole.found)
    cache = f" The cache seems to have broken {_times(broken)}." if broken else ""
    return f"{said}{_grows([each.verdict for each in whole.found])}{cut}.{cache}"


def saved(whole: Together) -> str:
    """What would have saved most, and what it would have cost."""
    rows = whole.replay.by_policy().to_dict("records")
    if len(rows) < 2 or not whole.tokens:
        return "No other policy was asked of."
    in_dollars = rows[0]["dollars_cover"] > MOST
    low, high = ("dollars_share", "dollars_share_high") if in_dollars else ("share", "share_high")
    best = min(rows[1:], key=lambda row: (row[high], row[low]))
    sure = best[high] < 1 - NOTHING
    if not sure:
        best = min(rows[1:], key=lambda row: (row[low], row[high]))
        if best[low] >= 1 - NOTHING:
            return "None of the policies asked would have saved anything to speak of."
    what = f"{'dollars' if in_dollars else 'prompt tokens'}{', roughly' if best['rough'] else ''}"
    much = _range(1 - best[high], 1 - best[low])
    name = _name(best["policy"])
    if sure:
        said = f"Of the policies asked, {name} would have saved most: {much} of the {what}"
    else:
        said = f"None of the policies asked is sure to save: {name} would have saved most at best, {much} of the {what}"
    return f"{said}; {_lost(rows[0], best)}."


def _lost(recorded: dict[Any, Any], best: dict[Any, Any]) -> str:
    """What a policy would have hidden of what later calls cite."""
    names = int(best["names"])
    if not names:
        return "no call cites a name that it could have hidden"
    of = "the one name" if names == 1 else f"the {names:,} names"
    lost = round((recorded["kept"] - best["kept"]) * names)
    if lost <= 0:
        all_of = "" if names == 1 else "all of "
        return f"{all_of}{of} that later calls cite would still have been shown as before"
    again = f"up to {counted(int(best['more_calls']), 'call')} to read again"
    part = "" if names == 1 else f"{lost:,} of "
    return f"{part}{of} that later calls cite would have been hidden, {again}"


def _price(whole: Together) -> str:
    if isnan(whole.dollars):
        return ""
    priced = [each for each in whole.found if not isnan(each.bill.dollars)]
    guessed = _guessed(sum(each.bill.estimated_prompts for each in priced), sum(each.bill.calls for each in priced))
    if not guessed and any(each.bill.estimated for each in priced):
        guessed = " (partly estimated)"  # the outputs
    much = "less than a cent" if whole.dollars < 0.005 else f"{whole.dollars:,.2f} dollars"
    if len(priced) < len(whole.found):
        return f" At list price that is {much} for the {counted(len(priced), 'session')} with a price{guessed}."
    return f" At list price that is {much}{guessed}."


def _guessed(guesses: int, calls: int) -> str:
    """What stands behind a number that is no measurement."""
    if not guesses:
        return ""
    return " (estimated)" if guesses >= calls else " (partly estimated)"


def _grows(verdicts: list[str]) -> str:
    """How the prompts of all sessions grow."""
    told = {name: verdicts.count(name) for name in ("linear", "super-linear", "sub-linear")}
    ways = [(f"{name}ly", n) for name, n in told.items() if n]
    if not ways:
        return ""
    if len(verdicts) == 1:
        return f"; prompts grow {ways[0][0]}"
    if ways[0][1] == len(verdicts):
        return f"; in all sessions prompts grow {ways[0][0]}"
    said = [f"{way} in {n:,}" for way, n in ways]
    return f"; of {len(verdicts):,} sessions, prompts grow {', '.join(said)}"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _name(name: str) -> str:
    return shortened(printable(name), LONGEST_NAME) or "a tool without a name"


def _part(share: float) -> str:
    """A share; all and nothing are said only where they are meant.

    >>> _part(0.9978), _part(1.0), _part(0.001)
    ('more than 99%', '100%', 'less than 1%')
    """
    if 0.995 <= share < 1:
        return "more than 99%"
    return "less than 1%" if 0 < share < 0.005 else f"{share:.0%}"


def _range(low: float, high: float) -> str:
    """A saving from its pessimistic to its optimistic end; less than nothing is said so.

    >>> _range(-0.04, 0.26), _range(-0.001, 0.001)
    ('minus 4% to 26%', '0%')
    """
    ends = [f"minus {-value:.0%}" if value <= -NOTHING else f"{abs(value):.0%}" for value in (low, high)]
    return ends[1] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
