"""The prefix cache of a provider: what of each request it reads, writes or bills in full, and when an edit pays.

A request whose beginning is that of an earlier one is billed less for it, while the provider remembers. So appending is
cheap, and whatever changes an old message bills all behind it again. In prices of an uncached input token:

    cost = read * L + write * (C - L - u) + u + output

`C` is the prompt, `L` the remembered prefix that it begins with, `u` what is neither read nor written.

Source: the providers' documentation of prompt caching. Anthropic finds a prefix where an earlier request marked its
end, or some 20 blocks before such a mark; here it finds each, so a change deep inside a prompt comes out too cheap.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import calibrate, estimated_sizes
from agentlab.analysis.sums import Sums
from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.tokens.models import cost_of
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.analysis.session import Session
    from agentlab.tokens.models import Model


class Request(msgspec.Struct, frozen=True):
    """A call as a cache sees it.

    Attributes:
        prompt: Its prompt tokens.
        prefix: Of these, the beginning that the request before had too.
        output: Its output tokens.
        time: When, in seconds; None where that is not known: then nothing is forgotten before it.
        model: Who was asked: another model has another cache.
        marked: Of the prompt, the beginning that is offered for caching; None for all of it.
    """

    prompt: int
    prefix: int
    output: int
    time: float | None = None
    model: str | None = None
    marked: int | None = None


class CacheRule(msgspec.Struct, frozen=True):
    """How a provider caches.

    Attributes:
        read: Price of a token that is read, in prices of an uncached one.
        write: Price of one that is written; None where that costs what an uncached one does.
        seconds: How long a prefix is remembered after it was last used.
        smallest: A shorter prefix is never cached, in tokens.
        step: Cached prefixes are of `smallest` and a multiple of this, in tokens.
        automatic: Whether the provider writes without being asked.
    """

    read: float
    write: float | None
    seconds: float
    smallest: int = 1024
    step: int = 1
    automatic: bool = False

    @property
    def extra(self) -> float:
        """What a token costs more that has to be written again, or billed in full, instead of read."""
        return (1.0 if self.write is None else self.write) - self.read


ANTHROPIC_5M = CacheRule(read=0.1, write=1.25, seconds=300)
ANTHROPIC_1H = CacheRule(read=0.1, write=2.0, seconds=3600)
OPENAI = CacheRule(read=0.1, write=None, seconds=600, step=128, automatic=True)
"""As of the gpt-5 family; earlier ones read at 0.25 or 0.5, later ones pay for what is written and keep it longer."""
OPENAI_PAID_SECONDS = 1800


class Charged(msgspec.Struct, frozen=True):
    """Tokens of a request's prompt, by how they are billed; together they are the prompt."""

    read: int
    written: int
    uncached: int


def rule_of(model: Model, *, hour: bool = False, time: float | None = None) -> CacheRule | None:
    """The rule of a model, from its prices.

    Args:
        model: As `agentlab.tokens.models.find` returns it.
        hour: Anthropic's cache of an hour instead of five minutes.
        time: Whose prices count, in seconds since 1970; None for now.

    Returns:
        None where the model has no price, or none for what is read.

    >>> from agentlab.tokens import models
    >>> rule_of(models.find("claude-sonnet-4-5")) == ANTHROPIC_5M
    True
    """
    prices = model.prices_of(0, time)
    if prices is None or prices.cache_read is None:
        return None
    read = round(prices.cache_read / prices.input, 6)
    dollars = prices.cache_write_1h if hour else prices.cache_write_5m
    write = None if dollars is None else round(dollars / prices.input, 6)
    if model.provider != "anthropic":
        seconds = OPENAI.seconds if write is None else OPENAI_PAID_SECONDS
        return msgspec.structs.replace(OPENAI, read=read, write=write, seconds=seconds)
    if write is None:
        return None
    return msgspec.structs.replace(ANTHROPIC_1H if hour else ANTHROPIC_5M, read=read, write=write)


