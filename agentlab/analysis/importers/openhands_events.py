"""OpenHands' events as messages: what the model was sent of them, which is not all that they hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.chat_messages import time_of
from agentlab.analysis.importers.fields import list_of, object_of, text_of
from agentlab.analysis.importers.shape import message_of
from agentlab.analysis.session import Call, Record, Replaced

if TYPE_CHECKING:
    from agentlab.analysis.importers.shape import Report

_UNSENT = ("null", "recall", "change_agent_state", "agent_state_changed", "condensation_request", "start", "pause")
"""Actions and observations that the model never sees."""

_OF_LOOP = ("thought", "blocking", "is_static", "hidden", "confirmation_state", "impl_source", "keep_prompt", "cwd")
"""Arguments of an action that the model did not write."""

_KNOWLEDGE = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")


def is_event(value: Any) -> bool:
    """Whether a value is an event: somebody does or observes something.

    >>> is_event({"source": "agent", "action": "run", "args": {}}), is_event({"role": "user"})
    (True, False)
    """
    if not isinstance(value, dict) or "role" in value:
        return False
    named = value.get("action") or value.get("observation")
    return isinstance(named, str) and ("source" in value or "args" in value or "extras" in value)


class Reading:
    """Records and calls of a run, event by event.

    Args:
        recalls: Whether what was recalled of the workspace was put before the model.

    Attributes:
        responses: Of each call, the model's response as it was logged.
        replaced: What condensations left out; the last ones may have no call after them.
    """

    def __init__(self, *, recalls: bool) -> None:
        self._recalls = recalls
        self.records: list[Record] = []
        self.calls: list[Call] = []
        self.responses: list[dict[str, Any]] = []
        self.replaced: list[Replaced] = []
        self.system = ""
        self.tools: list[Any] = []
        self._turn = self._iteration = 0
        self._names: dict[str, str] = {}
        self._asked: dict[int | None, tuple[str, str]] = {}
        self._by_response: dict[str, int] = {}
        self._events: dict[int, int] = {}
        self._live: list[int] = []
        self._gone: set[int] = set()
        self._summary: int | None = None

    def add(self, event: Any, report: Report) -> None:
        """Read an event."""
        if not is_event(event):
            report("skipped: expected an event with an action or an observation")
            return
        action, args = event.get("action"), object_of(event.get("args"))
        if action == "condensation":
            self._condense(args, time_of(event))
        elif action == "system":
            self.system = text_of(args.get("content")) or self.system
            self.tools = list_of(args.get("tools")) or self.tools
        elif action in _UNSENT or event.get("observation") in _UNSENT[:1] + _UNSENT[2:]:
            return
        elif action is None:
            self._observed(event, report)
        elif event.get("source") == "user":
            self._typed(event, args, report)
        else:
            self._acted(event, args, report)

    def _typed(self, event: dict[str, Any], args: dict[str, Any], report: Report) -> None:
        """What the user said, or did in the agent's place."""
        text = args.get("content") if event["action"] == "message" else event.get("message")
        self._turn, self._iteration = self._turn + 1, 0
        self._put(event, {"role": "user", "content": text}, report)

    def _acted(self, event: dict[str, Any], args: dict[str, Any], report: Report) -> None:
        """An action of the agent: one call of a response, or a reply of its own."""
        known = object_of(event.get("tool_call_metadata"))
        response = object_of(known.get("model_response"))
        call_id = text_of(known.get("tool_call_id")) or f"event-{event.get('id')}"
        name = text_of(known.get("function_name")) or str(event["action"])
        if event["action"] != "message" or known:
            self._asked[_number(event.get("id"))] = (call_id, name)
        named = text_of(response.get("id"))
        if named is not None and named in self._by_response:
            self._know(event, self._by_response[named])
            return
        self._iteration += 1
        index = self._put(event, _said(event, args, response, call_id, name), report)
        if named is not None:
            self._by_response[named] = index
        if self._turn:
            choice = object_of(next(iter(list_of(response.get("choices"))), None))
            self.responses.append(response)
            self.calls.append(
                Call(
                    self._turn,
                    self._iteration,
                    0,
                    index,
                    index,
                    stop_reason=text_of(choice.get("finish_reason")),
                    model=text_of(response.get("model")),
                    time=time_of(event),
                )
            )

    def _observed(self, event: dict[str, Any], report: Report) -> None:
        """What an action led to; what none led to, the loop says."""
        known, content = object_of(event.get("tool_call_metadata")), event.get("content")
        call_id, name = self._asked.pop(_number(event.get("cause")), ("", ""))
        call_id, name = text_of(known.get("tool_call_id")) or call_id, text_of(known.get("function_name")) or name
        if event["observation"] == "recall":
            content = _knowledge(object_of(event.get("extras"))) if self._recalls else ""
            if not content:
                return
        raw = {"role": "user", "origin": "loop", "content": content}
        if call_id and event["observation"] != "recall":
            is_error = event["observation"] == "error"
            raw = {"role": "tool", "content": content, "tool_call_id": call_id, "name": name, "is_error": is_error}
        self._put(event, raw, report)

    def _put(self, event: dict[str, Any], raw: dict[str, Any], report: Report) -> int:
        message = message_of(raw, report, self._names)
        index = len(self.records)
        self.records.append(Record(message or raw, self._turn, self._iteration, time_of(event)))
        self._know(event, index)
        return index

    def _know(self, event: dict[str, Any], index: int) -> None:
        """Remember which record an event went into."""
        number = _number(event.get("id"))
        if number is not None and number not in self._events:
            self._events[number] = index
            insort(self._live, number)

    def _condense(self, args: dict[str, Any], time: float | None) -> None:
        """From the next call on, leave out what is forgotten; put the summary where it was made."""
        indices = {self._events[each] for each in self._forgotten(args)}
        summary = text_of(args.get("summary"))
        if self._summary is not None and (summary or not indices):
            indices.add(self._summary)
        self.replaced += [Replaced(len(self.calls), index, None) for index in sorted(indices - self._gone)]
        self._gone |= indices
        if summary:
            self._summary = len(self.records)
            message = {"role": "user", "content": summary, "origin": "loop"}
            self.records.append(Record(message, self._turn, self._iteration, time, is_summary=True))

    def _forgotten(self, args: dict[str, Any]) -> list[int]:
        """Events that a condensation names, one by one or from the first to the last."""
        named = args.get("forgotten_event_ids")
        if isinstance(named, list):
            return [each for each in map(_number, named) if each in self._events]
        first, last = _number(args.get("forgotten_events_start_id")), _number(args.get("forgotten_events_end_id"))
        if first is None or last is None:
            return []
        start, stop = bisect_left(self._live, first), bisect_right(self._live, last)
        named, self._live[start:stop] = self._live[start:stop], []
        return named


