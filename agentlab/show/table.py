"""A conversation as a table: who said what, and what each message costs to send again."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentlab.errors import InputError, MissingRanksError
from agentlab.show.look import CELL, NUMBER, QUIET, WORD, clipped, table
from agentlab.tokens import TokenCount, count_text, estimate_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.analysis import Session
    from agentlab.conversation import Conversation

ROLE_COLOURS: Final = {"user": "#E69F00", "assistant": "#56B4E9", "tool": "#009E73", "error": "#D55E00"}


class Row(msgspec.Struct, frozen=True):
    """A message as the table shows it; its sizes are those of its text and of the calls that it makes."""

    index: int
    role: str
    name: str
    characters: int
    tokens: TokenCount
    text: str
    is_error: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as texts."""
        text = f"(error) {self.text}" if self.is_error else self.text
        return str(self.index), self.role, self.name, f"{self.characters:,}", _number(self.tokens), text


class MessageTable(msgspec.Struct, frozen=True):
    """Messages as a table."""

    rows: tuple[Row, ...]

    @property
    def total(self) -> str:
        """The sums, and how tokens were counted."""
        number = len(self.rows)
        characters = sum(row.characters for row in self.rows)
        tokens = sum((row.tokens for row in self.rows), TokenCount(0, True, ""))
        how = f" ({tokens.method}, texts alone)" if number else ""
        return f"{number:,} message{'s' * (number != 1)}, {characters:,} characters, {_number(tokens)} tokens{how}"

    def __repr__(self) -> str:
        lines = [("#", "role", "name", "chars", "tokens", "text"), *(row.cells for row in self.rows)]
        n, role, name, characters, tokens = (max(len(line[column]) for line in lines) for column in range(5))
        shown = [
            f"{a:>{n}}  {b:<{role}}  {c:<{name}}  {d:>{characters}}  {e:>{tokens}}  {f}".rstrip()
            for a, b, c, d, e, f in lines
        ]
        return "\n".join([*shown, self.total])

    def _repr_html_(self) -> str:
        styles = (NUMBER, WORD, WORD, NUMBER, NUMBER, CELL)
        names = ("#", "role", "name", "characters", "tokens", "text")
        heads = "".join(f'<th style="{style}">{name}</th>' for style, name in zip(styles, names, strict=True))
        rows = "".join(_row_html(row, styles) for row in self.rows)
        return f'{table(heads, rows)}<div style="{QUIET}">{escape(self.total)}</div>'


def messages(listed: Sequence[Mapping[str, Any]] | Conversation | Session, *, limit: int = 200) -> MessageTable:
    r"""Show messages as a table: what each holds, and how large it is.

    Args:
        listed: Messages in the chapter's shape, or what has them as `.messages`.
        limit: Characters shown of a message, at least 1: of its calls with their arguments and of its first line.

    Returns:
        A row per message. Tokens are those of the bare texts by o200k_base, without what a provider adds around them;
        where its rank files are missing, an estimate, marked with ≈.

    Raises:
        InputError: What was given holds no messages, or one that is none, or the limit is below 1.

    >>> messages([{"role": "user", "content": "How many words?"}, {"role": "assistant", "content": "Three.\nOr so."}])
    #  role       name  chars  tokens  text
    0  user                15       4  How many words?
    1  assistant           13       5  Three. (+1 line)
    2 messages, 28 characters, 9 tokens (o200k_base, texts alone)
    """
    if limit < 1:
        raise InputError(f"expected a number of characters from 1, found {limit}", field="limit")
    found = getattr(listed, "messages", listed)
    if not isinstance(found, list | tuple):
        raise InputError(f"expected a list of messages or a conversation, found {type(listed).__name__}")
    return MessageTable(tuple(_row(index, message, limit) for index, message in enumerate(found)))


def _row(index: int, message: Any, limit: int) -> Row:
    try:
        role, text = str(message["role"]), _text_of(message.get("content"))
        calls = [(str(c["function"]["name"]), c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    except (AttributeError, KeyError, TypeError):
        raise InputError(
            f"expected a message with a role, and calls with a function, found {message!r:.100}",
            field=f"messages[{index}]",
        ) from None
    whole = text + "".join(name + (given if isinstance(given, str) else repr(given)) for name, given in calls)
    shown = [f"→ {name}({_arguments(given)})" for name, given in calls]
    shown += [_first_line(text, limit)] if text.strip() or not calls else []
    return Row(
        index,
        f"{role} ({message['origin']})" if "origin" in message else role,
        str(message.get("name") or ""),
        len(whole),
        _count(whole),
        clipped("  ".join(shown), limit),
        bool(message.get("is_error")),
    )


def _text_of(content: Any) -> str:
    """The text of a message, which in other people's logs may be None or a list of parts."""
    if isinstance(content, list):
        return "\n".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)
    return "" if content is None else str(content)


def _arguments(given: Any) -> str:
    """Arguments of a call as Python would write them, or the text that came where it is no JSON object."""
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given)
        except msgspec.DecodeError:
            return str(given)
    return ", ".join(f"{key}={value!r}" for key, value in given.items()) if isinstance(given, dict) else str(given)


def _first_line(text: str, limit: int) -> str:
    """The first line that says something, clipped, and how many lines follow it."""
    first, *more = text.strip("\n").split("\n")
    rest = f" (+{len(more):,} line{'s' * (len(more) != 1)})" if more else ""
    return clipped(first, max(1, limit - len(rest))) + rest


def _count(text: str) -> TokenCount:
    try:
        return count_text(text)
    except MissingRanksError:
        return estimate_text(text)


def _number(tokens: TokenCount) -> str:
    return f"{'' if tokens.exact else '≈'}{tokens.n:,}"


def _row_html(row: Row, styles: tuple[str, ...]) -> str:
    colour = ROLE_COLOURS.get("error" if row.is_error else row.role.partition(" ")[0], "currentColor")
    edges = (f"border-left:3px solid {colour};", "", "", "", "", "")
    cells = zip(edges, styles, row.cells, strict=True)
    tds = "".join(f'<td style="{edge}{style}">{escape(text)}</td>' for edge, style, text in cells)
    return f"<tr>{tds}</tr>"
