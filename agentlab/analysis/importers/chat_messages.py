"""Messages of OpenAI's chat on the way to a session: their texts, images, usage, models and times."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.answers import Answers
from agentlab.analysis.importers.images import Images
from agentlab.analysis.importers.shape import calls_of, message_of, plausible, records_of, usage_of

if TYPE_CHECKING:
    from agentlab.analysis.importers.shape import Report
    from agentlab.analysis.session import Call, Record
    from agentlab.messages import Usage

MOST_SECONDS = 1e11  # since 1970; more is not in seconds


class Messages:
    """The messages of one session, in order.

    Args:
        model: Which model answered, where that is known.

    Attributes:
        prompts: System prompts in front.

    >>> messages = Messages()
    >>> messages.take({"role": "user", "content": "Hi"}, print)
    >>> messages.take({"role": "tool", "tool_call_id": "a", "content": "15:40"}, print)
    >>> [record.role for record in messages.records()]
    ['user', 'tool']
    >>> messages.end()
    tool_call_id 'a': no call before it waits for a result
    """

    def __init__(self, model: str | None = None) -> None:
        self.prompts: list[str] = []
        self._given = model
        self._first: str | None = None
        self._placed: list[dict[str, Any]] = []
        self._about: list[dict[str, Any]] = []
        self._reports: list[Report] = []
        self._usages: dict[int, Usage] = {}
        self._models: dict[int, str] = {}
        self._names: dict[str, str] = {}
        self._images, self._answers = Images(), Answers()

    @property
    def model(self) -> str | None:
        """Which model answered: as given, else the first that a message names."""
        return self._given or self._first

    def take(self, raw: Any, report: Report) -> None:
        """Take the next message in."""
        tokens: list[int] = []
        message = message_of(
            raw, report, self._names, lambda part: tokens.append(self._images.openai(part, report, self.model or ""))
        )
        if message is None:
            return
        if message["role"] in ("system", "developer"):
            if not self._placed:
                self.prompts.append(message["content"])
                return
            message["role"] = "system"
        index = len(self._placed)
        usage = usage_of(raw.get("usage")) if message["role"] == "assistant" else None
        if (usage := plausible(usage, report)) is not None:
            self._usages[index] = usage
        if isinstance(raw.get("model"), str) and raw["model"]:
            self._models[index] = raw["model"]
            self._first = self._first or raw["model"]
        self._placed.append(message)
        self._about.append({"time": time_of(raw), "image_tokens": sum(tokens)})
        self._reports.append(report)
        self._answers.spoken("", index)
        calls = message.get("tool_calls", ())
        self._answers.asked("", index, [(call["id"], call["function"]["name"]) for call in calls])
        if message["role"] == "tool":
            self._answers.answered("", index, message["tool_call_id"])

    def end(self) -> None:
        """Report calls and results that miss each other."""
        for index, reason in self._answers.end():
            self._reports[index](reason)

    def records(self) -> tuple[Record, ...]:
        """The messages in turns and iterations."""
        return tuple(
            record if about == {"time": None, "image_tokens": 0} else msgspec.structs.replace(record, **about)
            for record, about in zip(records_of(self._placed), self._about, strict=True)
        )

    def calls(self, records: tuple[Record, ...]) -> tuple[Call, ...]:
        """The calls that made them."""
        return tuple(
            msgspec.structs.replace(call, model=self._models.get(call.stop, self.model), time=records[call.stop].time)
            for call in calls_of(records, self._usages)
        )


def time_of(raw: dict[str, Any]) -> float | None:
    """When a message was logged, in seconds since 1970: a number or a date of ISO 8601 in one of three fields.

    >>> time_of({"ts": 1790000000.5}), time_of({"timestamp": "2026-09-21T13:33:20Z"}), time_of({"time": "noon"})
    (1790000000.5, 1789997600.0, None)
    """
    for name in ("ts", "time", "timestamp"):
        value = raw.get(name)
        if isinstance(value, str):
            with suppress(ValueError):
                moment = datetime.fromisoformat(value)
                return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < MOST_SECONDS:
            return float(value)
    return None
