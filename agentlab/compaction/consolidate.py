"""Letting a summary stand for the oldest turns: where the cut is, and what stands there.

The cut moves forward only, from user turn to user turn. A message passes it when a summary of all of it exists, never
before: what cannot be summarised now is still sent. The newest finished exchange always stays, so that an answer such
as "option 2" has its options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentlab.compaction.record import lines_of
from agentlab.errors import ProviderError
from agentlab.messages import Usage, begins_turn
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.compaction.summariser import Summariser
    from agentlab.conversation import Conversation
    from agentlab.messages import Message
    from agentlab.policy.specs import Consolidate


class Selection(msgspec.Struct, frozen=True):
    """What is to be summarised; a copy, so that the conversation may go on meanwhile.

    Attributes:
        messages: All messages before `cut`.
        since: The cursor so far.
        cut: The new one.
        before: The summary so far.
        pinned: Places of the results that stay in full.
    """

    messages: list[dict[str, Any]]
    since: int
    cut: int
    before: str
    pinned: tuple[int, ...]


class Plan(msgspec.Struct, frozen=True):
    """A consolidation that is ready to be decided on: the cursor it goes on from, and the fields of the decision."""

    since: int
    cursor: int
    summary: str
    pinned: tuple[int, ...] = ()
    place: Literal["message", "system"] = "message"
    usage: Usage | None = None


def keep_from(messages: Sequence[Message], spec: Consolidate, cursor: int = 0) -> int:
    """Place of the first message that stays as it is; `cursor` where nothing may go.

    >>> from agentlab.policy import Consolidate
    >>> turn = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    >>> keep_from(turn * 5, Consolidate(keep_turns=2))
    6
    """
    starts = [index for index in range(cursor, len(messages)) if begins_turn(messages[index])]
    running = bool(messages) and not _is_reply(messages[-1])  # the turn that is not over comes on top
    least = starts[-1 - running] if len(starts) > running else cursor
    if spec.keep_messages is not None:
        edge = len(messages) - spec.keep_messages
        return min(least, max((start for start in starts if start <= edge), default=cursor))
    keep = spec.keep_turns + running
    return starts[-keep] if len(starts) >= keep else cursor


def cut_for(conversation: Conversation, spec: Consolidate, excess: int | None) -> int:
    """Place of the new cursor; the present one where nothing may go.

    Args:
        conversation: What is consolidated.
        spec: How.
        excess: Tokens that should go; None for all that may.
    """
    messages, cursor = conversation.messages, conversation.cursor
    last = keep_from(messages, spec, cursor)
    if excess is None or last <= cursor:
        return last
    sent = conversation.view()
    shift = len(sent) - len(messages)
    freed = 0
    for index in range(cursor, last):
        if index > cursor and freed >= excess and begins_turn(messages[index]):
            return index
        freed += estimate_message(sent[index + shift])
    return last


def select(
    conversation: Conversation,
    spec: Consolidate,
    *,
    excess: int | None = None,
    pinned_tools: frozenset[str] = frozenset(),
) -> Selection | None:
    """Choose the turns to summarise.

    Args:
        conversation: What is consolidated.
        spec: How.
        excess: Tokens that should go; None for all that may.
        pinned_tools: Names of the tools whose results stay in full.

    Returns:
        None where nothing may go.
    """
    since, cut = conversation.cursor, cut_for(conversation, spec, excess)
    if cut <= since:
        return None
    messages: list[Any] = conversation.messages[:cut]
    pinned = _pinned(messages, pinned_tools, conversation.pinned)
    return Selection(messages, since, cut, conversation.summary, pinned)


def plan(selection: Selection, spec: Consolidate, summariser: Summariser) -> Plan:
    """Have a selection summarised; nothing is changed by it.

    Where the summariser fails on a later chunk, the plan ends before that.

    Raises:
        ProviderError: There is no summary of even the first chunk.
        ScopeEnded: The scope ended first.
    """
    messages: list[Any] = selection.messages
    parts = [selection.before] if selection.before else []
    cursor = selection.since
    kept = {messages[index]["content"] for index in selection.pinned}
    for start, end in _chunks(messages, selection.since, summariser.size):
        try:
            parts.append(summariser.summary(lines_of(messages[start:end], kept)))
        except ProviderError:
            if cursor == selection.since:
                raise
            break
        cursor = end
    pinned = tuple(index for index in selection.pinned if index < cursor)
    return Plan(selection.since, cursor, _joined(parts, summariser, spec), pinned, spec.place, summariser.usage)


def _is_reply(message: Message) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _chunks(messages: Sequence[Message], start: int, size: int | None) -> list[tuple[int, int]]:
    """Ranges of whole turns, each as large as fits into one request, but at least one turn."""
    end = len(messages)
    ranges: list[tuple[int, int]] = []
    begin, length = start, 0
    bounds = [index for index in range(start + 1, end) if begins_turn(messages[index])]
    for left, right in zip([start, *bounds], [*bounds, end], strict=True):
        turn = sum(len(line) + 1 for line in lines_of(messages[left:right]))
        if size is not None and length and length + turn > size:
            ranges.append((begin, left))
            begin, length = left, 0
        length += turn
    return [*ranges, (begin, end)]


def _joined(parts: Sequence[str], summariser: Summariser, spec: Consolidate) -> str:
    """The summaries one after another; as one where together they are longer than one may be."""
    text = "\n\n".join(parts)
    if len(parts) < 2 or len(text) // 4 <= spec.summary_tokens:
        return text
    try:
        return summariser.merged(text)
    except ProviderError:
        return text  # long, but nothing is lost; the next consolidation tries again


def _pinned(messages: Sequence[Message], tools: frozenset[str], before: Sequence[int]) -> tuple[int, ...]:
    """Places of the results that stay in full, those of earlier decisions too; the same text once."""
    latest = {
        (message["name"], message["content"]): index
        for index, message in enumerate(messages)
        if message["role"] == "tool" and (index in before or (message["name"] in tools and not message.get("is_error")))
    }
    return tuple(sorted(latest.values()))
