"""Talking to the agent in a terminal: read a line, let the loop answer, paint what it says.

`chat` never touches the messages: the loop is their one writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError, ProviderError
from agentlab.loop import agent_step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentlab.events import Event
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

    Raises:
        InputError: The transcript cannot be written; nothing was asked yet.

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
    log = None if transcript is None else Log(transcript)
    if log is not None:
        settings["sinks"] = [*settings.get("sinks", ()), log]
    messages: list[Message] = []
    write(f"{GREETING}\n")
    while line := _next_line(read):
        painter = Painter(write)
        try:
            reply = step(line, messages, provider, SYSTEM, painter, **settings)
            painter.end(reply)
        except (ProviderError, OSError) as error:  # OSError: a reader's own provider that lost its connection
            painter.end(f"[no reply: {_plainly(error)}]")
        except KeyboardInterrupt:
            painter.end("[interrupted]")
        if log is not None and log.failure is not None:
            write(f"[this turn is not in {log.path}: {_plainly(log.failure)}]\n")
            log.failure = None
    if log is not None:
        log.close()


def _next_line(read: Callable[[str], str]) -> str:
    """The user's next line; empty at its end."""
    try:
        return read("you: ").strip()
    except (EOFError, KeyboardInterrupt):
        return ""


def _plainly(error: Exception) -> str:
    """The words of an error, without a key that may stand in them."""
    from agentlab.providers.keys import redact

    return redact(str(error) or type(error).__name__)


class Log:
    """Writes the transcript, and keeps what went wrong: `agent_step` returns the reply, and says nothing of it.

    Args:
        path: Opened at once, so that a chat whose transcript nobody could write does not begin.

    Raises:
        InputError: It cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        import os

        from agentlab.store import open_for_append
        from agentlab.transcript import TurnWriter

        self._writer = TurnWriter(path)
        self.hears = TurnWriter.hears
        self.path = self._writer.path
        self.failure: OSError | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(open_for_append(self.path))
        except OSError as error:
            raise InputError(
                f"cannot be written ({error.strerror}): name another file for the transcript", path=path
            ) from None

    def __call__(self, event: Event) -> None:
        """Write the line of a turn that is over."""
        try:
            self._writer(event)
        except OSError as error:
            self.failure = error
            raise

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


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
