"""What a session cost at list price, call by call and in sum, and what its cache had to do with it.

Prices are dated data (`agentlab.tokens.models`); a subscription is not billed so.
"""

from __future__ import annotations

from math import fsum, isnan, nan
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from agentlab.analysis.breaks import BREAK_COLUMNS, EXPIRED, Shortfall, cache_breaks, shortfalls
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.prefix_cache import dollars, requests_of
from agentlab.analysis.priced import Priced, output_of, priced_calls
from agentlab.messages import Usage
from agentlab.printable import counted
from agentlab.tokens import models

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from agentlab.analysis.session import Session
    from agentlab.tokens.models import Model, Spent

__all__ = [
    "BREAK_COLUMNS",
    "COST_COLUMNS",
    "KINDS",
    "LIST_PRICE",
    "Bill",
    "bill",
    "cache_breaks",
    "cost",
    "output_of",
    "sentences",
]

LIST_PRICE = "List price; a subscription is not billed so."
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

KINDS = ("uncached", "cache_read", "cache_write", "output")


class Bill(msgspec.Struct, frozen=True):
    """What a session cost.

    Attributes:
        dollars: At list price, calls beside the conversation included; NaN where one has no price.
        recorded: As the log says; NaN where it does not.
        off: Most that a call's list price differs from what the log says of it, in dollars; NaN without both.
        by_kind: Dollars for each of `KINDS`, of the calls that have a price.
        tokens: Tokens of each of `KINDS`, of all calls.
        aside: Of the dollars, those for calls beside the conversation, such as for summaries.
        hit_rate: Share of all prompt tokens that were read from the cache; NaN where no call was measured.
        multiplier: What a prompt token cost on average, in prices of an uncached one.
        breaks: Candidates for breaks of the cache, and how many of them had expired.
        lost_share: What breaks cost more than reading, as a share of the input's price, both in prices of an uncached
            token.
        excused: How often less was read for a known cause, another model or a compaction, and the dollars for that.
        modelled: Dollars by `agentlab.analysis.prefix_cache`: the cache starts empty, and forgets only by its rule. An
            estimate, which does not know what other sessions had left there; NaN where it cannot be made.
        unpriced: Models without a price; "" for one that nobody names.
        whole: Whether the log has the tokens of the whole session only, so that these are priced.
        estimated: Calls whose prompt or output is estimated.
        estimated_prompts: Of these, calls whose prompt is.
        calls: All calls.
    """

    dollars: float
    recorded: float
    off: float
    by_kind: dict[str, float]
    tokens: dict[str, int]
    aside: float
    hit_rate: float
    multiplier: float
    breaks: tuple[int, int]
    lost_share: float
    excused: dict[str, tuple[int, float]]
    modelled: float
    unpriced: tuple[str, ...]
    whole: bool
    estimated: int
    estimated_prompts: int
    calls: int


def cost(session: Session, *, prices: Path | None = None, model: str | None = None) -> pd.DataFrame:
    """Price each call of a session at list price.

    Args:
        session: Any. A call without recorded usage counts as uncached, by an estimate of its messages.
        prices: A file whose models come before those that agentlab ships, as `agentlab.tokens.models.all` takes it.
        model: Who answered, where the log does not say.

    Returns:
        A frame with `COST_COLUMNS`.

    Raises:
        InputError: The file cannot be read or is no such table.

    >>> from agentlab.analysis import read_messages
    >>> used = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello.", "usage": used}]
    >>> cost(read_messages(talk, model="gpt-4o"))["total"].tolist()
    [3.5]
    """
    rows = []
    for number, each in enumerate(priced_calls(session, prices=prices, model=model), 1):
        call, usage, spent = each.call, each.usage, each.spent
        tokens = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
        parts = (nan,) * 5 if spent is None else (*(getattr(spent, kind) for kind in KINDS), spent.total)
        recorded = nan if call.cost is None else call.cost
        flags = (each.measured, each.output_measured)
        rows.append((number, call.turn, call.iteration, each.model, *tokens, *parts, recorded, *flags, call.time))
    return frame_of(rows, COST_COLUMNS)


