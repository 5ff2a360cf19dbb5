"""What a session cost at list price, call by call, and where its cache broke.

Prices are dated data (`agentlab.tokens.models`); a subscription is not billed so. A break is a call that read less of
the cache than the call before had left in it: a candidate, since a client that reorders its messages or a user who goes
back look the same.
"""

from __future__ import annotations

from itertools import pairwise
from math import isnan, nan
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import calibrate, recorded_sizes
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.growth import SHRUNK
from agentlab.analysis.prefix_cache import CacheRule, rule_of
from agentlab.analysis.session import Call
from agentlab.tokens import models
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from agentlab.analysis.session import Session
    from agentlab.tokens.models import Model, Prices

LIST_PRICE = "List price; a subscription is not billed so."
LEFT = 0.9
"""A call that reads less than this share of what the call before left in the cache is a candidate for a break."""

COST_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iteration", "int64", "", "number within the turn, from 1"),
    Column("model", "string", "", "the model; missing where the log does not say"),
    Column("uncached_tokens", "int64", "prompt tokens", "neither read from the cache nor written to it"),
    Column("cache_read_tokens", "int64", "prompt tokens", "read from the cache"),
    Column("cache_write_tokens", "int64", "prompt tokens", "written to the cache"),
    Column("output_tokens", "int64", "output tokens", "as reported, else estimated from the reply"),
    Column("uncached", "float64", "US dollars", "for uncached tokens; missing where the price is not known"),
    Column("cache_read", "float64", "US dollars", "for what was read"),
    Column("cache_write", "float64", "US dollars", "for what was written, for five minutes or an hour"),
    Column("output", "float64", "US dollars", "for output"),
    Column("total", "float64", "US dollars", "all of these"),
    Column("recorded", "float64", "US dollars", "as the log says; missing where it does not"),
    Column("measured", "bool", "", "whether the provider reported the prompt"),
    Column("output_measured", "bool", "", "whether the output is as reported"),
    Column("time", "float64", "seconds since 1970", "when the reply came, where it is known"),
]

BREAK_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("expected", "int64", "prompt tokens", "that the call before had read or written"),
    Column("read", "int64", "prompt tokens", "of these, read again"),
    Column("lost", "int64", "prompt tokens", "of these, billed again"),
    Column("dollars", "float64", "US dollars", "what they cost more than reading; missing without a price"),
    Column("gap", "float64", "seconds", "since the call before; missing where the log has no times"),
    Column("reason", "string", "", "what can be known: expired, messages taken out, or unknown"),
]


class Bill(msgspec.Struct, frozen=True):
    """What a session cost.

    Attributes:
        dollars: At list price; NaN where a call has no price.
        recorded: As the log says; NaN where it does not.
        by_kind: Dollars for `uncached`, `cache_read`, `cache_write` and `output`.
        hit_rate: Share of all prompt tokens that were read from the cache; NaN where no call was measured.
        multiplier: What a prompt token cost on average, in prices of an uncached one.
        breaks: Candidates for breaks of the cache, and how many of them had expired.
        lost_share: What breaks cost more than reading, as a share of the input's price, both in prices of an uncached
            token.
        unpriced: Models without a price.
        estimated: Calls whose prompt or output is estimated.
        calls: All calls.
    """

    dollars: float
    recorded: float
    by_kind: dict[str, float]
    hit_rate: float
    multiplier: float
    breaks: tuple[int, int]
    lost_share: float
    unpriced: tuple[str, ...]
    estimated: int
    calls: int


class _Priced(msgspec.Struct, frozen=True):
    """A call with its tokens and its dollars; `rule` and the parts are None where the price is not known."""

    call: Call
    model: str | None
    tokens: tuple[int, int, int, int]
    parts: tuple[float, float, float, float] | None
    rule: CacheRule | None
    base: float


