"""Codex CLI's session logs ("rollouts"): `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, and `archived_sessions`.

A call is several items (reasoning, text, calls of tools) and a `token_count`, which later versions write after them and
early ones before; it is repeated without a change. What a `compacted` line puts in place of the history are messages of
their own, marked as summaries, with which later prompts begin. A fork copies its parent's lines: the calls in them are
the parent's.

The tools that the model could call are not in the log. Source: the rollouts of Codex CLI 0.2 to 0.98.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.codex_items import ITEMS
from agentlab.analysis.importers.codex_lines import Lines
from agentlab.analysis.importers.codex_log import Log
from agentlab.analysis.importers.fields import list_of, object_of, text_at, time_at
from agentlab.analysis.importers.peek import decode
from agentlab.analysis.session import Session
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from agentlab.analysis.importers.peek import Peek

NAME = "codex"
EXPECTS = "Codex CLI's rollout: JSON lines with timestamp, type (session_meta, response_item, ...) and payload"

_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
_LABELS = {
    "session": "id",
    "project": "cwd",
    "version": "cli_version",
    "originator": "originator",
    "forked_from": "forked_from_id",
}


def recognises(peek: Peek) -> bool:
    """Whether it is a rollout, of whichever version, or a recording of Codex's terminal, which `read` refuses."""
    if peek.is_folder:
        return False
    if any(_is_line(value) or _is_recording(value) for value in peek.first_values):
        return True
    return _is_old_header(next(iter(peek.first_values), None)) or (
        peek.head[:200].lstrip().startswith(b"{") and not peek.is_lines and _is_old_document(peek.document)
    )


def read(peek: Peek) -> list[Session]:
    """The one session of a file.

    Raises:
        InputError: It is a recording of the terminal, not a session.
    """
    if not any(_is_line(value) for value in peek.first_values) and any(map(_is_recording, peek.first_values)):
        reason = (
            "a recording of Codex's terminal, not a session: name its rollout, ~/.codex/sessions/.../rollout-*.jsonl"
        )
        raise InputError(reason, path=peek.path)
    lines = Lines(peek.path, peek.problems)
    lines.read(_lines(peek))
    log = Log(lines)
    log.read()
    records, calls, replaced = log.timeline.laid()
    if not records and not calls:
        return []
    meta = lines.meta
    labels = {label: text_at(meta, key) for label, key in _LABELS.items()}
    labels["branch"] = text_at(object_of(meta.get("git")), "branch")
    models = Counter(call.model for call in calls if call.model)
    return [
        Session(
            id=labels["session"] or peek.path.name.split(".jsonl")[0],
            format=NAME,
            path=peek.path,
            records=records,
            calls=calls,
            provider=text_at(meta, "model_provider") or "openai",
            model=models.most_common(1)[0][0] if models else lines.model or None,
            system=_instructions(meta),
            labels={label: value for label, value in labels.items() if value},
            replaced=replaced,
            parent=_parent(meta),
            aside=tuple(log.aside),
        )
    ]


def without_copies(paths: Iterable[Path]) -> list[Path]:
    """Leave out rollouts whose session another of them has in a longer file: archived ones may be copies.

    >>> from pathlib import Path
    >>> [path.name for path in without_copies([Path("talk.json")])]
    ['talk.json']
    """
    sessions = {path: _session_of(path) for path in paths}
    longest: dict[str, Path] = {}
    for path, session in sessions.items():
        if session and (session not in longest or path.stat().st_size > longest[session].stat().st_size):
            longest[session] = path
    return [path for path, session in sessions.items() if not session or longest[session] == path]


def _session_of(path: Path) -> str:
    """The id in the first line of a rollout, "" for any other log."""
    if not path.name.startswith("rollout-") or not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return text_at(_meta_of(decode(file.readline(1 << 20))), "id")
    except (OSError, ValueError):
        return ""


def _lines(peek: Peek) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines as those of the present version: early ones have no payload, and the oldest are one document."""
    if not peek.is_lines and _is_old_document(peek.document):
        yield 1, {"type": "session_meta", "payload": peek.document["session"]}
        yield from ((1, {"type": "response_item", "payload": item}) for item in list_of(peek.document["items"]))
        return
    for number, value in peek.lines():
        if isinstance(value, dict) and "payload" not in value:
            if _is_old_header(value):
                yield number, {"type": "session_meta", "timestamp": value["timestamp"], "payload": value}
            elif value.get("type") in ITEMS:
                yield number, {"type": "response_item", "timestamp": value.get("timestamp"), "payload": value}
            elif "record_type" not in value:
                yield number, value
        else:
            yield number, value


def _meta_of(value: Any) -> dict[str, Any]:
    value = object_of(value)
    return value if _is_old_header(value) else object_of(value.get("payload"))


def _instructions(meta: dict[str, Any]) -> str:
    """The system prompt; early versions have the user's own instructions there, which are messages too."""
    return text_at(object_of(meta.get("base_instructions")), "text") or text_at(meta, "base_instructions")


def _parent(meta: dict[str, Any]) -> str:
    """The session that started this one as a sub-agent."""
    source = object_of(object_of(meta.get("source")).get("subagent"))
    return text_at(object_of(source.get("thread_spawn")), "parent_thread_id") or text_at(meta, "parent_thread_id")


def _is_line(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _TYPES and isinstance(value.get("payload"), dict)


def _is_old_header(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "type" not in value
        and {"id", "timestamp", "instructions"} <= value.keys()
        and time_at(value) is not None
    )


def _is_old_document(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_old_header(value.get("session")):
        return False
    return any(object_of(item).get("type") in ITEMS for item in list_of(value.get("items")))


def _is_recording(value: Any) -> bool:
    """Whether it is a line of what the terminal's own log records: key presses, drawing, and events on their way."""
    return isinstance(value, dict) and {"ts", "dir", "kind"} <= value.keys() and isinstance(value["dir"], str)
