"""Claude Code's session logs: a file, a project's folder, or the folder of all projects (`~/.claude/projects`).

A session for each conversation; a sub-agent's is its own, with `parent` set, whether it stands in the same file (old
versions: `isSidechain`) or in `<session>/subagents`. A call is counted once in a load: sessions that were resumed copy
what was said before into a new file, and side questions repeat it under new request ids.

Calls stand in the order in which they were written. Where two programs wrote long branches of one session at once, they
stand branch by branch.

Source: the logs of Claude Code 1.0 and 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.claude_graph import Unit, by_branch, in_order, is_tangled
from agentlab.analysis.importers.claude_log import SILENT, Log
from agentlab.analysis.importers.claude_sent import lay_out
from agentlab.analysis.importers.peek import Peek, decode
from agentlab.analysis.session import Session
from agentlab.errors import InputError
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "claude-code"
EXPECTS = "Claude Code's session: JSON lines with uuid, parentUuid and sessionId, or a folder of such"

_TYPES = ("user", "assistant", "system", "attachment", *SILENT)
_SUBAGENTS = "subagents"
_INDEX = "sessions-index.json"
_EDGE = 1 << 16  # bytes at the beginning and the end of a file that are looked at


def recognises(peek: Peek) -> bool:
    """Whether it is a log, a project's folder with nothing but such logs, or a folder of projects."""
    if not peek.is_folder:
        return any(_is_line(value) for value in peek.first_values) or _looks_like_one(peek.head[:_EDGE])
    if _is_project(peek.path):
        return True
    folders = [path for path in _entries(peek.path) if path.is_dir() and not path.is_symlink()]
    holding = [folder for folder in folders if any(_entries(folder))]
    return bool(holding) and not _logs_in(peek.path) and all(_is_project(folder) for folder in holding)


def read(peek: Peek) -> list[Session]:
    """The sessions of a file or folder, each with its sub-agents after it."""
    reader = _Reader(peek.problems)
    if not peek.is_folder:
        reader.read(peek)
        for path in _subagents(peek.path):
            reader.read_path(path)
        return reader.sessions
    for project in [peek.path] if _is_project(peek.path) else _entries(peek.path):
        for path in sorted(_logs_in(project), key=_age) if project.is_dir() else ():
            reader.read_path(path)
            for each in _subagents(path):
                reader.read_path(each)
    return reader.sessions


class _Reader:
    """Reads files one after the other and knows which calls were counted."""

    def __init__(self, problems: list[Problem]) -> None:
        self.sessions: list[Session] = []
        self._problems = problems
        self._counted: set[tuple[str, str]] = set()
        self._main_ids: set[str] = set()
        self._spawned: dict[str, dict[str, str]] = {}
        self._names: set[str] = set()

    def read_path(self, path: Path) -> None:
        """Read a file of a folder; one that cannot be read is a problem."""
        try:
            peek = Peek(path)
            self.read(peek)
        except InputError as error:
            self._problems.append(Problem(str(path), error.line or 1, error.problem))
        else:
            self._problems += peek.problems

    def read(self, peek: Peek) -> None:
        """Read a file."""
        log = Log(peek.path, peek.problems)
        log.read(peek.lines())
        self._spawned |= log.spawned
        groups = _conversations(log)
        is_agent = all(unit.key[0] for unit in log.graph.units)
        if not is_agent:
            self._main_ids.update(unit.raw["id"] for unit in log.graph.units if unit.is_reply and not unit.key[0])
        for units in groups:
            self._add(units, log, is_agent=is_agent)

    def _add(self, units: list[Unit], log: Log, *, is_agent: bool) -> None:
        order = _needed(units)
        if is_tangled(order):
            order = by_branch(order)
        laid = lay_out(order, log, self._counts, self._problems)
        if not laid.records:
            return
        side, session_id = units[0].key
        stem = log.path.stem
        labels: dict[str, Any] = {**log.labels[units[0].key], "session": session_id}
        parent = ""
        identity = stem
        if side:
            parent = _parent_of(log.path, session_id) if is_agent else stem
            identity = stem if is_agent else f"{stem}/{'sidechain' if side == 'side' else f'agent-{side}'}"
            labels |= self._spawned_with(order, side)
        title = _title(log, order)
        if title:
            labels["title"] = title
        self.sessions.append(
            Session(
                id=self._named(identity),
                format=NAME,
                path=log.path,
                records=laid.records,
                calls=laid.calls,
                provider="anthropic",
                model=_model(laid.calls),
                labels={key: value for key, value in labels.items() if value},
                replaced=laid.replaced,
                parent=parent,
            )
        )

    def _counts(self, unit: Unit) -> bool:
        """Whether a reply is a call that is not counted yet."""
        call_id, request = unit.raw["id"], unit.raw["request"]
        if not call_id:
            return True
        if (call_id, request) in self._counted or (unit.key[0] and call_id in self._main_ids):
            return False
        self._counted.add((call_id, request))
        return True

    def _spawned_with(self, units: list[Unit], side: str) -> dict[str, str]:
        """What is known of a sub-agent from the call that started it."""
        prompt = next((piece.said.message["content"] for unit in units for piece in unit.pieces), "")
        by_id = self._spawned.get(side, {})
        about = self._spawned.get(by_id.get("tool_call", ""), {}) | by_id
        return about or self._spawned.get(prompt, {})

    def _named(self, identity: str) -> str:
        """An id that no other session of the load has."""
        name, number = identity, 1
        while name in self._names:
            number += 1
            name = f"{identity}#{number}"
        self._names.add(name)
        return name


