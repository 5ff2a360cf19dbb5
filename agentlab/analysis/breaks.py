"""Where a session's cache broke: calls that read less of it than the call before had left there.

The rule: the same model, no compaction between (a prompt that fell below 0.7 of the one before), and less than 0.9 of
what was left was read. These are candidates, no causes: a client that reorders its messages and a user who goes back
look the same. Another model or a compaction is a cause that is known, and is told apart from them.
"""

from __future__ import annotations

from bisect import bisect_right
from math import nan
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import SHRUNK
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.priced import Priced, priced_calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from agentlab.analysis.session import Session

LEFT = 0.9
"""A call that reads less than this share of what the call before left in the cache is a candidate for a break."""

EXPIRED = "expired"
ANOTHER_MODEL, COMPACTION = "another model", "compaction"

BREAK_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("expected", "int64", "prompt tokens", "that the call before had left in the cache"),
    Column("read", "int64", "prompt tokens", "of these, read"),
    Column("lost", "int64", "prompt tokens", "of this prompt, billed again for not being read"),
    Column("dollars", "float64", "US dollars", "what they cost more than reading; missing without a price"),
    Column("gap", "float64", "seconds", "since the call before; missing where the log has no times"),
    Column("reason", "string", "", "what can be known: expired, messages taken out, a message changed, or unknown"),
]


class Shortfall(msgspec.Struct, frozen=True):
    """A call that read less of the cache than it could have.

    Attributes:
        index: Of the call in `Session.calls`.
        turn: Its user turn.
        expected: Tokens that the call before had left in the cache.
        read: Tokens that it read.
        lost: Tokens of its prompt that were billed again.
        units: What they cost more than reading, in prices of an uncached token; NaN without a price.
        dollars: The same in US dollars.
        gap: Seconds since the call before; NaN where that is not known.
        reason: What can be known of it.
    """

    index: int
    turn: int
    expected: int
    read: int
    lost: int
    units: float
    dollars: float
    gap: float
    reason: str

    @property
    def candidate(self) -> bool:
        """Whether the cache may have broken; False where a known cause explains it."""
        return self.reason not in (ANOTHER_MODEL, COMPACTION)


def cache_breaks(session: Session, *, prices: Path | None = None, model: str | None = None) -> pd.DataFrame:
    """Candidates for breaks of the cache.

    Args:
        session: Any. In a log that never says what was read or written nothing is found.
        prices: As in `agentlab.analysis.cost.cost`.
        model: As in `agentlab.analysis.cost.cost`.

    Returns:
        A frame with `BREAK_COLUMNS`.

    Raises:
        InputError: As in `agentlab.analysis.cost.cost`.

    >>> from agentlab.analysis import read_messages
    >>> len(cache_breaks(read_messages([{"role": "user", "content": "Hi"}])))
    0
    """
    calls = priced_calls(session, prices=prices, model=model)
    rows = [
        (each.index + 1, each.turn, each.expected, each.read, each.lost, each.dollars, each.gap, each.reason)
        for each in shortfalls(session, calls)
        if each.candidate
    ]
    return frame_of(rows, BREAK_COLUMNS)


def shortfalls(session: Session, calls: Sequence[Priced]) -> list[Shortfall]:
    """Calls that read less of the cache than they could have, for whatever reason.

    Args:
        session: Any.
        calls: Its calls with their prices. One whose prompt was not measured is passed over: a call is held against
            the last one before it that was.
    """
    changes = [each.call for each in session.replaced]
    found = []
    last: int | None = None
    for index, each in enumerate(calls):
        if not each.call.measured:
            continue
        if last is not None:
            changed = bisect_right(changes, index) > bisect_right(changes, last)
            fallen = _shortfall(index, calls[last], each, changed=changed)
            if fallen is not None:
                found.append(fallen)
        last = index
    return found


def _shortfall(index: int, before: Priced, each: Priced, *, changed: bool) -> Shortfall | None:
    prompt, read = each.usage.prompt_tokens, each.usage.cache_read_tokens
    excuse = ""
    if before.model != each.model:
        excuse = ANOTHER_MODEL
    elif prompt < SHRUNK * before.usage.prompt_tokens:
        excuse = COMPACTION
    could = min(before.left, prompt)
    if read >= LEFT * (could if excuse else before.left):
        return None
    lost = max(0, could - read)
    units = nan if each.rule is None else lost * each.rule.extra
    times = (before.call.time, each.call.time)
    gap = nan if times[0] is None or times[1] is None else times[1] - times[0]
    if not excuse and gap > before.seconds:
        reason = EXPIRED
    elif not excuse and each.call.start > before.call.start:
        reason = "messages taken out"
    else:
        reason = excuse or ("a message changed" if changed else "unknown")
    return Shortfall(index, each.call.turn, before.left, read, lost, units, units * each.base / 1e6, gap, reason)
