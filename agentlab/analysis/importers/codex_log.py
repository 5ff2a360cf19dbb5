"""A Codex rollout as messages and calls, and what each call was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.codex_items import CALLS, RESULTS, SUMMARIES, Items, Reply, is_typed, original_chars
from agentlab.analysis.importers.fields import list_of, object_of, text_at
from agentlab.analysis.importers.timeline import Timeline

if TYPE_CHECKING:
    from agentlab.analysis.importers.codex_lines import Line, Lines
    from agentlab.messages import Usage

KEPT_CHARS = 80_000
"""Of the user's own messages, what Codex keeps where it writes a summary and does not log the new history: 20,000 of
its tokens."""


class Log:
    """What a file says.

    Args:
        lines: Of the file, read.

    Attributes:
        timeline: Its messages and calls.
        aside: What calls used that wrote summaries.
    """

    def __init__(self, lines: Lines) -> None:
        self.timeline = Timeline()
        self.aside: list[Usage] = []
        self._lines = lines
        self._items = Items()
        self._number = 0
        self._reply: Reply | None = None
        self._results: list[Line] = []
        self._counted: Line | None = None
        self._waiting: Line | None = None
        self._typed: list[int] = []
        self._encrypted = False
        self._early = lines.counts_come_first()
        self._has_counts = any(line.kind == "token_count" for line in lines.all)

    def read(self) -> None:
        """Take all lines."""
        for line in self._lines.all:
            self._number = line.number
            self._take(line)
        self._close()
        self._flush()

    def _report(self, reason: str) -> None:
        self._lines.report(reason, self._number)

    def _take(self, line: Line) -> None:
        kind = line.kind
        if kind == "token_count":
            self._take_count(line)
        elif kind in RESULTS:
            if self._reply is None:
                self._flush()
                self._add_result(line)
            else:
                self._results.append(line)
        elif kind == "compacted":
            self._compact(line)
        elif kind == "rolled_back":
            self._roll_back(line)
        elif kind in SUMMARIES or (kind in ("message", "agent_message") and line.payload.get("role") != "assistant"):
            self._close()
            self._flush()
            self._add_message(line)
        else:
            self._take_output(line)

    def _take_output(self, line: Line) -> None:
        """Add an item that the model returned to the call that is under way; a new one where that has its results."""
        if self._results and not self._has_counts:
            self._close()
        if self._reply is None:
            if not self._early:
                self._flush()
            self._reply = Reply(line.time, line.model, is_copy=line.is_copy)
            self._counted, self._waiting = self._waiting, None
        self._items.add(line.payload, self._reply, self._report)

    def _take_count(self, line: Line) -> None:
        """A count is of the items before it, or, where those have theirs, of those that follow."""
        if self._reply is not None and self._counted is None:
            self._counted = line
            self._close()
        else:
            self._close()
            self._flush()
            self._waiting = line

    def _close(self) -> None:
        """End the call whose items are read."""
        reply, self._reply = self._reply, None
        count, self._counted = self._counted, None
        results, self._results = self._results, []
        if reply is not None:
            about = {"time": reply.time, "thinking": "\n".join(reply.thinking)}
            message = reply.message
            if not reply.is_copy:
                self.timeline.reply(message, about, **_facts(count or reply))
            elif message is not None:
                self.timeline.say(message, **about)
        for line in results:
            self._add_result(line)

    def _flush(self) -> None:
        """A count to which no item belongs is of a call whose reply was not kept."""
        count, self._waiting = self._waiting, None
        if count is not None and not count.is_copy:
            self.timeline.reply(None, **_facts(count))

    def _add_result(self, line: Line) -> None:
        message, images = self._items.result(line.payload, self._report, line.model)
        chars = original_chars(message["content"])
        self.timeline.add(message, time=line.time, image_tokens=images, original_chars=chars)

    def _add_message(self, line: Line) -> None:
        message, images = self._items.message(line.payload, self._report, line.model)
        index = self.timeline.add(message, time=line.time, image_tokens=images)
        if message["role"] == "user" and "origin" not in message:
            self._typed.append(index)

    def _compact(self, line: Line) -> None:
        """Begin anew with what stands for the history."""
        self._close()
        count, self._waiting = self._waiting, None
        if count is not None and count.usage is not None and not count.is_copy:
            self.aside.append(count.usage)  # the call that wrote the summary
        history = line.payload.get("replacement_history")
        items = list_of(history) if isinstance(history, list) else self._rebuilt(line.payload)
        self.timeline.keep(0)
        self._typed = []
        for item in items:
            self._add_summary(object_of(item), line)

    def _rebuilt(self, payload: dict[str, Any]) -> list[dict[str, Any]]:
        """What early versions make of a history: the user's latest messages, and the summary."""
        kept: list[dict[str, Any]] = []
        left = KEPT_CHARS
        for index in reversed(self.timeline.visible):
            record = self.timeline.record(index)
            if record.role == "user" and is_typed(record.text) and not self._is_last_summary(index) and left > 0:
                kept.append({"type": "message", "role": "user", "content": record.text[:left]})
                left -= len(record.text)
        return [*reversed(kept), {"type": "message", "role": "user", "content": text_at(payload, "message")}]

    def _is_last_summary(self, index: int) -> bool:
        """Whether a message is a summary's text, and not one of the user's that stands before it."""
        following = index + 1 < len(self.timeline) and self.timeline.record(index + 1).is_summary
        return self.timeline.record(index).is_summary and not following

    def _add_summary(self, item: dict[str, Any], line: Line) -> None:
        """Add a message that stands for the history."""
        kind, said = item.get("type"), None
        images = 0
        if kind in SUMMARIES:
            if not self._encrypted:
                self._report("a summary is encrypted: it counts nothing, and neither do others")
            self._encrypted = True
        elif kind in RESULTS:
            said, images = self._items.result(item, self._report, line.model)
        elif kind in (*CALLS, "reasoning") or item.get("role") == "assistant":
            reply = Reply(line.time, line.model)
            self._items.add(item, reply, self._report)
            said = reply.message
        elif kind in ("message", "agent_message"):
            said, images = self._items.message(item, self._report, line.model)
            if said["role"] == "user":
                said["origin"] = "loop"
        if said is not None:
            self.timeline.add(said, time=line.time, image_tokens=images, is_summary=True)

    def _roll_back(self, line: Line) -> None:
        """Take the last turns back: their messages are not sent any more."""
        self._close()
        self._flush()
        turns = line.payload.get("num_turns")
        if isinstance(turns, int) and turns >= 1 and self._typed:
            at = max(0, len(self._typed) - turns)
            first = self._typed[at]
            del self._typed[at:]
            self.timeline.keep(sum(index < first for index in self.timeline.visible))


def _facts(of: Line | Reply) -> dict[str, Any]:
    """What a count says of its call, or, where it has none, its reply."""
    usage = None if isinstance(of, Reply) else of.usage
    return {"usage": usage, "model": of.model or None, "time": of.time}
