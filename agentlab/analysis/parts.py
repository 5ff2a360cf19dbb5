"""What the prompt of each call is made of: sent for the first time, or re-sent, and from where.

The rule. A message's size is counted once. A call's prompt is the base (system prompt and tools) and its messages; each
message is new in the first call that carries it and re-sent in all later ones. Where the provider reported the prompt's
size, the parts are scaled to it and rounded by largest remainders, so they add up to it exactly; else they add up to
the count. Where the log has neither system prompt nor tools, messages are scaled by the slope of a line that is fitted
to the reported prompts between compactions, and the base is what is left: all that was sent and that the log lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import calibrate, recorded_sizes
from agentlab.analysis.session import Call
from agentlab.analysis.sizes import OFFLINE, Sizes, sizes_of
from agentlab.analysis.sums import Sums
from agentlab.conversation import without_scratchpad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis.session import Record, Session
    from agentlab.messages import Usage

BASE = "system prompt and tools"


class CallParts(msgspec.Struct, frozen=True):
    """A call, its prompt in parts, in tokens.

    `prompt` is the sum of `base`, `new`, `resent_iterations` and `resent_turns`; `resent_parallel` is inside
    `resent_iterations`. Columns and meanings as in `agentlab.analysis.curve.CALL_COLUMNS`.
    """

    call: Call
    prompt: int
    output: int
    new: int
    resent_iterations: int
    resent_parallel: int
    resent_turns: int
    base: int
    without: int
    growth: int
    grown_by: str
    measured: bool
    method: str


class _Ledger:
    """What each message takes at the call that is looked at, and sums of it."""

    def __init__(self, session: Session, sizes: Sizes) -> None:
        records = session.records
        kept = {id(message) for message in without_scratchpad(session.messages)}  # type: ignore[arg-type]
        self.all = Sums(sizes.messages)
        self.is_parallel = _beyond_first(records)
        self.parallel = Sums([s if f else 0 for s, f in zip(sizes.messages, self.is_parallel, strict=True)])
        self.bare = Sums([s if id(r.message) in kept else 0 for s, r in zip(sizes.messages, records, strict=True)])
        self.first: dict[int, int] = {}
        for index, record in enumerate(records):
            self.first.setdefault(record.turn, index)
        self._changes = list(zip(session.replaced, sizes.replaced, strict=True))[::-1]

    def advance(self, call: int) -> None:
        """Bring the sizes to those that hold at a call."""
        while self._changes and self._changes[-1][0].call <= call:
            changed, size = self._changes.pop()
            self.all.change(changed.index, size)
            if self.is_parallel[changed.index]:
                self.parallel.change(changed.index, size)


def parts_of(session: Session, sizes: Sizes | None = None) -> list[CallParts]:
    """Split the prompt of every call.

    Args:
        session: Any.
        sizes: Its counts, where they are there already.
    """
    sizes = sizes_of(session) if sizes is None else sizes
    ledger = _Ledger(session, sizes)
    fits = calibrate(session, recorded_sizes(session, sizes.messages)) if sizes.unlogged else None
    parts: list[CallParts] = []
    sent = before = 0
    for number, call in enumerate(session.calls):
        ledger.advance(number)
        slope = None if fits is None or not call.measured else fits.fit_of(number).slope
        made = _split(call, session, sizes, ledger, sent=sent, before=before, slope=slope)
        parts.append(made)
        sent, before = max(sent, call.stop), made.prompt
    return parts


def _split(
    call: Call, session: Session, sizes: Sizes, ledger: _Ledger, *, sent: int, before: int, slope: float | None
) -> CallParts:
    start, stop = call.start, call.stop
    opening = min(max(ledger.first.get(call.turn, stop), start), stop)
    old = min(max(sent, start), stop)
    here = min(opening, old)
    parallel = ledger.parallel.between(here, old)
    counted = [
        ledger.all.between(start, here),
        ledger.all.between(here, old) - parallel,
        parallel,
        ledger.all.between(old, stop),
    ]
    without = ledger.bare.between(0, opening) + ledger.all.between(opening, stop)
    usage = call.usage if call.measured else None
    messages = sum(counted)
    prompt = sizes.base + messages if usage is None else usage.prompt_tokens
    base = sizes.base
    if slope is not None:
        base = max(0, prompt - round(slope * messages)) if messages else prompt
    elif usage is not None:
        base = shares(prompt, [sizes.base, *counted])[0]
    turns, others, parallel, new = shares(prompt - base, counted) if messages else (0, 0, 0, 0)
    return CallParts(
        call=call,
        prompt=prompt,
        output=_output(call, sizes, usage),
        new=new,
        resent_iterations=others + parallel,
        resent_parallel=parallel,
        resent_turns=turns,
        base=base,
        without=base + (without * (prompt - base) // messages if messages else 0),
        growth=prompt - before,
        grown_by=_largest(session.records[old:stop], sizes.messages[old:stop], 0 if before else sizes.base),
        measured=usage is not None or sizes.exact,
        method=sizes.method if usage is None else _usage_method(session),
    )


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Split a whole number by weights, so that the parts add up to it: largest remainders get what rounding left.

    >>> shares(10, [1, 1, 1])
    [4, 3, 3]
    >>> shares(5, [0, 0])
    [5, 0]
    """
    whole = sum(weights)
    if whole == 0:
        return [total, *[0] * (len(weights) - 1)]
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda i: -(total * weights[i] % whole))
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return parts


def _output(call: Call, sizes: Sizes, usage: Usage | None) -> int:
    """Output of a call: as reported, else the size of its reply."""
    if usage is not None:
        return usage.output_tokens
    return 0 if call.reply is None else sizes.messages[call.reply]


def _usage_method(session: Session) -> str:
    return "usage (o200k_base)" if session.provider in OFFLINE else "usage"


def _largest(records: Sequence[Record], sizes: Sequence[int], base: int) -> str:
    """What of the new messages takes most: a tool's results, or a role's words."""
    totals: dict[str, int] = {BASE: base} if base else {}
    for record, size in zip(records, sizes, strict=True):
        if record.role == "tool":
            label = str(record.message.get("name") or "a tool")
        else:
            label = "loop" if "origin" in record.message else record.role
        totals[label] = totals.get(label, 0) + size
    return max(totals, key=totals.__getitem__, default="")


def _beyond_first(records: Sequence[Record]) -> list[bool]:
    """Which messages are results beyond the first of one iteration."""
    seen: set[tuple[int, int]] = set()
    flags = []
    for record in records:
        place = (record.turn, record.iteration)
        flags.append(record.role == "tool" and place in seen)
        if record.role == "tool":
            seen.add(place)
    return flags
