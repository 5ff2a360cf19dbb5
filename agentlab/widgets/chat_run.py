"""A conversation whose turns run on a thread: what has been said so far, and a way to stop.

The session itself is a `Runner`'s; this listens to its events, so that somebody can be shown what happens meanwhile.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agentlab.budgets import Scope
from agentlab.errors import AgentlabError, InputError, UnknownResultError
from agentlab.events import CallFinished, CallRetried, MessageAppended, ToolFinished, ToolStarted
from agentlab.providers.keys import redact
from agentlab.show.look import clipped
from agentlab.widgets.message_html import ToolUse

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.endings import TurnResult
    from agentlab.events import Event
    from agentlab.runner import Runner

STOPPED = "the stop button was pressed"
LINE = 300
"""Characters of an error that are shown."""

EVERY = 0.06
"""Seconds between two looks at text that streams: more often is more than an eye or a browser takes."""


class Said(msgspec.Struct, frozen=True):
    """What somebody said: `user`, `assistant`, `loop`, or `note` for what is said about the turn itself."""

    role: str
    text: str


Entry = Said | ToolUse


class Chat:
    """A runner's conversation, turn by turn, on a thread of its own.

    Args:
        runner: The session. It gets a sink more.
        changed: Called with the index of an entry that is new or was replaced, or with None where text streams or a
            turn began or ended; on the thread of the turn.
        clock: Seconds.

    Attributes:
        entries: What was said and done so far, in order.
        streaming: Text of the reply that is on its way.
        active: Whether a turn runs.
        result: How the last turn ended; None before that.
        failure: What a turn raised that is no ending but a bug, as in a tool's callback; None else.

    >>> from agentlab.providers.scripted import ScriptedModel
    >>> from agentlab.runner import Runner
    >>> chat = Chat(Runner(ScriptedModel(["Hello."])))
    >>> chat.send("Hi")
    >>> chat.wait().status, [entry.text for entry in chat.entries]
    ('complete', ['Hi', 'Hello.'])
    """

    def __init__(
        self,
        runner: Runner,
        changed: Callable[[int | None], None] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.runner = runner
        self.entries: list[Entry] = []
        self.streaming = ""
        self.result: TurnResult | None = None
        self.failure: BaseException | None = None
        self._changed = changed or (lambda _: None)
        self._clock = clock
        self._painted = 0.0
        self._scope: Scope | None = None
        self._thread: threading.Thread | None = None
        self.active = False
        self._running: dict[str, int] = {}  # by the id of a call: its entry
        runner.sinks.append(self._hear)

    def send(self, prompt: str) -> None:
        """Begin a turn and return at once.

        Raises:
            InputError: One runs already.
        """
        if self.active:
            raise InputError("a turn runs already: stop it, or wait for its end")
        self.wait()  # for the last words of the thread before
        self.active = True
        self._scope, self.result, self.failure = Scope(), None, None
        self._thread = threading.Thread(target=self._turn, args=(prompt, self._scope), name="chat turn", daemon=True)
        self._thread.start()

    def stop(self, reason: str = STOPPED) -> None:
        """End the turn that runs, if one does; its messages stay valid."""
        if self._scope is not None:
            self._scope.cancel(reason)

    def wait(self, seconds: float | None = None) -> TurnResult | None:
        """Wait for the end of the turn; Ctrl-C stops it.

        Returns:
            How it ended; None where it still runs, or none was begun.
        """
        thread = self._thread
        if thread is not None:
            try:
                thread.join(seconds)
            except KeyboardInterrupt:
                self.stop("interrupted by the user")
                thread.join()
        return self.result

    def _turn(self, prompt: str, scope: Scope) -> None:
        self._changed(None)
        try:
            self.result = self.runner.send(prompt, self._paint, scope=scope)
            if self.result.status != "complete":
                self._add(Said("note", how_it_ended(self.result)))
        except Exception as error:  # noqa: BLE001 - a thread has nobody to raise to: the widget shows it
            self.failure = error
            self._add(Said("note", in_a_line(error)))
        self.streaming, self.active = "", False
        self._changed(None)

    def _paint(self, piece: str) -> None:
        self.streaming += piece
        if self._clock() - self._painted >= EVERY:
            self._painted = self._clock()
            self._changed(None)

    def _hear(self, event: Event) -> None:
        if isinstance(event, MessageAppended):
            self._appended(event.message)
        elif isinstance(event, ToolStarted):
            self._running[event.call.id] = len(self.entries)
            self._add(ToolUse(event.call.name, event.call.arguments))
        elif isinstance(event, ToolFinished):
            self._finished(event)
        elif isinstance(event, CallRetried):
            self._add(Said("note", f"asked again in {event.wait:.1f} s: {event.reason}"))
        elif isinstance(event, CallFinished):
            self._changed(None)

    def _appended(self, message: dict[str, Any]) -> None:
        if message["role"] == "tool" or not message["content"]:
            return
        role = "loop" if "origin" in message else message["role"]
        self.streaming = "" if role == "assistant" else self.streaming
        self._add(Said(role, message["content"]))

    def _finished(self, event: ToolFinished) -> None:
        full: str | None = event.text
        if event.original_chars != event.chars:
            full = self._stored(event.store_id)
        at = self._running.pop(event.call.id, None)
        use = ToolUse(event.call.name, event.call.arguments)
        done = replace(use, seen=event.text, full=full, original=event.original_chars, is_error=event.is_error)
        if at is None:  # refused before it began
            self._add(done)
        else:
            self.entries[at] = done
            self._changed(at)

    def _stored(self, store_id: str | None) -> str | None:
        try:
            return None if store_id is None else self.runner.store.get(store_id)
        except UnknownResultError:
            return None

    def _add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._changed(len(self.entries) - 1)


def how_it_ended(result: TurnResult) -> str:
    """Status and reason of a turn, and in one line what was raised, where the reply does not say it.

    >>> from agentlab.endings import TurnResult
    >>> from agentlab.errors import ProviderError
    >>> from agentlab.messages import Usage
    >>> how_it_ended(TurnResult("", "failed", "provider_error", 1, Usage(), [], ProviderError("no route")))
    'failed (provider_error): no route'
    """
    said = f"{result.status} ({result.reason})"
    if result.error is None or str(result.error) in result.text:
        return said
    known = isinstance(result.error, AgentlabError)
    return f"{said}: {clipped(redact(str(result.error)), LINE) if known else in_a_line(result.error)}"


def in_a_line(error: BaseException) -> str:
    r"""An error by its class and its words, in one line.

    >>> in_a_line(ValueError("no\nnumber"))
    'ValueError: no number'
    """
    return clipped(redact(f"{type(error).__name__}: {error}"), LINE)
