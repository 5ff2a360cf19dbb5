"""mini-swe-agent's trajectories: an object with `trajectory_format`, or the bare list of messages of older versions.

The task is the first user message, and the one turn, unless the user came in later. What the environment answers is an
observation, though most versions send it as the user; the command that stands in a reply is a call (`commands`). What
the agent says of a reply without a command, or with several, is the loop's.

Source: mini-swe-agent, "Output files" (documentation of version 2), and its agents and models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.chat_messages import time_of
from agentlab.analysis.importers.commands import calling, fenced
from agentlab.analysis.importers.fields import dollars_of, labels_of, list_of, object_of, text_of
from agentlab.analysis.importers.litellm_usage import litellm_usage
from agentlab.analysis.importers.shape import message_of, plausible, reporter
from agentlab.analysis.session import Call, Record, Session
from agentlab.printable import counted

if TYPE_CHECKING:
    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.importers.shape import Report

NAME = "mini-swe-agent"
EXPECTS = (
    'mini-swe-agent\'s trajectory: {"trajectory_format": "mini-swe-agent-1.1", "messages": [...]}, or an older list '
    "of messages with commands in them"
)

LANGUAGES = ("mswea_bash_command", "bash")
"""Of the code blocks that are commands."""

_BY_USER = ("UserInterruption", "UserRejection", "UserNewTask")


def recognises(peek: Peek) -> bool:
    """Whether it is a trajectory: of the older ones, a list that begins as an agent's does."""
    document = None if peek.is_folder else peek.document
    if isinstance(document, dict):
        named = str(document.get("trajectory_format", "")).startswith("mini-swe-agent")
        return isinstance(document.get("messages"), list) and (named or "mini_version" in _info(document))
    return isinstance(document, list) and _is_bare(document)


def read(peek: Peek) -> list[Session]:
    """The one session of a file."""
    document = peek.document
    holder: dict[str, Any] = document if isinstance(document, dict) else {}
    messages = holder["messages"] if holder else document
    reading, prompts = _Reading(), []
    for number, raw in enumerate(messages):
        report = reporter(peek, f"messages[{number}]" if holder else f"[{number}]")
        if isinstance(raw, dict) and raw.get("role") == "system" and not reading.records:
            prompts.append(raw)
        elif not (isinstance(raw, dict) and raw.get("role") == "exit"):
            reading.add(raw, report)
    info = _info(holder)
    _warn(info, reading, peek)
    stats = object_of(info.get("model_stats"))
    return [
        Session(
            id=peek.path.name.split(".")[0],
            format=NAME,
            path=peek.path,
            records=tuple(reading.records),
            calls=tuple(reading.calls),
            model=_model(info) or next((call.model for call in reading.calls if call.model), None),
            system="\n\n".join(text for raw in prompts if (text := _text(raw, reporter(peek, "system")))),
            labels=_labels(info, holder),
            cost=dollars_of(stats.get("instance_cost")),
        )
    ]