def bill(session: Session, *, prices: Path | None = None, model: str | None = None) -> Bill:
    """Add up what a session cost; arguments and errors as in `cost`."""
    calls = priced_calls(session, prices=prices, model=model)
    short = shortfalls(session, calls)
    breaks = [each for each in short if each.candidate]
    measured = [each for each in calls if each.measured]
    prompt = sum(each.usage.prompt_tokens for each in measured)
    read = sum(each.usage.cache_read_tokens for each in measured)
    units = fsum(each.spent.input / each.base * 1e6 if each.spent else nan for each in measured)
    aside = _aside(session, prices, model)
    whole = session.usage is not None and bool(calls) and not measured
    billed = (
        [_whole(session, session.usage, prices, model)]
        if whole and session.usage
        else [(each.model, each.usage, each.spent) for each in calls]
    )
    unpriced = tuple(dict.fromkeys(name or "" for name, _, spent in billed if spent is None))
    spent = [each for _, _, each in billed if each is not None]
    return Bill(
        dollars=fsum(each.total for each in spent) + aside if calls and not unpriced else nan,
        recorded=_recorded(session),
        off=_off(calls),
        by_kind={kind: fsum(getattr(each, kind) for each in spent) for kind in KINDS},
        tokens=_tokens(usage for _, usage, _ in billed),
        aside=aside,
        hit_rate=read / prompt if prompt else nan,
        multiplier=units / prompt if prompt else nan,
        breaks=(len(breaks), sum(each.reason == EXPIRED for each in breaks)),
        lost_share=fsum(each.units for each in breaks) / units if units else nan,
        excused=_excused(short),
        modelled=_modelled(session, calls, prices) + aside if len(measured) == len(calls) and read else nan,
        unpriced=unpriced,
        whole=whole,
        estimated=0 if whole else sum(not each.output_measured for each in calls),
        estimated_prompts=0 if whole else sum(not each.measured for each in calls),
        calls=len(calls),
    )


def sentences(found: Bill) -> list[str]:
    """What a session cost, in a few sentences."""
    if not found.calls:
        return ["No model call returned, so there is nothing to price."]
    said = [*_price_in_words(found), *_cache_in_words(found)]
    if found.estimated_prompts:
        said.append(
            f"The prompt of {found.estimated_prompts:,} of {counted(found.calls, 'call')} is estimated, and priced as "
            "if nothing of it was cached."
        )
    if outputs := found.estimated - found.estimated_prompts:
        said.append(
            f"The log does not count all output of {outputs:,} of {counted(found.calls, 'call')}: it is what the log "
            "priced, where it did, else estimated from the replies."
        )
    return [*said, LIST_PRICE]


def _price_in_words(found: Bill) -> list[str]:
    said = ["The log has the tokens of the whole session only, and so has its price."] if found.whole else []
    known = fsum(found.by_kind.values())
    if found.unpriced:
        named = ", ".join(name or "a model that the log does not name" for name in found.unpriced)
        tokens = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in found.tokens.items() if n)
        said.append(f"There is no list price for {named}, so there are tokens only: {tokens or 'none'}.")
        if "" in found.unpriced:
            said.append("A model that the log does not name can be named with --model M.")
        if any(found.unpriced):
            said.append("A file with the price can be named with --prices FILE.")
    if known:
        parts = ", ".join(
            f"{part / known:.0%} {kind.replace('_', ' ')}" for kind, part in found.by_kind.items() if part
        )
        whose = "The calls that have one" if found.unpriced else "The calls"
        said.append(f"{whose} come to {known:,.4f} dollars at list price: {parts}.")
    if found.aside:
        said.append(f"Calls beside the conversation, such as for summaries, add {found.aside:,.4f} dollars.")
    if not isnan(found.recorded):
        off = "" if isnan(found.off) else f"; no call differs by more than {found.off:.4f} from its list price"
        said.append(f"The log records {found.recorded:,.4f} dollars{off}.")
    return said


