"""Four grains of recorded sessions: a frame with a row per session, per turn, per call and per message.

Tokens are the log's own usage where it has one, else characters / 4, and a flag beside them says which. That is quick,
and it holds for thousands of sessions; `agentlab.analysis.curve` counts a session with its model's tokenizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.analysis.facts import KINDS, ROLES, Facts, facts_of
from agentlab.analysis.grain_columns import GRAINS, TIME, TOKENS
from agentlab.analysis.session import Session
from agentlab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import pandas as pd


class Grains(NamedTuple):
    """A frame per grain."""

    sessions: pd.DataFrame
    turns: pd.DataFrame
    calls: pd.DataFrame
    messages: pd.DataFrame


def grains(sessions: Session | Iterable[Session]) -> Grains:
    """Frames of sessions at four grains.

    Args:
        sessions: One or many, as `agentlab.analysis.load` reads them.

    Returns:
        Frames with the columns of `GRAINS`: names, types, units and meanings stand there; `describe` lists them.
        Tokens are the log's usage, or estimated as characters / 4; the flags beside them say which.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> calls = grains(read_messages(talk * 2)).calls
    >>> list(calls.prompt_tokens), list(calls.prompt_measured)
    ([1, 4], [False, False])
    """
    facts = facts_of([sessions] if isinstance(sessions, Session) else sessions)
    return Grains(*(grain_of(facts, name) for name in GRAINS))


def grain_of(facts: Facts, name: str) -> pd.DataFrame:
    """The frame of one grain.

    Args:
        facts: As `agentlab.analysis.facts` takes them from sessions, or a reader from files.
        name: A key of `GRAINS`.
    """
    import pandas as pd

    made = {"sessions": _sessions, "turns": _turns, "calls": _calls, "messages": _messages}[name](facts)
    frame = {}
    for column in GRAINS[name]:
        frame[column.name] = pd.Series(_typed(made.pop(column.name), column.dtype), copy=False)
    return pd.DataFrame(frame, copy=False)


def _typed(values: Any, dtype: str) -> Any:
    """Values in the type of their column; times are seconds since 1970, -1 is a missing count."""
    import numpy as np
    import pandas as pd

    if dtype == TIME:
        known = (values > 0) & (values < 9e9)  # what nanoseconds in 64 bits can say
        fraction, whole = np.modf(np.where(known, values, 0))  # apart: one number has no room for both
        nanos = whole.astype("int64") * 10**9 + np.round(fraction * 1e6).astype("int64") * 1000
        times = np.where(known, nanos, np.iinfo("int64").min)
        return pd.DatetimeIndex(times.view("datetime64[ns]")).tz_localize("UTC")
    if dtype == "Int64":
        return pd.arrays.IntegerArray(values, values < 0)
    return values if dtype == "string" else values.astype(dtype, copy=False)


def _text(table: Sequence[str | None], places: np.ndarray) -> Any:
    """Texts by their places in a table; -1 is missing."""
    import pandas as pd

    try:
        texts = pd.array([*table, None], dtype="string")
    except UnicodeEncodeError:  # as in `frame_of`
        texts = pd.array([None if each is None else printable(each) for each in [*table, None]], dtype="string")
    return texts.take(places)


def _whose(facts: Facts, sessions: np.ndarray) -> dict[str, Any]:
    heads = facts.sessions
    return {
        "session": _text([head.id for head in heads], sessions),
        "format": _text([head.format for head in heads], sessions),
        "path": _text([head.path for head in heads], sessions),
    }


def _messages(facts: Facts) -> dict[str, Any]:
    table = facts.messages
    return {
        **table,
        **_whose(facts, table["session"]),
        "message": _number_within(table["session"]),
        "role": _text(ROLES, table["role"]),
        "kind": _text(KINDS, table["kind"]),
        "tool": _text(facts.names, table["tool"]),
        "tokens": -(-(table["chars"] + table["call_chars"]) // 4) + table["image_tokens"],
    }


def _calls(facts: Facts) -> dict[str, Any]:
    table = facts.calls
    return {
        **table,
        **_whose(facts, table["session"]),
        "call": _number_within(table["session"]),
        "model": _text(facts.names, table["model"]),
        "stop_reason": _text(facts.names, table["stop_reason"]),
    }


def _number_within(sessions: np.ndarray) -> np.ndarray:
    """Number of each row within its session, from 1; the rows of a session stand together."""
    import numpy as np

    rows = np.arange(len(sessions))
    first = np.ones(len(sessions), bool)
    first[1:] = sessions[1:] != sessions[:-1]
    return rows - np.maximum.accumulate(np.where(first, rows, 0)) + 1


def _sessions(facts: Facts) -> dict[str, Any]:
    import numpy as np

    heads = facts.sessions
    made = {
        **_whose(facts, np.arange(len(heads))),
        **_sums(facts, facts.messages["session"], facts.calls["session"], len(heads)),
        "turns": np.bincount(_turn_keys(facts)[0] >> 32, minlength=len(heads)),
        "largest_prompt": _largest(facts.calls["prompt_tokens"], facts.calls["session"], len(heads)),
        "aside_prompt_tokens": np.array([head.aside_prompt_tokens for head in heads], "int64"),
        "aside_output_tokens": np.array([head.aside_output_tokens for head in heads], "int64"),
    }
    for name in ("provider", "parent", "labels"):
        made[name] = _text([getattr(head, name) or None for head in heads], np.arange(len(heads)))
    made["model"] = _text([head.model for head in heads], np.arange(len(heads)))
    for at, head in enumerate(heads):
        if head.cost is not None:
            made["cost"][at] = head.cost
        if head.usage is not None and head.usage.exact and not made["prompt_measured"][at]:
            for name in ("prompt_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
                made[name][at] = getattr(head.usage, name)
            made["prompt_measured"][at] = made["output_measured"][at] = True
    return made


def _turns(facts: Facts) -> dict[str, Any]:
    import numpy as np

    keys, of_message = _turn_keys(facts)
    sessions, turns = keys >> 32, keys & 0xFFFFFFFF
    places = np.searchsorted(keys, _key(facts.calls))
    status, reason = (np.full(len(keys), -1) for _ in range(2))
    ended = _key(facts.turns)
    at = np.searchsorted(keys, ended)
    known = np.isin(ended, keys)
    status[at[known]], reason[at[known]] = facts.turns["status"][known], facts.turns["reason"][known]
    context = np.zeros(len(keys), "int64")
    context[places] = facts.calls["prompt_tokens"]  # of equal places the last one stays
    return {
        **_whose(facts, sessions),
        **_sums(facts, of_message, places, len(keys)),
        "turn": turns,
        "iterations": _largest(facts.messages["iteration"], of_message, len(keys)),
        "context": context,
        "status": _text(facts.names, status),
        "reason": _text(facts.names, reason),
    }


def _key(table: dict[str, Any]) -> np.ndarray:
    """Session and turn as one number."""
    key: np.ndarray = (table["session"].astype("int64") << 32) + table["turn"]
    return key


def _turn_keys(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """The turns in order, and the place of each message's among them: -1 before the first."""
    import numpy as np

    key = _key(facts.messages)
    real = facts.messages["turn"] > 0
    keys = np.unique(np.concatenate([key[real], _key(facts.calls)]))
    return keys, np.where(real, np.searchsorted(keys, key), -1)