def _conversations(log: Log) -> list[list[Unit]]:
    """The units of each conversation: those of a session, and of each sub-agent in it."""
    groups: dict[tuple[str, Any], list[Unit]] = {}
    roots: dict[int, Unit] = {}
    for unit in in_order(log.graph.units):
        root = roots[id(unit)] = unit if unit.parent is None else roots[id(unit.parent)]
        side = root.key[0]
        groups.setdefault((side, id(root) if side == "side" else root.key[1]), []).append(unit)
    return sorted(groups.values(), key=lambda units: (bool(units[0].key[0]), units[0].number))


def _needed(units: list[Unit]) -> list[Unit]:
    """What a call was sent or said, and the path to the last message; what was typed and never sent is left out."""
    needed: set[int] = set()
    last = max(units, key=lambda unit: unit.number)
    for unit in units:
        if unit.is_reply or unit is last:
            above: Unit | None = unit
            while above is not None and id(above) not in needed:
                needed.add(id(above))
                needed.update(map(id, above.bridge))
                above = above.parent
    return [unit for unit in units if id(unit) in needed]


def _model(calls: Iterable[Any]) -> str | None:
    """The model that answered most of the calls."""
    from collections import Counter

    models = Counter(call.model for call in calls if call.model)
    return models.most_common(1)[0][0] if models else None


def _title(log: Log, units: list[Unit]) -> str:
    own = {id(unit) for unit in units}
    for leaf, title in log.titles.items():
        node = log.graph.nodes.get(leaf)
        if (not leaf and not units[0].key[0]) or (node is not None and node.unit is not None and id(node.unit) in own):
            return title
    return ""


def _parent_of(path: Path, session_id: str) -> str:
    """The id of the session that a sub-agent's file belongs to."""
    folders = [folder.name for folder in path.parents]
    return folders[folders.index(_SUBAGENTS) + 1] if _SUBAGENTS in folders[:-1] else session_id


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "messageId" in value
    return kind in _TYPES and isinstance(value.get("sessionId"), str) and ("uuid" in value or kind in SILENT)


def _looks_like_one(head: bytes) -> bool:
    """Whether a line that is longer than what was read, or damaged, is one of Claude Code's."""
    return b'"parentUuid":' in head and b'"sessionId":' in head and b'"isSidechain":' in head


def _is_project(folder: Path) -> bool:
    """Whether there are logs in a folder, and all are Claude Code's; an empty file is any format's."""
    logs = _logs_in(folder)
    if not logs or any(path.suffix == ".json" and path.name != _INDEX for path in _entries(folder)):
        return False
    found = False
    for path in logs:
        head = _part(path, 0)
        if not head.strip():
            continue
        if not _looks_like_one(head) and not any(_is_line(value) for value in _values(head.split(b"\n")[:20])):
            return False
        found = True
    return found


def _age(path: Path) -> tuple[str, str, str]:
    """When a file's first and last lines were written: of two that begin alike, the one that ends first is older."""
    times = [[_written(v) for v in _values(_part(path, at).split(b"\n")) if _written(v)] for at in (0, -_EDGE)]
    return (times[0][0] if times[0] else "", times[1][-1] if times[1] else "", path.name)


def _written(value: Any) -> str:
    time = value.get("timestamp") if isinstance(value, dict) else None
    return time if isinstance(time, str) else ""


def _part(path: Path, start: int) -> bytes:
    """Some of a file: from a place on, or, where that is negative, at its end."""
    try:
        with path.open("rb") as file:
            file.seek(start if start >= 0 else max(0, path.stat().st_size + start))
            return file.read(_EDGE)
    except OSError:
        return b""


def _values(lines: Iterable[bytes]) -> list[Any]:
    values = []
    for line in lines:
        try:
            values.append(decode(line))
        except ValueError:
            continue
    return values


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _logs_in(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.suffix == ".jsonl" and path.is_file()]


def _subagents(path: Path) -> list[Path]:
    folder = path.with_suffix("") / _SUBAGENTS
    return sorted(each for each in folder.rglob("*.jsonl") if each.is_file()) if folder.is_dir() else []
