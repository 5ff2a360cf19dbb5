"""pi's sessions: a header, then entries that form a tree by `id` and `parentId`; the oldest are a plain list.

A call is sent the messages on the path to it. After a `compaction` these are its summary and what stands from
`firstKeptEntryId` on; going back to an earlier entry leaves the others out. What a fork copied from another session's
file are that one's calls. A reply that was aborted has a count of output that is none, and its tools were not called.
Neither the system prompt nor the tools are in the log.

Source: pi-mono, session files of versions 1 to 3.
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.fields import object_of, text_at, time_at
from agentlab.analysis.importers.pi_messages import ROLES, Messages, Spoken, cost_of, summary_of, usage_of
from agentlab.analysis.importers.shape import plausible
from agentlab.analysis.importers.timeline import Timeline
from agentlab.analysis.session import Session
from agentlab.printable import counted
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from agentlab.analysis.importers.peek import Peek

NAME = "pi"
EXPECTS = "pi's session: JSON lines of type session, message, model_change, compaction, ..."
CHARS_PER_TOKEN = 4

_ENTRIES = (
    *("message", "compaction", "branch_summary", "custom_message"),
    *("model_change", "thinking_level_change", "custom", "label", "session_info", "session"),
)
_BROKEN = ("aborted", "error")


def recognises(peek: Peek) -> bool:
    """Whether there is a header or an entry of pi in the first lines."""
    return not peek.is_folder and any(_is_header(value) or _is_message(value) for value in peek.first_values)


def read(peek: Peek) -> list[Session]:
    """The one session of a file."""
    log = _Log(peek.path, peek.problems)
    log.read(peek.lines())
    records, calls, replaced = log.timeline.laid()
    if not records and not calls:
        return []
    models = Counter(call.model for call in calls if call.model)
    labels = {"session": "id", "project": "cwd", "forked_from": "parentSession"}
    told = {label: text_at(log.header, key) for label, key in labels.items()} | {"title": log.title}
    return [
        Session(
            id=peek.path.name.split(".jsonl")[0],
            format=NAME,
            path=peek.path,
            records=records,
            calls=calls,
            provider=log.provider,
            model=models.most_common(1)[0][0] if models else text_at(log.header, "modelId") or None,
            labels={label: value for label, value in told.items() if value},
            replaced=replaced,
        )
    ]


class _Entry(msgspec.Struct, frozen=True):
    """An entry of the tree: its parent's number, its message, and, of a compaction, what it keeps."""

    parent: int
    index: int | None
    kept: int | None = None


