"""OpenAI's chat messages: a list of them, an object that holds one, or JSON lines of either.

The system prompt, which stands in the list there, becomes the session's. `usage` is read where a log put it into the
assistant message that the call returned.

Source: OpenAI, Chat Completions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.shape import calls_of, message_of, plausible, records_of, tools_of, usage_of
from agentlab.analysis.session import Session
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.analysis.importers.peek import Peek
    from agentlab.messages import ToolSpec, Usage

    Located = Iterable[tuple[int, str, Any]]

NAME = "chat"
EXPECTS = 'OpenAI-style messages: [{"role": "user", "content": "..."}, ...], {"messages": [...]}, or a message per line'


def recognises(peek: Peek) -> bool:
    """Whether there are messages in it, as a list, in an object or in lines."""
    if peek.is_folder:
        return False
    document = peek.document
    if isinstance(document, list):
        return any(_is_message(item) or _holds_messages(item) for item in document)
    if isinstance(document, dict):
        return _holds_messages(document) or _is_message(document)
    return any(_is_message(value) or _holds_messages(value) for value in peek.first_values)


def read(peek: Peek) -> list[Session]:
    """The sessions of a file."""
    document, name = peek.document, peek.path.name.split(".")[0]
    if isinstance(document, dict):
        items: list[tuple[int, str, Any]] = [(1, "", document)]
    elif isinstance(document, list):
        items = [(1, f"[{index}]", item) for index, item in enumerate(document)]
    else:
        items = [(number, "", value) for number, value in peek.lines()]
    holders = [item for item in items if _holds_messages(item[2])]
    if not holders:
        return [session_of(items, peek.path, peek.problems, identity=name)]
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
        if (usage := plausible(usage_of(raw.get("usage")), report)) is not None:
            usages[len(placed)] = usage
        if model is None and isinstance(raw.get("model"), str):
            model = raw["model"]
        placed.append(message)
    records = records_of(placed)
    return Session(
        id=identity,
        format=format,
        path=path,
        records=records,
        calls=calls_of(records, usages, model),
        model=model,
        system="\n\n".join(prompts),
        tools=tools_of(holder.get("tools")),
        labels={} if labels is None else labels,
    )


def _reporter(path: Path, line: int, where: str, problems: list[Problem]) -> Any:
    def report(reason: str) -> None:
        problems.append(Problem(str(path), line, f"{where}: {reason}" if where else reason))

    return report


def _is_message(value: Any) -> bool:
    known = ("user", "assistant", "tool", "system", "developer")
    return isinstance(value, dict) and value.get("role") in known and ("content" in value or "tool_calls" in value)


def _holds_messages(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and any(_is_message(message) for message in messages)
