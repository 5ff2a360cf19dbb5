"""The prefix cache of a provider: what of each request it reads, writes or bills in full, and when an edit pays.

A request whose beginning is that of an earlier one is billed less for it, while the provider remembers. So appending is
cheap, and whatever changes an old message bills all behind it again. In prices of an uncached input token:

    cost = read * L + write * (C - L - u) + u + output

`C` is the prompt, `L` the remembered prefix that it begins with, `u` what is neither read nor written.

Source: the providers' documentation of prompt caching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.tokens.models import Model


class Request(msgspec.Struct, frozen=True):
    """A call as a cache sees it.

    Attributes:
        prompt: Its prompt tokens.
        prefix: Of these, the beginning that the request before had too.
        output: Its output tokens.
        time: When, in seconds; None where that is not known: then nothing is forgotten before it.
        model: Who was asked: another model has another cache.
    """

    prompt: int
    prefix: int
    output: int
    time: float | None = None
    model: str | None = None


class CacheRule(msgspec.Struct, frozen=True):
    """How a provider caches.

    Attributes:
        read: Price of a token that is read, in prices of an uncached one.
        write: Price of one that is written; None where the provider writes without being asked, and bills in full.
        seconds: How long a prefix is remembered after it was last used.
        smallest: A shorter prefix is never cached, in tokens.
        step: Cached prefixes are of `smallest` and a multiple of this, in tokens.
    """

    read: float
    write: float | None
    seconds: float
    smallest: int = 1024
    step: int = 1

    @property
    def extra(self) -> float:
        """What a token costs more that has to be written again, or billed in full, instead of read."""
        return (1.0 if self.write is None else self.write) - self.read


ANTHROPIC_5M = CacheRule(read=0.1, write=1.25, seconds=300)
ANTHROPIC_1H = CacheRule(read=0.1, write=2.0, seconds=3600)
OPENAI = CacheRule(read=0.1, write=None, seconds=600, step=128)
"""As of the gpt-5 family; earlier ones read at 0.25 or 0.5."""


class Charged(msgspec.Struct, frozen=True):
    """Tokens of a request's prompt, by how they are billed; together they are the prompt."""

    read: int
    written: int
    uncached: int


def rule_of(model: Model, *, hour: bool = False) -> CacheRule | None:
    """The rule of a model, from its prices.

    Args:
        model: As `agentlab.tokens.models.find` returns it.
        hour: Anthropic's cache of an hour instead of five minutes.

    Returns:
        None where the model has no price, or none for what is read.

    >>> from agentlab.tokens import models
    >>> rule_of(models.find("claude-sonnet-4-5")) == ANTHROPIC_5M
    True
    """
    prices = model.prices
    if prices is None or prices.cache_read is None:
        return None
    read = round(prices.cache_read / prices.input, 6)
    if model.provider != "anthropic":
        return msgspec.structs.replace(OPENAI, read=read)
    write = prices.cache_write_1h if hour else prices.cache_write_5m
    if write is None:
        return None
    kind = ANTHROPIC_1H if hour else ANTHROPIC_5M
    return msgspec.structs.replace(kind, read=read, write=round(write / prices.input, 6))


def charge(requests: Iterable[Request], rule: CacheRule) -> list[Charged]:
    """Say how the prompt of each request is billed, one after the other; everything that can be cached is.

    Args:
        requests: In the order in which they were made.
        rule: The provider's.

    >>> charge([Request(5_000, 0, 10), Request(6_000, 5_000, 10)], ANTHROPIC_5M)[1]
    Charged(read=5000, written=1000, uncached=0)
    >>> charge([Request(5_000, 0, 10), Request(6_000, 5_000, 10)], OPENAI)[1]
    Charged(read=4992, written=0, uncached=1008)
    """
    done = []
    remembered = 0
    last: float | None = None
    model: str | None = None
    for request in requests:
        forgotten = last is not None and request.time is not None and request.time - last > rule.seconds
        forgotten |= request.model != model
        shared = 0 if forgotten else _cacheable(min(request.prefix, remembered, request.prompt), rule)
        rest = request.prompt - shared
        if rule.write is None or request.prompt < rule.smallest:
            done.append(Charged(shared, 0, rest))
        else:
            done.append(Charged(shared, rest, 0))
        remembered, model = request.prompt, request.model
        last = request.time if request.time is not None else last
    return done


def dollars(
    requests: Sequence[Request], by_name: Mapping[str | None, Model | None], *, hour: bool = False
) -> float | None:
    """What requests cost at list price, by the rule of the first one's model.

    Args:
        requests: In the order in which they were made.
        by_name: The models that they name.
        hour: As in `rule_of`.

    Returns:
        US dollars, output included; None where a model has no price.

    >>> from agentlab.tokens import models
    >>> dollars([Request(1_000_000, 0, 100_000, model="gpt-4o")], {"gpt-4o": models.find("gpt-4o")})
    3.5
    """
    if not requests:
        return 0.0
    first = by_name.get(requests[0].model)
    rule = None if first is None else rule_of(first, hour=hour)
    if rule is None:
        return None
    total = 0.0
    for request, charged in zip(requests, charge(requests, rule), strict=True):
        model = by_name.get(request.model)
        if model is None or model.prices is None:
            return None
        long = model.long_prompt
        prices = model.prices if long is None or request.prompt <= long.above else long.prices
        write = (prices.cache_write_1h if hour else prices.cache_write_5m) if charged.written else 0.0
        if write is None or (charged.read and prices.cache_read is None):
            return None
        total += charged.read * (prices.cache_read or 0.0) + charged.written * write
        total += charged.uncached * prices.input + request.output * prices.output
    return total / 1e6


def break_even(removed: int, after: int, rule: CacheRule) -> float:
    """After how many later calls an edit has paid for itself.

    Taking `removed` tokens out bills the `after` tokens behind them again; each later call then reads less.

    Args:
        removed: Tokens taken out of the prompt, at least 1.
        after: Tokens of the prompt that stand behind them and stay.
        rule: The provider's.

    Returns:
        Later calls, at least 0.

    Raises:
        InputError: Nothing is removed.

    >>> [round(break_even(1_000, 1_000, rule), 1) + 1 for rule in (ANTHROPIC_5M, ANTHROPIC_1H, OPENAI)]
    [11.5, 19.0, 9.0]
    """
    if removed < 1:
        raise InputError(f"an edit removes at least 1 token, and {removed} is none", field="removed")
    return max(0.0, rule.extra / rule.read * after / removed - 1)


def _cacheable(prefix: int, rule: CacheRule) -> int:
    if prefix < rule.smallest:
        return 0
    return rule.smallest + (prefix - rule.smallest) // rule.step * rule.step