def _said(
    event: dict[str, Any], args: dict[str, Any], response: dict[str, Any], call_id: str, name: str
) -> dict[str, Any]:
    """The assistant's message: as the model gave it where that is in the log, else what the action says."""
    choice = object_of(next(iter(list_of(response.get("choices"))), None))
    message = object_of(choice.get("message"))
    if message:
        return {"role": "assistant", "content": message.get("content"), "tool_calls": message.get("tool_calls")}
    if event["action"] == "message":
        return {"role": "assistant", "content": args.get("content")}
    written = {key: value for key, value in args.items() if key not in _OF_LOOP and value is not None}
    function = {"name": name, "arguments": msgspec.json.encode(written).decode()}
    return {"role": "assistant", "content": args.get("thought"), "tool_calls": [{"id": call_id, "function": function}]}


def _knowledge(extras: dict[str, Any]) -> str:
    """What recalling put before the model; the wording around it is not in the log."""
    texts = [text_of(extras.get(name)) for name in _KNOWLEDGE]
    texts += [text_of(object_of(each).get("content")) for each in list_of(extras.get("microagent_knowledge"))]
    return "\n\n".join(text for text in texts if text)


def _number(value: Any) -> int | None:
    """The id of an event, where it is one."""
    return value if type(value) is int else None
