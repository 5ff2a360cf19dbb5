"""The request as the model sees it: turns, the calls in them and what each call returned."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.messages import Message

FINISH = re.compile(
    r"answer (?:now )?with what|no more (?:tools?|calls?)|last (?:turn|iteration|call)|final (?:answer|reply) now"
    r"|without (?:calling )?(?:any )?tools|use what you have|\b1 (?:turn|iteration)s? (?:left|remain)",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\byour (?:last )?reply was\b", re.IGNORECASE)
LEFT = re.compile(r"(\d+) (?:more )?(?:turn|iteration)s? (?:are |is )?(?:left|remain)", re.IGNORECASE)
NOT_RUN = re.compile(r"(?:Error: )?\(?not run\b", re.IGNORECASE)


class Observation:
    """What one call returned, with the call.

    Attributes:
        name: The tool.
        text: What the model reads.
        is_error: Whether the call failed.
        turn: Index of the user turn.
        index: Position among the observations of the request.
    """

    def __init__(self, name: str, raw: Any, text: str, *, is_error: bool, turn: int, index: int) -> None:
        self.name = name
        self.text = text
        self.is_error = is_error
        self.turn = turn
        self.index = index
        self._raw = raw

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call; `{}` where they do not parse."""
        if isinstance(self._raw, dict):
            return self._raw
        try:
            value = msgspec.json.decode(self._raw or "{}")
        except (msgspec.DecodeError, TypeError, UnicodeError):
            return {"": self._raw}
        return value if isinstance(value, dict) else {"": self._raw}


class Turn:
    """A user message and what followed it.

    `pieces` is the beginning of its final text, where the reply was cut at the output limit and the loop asks on.
    """

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        self.text = text
        self.reply = ""
        self.steps = 0
        self.calls = 0
        self.pieces = ""
        self.notes: list[str] = []
        self.observations: list[Observation] = []

    @property
    def iterations(self) -> int:
        """Model calls made in it so far: replies with calls, and replies that the loop refused."""
        return self.steps + sum(1 for note in self.notes if REFUSED.search(note))

    @property
    def must_finish(self) -> bool:
        """Whether the loop said in this turn that no further call will be run."""
        if any(NOT_RUN.match(o.text) for o in self.observations[-3:]):
            return True
        last = self.notes[-1] if self.notes else ""
        left = LEFT.search(last)
        return bool(FINISH.search(last)) and not (left is not None and int(left[1]) > 1)


class History:
    """All turns of a request.

    >>> history = History([{"role": "user", "content": "hi"}])
    >>> history.current.text, history.earlier
    ('hi', [])
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.turns: list[Turn] = []
        self.observations: list[Observation] = []
        self.calls = 0
        self._open: dict[str, tuple[str, Any]] = {}
        for message in messages:
            self._add(message)
        if not self.turns:
            self.turns.append(Turn(0, ""))

    @property
    def current(self) -> Turn:
        """The turn that waits for a reply."""
        return self.turns[-1]

    @property
    def earlier(self) -> list[Turn]:
        """The turns before it."""
        return self.turns[:-1]

    def _add(self, message: Mapping[str, Any]) -> None:
        role = message.get("role")
        text = text_of(message.get("content"))
        if role == "user" and message.get("origin") != "loop":
            self.turns.append(Turn(len(self.turns), text))
            return
        if not self.turns:
            self.turns.append(Turn(0, ""))
        turn = self.turns[-1]
        if role == "user":
            turn.notes.append(text)
        elif role == "assistant":
            calls = message.get("tool_calls") or ()
            turn.reply = text or turn.reply
            turn.pieces = "" if calls else turn.pieces + text
            turn.steps += bool(calls)
            turn.calls += len(calls)
            self.calls += len(calls)
            self._open = {c["id"]: (c["function"]["name"], c["function"].get("arguments")) for c in calls}
        elif role == "tool":
            name, raw = self._open.get(message.get("tool_call_id", ""), (message.get("name", ""), {}))
            is_error = message.get("is_error") is True
            seen = Observation(name, raw, text, is_error=is_error, turn=turn.index, index=len(self.observations))
            turn.observations.append(seen)
            self.observations.append(seen)


def text_of(content: Any) -> str:
    """The text of a message: its string, or the joined texts of its blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(text_of(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    return ""
