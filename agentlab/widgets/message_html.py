"""A message of a session as HTML: who speaks, the text, and each call folded over its result."""

from __future__ import annotations

from html import escape
from typing import Any, Final

import msgspec

from agentlab.plots.figures import BLUE, GREEN, ORANGE, RED, SKY
from agentlab.widgets.cut_view import boxed
from agentlab.widgets.drawing import TEXT

DRAWN: Final = 30_000
"""Characters of a text that are drawn at once."""

COLOURS: Final = {"user": GREEN, "assistant": SKY, "tool": BLUE, "loop": ORANGE, "error": RED}


class ToolUse(msgspec.Struct, frozen=True):
    """A tool call and what came of it.

    Attributes:
        name: The tool.
        arguments: The parsed object, or the raw text where it did not parse.
        seen: What the model saw of the result; None while it runs.
        full: The result before it was cut; None where only the cut text is left.
        original: Characters of it before the cut.
        is_error: Whether it is an error observation.
        without: What is said where there is no result.
    """

    name: str
    arguments: Any
    seen: str | None = None
    full: str | None = None
    original: int = 0
    is_error: bool = False
    without: str = "runs"

    @property
    def outcome(self) -> str:
        """How it went, in a few words."""
        if self.seen is None:
            return self.without
        size = f"{self.original:,} characters"
        if self.original != len(self.seen):
            size += f", cut to {len(self.seen):,}"
        return f"error, {size}" if self.is_error else size


def speech(role: str, text: str, *, busy: bool = False) -> str:
    """What somebody said.

    Args:
        role: `user`, `assistant` or `loop`.
        text: What was said.
        busy: Whether more of it comes.

    >>> "&lt;b&gt;" in speech("user", "<b>")
    True
    """
    edge = f"border-left:3px solid {COLOURS.get(role, SKY)};padding:2px 10px;margin:6px 0"
    waiting, cursor = (' aria-busy="true"', "▌") if busy else ("", "")
    return (
        f'<div style="{TEXT};{edge}"{waiting}><div style="font-size:0.85em;opacity:0.75">{escape(role)}</div>'
        f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escape(drawn(text))}{cursor}</div></div>'
    )


def tool_use(use: ToolUse, *, unfold: bool = False) -> str:
    """A call that unfolds to its arguments, what the model saw of the result, and the full result.

    >>> page = tool_use(ToolUse("now", {"zone": "UTC"}, "15:40", "15:40", 5))
    >>> "now" in page, "what the model saw" in page
    (True, True)
    """
    colour = COLOURS["error" if use.is_error else "tool"]
    parts = [_part("arguments", _arguments(use.arguments))]
    if use.seen is not None:
        parts.append(_part(f"what the model saw ({len(use.seen):,} characters)", use.seen))
        parts.append(_full(use, use.seen))
    head = f"<code>{escape(use.name)}</code> <span style='opacity:0.75'>{escape(use.outcome)}</span>"
    return (
        f'<details style="{TEXT};border-left:3px solid {colour};padding:2px 10px;margin:4px 0 4px 14px"'
        f'{" open" if unfold else ""}><summary style="cursor:pointer">{head}</summary>{"".join(parts)}</details>'
    )


def drawn(text: str, most: int = DRAWN) -> str:
    """A text, or of a long one its two ends and how much is not drawn.

    >>> drawn("a" * 50 + "b" * 50, 10).splitlines()
    ['aaaaa', '[90 characters are not drawn here]', 'bbbbb']
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters are not drawn here]\n{text[-half:]}"


def _full(use: ToolUse, seen: str) -> str:
    if use.full is None:
        return "<p>The full result was not kept.</p>"
    if use.full == seen:
        return "<p>The model saw all of it.</p>"
    return _part(f"full result ({use.original:,} characters)", use.full)


def _part(name: str, text: str) -> str:
    return f'<div style="font-size:0.85em;margin-top:4px">{escape(name)}</div>{boxed(escape(drawn(text)), name, 200)}'


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