def requests_of(session: Session) -> list[Request]:
    """The recorded calls as a cache sees them.

    Args:
        session: Any. A prompt that was not measured, and the part of one before a change, are predicted by
            `agentlab.analysis.calibration`.

    Returns:
        A request per call. Where messages were only added, its prefix is all of the prompt before; where a message was
        replaced, what stands before it; where earlier messages were taken out, what the log does not show.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> [(request.prompt, request.prefix) for request in requests_of(read_messages(talk * 2))]
    [(5, 0), (16, 5)]
    """
    fits, sums = calibrate(session), Sums(estimated_sizes(session.records))
    changes = list(session.replaced[::-1])
    made: list[Request] = []
    start = stop = 0
    for number, call in enumerate(session.calls):
        fit = fits.fit_of(number)
        unchanged = min(stop, call.stop)
        while changes and changes[-1].call <= number:
            changed = changes.pop()
            unchanged = min(unchanged, changed.index)
            message = {**session.records[changed.index].message, "content": changed.text}
            sums.change(changed.index, 0 if changed.text is None else estimate_message(message))
        begins = call.start > start
        if begins:
            unchanged = call.start
        prompt = fit.predict(sums.between(call.start, call.stop))
        if call.measured and call.usage is not None:
            prompt = call.usage.prompt_tokens
        prefix = made[-1].prompt if made else 0
        if begins or unchanged < stop:
            prefix = min(prefix, fit.predict(sums.between(call.start, unchanged)))
        output = 0 if call.usage is None else call.usage.output_tokens
        name = call.model or session.model
        made.append(Request(prompt, min(prefix, prompt), output, call.time, name))
        start, stop = call.start, call.stop
    return made


def charge(requests: Iterable[Request], rule: CacheRule) -> list[Charged]:
    """Say how the prompt of each request is billed, one after the other.

    Args:
        requests: In the order in which they were made.
        rule: The provider's.

    >>> charge([Request(5_000, 0, 10), Request(6_000, 5_000, 10)], ANTHROPIC_5M)[1]
    Charged(read=5000, written=1000, uncached=0)
    >>> charge([Request(5_000, 0, 10), Request(6_000, 5_000, 10)], OPENAI)[1]
    Charged(read=4992, written=0, uncached=1008)
    """
    done = []
    held: dict[str | None, tuple[int, float | None]] = {}  # of each model: the prefix that it remembers, and since when
    for request in requests:
        held = {name: (min(tokens, request.prefix), since) for name, (tokens, since) in held.items()}
        tokens, since = held.get(request.model, (0, None))
        if since is not None and request.time is not None and request.time - since > rule.seconds:
            tokens = 0
        offered = request.prompt if request.marked is None else min(request.marked, request.prompt)
        stored = cacheable(offered, rule)
        read = cacheable(min(tokens, stored), rule)
        written = 0 if rule.write is None else stored - read
        done.append(Charged(read, written, request.prompt - read - written))
        held[request.model] = (stored, since if request.time is None else request.time)
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
    rule = None if first is None else rule_of(first, hour=hour, time=requests[0].time)
    if rule is None:
        return None
    total = 0.0
    for request, charged in zip(requests, charge(requests, rule), strict=True):
        usage = Usage(charged.uncached, request.output, charged.read, charged.written)
        spent = cost_of(
            usage, by_name.get(request.model), hour=usage.cache_write_tokens if hour else 0, time=request.time
        )
        if spent is None:
            return None
        total += spent.total
    return total


def break_even(removed: int, after: int, rule: CacheRule) -> float:
    """After how many later calls an edit has paid for itself.

    Taking `removed` tokens out bills the `after` tokens behind them again; each later call then reads less.

    Args:
        removed: Tokens taken out of the prompt, at least 1.
        after: Tokens of the prompt that stand behind them and stay.
        rule: The provider's.

    Returns:
        Later calls, at least 0; infinite where what is read costs nothing.

    Raises:
        InputError: Nothing is removed.

    >>> [round(break_even(1_000, 1_000, rule), 1) + 1 for rule in (ANTHROPIC_5M, ANTHROPIC_1H, OPENAI)]
    [11.5, 19.0, 9.0]
    """
    if removed < 1:
        raise InputError(f"an edit removes at least 1 token, and {removed} is none", field="removed")
    if not rule.read:  # nothing is saved by reading less
        return inf if after else 0.0
    return max(0.0, rule.extra / rule.read * after / removed - 1)


def cacheable(prefix: int, rule: CacheRule) -> int:
    """How many tokens of a prefix can be cached.

    >>> [cacheable(tokens, OPENAI) for tokens in (1_023, 1_024, 1_151, 1_152)]
    [0, 1024, 1024, 1152]
    """
    if prefix < rule.smallest:
        return 0
    return rule.smallest + (prefix - rule.smallest) // rule.step * rule.step
