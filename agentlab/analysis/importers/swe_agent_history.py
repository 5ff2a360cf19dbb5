"""SWE-agent's histories and inputs as records and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.commands import calling
from agentlab.analysis.importers.fields import list_of
from agentlab.analysis.importers.sent import Sent
from agentlab.analysis.importers.shape import ROLES, message_of, text_of
from agentlab.analysis.session import Call, Record, Replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis.importers.shape import Report

    Input = tuple[list[Any], dict[str, Any]]  # the messages that a call was sent, and its step

COMMANDS = (
    *("create", "edit", "exit_forfeit", "find_file", "goto", "insert", "open", "scroll_down", "scroll_up"),
    *("search_dir", "search_file", "str_replace_editor", "submit", "undo_edit", "view_image"),
)
"""Commands of SWE-agent's own, which count as tools; all others are the shell's."""


class Reading:
    """Records and calls of one agent, in order."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.records: list[Record] = []
        self.calls: list[Call] = []
        self.turn = self.iteration = 0
        self._names: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []

    def add(self, raw: dict[str, Any]) -> int:
        """Make a record of a message that has a role; returns its index."""
        ids = raw.get("tool_call_ids")
        called = {**raw, "tool_call_id": ids[0]} if isinstance(ids, list) and ids else raw
        message = message_of(called, self.report, self._names) or {"role": "system", "content": ""}
        if raw.get("is_demo"):
            message |= {"origin": "loop"} if message["role"] == "user" else {}
        else:
            message = self._placed(message, raw.get("action"))
        turn = 1 if raw.get("is_demo") else self.turn  # sent for the task, though it stands before it
        self.records.append(Record(message, turn, self.iteration))
        return len(self.records) - 1

    def call(self, reply: int, turn: int, iteration: int) -> None:
        """Add the call whose reply is a record, there or to come; its prompt is all that stands before it."""
        self.calls.append(Call(turn, iteration, 0, reply, reply))

    def _placed(self, message: dict[str, Any], action: Any) -> dict[str, Any]:
        """The message as it counts: a call in a text, the answer to it, the task, or what the loop said."""
        role = message["role"]
        if role == "assistant":
            self.iteration += 1
            if isinstance(action, str) and action.strip() and "tool_calls" not in message:
                message = calling(message, [(_tool(action), action.strip())], f"step-{self.iteration}")
            self._open = [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]
        elif role == "user" and self._open:
            call_id, name = self._open.pop(0)
            return {"role": "tool", "content": message["content"], "tool_call_id": call_id, "name": name}
        elif role == "user" and not self.turn:
            self.turn = 1
        elif role == "user":
            message["origin"] = "loop"
        elif role == "tool":
            self._open = [each for each in self._open if each[0] != message["tool_call_id"]]
        else:
            message["role"] = "system"
        return message

    def close(self, steps: Sequence[dict[str, Any]]) -> None:
        """Add the last observation, which a history without tools leaves out since nothing was sent after it."""
        observation = steps[-1].get("observation") if steps else None
        if self._open and isinstance(observation, str) and observation.strip():
            self.add({"role": "user", "content": observation})


def read_history(reading: Reading, history: Sequence[dict[str, Any]]) -> None:
    """Read a history: each reply was sent all that stands before it."""
    for role, _, raw in _items(history):
        index = reading.add(raw)
        if role == "assistant" and not raw.get("is_demo") and reading.turn:
            reading.call(index, reading.turn, reading.iteration)
    if not reading.turn:
        reading.report("there is no task in it: what was sent cannot be counted")


def read_inputs(reading: Reading, inputs: Sequence[Input], history: Sequence[dict[str, Any]]) -> tuple[Replaced, ...]:
    """Read the inputs of the calls, and of the history what comes after the last of them."""
    sent = Sent(lambda item: reading.add(item[2]))
    reply = None
    for number, (messages, step) in enumerate(inputs):
        sent.take(number, _items(messages), reply)
        reading.call(len(reading.records), reading.turn or 1, reading.iteration + 1)
        raw = {"role": "assistant", "content": step.get("response"), "action": step.get("action")}
        reply = ("assistant", text_of(raw["content"], reading.report), raw)
    for index in sent.take(len(inputs), _items(history), reply)[1:]:
        record = reading.records[index]
        if record.role == "assistant":
            reading.call(index, record.turn, record.iteration)
    return tuple(each for each in sent.replaced if each.call < len(inputs))


def inputs_of(steps: Sequence[dict[str, Any]], history: Sequence[dict[str, Any]]) -> list[Input]:
    """What each call was sent, where the steps say it; a step that called no model has no messages."""
    queries = [(step["query"], step) for step in steps if _items(step.get("query"))]
    if queries:
        return queries
    later: list[Any] = [step.get("messages") for step in steps]
    if not steps or not all(_items(messages) for messages in later[:-1]) or not _items(later[0]):
        return []
    task = next((n for n, raw in enumerate(history) if raw.get("role") == "assistant" and not raw.get("is_demo")), 0)
    return list(zip([list(history[:task]), *later[:-1]], steps, strict=True)) if task else []


def told_by(steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The replies and observations of steps, where there is no history."""
    told = []
    for step in steps:
        told.append({"role": "assistant", "content": step.get("response"), "action": step.get("action")})
        if step is not steps[-1]:
            told.append({"role": "user", "content": step.get("observation")})
    return told


def _items(messages: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Role, text and message of each message but the system prompt in front."""
    kept = [raw for raw in list_of(messages) if isinstance(raw, dict) and role_of(raw) in ROLES]
    front = next((n for n, raw in enumerate(kept) if raw["role"] != "system"), len(kept))
    return [(raw["role"], text_of(raw.get("content"), lambda _: None), raw) for raw in kept[front:]]


def system_of(messages: Sequence[Any], report: Report) -> str:
    """The system prompt in front of messages."""
    texts = []
    for raw in messages:
        if not isinstance(raw, dict) or raw.get("role") != "system":
            break
        texts.append(text_of(raw.get("content"), report))
    return "\n\n".join(texts)


def _tool(action: str) -> str:
    word = action.split(maxsplit=1)[0]
    return word if word in COMMANDS else "bash"


def role_of(raw: dict[str, Any]) -> str:
    """Who speaks in a message, "" where it does not say."""
    return raw["role"] if isinstance(raw.get("role"), str) else ""