def cost(session: Session, *, prices: Path | None = None) -> pd.DataFrame:
    """Price each call of a session at list price.

    Args:
        session: Any. A call without recorded usage counts as uncached, by an estimate of its messages.
        prices: Another table, in the format of `agentlab/tokens/models.json`.

    Returns:
        A frame with `COST_COLUMNS`.

    Raises:
        InputError: The table cannot be read.

    >>> from agentlab.analysis import read_messages
    >>> used = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello.", "usage": used}]
    >>> cost(read_messages(talk, model="gpt-4o"))["total"].tolist()
    [3.5]
    """
    rows = []
    for number, each in enumerate(_priced(session, prices), 1):
        call = each.call
        parts = (nan,) * 4 if each.parts is None else each.parts
        recorded = nan if call.cost is None else call.cost
        flags = (call.measured, call.measured and call.output_measured)
        place = (number, call.turn, call.iteration, each.model)
        rows.append((*place, *each.tokens, *parts, sum(parts), recorded, *flags, call.time))
    return frame_of(rows, COST_COLUMNS)


def cache_breaks(session: Session, *, prices: Path | None = None) -> pd.DataFrame:
    """Calls at which the cache seems to have broken, with `BREAK_COLUMNS`; arguments and errors as in `cost`."""
    rows = []
    calls = list(_priced(session, prices))
    for number, (before, each) in enumerate(pairwise(calls), 2):
        if not _broke(before, each):
            continue
        times = (before.call.time, each.call.time)
        gap = nan if times[0] is None or times[1] is None else times[1] - times[0]
        read, lost = each.tokens[1], _lost(before, each)
        dollars = nan if each.rule is None else lost * each.rule.extra * each.base / 1e6
        rows.append((number, each.call.turn, read + lost, read, lost, dollars, gap, _reason(before, each, gap)))
    return frame_of(rows, BREAK_COLUMNS)


def bill(session: Session, *, prices: Path | None = None) -> Bill:
    """Add up what a session cost; arguments and errors as in `cost`."""
    calls = list(_priced(session, prices))
    frame, breaks = cost(session, prices=prices), cache_breaks(session, prices=prices)
    measured = [each for each in calls if each.call.measured]
    prompt = sum(sum(each.tokens[:3]) for each in measured)
    read = sum(each.tokens[1] for each in measured)
    spent = [sum(each.parts[:3]) / each.base * 1e6 for each in measured if each.parts is not None]
    lost = sum(_lost(*pair) * pair[1].rule.extra for pair in pairwise(calls) if _broke(*pair) and pair[1].rule)
    by_kind = {kind: float(frame[kind].sum()) for kind in ("uncached", "cache_read", "cache_write", "output")}
    recorded = float(frame["recorded"].sum()) if frame["recorded"].notna().any() else session.cost
    return Bill(
        float(frame["total"].sum(skipna=False)) if len(frame) else nan,
        nan if recorded is None else recorded,
        by_kind,
        read / prompt if prompt else nan,
        sum(spent) / prompt if prompt and len(spent) == len(measured) else nan,
        (len(breaks), int((breaks["reason"] == "expired").sum())),
        lost / sum(spent) if spent else nan,
        tuple(dict.fromkeys(str(each.model) for each in calls if each.parts is None)),
        int((~frame["output_measured"]).sum()),
        len(calls),
    )


def sentences(found: Bill) -> list[str]:
    """What a session cost, in a few sentences."""
    if not found.calls:
        return ["No model call returned, so there is nothing to price."]
    said = []
    if found.unpriced:
        named = ", ".join(found.unpriced)
        said.append(f"There is no list price for {named}: name a table with --prices FILE.")
    else:
        kinds = {kind.replace("_", " "): part / found.dollars for kind, part in found.by_kind.items() if part}
        parts = ", ".join(f"{share:.0%} {kind}" for kind, share in kinds.items())
        said.append(f"At list price {found.dollars:,.4f} dollars: {parts}.")
    if not isnan(found.recorded):
        said.append(f"The log records {found.recorded:,.4f} dollars.")
    if not isnan(found.hit_rate):
        said.append(f"{found.hit_rate:.1%} of the prompt tokens were read from the cache.")
    if not isnan(found.multiplier):
        said.append(f"A prompt token cost {found.multiplier:.3f} of an uncached one.")
    if found.breaks[0]:
        share = "" if isnan(found.lost_share) else f", {found.lost_share:.0%} of the input's price"
        said.append(f"{found.breaks[0]} candidates for breaks of the cache ({found.breaks[1]} expired){share}.")
    if found.estimated:
        said.append(f"The prompt or the output of {found.estimated:,} of {found.calls:,} calls is estimated.")
    return [*said, LIST_PRICE]


