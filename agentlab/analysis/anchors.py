"""Lines that an edit names to say where it belongs: a cut that hides them hides what the edit was copied from.

An edit that replaces one text by another has to give the old one to the letter, so each of its lines was most likely
copied from an observation. Most lines of a file that is edited are never named, and a short one says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.citations import Citation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentlab.analysis.key_lines import Span
    from agentlab.analysis.session import Observed, Session

SHORTEST = 12
"""A line of fewer characters stands in too many places."""

OLD_TEXTS = frozenset({"old_string", "old_str", "old_text", "oldText"})
"""What agents call the text that an edit replaces: Claude Code, Anthropic's and SWE-agent's editors, pi."""


def edit_anchors(session: Session, observations: Sequence[Observed]) -> list[Citation]:
    """The lines of the texts that edits replace, and where earlier observations have them.

    Args:
        session: Any; of its calls those with an argument of `OLD_TEXTS`, at any depth, are edits.
        observations: Its observations, in full where they are.

    Returns:
        For each line of at least `SHORTEST` characters without the blanks around it, in order, a citation; one without
        sources was in no observation, as after an edit of the same place.

    >>> from agentlab.analysis import read_messages
    >>> asked = {"id": "a", "function": {"name": "read", "arguments": "{}"}}
    >>> edit = {"id": "b", "function": {"name": "edit", "arguments": '{"old_string": "return total + 1"}'}}
    >>> talk = [
    ...     {"role": "user", "content": "Hi"},
    ...     {"role": "assistant", "content": None, "tool_calls": [asked]},
    ...     {"role": "tool", "tool_call_id": "a", "content": "    return total + 1"},
    ...     {"role": "assistant", "content": None, "tool_calls": [edit]},
    ... ]
    >>> session = read_messages(talk)
    >>> edit_anchors(session, session.observations())
    [Citation(atom='return total + 1', cited_at=3, sources={2: [(4, 20)]})]
    """
    found = []
    for index, record in enumerate(session.records):
        for call in record.tool_calls:
            for line in _lines(call["function"]["arguments"]):
                seen = {o.index: spans for o in observations if o.index < index and (spans := _spans(line, o.text))}
                found.append(Citation(line, index, seen))
    return found


def _lines(arguments: str) -> Iterator[str]:
    """The lines of the old texts in a call's arguments."""
    if not any(name in arguments for name in OLD_TEXTS):
        return
    try:
        waiting: list[tuple[str, Any]] = [("", msgspec.json.decode(arguments))]
    except (msgspec.DecodeError, RecursionError):
        return
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = value.items()
        elif isinstance(value, list):
            waiting[:0] = [(name, each) for each in value]
        elif name in OLD_TEXTS and isinstance(value, str):
            stripped = (line.strip() for line in value.splitlines())
            yield from (line for line in stripped if len(line) >= SHORTEST)


def _spans(line: str, text: str) -> list[Span]:
    """Where a line stands in a text; a reader's own numbers before it do not matter."""
    spans: list[Span] = []
    at = text.find(line)
    while at >= 0:
        spans.append((at, at + len(line)))
        at = text.find(line, at + len(line))
    return spans