def _cache_in_words(found: Bill) -> list[str]:
    said = []
    if not isnan(found.hit_rate):
        said.append(f"{found.hit_rate:.1%} of the prompt tokens were read from the cache.")
    if not isnan(found.multiplier):
        said.append(f"A prompt token cost {found.multiplier:.3f} of an uncached one.")
    if found.breaks[0]:
        share = "" if isnan(found.lost_share) else f", {found.lost_share:.0%} of the input's price"
        what = f"{found.breaks[0]:,} candidate{'' if found.breaks[0] == 1 else 's'} for breaks of the cache"
        said.append(f"{what} ({found.breaks[1]} expired){share}.")
    for cause, (number, spent) in found.excused.items():
        cost_of_it = "" if isnan(spent) else f", for {spent:,.4f} dollars"
        said.append(f"Apart from these, {counted(number, 'call')} found less in the cache after {cause}{cost_of_it}.")
    if not isnan(found.modelled):
        said.append(
            "By a model of the cache, which starts empty and forgets only by its rule, the session would have cost "
            f"{found.modelled:,.4f} dollars (estimated)."
        )
    return said


def _recorded(session: Session) -> float:
    """US dollars as the log says: of the calls, else of the whole; NaN where it does not."""
    by_call = [call.cost for call in session.calls if call.cost is not None]
    whole = fsum(by_call) if by_call else session.cost
    return nan if whole is None else whole


def _off(calls: Sequence[Priced]) -> float:
    """Most that a call's list price differs from what the log says of it; NaN where no call has both."""
    both = [(each.spent, each.call.cost) for each in calls]
    return max((abs(spent.total - cost) for spent, cost in both if spent and cost is not None), default=nan)


def _tokens(usages: Iterable[Usage]) -> dict[str, int]:
    total = sum(usages, Usage())
    parts = (total.input_tokens, total.cache_read_tokens, total.cache_write_tokens, total.output_tokens)
    return dict(zip(KINDS, parts, strict=True))


def _named(session: Session, model: str | None, prices: Path | None) -> tuple[str | None, Model | None]:
    """The model of what no call is named for."""
    name = session.model or next((call.model for call in session.calls if call.model), model)
    return name, None if name is None else models.find(name, prices)


def _whole(
    session: Session, usage: Usage, prices: Path | None, model: str | None
) -> tuple[str | None, Usage, Spent | None]:
    """The tokens of all calls together and their price, which is none of long prompts: no call is known to have one."""
    name, found = _named(session, model, prices)
    if found is not None:
        earlier = tuple(replace(each, long_prompt=None) for each in found.earlier)
        found = replace(found, long_prompt=None, earlier=earlier)
    return name, usage, models.cost_of(usage, found, time=session.calls[0].time)


def _aside(session: Session, prices: Path | None, model: str | None) -> float:
    """What calls beside the conversation cost, by the session's model; 0 where there is none, NaN without its price."""
    _, found = _named(session, model, prices)
    spent = [models.cost_of(usage, found) for usage in session.aside]
    return fsum(nan if each is None else each.total for each in spent)


def _excused(short: Sequence[Shortfall]) -> dict[str, tuple[int, float]]:
    """How often less was read for a known cause, and what that cost."""
    causes: dict[str, list[float]] = {}
    for each in short:
        if not each.candidate:
            causes.setdefault(each.reason, []).append(each.dollars)
    return {cause: (len(spent), fsum(spent)) for cause, spent in causes.items()}


def _modelled(session: Session, calls: Sequence[Priced], prices: Path | None) -> float:
    """What the calls would have cost by the rule of the cache; NaN where a price is not known."""
    by_name = {each.model: None if each.model is None else models.find(each.model, prices) for each in calls}
    hour = sum(each.call.cache_write_1h_tokens for each in calls) * 2 > sum(
        each.usage.cache_write_tokens for each in calls
    )
    requests = [
        replace(request, output=each.usage.output_tokens, model=each.model)
        for request, each in zip(requests_of(session), calls, strict=True)
    ]
    spent = dollars(requests, by_name, hour=hour)
    return nan if spent is None else spent