class _Log:
    """What a file says."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.header: dict[str, Any] = {}
        self.timeline = Timeline()
        self.title = ""
        self.provider = ""
        self._path = str(path)
        self._problems = problems
        self._number = 0
        self._messages = Messages()
        self._entries: list[_Entry] = []
        self._at = -1
        self._numbers: dict[str, int] = {}
        self._entry_of: dict[int, int] = {}
        self._odd: dict[str, tuple[int, int]] = {}
        self._copied_until: float | None = None

    def read(self, lines: Iterable[tuple[int, Any]]) -> None:
        """Read all lines."""
        for number, line in lines:
            self._number = number
            if isinstance(line, dict):
                self._line(line)
            else:
                self._report(f"skipped: expected an object, found {line!r:.40}")
        for what, (first, count) in self._odd.items():
            reason = f"{what} is not known: {counted(count, 'line')} not read"
            self._problems.append(Problem(self._path, first, reason))

    def _report(self, reason: str) -> None:
        self._problems.append(Problem(self._path, self._number, reason))

    def _line(self, line: dict[str, Any]) -> None:
        kind = line.get("type")
        if kind == "session":
            self._begin(line)
            return
        self._go_to(line.get("parentId"))
        index = kept = None
        if kind == "message":
            index = self._message(object_of(line.get("message")), time_at(line))
        elif kind == "compaction":
            index, kept = self._compact(line)
        elif kind == "branch_summary":
            index = self._add(summary_of(text_at(line, "summary")), time_at(line))
        elif kind == "custom_message":
            said = self._messages.read({"role": "custom", "content": line.get("content")}, self._report)
            index = self._add(said, time_at(line))
        elif kind == "session_info":
            self.title = text_at(line, "name")
        elif kind not in _ENTRIES:
            self._count_odd(f"an entry of type {kind!r}")
        self._entered(text_at(line, "id"), index, kept)

    def _begin(self, line: dict[str, Any]) -> None:
        if not self.header:
            self.header = line
            self.provider = text_at(line, "provider")
            if text_at(line, "parentSession"):
                self._copied_until = time_at(line)
        self._entries.append(_Entry(len(self._entries) - 1, None))

    def _count_odd(self, what: str) -> None:
        first, known = self._odd.get(what, (self._number, 0))
        self._odd[what] = (first, known + 1)

    def _entered(self, name: str, index: int | None, kept: int | None) -> None:
        number = len(self._entries)
        self._entries.append(_Entry(self._at, index, kept))
        if index is not None:
            self._entry_of[index] = number
        if name:
            self._numbers[name] = number

    def _go_to(self, parent: Any) -> None:
        """Send what is on the path to an entry, which nearly always is the one before."""
        last = len(self._entries) - 1
        self._at = self._numbers.get(parent, last) if isinstance(parent, str) else last
        if self._at != last:
            self.timeline.show(self._path_to(self._at))

    def _path_to(self, number: int) -> list[int]:
        """The messages on the path to an entry, in the order of the prompt."""
        path: list[int] = []
        kept = None
        while number >= 0 and (kept is None or number >= kept):
            entry = self._entries[number]
            if entry.index is not None and (kept is None or entry.kept is None):
                path.append(entry.index)
                if entry.kept is not None:
                    kept, summary = entry.kept, path.pop()
            number = entry.parent
        return path[::-1] if kept is None else [summary, *path[::-1]]

    def _message(self, raw: dict[str, Any], time: float | None) -> int | None:
        if raw.get("role") not in ROLES:
            self._report(f"skipped: expected a message with one of the roles {', '.join(ROLES)}")
            return None
        said = self._messages.read(raw, self._report)
        if said is None or raw["role"] != "assistant":
            return self._add(said, time)
        usage = plausible(usage_of(raw.get("usage")), self._report)
        if usage is None and not (said.message["content"] or said.about["thinking"] or "tool_calls" in said.message):
            return None  # stopped before anything came
        about = {**said.about, "time": time}
        if self._copied_until is not None and time is not None and time < self._copied_until:
            return self.timeline.say(said.message, **about)
        stopped = text_at(raw, "stopReason") or None
        visible = ceil(_chars(said) / CHARS_PER_TOKEN)
        measured = stopped not in _BROKEN or usage is None or usage.output_tokens >= visible
        if stopped in _BROKEN:
            said.message.pop("tool_calls", None)  # they were never run, and are not sent again
        self.provider = text_at(raw, "provider") or self.provider
        index = len(self.timeline)
        self.timeline.reply(
            said.message,
            about,
            usage=usage,
            stop_reason=stopped,
            model=text_at(raw, "model") or None,
            time=time,
            output_measured=measured,
            cost=cost_of(raw.get("usage")),
        )
        return index

    def _add(self, said: Spoken | None, time: float | None) -> int | None:
        return None if said is None else self.timeline.add(said.message, time=time, **said.about)

    def _compact(self, line: dict[str, Any]) -> tuple[int | None, int]:
        """Send the summary, and of the rest what is kept."""
        kept = self._numbers.get(text_at(line, "firstKeptEntryId"), len(self._entries))
        if isinstance(line.get("firstKeptEntryIndex"), int):  # before entries had ids
            kept = line["firstKeptEntryIndex"]
        visible = [
            index
            for index in self.timeline.visible
            if self._entry_of[index] >= kept and self._entries[self._entry_of[index]].kept is None
        ]
        index = self._add(summary_of(text_at(line, "summary")), time_at(line))
        self.timeline.show([*([] if index is None else [index]), *visible])
        return index, kept


def _chars(said: Spoken) -> int:
    """Characters of a reply that can be seen."""
    functions = (call["function"] for call in said.message.get("tool_calls", ()))
    calls = sum(len(each["name"]) + len(each["arguments"]) for each in functions)
    return len(said.message["content"]) + len(said.about["thinking"]) + calls


def _is_header(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") != "session" or "schema" in value:
        return False
    return isinstance(value.get("cwd"), str) and isinstance(value.get("timestamp"), str)


def _is_message(value: Any) -> bool:
    """Whether it is an entry with one of pi's messages, which carry a time in milliseconds."""
    if not isinstance(value, dict) or value.get("type") != "message" or "sessionId" in value:
        return False
    message = object_of(value.get("message"))
    return message.get("role") in ROLES and "timestamp" in message and isinstance(value.get("timestamp"), str)
