"""How many tokens each message of a session takes, counted once.

Everything that splits a prompt into parts starts from these counts. Where the log has the provider's own figure for a
call, `agentlab.analysis.parts` scales them to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.tokens import count_messages, count_tools, join_methods, message_counter
from agentlab.tokens.count import TokenCount
from agentlab.tokens.running import estimate_base, estimate_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentlab.analysis.session import Session

OFFLINE = ("offline", "scripted")
"""Providers without a tokenizer of their own: they count in o200k_base, which is exact by definition."""

DEFAULT = "o200k_base"

LENGTHS = "characters / 4"
"""In place of a model: sizes are estimated from lengths, which is quick; usage still scales them where there is one."""


class Sizes(msgspec.Struct, frozen=True):
    """Tokens of what a session sent.

    Attributes:
        base: Of the system prompt, the tools and what opens the reply: part of every prompt.
        messages: Of each message, in order; images included.
        exact: Whether the tokenizer is the model's own and covers all of it.
        method: How it was counted.
        replaced: Of each entry of `Session.replaced`, what is sent in the message's place.
        unlogged: Whether the log has neither system prompt nor tools; `base` is then what the first measured call has
            beyond its messages.
    """

    base: int
    messages: tuple[int, ...]
    exact: bool
    method: str
    replaced: tuple[int, ...] = ()
    unlogged: bool = False


def tokenizer_name(session: Session, model: str | None = None) -> str:
    """Which model's tokenizer counts a session: the one asked for, the session's, else o200k_base."""
    if model is not None:
        return model
    return DEFAULT if session.provider in OFFLINE or not session.model else session.model


def counter_of(session: Session, model: str | None = None) -> Callable[[Mapping[str, Any]], TokenCount]:
    """What counts one message of a session: a tokenizer, or with `LENGTHS` its lengths."""
    if model == LENGTHS:
        return lambda message: TokenCount(estimate_message(message), False, LENGTHS)
    return message_counter(tokenizer_name(session, model))


def sizes_of(session: Session, model: str | None = None) -> Sizes:
    """Count a session.

    Args:
        session: Any.
        model: Count as for this model; None takes the session's own.

    Returns:
        The sizes. They are estimates where the model is not known, where its tokenizer is not public, and where a
        provider's layout is not: tool calls, results, nested schemas. For the offline model they are exact.

    Raises:
        MissingRanksError: The tokenizer's rank files are not there.

    Where the log has neither system prompt nor tools but a measured first call, what that call has beyond its messages
    is taken for them.
    """
    name = tokenizer_name(session, model)
    count = counter_of(session, model)
    counts = [count(record.message) for record in session.records]
    if model == LENGTHS:
        base = TokenCount(estimate_base(session.system) + sum(map(_tool_length, session.tools)), False, LENGTHS)
    else:
        base = count_messages([], name, system=session.system) + count_tools(session.tools, name)
    method = join_methods(base.method, *dict.fromkeys(each.method for each in counts))
    exact = base.exact and all(each.exact for each in counts) and not any(r.image_tokens for r in session.records)
    if session.provider in OFFLINE and model is None:
        exact, method = True, DEFAULT
    elif model is None and not session.model:
        exact, method = False, f"{DEFAULT} for an unknown model"
    sizes = tuple(each.n + record.image_tokens for each, record in zip(counts, session.records, strict=True))
    replaced = tuple(
        0 if each.text is None else count({**session.records[each.index].message, "content": each.text}).n
        for each in session.replaced
    )
    unlogged = not session.system and not session.tools
    if unlogged:
        base = TokenCount(max(base.n, _unlogged_base(session, sizes)), exact, method)
    return Sizes(base.n, sizes, exact, method, replaced, unlogged)


def _tool_length(tool: dict[str, Any]) -> int:
    return (len(msgspec.json.encode(tool)) + 3) // 4


def _unlogged_base(session: Session, sizes: tuple[int, ...]) -> int:
    """What the first measured call sent beyond its messages."""
    for call in session.calls:
        if call.measured and call.usage is not None:
            return call.usage.prompt_tokens - sum(sizes[call.start : call.stop])
    return 0
