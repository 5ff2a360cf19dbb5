"""OpenAI's chat messages: a list of them, an object that holds one, or JSON lines of either.

The system prompt, which stands in the list there, becomes the session's. `usage`, `model` and a time are read where a
log put them into the message; messages that name a `session` belong to it, so that a file of lines can hold many.

Source: OpenAI, Chat Completions.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.shape import ROLES, calls_of, message_of, plausible, records_of, tools_of, usage_of
from agentlab.analysis.session import Session
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.analysis.facts import Facts
    from agentlab.analysis.importers.peek import Peek
    from agentlab.messages import ToolSpec, Usage

    Located = Iterable[tuple[int, str, Any]]

NAME = "chat"
MOST_SECONDS = 1e11  # since 1970; more is not in seconds
EXPECTS = 'OpenAI-style messages: [{"role": "user", "content": "..."}, ...], {"messages": [...]}, or a message per line'


def recognises(peek: Peek) -> bool:
    """Whether there are messages in it, as a list, in an object or in lines."""
    if peek.is_folder:
        return False
    document = peek.document
    if isinstance(document, list):
        return any(_is_message(item) or holds_messages(item) for item in document)
    if isinstance(document, dict):
        return holds_messages(document) or _is_message(document)
    return any(_is_message(value) or holds_messages(value) for value in peek.first_values)


def read(peek: Peek) -> list[Session]:
    """The sessions of a file."""
    document, name = peek.document, peek.path.name.split(".")[0]
    if isinstance(document, dict):
        items: list[tuple[int, str, Any]] = [(1, "", document)]
    elif isinstance(document, list):
        items = [(1, f"[{index}]", item) for index, item in enumerate(document)]
    else:
        items = [(number, "", value) for number, value in peek.lines()]
    holders = [item for item in items if holds_messages(item[2])]
    if not holders:
        groups: dict[str, list[tuple[int, str, Any]]] = {
            session_named(value) or name: [] for _, _, value in items if is_spoken(value)
        } or {name: []}
        for item in items:  # what is no message makes no session
            group = session_named(item[2]) or name if is_spoken(item[2]) else next(iter(groups))
            groups[group].append(item)
        return [session_of(some, peek.path, peek.problems, identity=group) for group, some in groups.items()]
    sessions = []
    for number, (line, where, value) in enumerate(holders, 1):
        messages = [(line, f"{where}.messages[{i}]".lstrip("."), each) for i, each in enumerate(value["messages"])]
        identity = name if len(holders) == 1 else f"{name}#{number}"
        sessions.append(session_of(messages, peek.path, peek.problems, identity=identity, holder=value))
    known = {id(item[2]) for item in holders}
    for line, where, value in items:
        if id(value) not in known:
            _reporter(peek.path, line, where, peek.problems)("skipped: there is no list 'messages' in it")
    return sessions


def scan(peek: Peek) -> Facts | None:
    """The facts of a file of messages, one a line; None where it has another shape."""
    from agentlab.analysis.importers.chat_lines import scan_lines

    return scan_lines(peek)


def read_messages(
    messages: Sequence[Any], *, system: str = "", tools: Iterable[ToolSpec] = (), model: str | None = None
) -> Session:
    """Make a session of a list of messages in memory, such as the one that `agent_step` appends to.

    Args:
        messages: In the chapter's shape; a system prompt may come first.
        system: The system prompt, where it is not in the list.
        tools: What the model could call.
        model: Which model answered.

    Returns:
        The session. What could not be read is said in `labels["problems"]`.

    >>> read_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])
    <Session messages: chat, 2 messages, 1 call, 1 turn>
    """
    described = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]
    holder = {"system": system, "tools": described, "model": model}
    located = [(1, f"[{index}]", message) for index, message in enumerate(messages)]
    problems: list[Problem] = []
    labels: dict[str, Any] = {}
    session = session_of(located, Path(), problems, identity="messages", holder=holder, labels=labels)
    if problems:
        labels["problems"] = [problem.reason for problem in problems]
    return session


def session_of(
    messages: Located,
    path: Path,
    problems: list[Problem],
    *,
    identity: str,
    format: str = NAME,  # noqa: A002 - the word of `load`
    holder: dict[str, Any] | None = None,
    labels: dict[str, Any] | None = None,
) -> Session:
    """Make a session of messages.

    Args:
        messages: Line, place within the line, and the message as the log has it.
        path: The file.
        problems: Takes what could not be read.
        identity: The session's id.
        format: Name of the importer.
        holder: The object that holds the messages; its `model`, `system` and `tools` are read.
        labels: What else the log says.
    """
    holder = holder or {}
    placed: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    usages: dict[int, Usage] = {}
    models: dict[int, str] = {}
    times: list[float | None] = []
    prompts = [holder["system"]] if holder.get("system") and isinstance(holder["system"], str) else []
    model = holder.get("model") if isinstance(holder.get("model"), str) else None
    for line, where, raw in messages:
        report = _reporter(path, line, where, problems)
        message = message_of(raw, report, names)
        if message is None:
            continue
        if message["role"] in ("system", "developer"):
            if not placed:
                prompts.append(message["content"])
                continue
            message["role"] = "system"
        usage = usage_of(raw.get("usage")) if message["role"] == "assistant" else None
        if (usage := plausible(usage, report)) is not None:
            usages[len(placed)] = usage
        if isinstance(raw.get("model"), str) and raw["model"]:
            models[len(placed)] = raw["model"]
        placed.append(message)
        times.append(time_of(raw))
    model = model or next(iter(models.values()), None)
    records = tuple(
        record if time is None else msgspec.structs.replace(record, time=time)
        for record, time in zip(records_of(placed), times, strict=True)
    )
    calls = [
        msgspec.structs.replace(call, model=models.get(call.stop, model), time=times[call.stop])
        for call in calls_of(records, usages)
    ]
    return Session(
        id=identity,
        format=format,
        path=path,
        records=records,
        calls=tuple(calls),
        model=model,
        system="\n\n".join(prompts),
        tools=tools_of(holder.get("tools")),
        labels={} if labels is None else labels,
    )


def is_spoken(value: Any) -> bool:
    """Whether somebody speaks in it."""
    return isinstance(value, dict) and value.get("role") in ROLES


def session_named(value: Any) -> str | None:
    """The session that a message says it belongs to.

    >>> session_named({"role": "user", "content": "Hi", "session": "a"})
    'a'
    """
    named = value.get("session") if isinstance(value, dict) else None
    return named if isinstance(named, str) and named else None


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


def _reporter(path: Path, line: int, where: str, problems: list[Problem]) -> Any:
    def report(reason: str) -> None:
        problems.append(Problem(str(path), line, f"{where}: {reason}" if where else reason))

    return report


def _is_message(value: Any) -> bool:
    known = ("user", "assistant", "tool", "system", "developer")
    return isinstance(value, dict) and value.get("role") in known and ("content" in value or "tool_calls" in value)


def holds_messages(value: Any) -> bool:
    """Whether it is an object with messages in it, and no message itself."""
    messages = value.get("messages") if isinstance(value, dict) and not is_spoken(value) else None
    return isinstance(messages, list) and any(_is_message(message) for message in messages)
