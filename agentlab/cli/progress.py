"""What a run says while it goes on: a sink that writes lines to the terminal, and never stops a turn."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentlab.events import CallRetried, CallStarted, Repaired, ToolFinished, TurnFinished, TurnStarted

if TYPE_CHECKING:
    from rich.text import Text

    from agentlab.events import Event

WIDTH = 72


class Progress:
    """Shows each turn as it runs: its calls on one live line, its outcome on a line that stays.

    All texts are shown as they stand. Where the terminal is gone it falls silent, and the turn goes on.

    Args:
        total: How many turns there will be.
        quiet: Show nothing.
    """

    hears = (TurnStarted, CallStarted, ToolFinished, CallRetried, Repaired, TurnFinished)

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        from agentlab.cli.terminal import plain_console

        self.console = plain_console(stderr=True, quiet=quiet)
        self.total = total
        self.status: Any = None
        self.tools: list[str] = []

    def __call__(self, event: Event) -> None:
        """Show an event."""
        try:
            self._show(event)
        except (OSError, ValueError):  # ValueError: the stream was closed
            self.stop()
            self.console.quiet = True

    def stop(self) -> None:
        """Take the live line away."""
        if self.status is not None:
            status, self.status = self.status, None
            with suppress(OSError, ValueError):
                status.stop()

    def _show(self, event: Event) -> None:
        from rich.text import Text

        if isinstance(event, TurnStarted):
            self.tools = []
            self.status = self.console.status(Text(f"turn {event.turn}/{self.total}"))
            self.status.start()
            self.console.print(Text.assemble((f"{event.turn:>2}/{self.total}", "bold"), f" {_short(event.prompt)}"))
        elif isinstance(event, CallStarted):
            tokens = f"{event.prompt_tokens:,} prompt tokens"
            self._live(Text(f"turn {event.turn}/{self.total}, call {event.iteration}: {tokens}"))
        elif isinstance(event, ToolFinished):
            cut = f" cut to {event.chars:,}" if event.chars < event.original_chars else ""
            failed = " (error)" if event.is_error else ""
            self.tools.append(f"{_short(event.call.name)} {event.original_chars:,}{cut} characters{failed}")
        elif isinstance(event, CallRetried):
            self.console.print(f"      called again in {event.wait:.1f} s: {_short(event.reason)}")
        elif isinstance(event, Repaired):
            self.console.print(f"      {_short(event.note)}")
        elif isinstance(event, TurnFinished):
            self.stop()
            for used in self.tools:
                self.console.print(Text.assemble("      ", (used, "cyan")))
            said = _short(event.reply)
            if event.status != "complete":
                said = f"{event.status} ({event.reason}): {_line(event.reply)}"
            self.console.print(f"      {said}")

    def _live(self, text: Text) -> None:
        if self.status is not None:
            self.status.update(text)


def _short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = _line(text)
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def _line(text: str) -> str:
    """A text on one line; what would move the cursor or change colours shows as a question mark."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
