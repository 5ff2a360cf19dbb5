"""Talking to the agent in a terminal: read a line, let the loop answer, paint what it says.

`chat` never touches the messages: the loop is their one writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.errors import ProviderError
from agentlab.loop import agent_step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentlab.messages import Message

SYSTEM = "You are a helpful assistant. Use a tool where it helps, and answer briefly."
GREETING = "chat: an empty line or Ctrl-D ends it"


def chat(
    provider: Any = None,
    *,
    read: Callable[[str], str] = input,
    write: Callable[..., Any] = print,
    transcript: str | Path | None = None,
    step: Callable[..., str] = agent_step,
    **settings: Any,
) -> None:
    """Talk until an empty line or Ctrl-D.

    Args:
        provider: Anything with `call(messages, system=, tools=)`; None takes the offline model, which needs no key.
        read: Asks for a line, as `input` does.
        write: Writes text, as `print` does; where it takes no `end`, it is given whole lines.
        transcript: File that gets one JSON line per user turn: prompt, reply, iterations, and more.
        step: What runs a turn: `agent_step`, or a reader's own with its first five parameters.
        settings: What `agentlab.loop.run_turn` takes besides.

    >>> from agentlab.providers.scripted import ScriptedModel
    >>> lines = iter(["Hello?", ""])
    >>> chat(ScriptedModel(["Hello."]), read=lambda prompt: next(lines))
    chat: an empty line or Ctrl-D ends it
    <BLANKLINE>
    <BLANKLINE>
    assistant: Hello.
    <BLANKLINE>
    """
    if provider is None:
        from agentlab.providers.offline import OfflineModel

        provider = OfflineModel()
    if transcript is not None:
        from agentlab.transcript import TurnWriter

        settings["sinks"] = [*settings.get("sinks", ()), TurnWriter(transcript)]
    messages: list[Message] = []
    write(f"{GREETING}\n")
    while line := _next_line(read):
        painter = Painter(write)
        try:
            reply = step(line, messages, provider, SYSTEM, painter, **settings)
            painter.end(reply)
        except ProviderError as error:
            painter.end(f"[no reply: {error}]")
        except KeyboardInterrupt:
            painter.end("[interrupted]")


def _next_line(read: Callable[[str], str]) -> str:
    """The user's next line; empty at its end."""
    try:
        return read("you: ").strip()
    except (EOFError, KeyboardInterrupt):
        return ""


class Painter:
    """Paints a reply as it arrives: called with each piece, and once with the whole at the end."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        self._pieces: list[str] = []
        self._live = _takes_end(write)

    def __call__(self, piece: str) -> None:
        """Paint a piece."""
        if self._live:
            self._write(piece if self._pieces else f"\nassistant: {piece}", end="", flush=True)
        self._pieces.append(piece)

    def end(self, reply: str) -> None:
        """End the reply: what was not painted yet is painted now."""
        painted = "".join(self._pieces)
        missing = reply if not painted else "" if painted.endswith(reply) else f"\n{reply}"
        if not self._live:
            self._write(f"assistant: {painted}{missing}")
        elif painted:
            self._write(f"{missing}\n")
        else:
            self._write(f"\nassistant: {missing}\n")


def _takes_end(write: Callable[..., Any]) -> bool:
    """Whether a function writes pieces of a line, as `print` does."""
    from inspect import signature

    try:
        parameters = signature(write).parameters
    except ValueError:
        return write is print
    return "end" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
