"""OpenAI's chat messages: a list of them, an object that holds one, or JSON lines of either.

The system prompt, which stands in the list there, becomes the session's. `usage`, `model` and a time are read where a
log put them into the message; messages that name a `session` belong to it, so that a file of lines can hold many.

Source: OpenAI, Chat Completions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.chat_messages import Messages
from agentlab.analysis.importers.shape import ROLES, tools_of
from agentlab.analysis.session import Session
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.analysis.facts import Facts
    from agentlab.analysis.importers.peek import Peek
    from agentlab.messages import ToolSpec

    Located = Iterable[tuple[int, str, Any]]

NAME = "chat"
_BESIDE = ("usage", "model", "session", "ts", "time", "timestamp")
EXPECTS = 'OpenAI-style messages: [{"role": "user", "content": "..."}, ...], {"messages": [...]}, or a message per line'


def recognises(peek: Peek) -> bool:
    """Whether there are messages in it, as a list, in an object or in lines."""
    if peek.is_folder:
        return False
    document = peek.document
    if isinstance(document, list):
        return any(map(_is_known, document))
    if isinstance(document, dict):
        return _is_known(document)
    return any(map(_is_known, peek.first_values))


def read(peek: Peek) -> list[Session]:
    """The sessions of a file."""
    document, name = peek.document, peek.path.name.split(".")[0]
    if isinstance(document, dict):
        items: list[tuple[int, str, Any]] = [(1, "", document)]
    elif isinstance(document, list):
        items = [(1, f"[{index}]", item) for index, item in enumerate(document)]
    else:
        items = [(number, "", value) for number, value in peek.lines()]
    items = [(line, where, unwrapped(value)) for line, where, value in items]
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

    A result that no call waits for, and a call without a result though the session goes on, are problems.

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
    gathered = Messages(holder.get("model") if isinstance(holder.get("model"), str) else None)
    if isinstance(holder.get("system"), str) and holder["system"]:
        gathered.prompts.append(holder["system"])
    for line, where, raw in messages:
        gathered.take(raw, _reporter(path, line, where, problems))
    gathered.end()
    records = gathered.records()
    return Session(
        id=identity,
        format=format,
        path=path,
        records=records,
        calls=gathered.calls(records),
        model=gathered.model,
        system="\n\n".join(gathered.prompts),
        tools=tools_of(holder.get("tools")),
        labels={} if labels is None else labels,
    )


def unwrapped(value: Any) -> Any:
    """The message in an object that has its usage beside it, with the usage in it; any other value as it is.

    >>> unwrapped({"message": {"role": "assistant", "content": "Hi."}, "usage": {"prompt_tokens": 9}})
    {'usage': {'prompt_tokens': 9}, 'role': 'assistant', 'content': 'Hi.'}
    """
    if not isinstance(value, dict) or "role" in value or not _is_message(value.get("message")):
        return value
    return {**{key: value[key] for key in _BESIDE if key in value}, **value["message"]}


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


def _reporter(path: Path, line: int, where: str, problems: list[Problem]) -> Any:
    def report(reason: str) -> None:
        problems.append(Problem(str(path), line, f"{where}: {reason}" if where else reason))

    return report


def _is_message(value: Any) -> bool:
    known = ("user", "assistant", "tool", "system", "developer")
    return isinstance(value, dict) and value.get("role") in known and ("content" in value or "tool_calls" in value)


def _is_known(value: Any) -> bool:
    return _is_message(unwrapped(value)) or holds_messages(value)


def holds_messages(value: Any) -> bool:
    """Whether it is an object with messages in it, and no message itself."""
    messages = value.get("messages") if isinstance(value, dict) and not is_spoken(value) else None
    return isinstance(messages, list) and any(_is_message(message) for message in messages)
