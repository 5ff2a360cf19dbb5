"""The token curve: what each user turn sent, what of it had been sent before, and what it would have been without.

*Turn tokens* are prompt tokens summed over the turn's calls; *context* is the prompt of the turn's last call; *without
continuation* is the same recorded turns with earlier turns reduced to the user's text and the final reply.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.parts import CallParts, parts_of
from agentlab.analysis.sizes import sizes_of
from agentlab.printable import counted
from agentlab.tokens import join_methods

if TYPE_CHECKING:
    import pandas as pd

    from agentlab.analysis.session import Session

_PARTS = [
    Column("new_tokens", "int64", "prompt tokens", "messages that are sent for the first time"),
    Column("resent_iterations", "int64", "prompt tokens", "messages of earlier iterations of the same turn"),
    Column("resent_parallel", "int64", "prompt tokens", "of these, results beyond the first of one iteration"),
    Column("resent_turns", "int64", "prompt tokens", "messages of earlier turns"),
    Column("base", "int64", "prompt tokens", "system prompt and tools"),
]
_SOURCE = [
    Column("measured", "bool", "", "True: the provider's usage, or a tokenizer that is exact; False: estimated"),
    Column("method", "string", "", "how it was counted"),
]

CURVE_COLUMNS = [
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iterations", "int64", "iterations", "iterations that were begun"),
    Column("calls", "int64", "calls", "model calls that returned"),
    Column("turn_tokens", "int64", "prompt tokens", "summed over the turn's calls"),
    Column("context", "int64", "prompt tokens", "of the turn's last call"),
    Column("output_tokens", "int64", "output tokens", "summed over the turn's calls"),
    Column("cumulative", "int64", "prompt tokens", "of this and all earlier turns"),
    *_PARTS,
    Column("turn_tokens_without", "int64", "prompt tokens", "turn_tokens without continuation; estimated"),
    Column("context_without", "int64", "prompt tokens", "context without continuation; estimated"),
    *_SOURCE,
]

CALL_COLUMNS = [
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iteration", "int64", "", "number within the turn, from 1"),
    Column("prompt_tokens", "int64", "prompt tokens", "all input, cached included"),
    Column("output_tokens", "int64", "output tokens", "as reported, else the size of the reply"),
    Column("cache_read_tokens", "int64", "prompt tokens", "read from the provider's cache, where it said so"),
    Column("cache_write_tokens", "int64", "prompt tokens", "written to the provider's cache, where it said so"),
    *_PARTS,
    Column("prompt_tokens_without", "int64", "prompt tokens", "prompt_tokens without continuation; estimated"),
    Column("growth", "int64", "prompt tokens", "more than the call before"),
    Column("grown_by", "string", "", "what of the new messages takes most: a tool, or a role"),
    *_SOURCE,
    Column("model", "string", "", "the model, where it is known"),
    Column("stop_reason", "string", "", "why it stopped, where it is known"),
    Column("time", "float64", "seconds since 1970", "when the reply came, where it is known"),
]


def curve(session: Session, *, model: str | None = None) -> pd.DataFrame:
    """The curve of a session: a row per user turn in which a model call returned.

    Args:
        session: As `agentlab.analysis.load` reads it.
        model: Count as for this model, where the log does not name its own.

    Returns:
        A frame with `CURVE_COLUMNS`. `turn_tokens` is the sum of `new_tokens`, `resent_iterations`, `resent_turns` and
        `base`, exactly; `resent_parallel` is a part of `resent_iterations`. All are prompt tokens but `turn`,
        `iterations`, `calls` and `output_tokens`.

        | column | dtype | unit |
        |---|---|---|
        | turn, iterations, calls | int64 | counts |
        | turn_tokens, context, cumulative | int64 | prompt tokens |
        | output_tokens | int64 | output tokens |
        | new_tokens, resent_iterations, resent_parallel, resent_turns, base | int64 | prompt tokens |
        | turn_tokens_without, context_without | int64 | prompt tokens, always estimated |
        | measured | bool | True: usage or an exact tokenizer |
        | method | string | how it was counted |

        The split follows message sizes that are counted once and scaled to each call's usage; `agentlab.analysis.parts`
        has the rule. `measured` says how the totals came about.

    Raises:
        MissingRanksError: The tokenizer's rank files are not there.

    Source: the chapter, exercise 5.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> list(curve(read_messages(talk * 2)).turn_tokens)
    [8, 19]
    """
    rows = []
    cumulative = 0
    begun = _iterations_begun(session)
    for turn, group in groupby(_parts(session, model), key=lambda part: part.call.turn):
        parts = list(group)
        total = sum(part.prompt for part in parts)
        cumulative += total
        last = parts[-1]
        rows.append(
            (
                turn,
                max(begun.get(turn, 0), len(parts)),
                len(parts),
                total,
                last.prompt,
                sum(part.output for part in parts),
                cumulative,
                *(sum(column) for column in zip(*map(_split_of, parts), strict=True)),
                sum(part.without for part in parts),
                last.without,
                all(part.measured for part in parts),
                join_methods(*(part.method for part in parts)),
            )
        )
    return frame_of(rows, CURVE_COLUMNS)


def calls_frame(session: Session, *, model: str | None = None) -> pd.DataFrame:
    """The calls of a session: a row each, with `CALL_COLUMNS`; arguments, parts and errors as in `curve`."""
    rows = []
    for number, part in enumerate(_parts(session, model), 1):
        call, usage = part.call, part.call.usage if part.call.measured else None
        rows.append(
            (
                number,
                call.turn,
                call.iteration,
                part.prompt,
                part.output,
                0 if usage is None else usage.cache_read_tokens,
                0 if usage is None else usage.cache_write_tokens,
                *_split_of(part),
                part.without,
                part.growth,
                part.grown_by,
                part.measured,
                part.method,
                call.model or session.model,
                call.stop_reason,
                call.time,
            )
        )
    return frame_of(rows, CALL_COLUMNS)


def summary(session: Session, *, model: str | None = None) -> list[str]:
    """What a session's tokens come to, in a few sentences: the total, what of it was re-sent, the largest jump.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> summary(read_messages(talk))[0]
    '1 call in 1 turn sent 8 prompt tokens (estimated, o200k_base for an unknown model).'
    """
    parts = _parts(session, model)
    total = sum(part.prompt for part in parts)
    if not total:
        return ["No model call returned, so there is nothing to count."]
    measured = all(part.measured for part in parts)
    turns = len({part.call.turn for part in parts})
    methods = join_methods(*(part.method for part in parts))
    said = f"{'measured' if measured else 'estimated'}, {methods}"
    sentences = [
        f"{counted(len(parts), 'call')} in {counted(turns, 'turn')} sent {total:,} prompt tokens ({said}).",
        _resent(parts, total),
    ]
    if len(parts) > 1:
        number, jump = max(enumerate(parts[1:], 2), key=lambda pair: pair[1].growth)
        place = f"call {number} (turn {jump.call.turn}, iteration {jump.call.iteration})"
        sentences.append(f"The largest jump is {jump.growth:,} tokens, at {place}: {_cause(jump.grown_by)}.")
    without = sum(part.without for part in parts)
    less = f"{without:,} prompt tokens, {1 - without / total:.0%} less (estimated)"
    sentences.append(f"Without continuation the same turns would have sent {less}.")
    return sentences


def _parts(session: Session, model: str | None) -> list[CallParts]:
    return parts_of(session, sizes_of(session, model))


def _split_of(part: CallParts) -> tuple[int, int, int, int, int]:
    return part.new, part.resent_iterations, part.resent_parallel, part.resent_turns, part.base


def _resent(parts: list[CallParts], total: int) -> str:
    turns = sum(part.resent_turns for part in parts)
    iterations = sum(part.resent_iterations for part in parts)
    base = sum(part.base for part in parts[1:])
    shares = (
        f"{turns / total:.0%} messages of earlier turns, {iterations / total:.0%} earlier iterations of the same turn, "
        f"{base / total:.0%} system prompt and tools"
    )
    return f"{(turns + iterations + base) / total:.0%} of them had been sent before: {shares}."


def _cause(label: str) -> str:
    words = {
        "user": "most of it is the user's message",
        "loop": "most of it is what the loop said",
        "assistant": "most of it is the assistant's own words",
        "": "it carries no new message",
    }
    return words.get(label, f"most of it is what {label} returned")


def _iterations_begun(session: Session) -> dict[int, int]:
    """Iterations of each turn: those that the log counts, else the highest number among its messages."""
    begun: dict[int, int] = {}
    for record in session.records:
        begun[record.turn] = max(begun.get(record.turn, 0), record.iteration)
    for turn in session.turns:
        begun[turn.turn] = max(begun.get(turn.turn, 0), turn.iterations)
    return begun