def _sums(facts: Facts, of_message: np.ndarray, of_call: np.ndarray, groups: int) -> dict[str, Any]:
    """Sums over messages and calls of each group; messages at -1 are of none."""
    import numpy as np

    messages, calls = facts.messages, facts.calls
    real = of_message >= 0
    of_message = of_message[real]

    def summed(values: np.ndarray, places: np.ndarray) -> np.ndarray:
        sums = np.zeros(groups, values.dtype)
        np.add.at(sums, places, values)
        return sums

    def every(flags: np.ndarray) -> np.ndarray:
        none_estimated: np.ndarray = np.bincount(of_call[~flags], minlength=groups) == 0
        return none_estimated

    def time(least: Any, start: float) -> np.ndarray:
        times = np.full(groups, start)
        known = ~np.isnan(messages["time"][real])
        least.at(times, of_message[known], messages["time"][real][known])
        return np.where(np.isinf(times), np.nan, times)

    cost = summed(np.nan_to_num(calls["cost"]), of_call)
    cost[np.bincount(of_call[~np.isnan(calls["cost"])], minlength=groups) == 0] = np.nan
    tokens = [column.name for column in TOKENS]
    return {
        "calls": np.bincount(of_call, minlength=groups),
        "messages": np.bincount(of_message, minlength=groups),
        "tool_calls": summed(messages["tool_calls"][real].astype("int64"), of_message),
        "errors": np.bincount(of_message[messages["is_error"][real]], minlength=groups),
        **{name: summed(calls[name], of_call) for name in tokens},
        **{flag: every(calls[flag]) for flag in ("prompt_measured", "output_measured")},
        "cost": cost,
        "started": time(np.minimum, np.inf),
        "ended": time(np.maximum, -np.inf),
    }


def _largest(values: np.ndarray, places: np.ndarray, groups: int) -> np.ndarray:
    import numpy as np

    largest = np.zeros(groups, "int64")
    real = places >= 0
    np.maximum.at(largest, places[real], values[real])
    return largest
