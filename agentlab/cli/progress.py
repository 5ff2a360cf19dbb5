"""What a run says while it goes on: a sink that writes lines to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.events import CallRetried, CallStarted, Repaired, ToolFinished, TurnFinished, TurnStarted

if TYPE_CHECKING:
    from agentlab.events import Event

WIDTH = 72


class Progress:
    """Shows each turn as it runs: its calls on one live line, its outcome on a line that stays.

    Args:
        total: How many turns there will be.
        quiet: Show nothing.
    """

    hears = (TurnStarted, CallStarted, ToolFinished, CallRetried, Repaired, TurnFinished)

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, quiet=quiet, highlight=False)
        self.total = total
        self.status: Any = None
        self.tools: list[str] = []

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, TurnStarted):
            self.tools = []
            self.status = self.console.status(f"turn {event.turn}/{self.total}")
            self.status.start()
            self.console.print(f"[bold]{event.turn:>2}/{self.total}[/] {_short(event.prompt)}")
        elif isinstance(event, CallStarted):
            self._live(f"turn {event.turn}/{self.total}, call {event.iteration}: {event.prompt_tokens:,} prompt tokens")
        elif isinstance(event, ToolFinished):
            cut = f" cut to {event.chars:,}" if event.chars < event.original_chars else ""
            self.tools.append(f"{event.call.name} {event.original_chars:,}{cut}{' (error)' if event.is_error else ''}")
        elif isinstance(event, CallRetried):
            self.console.print(f"      called again in {event.wait:.1f} s: {_short(event.reason)}", markup=False)
        elif isinstance(event, Repaired):
            self.console.print(f"      {event.note}", markup=False)
        elif isinstance(event, TurnFinished):
            self.stop()
            for used in self.tools:
                self.console.print(f"      [cyan]{used}[/] characters")
            said = (
                _short(event.reply) if event.status == "complete" else f"{event.status} ({event.reason}): {event.reply}"
            )
            self.console.print(f"      {said}", markup=False)

    def stop(self) -> None:
        """Take the live line away."""
        if self.status is not None:
            self.status.stop()
            self.status = None

    def _live(self, text: str) -> None:
        if self.status is not None:
            self.status.update(text)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."