class _Reading:
    """Records and calls, message by message."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.calls: list[Call] = []
        self._names: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self._turn = self._iteration = 0

    def add(self, raw: Any, report: Report) -> None:
        """Read a message."""
        raw = _spoken(raw)
        message = message_of(raw, report, self._names)
        if message is None:
            return
        extra, index = object_of(raw.get("extra")), len(self.records)
        if message["role"] == "assistant":
            self._iteration += 1
            message = self._with_calls(message, extra)
            if self._turn:
                self.calls.append(self._call(index, extra, report))
        else:
            message = self._placed(message, extra)
        self.records.append(Record(message, self._turn, self._iteration, time_of(extra)))

    def _with_calls(self, message: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
        if "tool_calls" not in message:
            actions = [text_of(object_of(each).get("command")) for each in list_of(extra.get("actions"))]
            commands = [command for command in actions or fenced(message["content"], *LANGUAGES) if command]
            given = [("bash", command) for command in commands if command.strip()]
            if len(given) == 1 or (given and actions):
                message = calling(message, given, f"step-{self._iteration}")
        self._open = [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]
        return message

    def _placed(self, message: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
        role, interrupt = message["role"], extra.get("interrupt_type")
        if role == "tool":
            self._open = [each for each in self._open if each[0] != message["tool_call_id"]]
        elif role != "user":
            message["role"] = "system"
        elif not self._turn or interrupt in _BY_USER:
            self._turn, self._iteration, self._open = self._turn + 1, 0, []
        elif self._open and interrupt is None:
            call_id, name = self._open.pop(0)
            return {"role": "tool", "content": message["content"], "tool_call_id": call_id, "name": name}
        else:
            message["origin"] = "loop"
        return message

    def _call(self, index: int, extra: dict[str, Any], report: Report) -> Call:
        response = object_of(extra.get("response"))
        first = object_of(next(iter(list_of(response.get("choices"))), None))
        return Call(
            self._turn,
            self._iteration,
            0,
            index,
            index,
            plausible(litellm_usage(response.get("usage")), report),
            text_of(first.get("finish_reason")),
            text_of(response.get("model")),
            time_of(extra),
            cost=dollars_of(extra.get("cost")),
        )


def _spoken(raw: Any) -> Any:
    """A message of OpenAI's Responses, which agents of some models keep as it came, as one of its chat."""
    if not isinstance(raw, dict) or "role" in raw:
        return raw
    if raw.get("type") == "function_call_output":
        return {**raw, "role": "tool", "tool_call_id": raw.get("call_id"), "content": raw.get("output")}
    if not isinstance(raw.get("output"), list):
        return raw
    parts: list[Any] = []
    calls = []
    for item in raw["output"]:
        if not isinstance(item, dict):
            continue
        if item.get("type") == "message" and isinstance(item.get("content"), list):
            parts += item["content"]
        elif item.get("type") == "function_call":
            calls.append({"id": item.get("call_id"), "function": item})
    extra = {"response": {key: raw[key] for key in ("usage", "model") if key in raw}, **object_of(raw.get("extra"))}
    return {"role": "assistant", "content": parts, "tool_calls": calls, "extra": extra}


def _warn(info: dict[str, Any], reading: _Reading, peek: Peek) -> None:
    paid = object_of(info.get("model_stats")).get("api_calls")
    if type(paid) is int and paid > len(reading.calls):
        reason = f"info: {counted(paid, 'call')} to the model, of which {len(reading.calls):,} are in the log"
        reporter(peek)(reason)
    if reading.records and not reading.calls:
        reporter(peek)("there is no reply in it: nothing can be counted")


def _labels(info: dict[str, Any], holder: dict[str, Any]) -> dict[str, Any]:
    return labels_of(
        instance=holder.get("instance_id"),
        exit_status=info.get("exit_status"),
        api_calls=object_of(info.get("model_stats")).get("api_calls"),
        version=info.get("mini_version"),
    )


def _model(info: dict[str, Any]) -> str | None:
    return text_of(object_of(object_of(info.get("config")).get("model")).get("model_name"))


def _text(raw: dict[str, Any], report: Report) -> str:
    message = message_of(raw, report, {})
    return "" if message is None else str(message["content"])


def _info(document: dict[str, Any]) -> dict[str, Any]:
    return object_of(document.get("info"))


def _is_bare(messages: list[Any]) -> bool:
    """Whether a list is one of the older trajectories: a reply has a command in it, and the user's answer its end."""
    said = [raw for raw in messages[:12] if isinstance(raw, dict) and isinstance(raw.get("content"), str)]
    own = any(
        raw.get("role") == "assistant" and f"```{LANGUAGES[0]}" in raw["content"] for raw in said
    )  # of this agent alone
    answered = any(raw.get("role") == "user" and raw["content"].startswith("<returncode>") for raw in said)
    return own or (answered and any(raw.get("role") == "assistant" and "```bash" in raw["content"] for raw in said))
