"""What kinds of message a session's prompts are made of: each kind sent for the first time, and sent again.

The split is that of `agentlab.analysis.parts`, by kind instead of by age: sizes are counted once, scaled to each call's
usage where the log has it, and rounded so that they add up to the prompt. What the log does not hold counts as system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.parts import parts_of, shares
from agentlab.analysis.sizes import counter_of, sizes_of
from agentlab.analysis.sums import Sums

if TYPE_CHECKING:
    import pandas as pd

    from agentlab.analysis.session import Record, Session
    from agentlab.analysis.sizes import Sizes

KINDS: Final = {
    "system": "system prompt and tools, and whatever else was sent that the log does not hold",
    "user": "what the user said",
    "assistant": "what the assistant said",
    "calls": "the calls that the assistant made: names and arguments",
    "results": "what tools returned",
    "summaries": "what stands for earlier messages",
    "loop": "what the loop itself said to the model",
}
"""Kinds of message, in the order in which plots stack them."""

COMPOSITION_COLUMNS = [
    Column("kind", "string", "", f"one of {', '.join(KINDS)}"),
    Column("messages", "int64", "messages", "of this kind that were sent; the system prompt counts as one"),
    Column("once", "int64", "prompt tokens", "sent for the first time"),
    Column("resent", "int64", "prompt tokens", "sent again"),
    Column("sent", "int64", "prompt tokens", "both"),
    Column("share", "float64", "share", "of all prompt tokens of the session"),
    Column("measured", "bool", "", "True: the provider's usage, or a tokenizer that is exact; False: estimated"),
]

BY_CALL_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iteration", "int64", "", "number within the turn, from 1"),
    *(Column(kind, "int64", "prompt tokens", meaning) for kind, meaning in KINDS.items()),
    *(Column(f"new_{kind}", "int64", "prompt tokens", f"of {kind}, sent for the first time") for kind in KINDS),
    Column("prompt_tokens", "int64", "prompt tokens", "of the call: the sum of all kinds"),
    Column("measured", "bool", "", "True: the provider's usage, or a tokenizer that is exact; False: estimated"),
]


def composition(session: Session, *, model: str | None = None) -> pd.DataFrame:
    """What all prompts of a session were made of: a row per kind.

    Args:
        session: Any.
        model: Count as for this model, where the log does not name its own.

    Returns:
        A frame with `COMPOSITION_COLUMNS`; `once` and `resent` add up to all prompt tokens of the session.

    Raises:
        MissingRanksError: The tokenizer's rank files are not there.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> frame = composition(read_messages(talk * 2)).set_index("kind")
    >>> frame.loc["user", ["once", "resent", "sent"]].tolist()
    [10, 5, 15]
    """
    calls = composition_by_call(session, model=model)
    total = int(calls["prompt_tokens"].sum())
    measured = bool(len(calls)) and bool(calls["measured"].all())
    counted = dict.fromkeys(KINDS, 0)
    counted["system"] = bool(len(calls))
    for record, carried in zip(session.records, session.carried(), strict=True):
        counted[kind_of(record)] += carried > 0
        counted["calls"] += carried > 0 and bool(record.tool_calls)
    rows = []
    for kind in KINDS:
        sent, once = int(calls[kind].sum()), int(calls[f"new_{kind}"].sum())
        share = sent / total if total else float("nan")
        rows.append((kind, counted[kind], once, sent - once, sent, share, measured))
    return frame_of(rows, COMPOSITION_COLUMNS)


def composition_by_call(session: Session, *, model: str | None = None) -> pd.DataFrame:
    """What each prompt of a session was made of: a row per call, with `BY_CALL_COLUMNS`; the rest as `composition`."""
    sizes = sizes_of(session, model)
    sums = _KindSums(session, sizes, model)
    rows = []
    sent = sent_base = 0
    for number, part in enumerate(parts_of(session, sizes)):
        sums.advance(number)
        start, stop = part.call.start, part.call.stop
        old = min(max(sent, start), stop)
        weights = [*sums.between(old, stop), *sums.between(start, old)]
        split = shares(part.prompt - part.base, weights)
        of_new, of_again = split[: len(KINDS)], split[len(KINDS) :]
        known = min(part.base, sent_base)  # what of the base was sent before
        of_new[0], of_again[0] = of_new[0] + part.base - known, of_again[0] + known
        sent_base = max(sent_base, part.base)
        whole = [a + b for a, b in zip(of_new, of_again, strict=True)]
        rows.append((number + 1, part.call.turn, part.call.iteration, *whole, *of_new, part.prompt, part.measured))
        sent = max(sent, stop)
    return frame_of(rows, BY_CALL_COLUMNS)


def kind_of(record: Record) -> str:
    """The kind of a message; the calls that an assistant message makes are a kind of their own.

    >>> from agentlab.analysis.session import Record
    >>> kind_of(Record({"role": "tool", "content": "15:40", "tool_call_id": "a", "name": "now"}, 1, 1))
    'results'
    """
    if record.is_summary:
        return "summaries"
    if record.role == "tool":
        return "results"
    if record.role == "user":
        return "user" if record.opens_turn else "loop"
    return "assistant" if record.role == "assistant" else "system"


class _KindSums:
    """What each kind takes in a range of messages, at the call that is looked at."""

    def __init__(self, session: Session, sizes: Sizes, model: str | None) -> None:
        count = counter_of(session, model)
        of_kind = {kind: [0] * len(session.records) for kind in KINDS}
        self._kinds = [kind_of(record) for record in session.records]
        for index, (record, size) in enumerate(zip(session.records, sizes.messages, strict=True)):
            spoken = size
            if record.tool_calls:
                spoken = count({key: value for key, value in record.message.items() if key != "tool_calls"}).n
                spoken = spoken if record.text else 0
                of_kind["calls"][index] = size - spoken
            of_kind[self._kinds[index]][index] = spoken
        self._sums = {kind: Sums(values) for kind, values in of_kind.items()}
        self._changes = list(zip(session.replaced, sizes.replaced, strict=True))[::-1]

    def advance(self, call: int) -> None:
        """Bring the sizes to those that hold at a call."""
        while self._changes and self._changes[-1][0].call <= call:
            changed, size = self._changes.pop()
            self._sums[self._kinds[changed.index]].change(changed.index, size)
            if self._kinds[changed.index] == "assistant":
                self._sums["calls"].change(changed.index, 0)

    def between(self, start: int, stop: int) -> list[int]:
        """The sum of each kind, in the order of `KINDS`."""
        return [self._sums[kind].between(start, stop) for kind in KINDS]
