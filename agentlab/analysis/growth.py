"""How a session's prompts grow: linear, faster or slower, which calls made them jump, and why.

Prompts are looked at in segments: where earlier messages were taken out, as by a summary, a new one begins. Within a
segment a prompt is the one before and what came since, so the question is whether the increments grow.
"""

from __future__ import annotations

from itertools import pairwise
from math import isnan
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import SHRUNK
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.parts import BASE, CallParts, parts_of
from agentlab.analysis.sizes import sizes_of
from agentlab.analysis.trend import SIGNIFICANT, Bend, Exponent, Trend, bend, concentration, doubling, exponent, trend
from agentlab.printable import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from agentlab.analysis.session import Session

EXPONENT_COLUMNS = [
    Column("series", "string", "", "context, turn_tokens or cumulative"),
    Column("index", "string", "", "what it grows with: calls or user turns"),
    Column("exponent", "float64", "", "the power of the index; 1 is linear, 2 quadratic"),
    Column("low", "float64", "", "lower end of the 95 % interval"),
    Column("high", "float64", "", "upper end of the 95 % interval"),
    Column("n", "int64", "see index", "values; the first tenth is left out of the fit"),
]

SEGMENT_COLUMNS = [
    Column("segment", "int64", "", "number, from 1"),
    Column("first_call", "int64", "", "number of its first call"),
    Column("calls", "int64", "calls", "in it"),
    Column("smallest", "int64", "prompt tokens", "of its prompts"),
    Column("largest", "int64", "prompt tokens", "of its prompts"),
    Column("tau", "float64", "", "Kendall's tau of the increments against their order; missing where too few"),
    Column("p", "float64", "", "its two-sided p value"),
    Column("increments", "int64", "increments", "one less than calls"),
    Column("concentration", "float64", "share", "of all growth that the largest tenth of the increments carry"),
]

JUMP_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iteration", "int64", "", "number within the turn, from 1"),
    Column("growth", "int64", "prompt tokens", "more than the call before"),
    Column("share", "float64", "share", "of all growth within segments"),
    Column("grown_by", "string", "", "what of the new messages takes most: a tool, or a role"),
    Column("message", "Int64", "", "index in Session.records of the largest new message; missing where there is none"),
    Column("prompt_tokens", "int64", "prompt tokens", "of the call"),
    Column("measured", "bool", "", "True: the provider's usage, or a tokenizer that is exact; False: estimated"),
]


class Growth(msgspec.Struct, frozen=True):
    """How the prompts of a session grow.

    Attributes:
        verdict: `linear`, `super-linear`, `sub-linear` or `cannot be told`: of the prompts within the longest segment,
            by their increments.
        exponents: By series: `context` (prompts of the longest segment, by call), `turn_tokens` (by user turn),
            `cumulative` (all prompts so far, by call). One is missing where it has too few values.
        segments: For each segment, the calls in it by index, from the first to before the last.
        trends: Of each segment's increments; None where it has too few.
        bend: The best hinge of the longest segment and what chance does; None where it has too few.
        concentration: Share of all growth that the largest tenth of the increments carry.
        largest: Tokens of the largest prompt.
        sentences: The answer, for people.
    """

    verdict: str
    exponents: dict[str, Exponent]
    segments: tuple[tuple[int, int], ...]
    trends: tuple[Trend | None, ...]
    bend: Bend | None
    concentration: float
    largest: int
    sentences: tuple[str, ...]


def growth(session: Session, *, model: str | None = None) -> Growth:
    """Say how the prompts of a session grow, and why.

    Args:
        session: Any.
        model: Count as for this model, where the log does not name its own.

    Raises:
        MissingRanksError: The tokenizer's rank files are not there.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> growth(read_messages(talk * 20)).verdict
    'linear'
    """
    return growth_of(parts_of(session, sizes_of(session, model)))


def growth_of(parts: Sequence[CallParts]) -> Growth:
    """As `growth`, of calls that are split into parts already."""
    segments = segments_of(parts)
    prompts = [part.prompt for part in parts]
    longest = max(segments, key=lambda each: each[1] - each[0], default=(0, 0))
    within = _increments(prompts, longest)
    trends = tuple(trend(_increments(prompts, segment)) for segment in segments)
    main = trends[segments.index(longest)] if segments else None
    exponents = _exponents(parts, longest)
    share = concentration([step for segment in segments for step in _increments(prompts, segment)])
    found = bend(within)
    verdict = "cannot be told" if main is None else ("linear", "super-linear", "sub-linear")[main.direction]
    said = [
        _answer(verdict, within, main, "" if len(segments) < 2 else f" in the longest of {len(segments)} segments"),
        _largest_tenth(share, parts[longest[0] + 1 : longest[1]]) if main is not None else "",
        _sum_of(exponents.get("cumulative")),
        _bend(found, longest[0]),
    ]
    largest = max(prompts, default=0)
    return Growth(
        verdict, exponents, segments, trends, found, share, largest, tuple(filter(None, said)) if parts else ()
    )


def exponents_frame(found: Growth) -> pd.DataFrame:
    """The exponents as a frame with `EXPONENT_COLUMNS`."""
    index = {"turn_tokens": "user turns"}
    rows = [(name, index.get(name, "calls"), e.value, e.low, e.high, e.n) for name, e in found.exponents.items()]
    return frame_of(rows, EXPONENT_COLUMNS)


