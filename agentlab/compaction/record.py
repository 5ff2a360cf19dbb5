"""Old messages as text for a summariser, and in pieces that fit its window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agentlab.messages import Message

KEPT_IN_FULL = "(kept in full elsewhere)"


def lines_of(messages: Sequence[Message], kept: Collection[str] = ()) -> list[str]:
    r"""Messages as text, one entry each: who speaks, and all of it.

    Args:
        messages: Some messages of a conversation.
        kept: Texts of tool results that need not be summarised.

    >>> lines_of([{"role": "user", "content": "Hello."}])
    ['user: Hello.']
    """
    return [_line(message, hide=message["role"] == "tool" and message["content"] in kept) for message in messages]


def _line(message: Message, *, hide: bool) -> str:
    text = KEPT_IN_FULL if hide else message["content"]
    if message["role"] == "tool":
        return f"tool {message['name']}{' (error)' if message.get('is_error') else ''}: {text}"
    if message["role"] == "user":
        return f"{'note to the assistant' if 'origin' in message else 'user'}: {text}"
    calls = "".join(
        f"\nassistant called {call['function']['name']}: {call['function']['arguments']}"
        for call in message.get("tool_calls") or ()
    )
    return f"assistant: {text}{calls}" if text.strip() else calls.removeprefix("\n")


def pieces(lines: Iterable[str], size: int) -> list[str]:
    r"""Join lines into pieces of at most `size` characters; a longer line is split, so that nothing is left out.

    >>> pieces(["user: ab", "user: cd", "tool f: " + "x" * 10], 20)
    ['user: ab\nuser: cd', 'tool f: xxxxxxxxxx']
    >>> "".join(pieces(["abcdefgh"], 3))
    'abcdefgh'
    """
    done: list[str] = []
    current = ""
    for line in lines:
        if current and len(current) + 1 + len(line) > size:
            done.append(current)
            current = ""
        current = f"{current}\n{line}" if current else line
        while len(current) > size:
            done.append(current[:size])
            current = current[size:]
    return [*done, current] if current else done