def _priced(session: Session, path: Path | None) -> Iterator[_Priced]:
    known: dict[str | None, Model | None] = {None: None}
    estimates = _estimates(session)
    for number, call in enumerate(session.calls):
        name = call.model or session.model
        if name not in known:
            known[name] = models.find(str(name), path)
        yield _price(call, name, known[name], _tokens(session, call, estimates[number]))


def _price(call: Call, name: str | None, model: Model | None, tokens: tuple[int, int, int, int]) -> _Priced:
    if model is None or model.prices is None:
        return _Priced(call, name, tokens, None, None, nan)
    prices = model.prices
    if model.long_prompt is not None and sum(tokens[:3]) > model.long_prompt.above:
        prices = model.long_prompt.prices
    rule = rule_of(model, hour=call.cache_write_1h_tokens > 0)
    return _Priced(call, name, tokens, _parts(call, tokens, prices), rule, prices.input)


def _parts(call: Call, tokens: tuple[int, int, int, int], prices: Prices) -> tuple[float, float, float, float] | None:
    """Dollars for uncached, read and written tokens and for output; None where one of these has no price."""
    hour = min(call.cache_write_1h_tokens, tokens[2])
    pieces = (
        (tokens[0], prices.input),
        (tokens[1], prices.cache_read),
        (tokens[2] - hour, prices.cache_write_5m),
        (hour, prices.cache_write_1h),
        (tokens[3], prices.output),
    )
    dollars = []
    for count, each in pieces:
        if count and each is None:
            return None
        dollars.append(count * (each or 0.0) / 1e6)
    return dollars[0], dollars[1], dollars[2] + dollars[3], dollars[4]


def _estimates(session: Session) -> list[int]:
    """Prompt tokens of each call, by a fit to those that were measured."""
    if all(call.measured for call in session.calls):
        return [0] * len(session.calls)
    fits = calibrate(session)
    return [fits.fit_of(number).predict(size) for number, size in enumerate(recorded_sizes(session))]


def _tokens(session: Session, call: Call, estimate: int) -> tuple[int, int, int, int]:
    """Uncached, read, written and output tokens of a call."""
    output = output_of(session, call)
    usage = call.usage
    if usage is not None and call.measured:
        return usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, output
    return estimate, 0, 0, output


def output_of(session: Session, call: Call) -> int:
    """Output tokens of a call: as reported, where that is a count of them, else the estimated size of its reply."""
    if call.usage is not None and call.output_measured:
        return call.usage.output_tokens
    if call.reply is None:
        return 0
    record = session.records[call.reply]
    return estimate_message(record.message) + (len(record.thinking) + 3) // 4


def _broke(before: _Priced, each: _Priced) -> bool:
    """Whether a call read less of the cache than the one before had left in it, and could have read it."""
    expected, prompts = before.tokens[1] + before.tokens[2], (sum(before.tokens[:3]), sum(each.tokens[:3]))
    same = before.model == each.model and prompts[1] >= SHRUNK * prompts[0]
    return same and each.call.measured and before.call.measured and each.tokens[1] < LEFT * expected


def _lost(before: _Priced, each: _Priced) -> int:
    """Tokens that were in the cache and were not read."""
    return before.tokens[1] + before.tokens[2] - each.tokens[1]


def _reason(before: _Priced, each: _Priced, gap: float) -> str:
    if each.rule is not None and gap > each.rule.seconds:
        return "expired"
    return "messages taken out" if each.call.start > before.call.start else "unknown"