def segments_frame(session: Session, *, model: str | None = None) -> pd.DataFrame:
    """The segments of a session, a row each, with `SEGMENT_COLUMNS`; arguments and errors as in `growth`."""
    parts = parts_of(session, sizes_of(session, model))
    prompts = [part.prompt for part in parts]
    rows = []
    for number, (start, stop) in enumerate(segments_of(parts), 1):
        steps = _increments(prompts, (start, stop))
        test = trend(steps)
        tau, p = (float("nan"), float("nan")) if test is None else (test.tau, test.p)
        own = prompts[start:stop]
        rows.append((number, start + 1, len(own), min(own), max(own), tau, p, len(steps), concentration(steps)))
    return frame_of(rows, SEGMENT_COLUMNS)


def jumps(session: Session, most: int = 10, *, model: str | None = None) -> pd.DataFrame:
    """The calls whose prompts grew most, and the tool or speaker that made them; the first call is none.

    Args:
        session: Any.
        most: Rows at most.
        model: As in `growth`.

    Returns:
        A frame with `JUMP_COLUMNS`, the largest first.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> jumps(read_messages(talk * 3))["growth"].tolist()
    [11, 11]
    """
    sizes = sizes_of(session, model)
    parts = parts_of(session, sizes)
    firsts = {start for start, _ in segments_of(parts)}
    steps = [(part.growth, number) for number, part in enumerate(parts) if number not in firsts and part.growth > 0]
    total = sum(step for step, _ in steps)
    rows = []
    for step, number in sorted(steps, key=lambda each: (-each[0], each[1]))[:most]:
        part, call, before = parts[number], parts[number].call, parts[number - 1].call
        new = range(max(before.stop, call.start), call.stop)
        largest = max(new, key=lambda index: sizes.messages[index], default=None)
        place = (number + 1, call.turn, call.iteration)
        rows.append((*place, step, step / total, part.grown_by, largest, part.prompt, part.measured))
    return frame_of(rows, JUMP_COLUMNS)


def segments_of(parts: Sequence[CallParts]) -> tuple[tuple[int, int], ...]:
    """Where earlier messages were taken out, a segment begins: ranges of calls, by index."""
    firsts = [0] if parts else []
    for number, (before, part) in enumerate(pairwise(parts), 1):
        if part.call.start > before.call.start or part.prompt < SHRUNK * before.prompt:
            firsts.append(number)
    return tuple(pairwise([*firsts, len(parts)]))


def _increments(prompts: Sequence[int], segment: tuple[int, int]) -> list[int]:
    return [after - before for before, after in pairwise(prompts[segment[0] : segment[1]])]


def _exponents(parts: Sequence[CallParts], longest: tuple[int, int]) -> dict[str, Exponent]:
    turns: dict[int, int] = {}
    cumulative: list[int] = []
    for part in parts:
        turns[part.call.turn] = turns.get(part.call.turn, 0) + part.prompt
        cumulative.append(part.prompt + (cumulative[-1] if cumulative else 0))
    context = [part.prompt for part in parts[longest[0] : longest[1]]]
    series = {"context": context, "turn_tokens": list(turns.values()), "cumulative": cumulative}
    return {name: found for name, values in series.items() if (found := exponent(values)) is not None}


def _answer(verdict: str, steps: Sequence[int], test: Trend | None, where: str) -> str:
    if test is None:
        return f"Whether the prompts grow linearly cannot be told from {counted(len(steps), 'increment')}{where}."
    half = len(steps) // 2
    halves = f"(median {median(steps[:half]):,.0f} tokens in the first half, {median(steps[half:]):,.0f} in the second"
    why = {
        "linear": f"what a call adds shows no trend (median {median(steps):,.0f} tokens",
        "super-linear": f"later calls add more {halves}",
        "sub-linear": f"later calls add less {halves}",
    }[verdict]
    how = f"Kendall's tau {test.tau:+z.2f}, p {_p(test.p)}, n {test.n:,}"
    return f"With each call the prompt grows {verdict}ly{where}: {why}; {how})."


def _largest_tenth(share: float, parts: Sequence[CallParts]) -> str:
    """How much of the growth few calls carry, and which tool or speaker stands behind most of it."""
    if isnan(share):
        return ""
    said = f"The largest tenth of the increments carry {share:.0%} of the growth"
    totals: dict[str, int] = {}
    for part in parts:
        if part.growth > 0 and part.grown_by not in ("", BASE):
            totals[part.grown_by] = totals.get(part.grown_by, 0) + part.growth
    if not totals:
        return f"{said}."
    name = max(totals, key=totals.__getitem__)
    who = {"user": "the user's messages", "loop": "what the loop said", "assistant": "the assistant's own words"}
    largest = who.get(name, f"results of {name}")
    return f"{said}; {largest} stand behind more of it than any other ({totals[name] / sum(totals.values()):.0%})."


def _sum_of(power: Exponent | None) -> str:
    if power is None:
        return ""
    interval = f"95 % interval {power.low:.2f} to {power.high:.2f}"
    return (
        f"The sum of all prompts grows with the calls to the power of {power.value:.2f} ({interval}): twice as many "
        f"calls send about {doubling(power):.1f} times as many tokens, since each sends again what is there."
    )


def _bend(found: Bend | None, offset: int) -> str:
    if found is None:
        return ""
    place = f"after call {offset + found.at + 1}"
    often = f"{found.chance:.0%} of reorderings of the same increments bend as much"
    if found.chance <= SIGNIFICANT:
        return f"There is a bend {place}: {often}."
    return f"A line with a hinge would bend {place}, but that is no finding: {often}."


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"
