"""The calls of a session with their tokens, what these cost at list price, and what they left in the cache."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import calibrate, recorded_sizes
from agentlab.analysis.prefix_cache import CacheRule, cacheable, rule_of
from agentlab.analysis.session import Call
from agentlab.messages import Usage
from agentlab.tokens import models
from agentlab.tokens.models import Spent
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from pathlib import Path

    from agentlab.analysis.session import Session
    from agentlab.tokens.models import Model


class Priced(msgspec.Struct, frozen=True):
    """A call and its price.

    Attributes:
        call: The call.
        model: Who answered; None where nobody says.
        usage: What is priced: as reported, else estimated.
        measured: Whether the log says how large the prompt was.
        spent: US dollars by kind; None where a price is not known.
        rule: How its provider caches; None where that is not known.
        base: US dollars per million uncached prompt tokens; NaN without a price.
        left: Tokens of the prompt that the next call may find in the cache.
        seconds: How long they stay there.
    """

    call: Call
    model: str | None
    usage: Usage
    measured: bool
    spent: Spent | None
    rule: CacheRule | None
    base: float
    left: int
    seconds: float

    @property
    def output_measured(self) -> bool:
        """Whether prompt and output are as the log says."""
        return self.measured and self.call.output_measured


def priced_calls(session: Session, *, prices: Path | None = None, model: str | None = None) -> list[Priced]:
    """Price each call.

    Args:
        session: Any. A prompt that was not reported is estimated, and priced as if nothing of it was cached.
        prices: A file whose models come before those that agentlab ships, as `agentlab.tokens.models.all` takes it.
        model: Who answered where the log does not say.

    Returns:
        The calls, in order.

    Raises:
        InputError: The file cannot be read.
    """
    known: dict[str | None, Model | None] = {None: None}
    estimates = _estimates(session)
    reports = any(
        call.usage and (call.usage.cache_read_tokens or call.usage.cache_write_tokens) for call in session.calls
    )
    seconds = inf
    made = []
    for call, estimate in zip(session.calls, estimates, strict=True):
        name = call.model or session.model or model
        if name not in known:
            known[name] = models.find(str(name), prices)
        found = known[name]
        usage, measured = _usage(session, call, estimate)
        rule = None if found is None else rule_of(found, hour=call.cache_write_1h_tokens > 0, time=call.time)
        if rule is not None and (usage.cache_write_tokens or rule.automatic):
            seconds = rule.seconds  # what is only read lives on as it was written
        spent = models.cost_of(usage, found, hour=call.cache_write_1h_tokens, time=call.time)
        at = None if found is None else found.prices_of(usage.prompt_tokens, call.time)
        left = _left(usage, rule) if reports else 0
        made.append(Priced(call, name, usage, measured, spent, rule, nan if at is None else at.input, left, seconds))
    return made


def output_of(session: Session, call: Call) -> int:
    """Output tokens of a call: as reported, where that is a count of them, else the estimated size of its reply.

    An estimate is never below what was reported. Where the log priced the call itself, it is what was priced.
    """
    if call.usage is not None and (call.output_measured or call.cost is not None):
        return call.usage.output_tokens
    least = 0 if call.usage is None else call.usage.output_tokens
    if call.reply is None:
        return least
    record = session.records[call.reply]
    return max(least, estimate_message(record.message) + (len(record.thinking) + 3) // 4)


def _estimates(session: Session) -> list[int]:
    """Prompt tokens of each call, by a fit to those that were measured."""
    if all(call.measured for call in session.calls):
        return [0] * len(session.calls)
    fits = calibrate(session)
    return [fits.fit_of(number).predict(size) for number, size in enumerate(recorded_sizes(session))]


def _usage(session: Session, call: Call, estimate: int) -> tuple[Usage, bool]:
    """What is priced, and whether its prompt is as the log says."""
    usage, output = call.usage, output_of(session, call)
    if usage is not None and call.measured:
        return msgspec.structs.replace(usage, output_tokens=output), True
    if usage is not None and usage.exact and call.cost == 0:
        return usage, True  # it failed or was stopped, and the log says that nothing was billed
    return Usage(estimate, output, exact=False), False


def _left(usage: Usage, rule: CacheRule | None) -> int:
    """Tokens that stay in the cache; a provider that need not be asked keeps all that it can."""
    if rule is not None and rule.automatic:
        return max(usage.cache_read_tokens, cacheable(usage.prompt_tokens, rule))
    return usage.cache_read_tokens + usage.cache_write_tokens
