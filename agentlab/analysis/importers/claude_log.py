"""The lines of a Claude Code log, one after the other, into its graph.

One call is several lines: a line per content block, with the same `message.id` and `requestId`. Its input and cache
counts repeat and its output grows, so the largest is kept. A line's `toolUseResult` is not what the model saw and is
not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.blocks import Blocks, Said
from agentlab.analysis.importers.claude_graph import Boundary, Graph, Key, Node, Piece, Unit
from agentlab.analysis.importers.claude_words import CLEARED, Kind, attached_text, is_sent, kind_of, original_chars
from agentlab.analysis.importers.fields import list_of, object_of, text_at, time_at
from agentlab.printable import counted
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SYNTHETIC = "<synthetic>"
"""The model of a reply that no model gave, such as the text of an error."""

SILENT = (
    *("progress", "queue-operation", "file-history-snapshot", "attribution-snapshot", "last-prompt", "permission-mode"),
    *("mode", "tag", "pr-link", "agent-name", "agent-color", "agent-setting", "worktree-state", "saved_hook_context"),
)
"""Types of lines that are notes of the program: nothing of them is sent."""

_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_LABELS = {"project": "cwd", "version": "version", "branch": "gitBranch", "agent": "agentId"}


class Log:
    """What a file says.

    Attributes:
        graph: Its lines and units; linked once `read` has returned.
        blocks: Knows the names of its calls.
        changed: Tool results that are sent differently: the line from which on, their call ids, and what is sent.
        shown: What is sent in place of a tool result from the first time on, by call id.
        spawned: What a call started a sub-agent with, by its prompt and by the sub-agent's id.
        titles: Titles by the line that they belong to, "" for the file.
    """

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.path = path
        self.graph = Graph()
        self.blocks = Blocks()
        self.changed: list[tuple[int, tuple[str, ...], str | None]] = []
        self.shown: dict[str, str] = {}
        self.spawned: dict[str, dict[str, str]] = {}
        self.titles: dict[str, str] = {}
        self.labels: dict[Key, dict[str, str]] = {}
        self._problems = problems
        self._number = 0
        self._replies: dict[tuple[str, ...], Unit] = {}
        self._owners: dict[tuple[str, str], Unit] = {}
        self._answered: dict[tuple[str, str], int] = {}
        self._copied: set[tuple[str, str]] = set()
        self._repeated: dict[int, Unit] = {}
        self._copy_from = 0
        self._early: list[tuple[str, Node, list[Piece]]] = []
        self._odd: dict[str, tuple[int, int]] = {}

    def read(self, lines: Iterable[tuple[int, Any]]) -> None:
        """Read all lines."""
        for number, line in lines:
            self._number = number
            if isinstance(line, dict):
                self._line(line)
            else:
                self.report(f"skipped: expected an object, found {line!r:.40}")
        for uuid, node, pieces in self._early:
            self.graph.assign(uuid, self._answer(node, pieces) or self._unit("loop", node.key, pieces, node.number))
        for what, (first, count) in self._odd.items():
            reason = f"{what} is not known to be sent: {counted(count, 'line')} not counted"
            self._problems.append(Problem(str(self.path), first, reason))
        self.graph.link()

    def report(self, reason: str) -> None:
        """Add a problem at the line that is read."""
        self._problems.append(Problem(str(self.path), self._number, reason))

    def _line(self, line: dict[str, Any]) -> None:
        kind = text_at(line, "type")
        if kind in ("assistant", "user"):
            self._spoken(kind, line)
        elif kind == "system":
            self._system(line)
        elif kind == "attachment":
            self._attachment(line)
        elif kind in _TITLES:
            title = line.get(_TITLES[kind])
            if isinstance(title, str):
                self.titles[text_at(line, "leafUuid")] = title
        elif kind == "content-replacement":
            self._replacements(line)
        elif kind in SILENT:
            self._pass_on(line)
        elif kind:
            self._note_odd(f"a line of type {kind!r:.60}")
            self._pass_on(line)
        else:
            self.report("skipped: expected a line with a type")

    def _spoken(self, role: str, line: dict[str, Any]) -> None:
        message = line.get("message")
        if not isinstance(message, dict) or "content" not in message:
            self.report(f"skipped: expected a message with a content in the line of type {role!r}")
            self._place(f"line {self._number}", self._placed(line)[1], None)  # a whole line may have its uuid
        elif text_at(line, "uuid") in self.graph.nodes:
            return  # the same line once more
        elif role == "assistant":
            self._assistant(line, message)
        else:
            self._user(line, message)

    def _assistant(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        if message.get("model") == SYNTHETIC:
            self._pass_on(line)
            return
        uuid, node = self._placed(line)
        call_id, request = text_at(message, "id"), text_at(line, "requestId")
        key = (call_id, request, node.key[0]) if call_id else (uuid,)
        unit = self._replies.get(key)
        if unit is None:
            unit = self._replies[key] = self._unit("assistant", node.key, [], node.number)
            unit.raw = {"id": call_id, "request": request, "version": text_at(line, "version")}
            self._resume(node.key[0])
        said, *own_results = self.blocks.messages(
            "assistant", message["content"], self.report, text_at(message, "model")
        )
        if said in unit.reply:  # a resumed session repeats what was said
            self._copy_from = self._copy_from if self._repeated else self._number
            self._repeated[id(unit)] = unit
        else:
            unit.reply.append(said)
            unit.pieces += [Piece(each, time_at(line)) for each in own_results]
        for call in said.message.get("tool_calls", ()):
            self._owners.setdefault((call["id"], node.key[0]), unit)
            self._spawn(call["id"], call["function"]["name"], message["content"])
        _merge_call(unit.raw, line, message)
        unit.time = time_at(line) or unit.time
        self._place(uuid, node, unit)

    def _user(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        uuid, node = self._placed(line)
        time, result = time_at(line), line.get("toolUseResult")
        said = self.blocks.messages("user", message["content"], self.report)
        if any(each.message["role"] == "tool" for each in said):
            pieces = [Piece(each, time, original_chars(each.message["content"], result)) for each in said]
            self._result(uuid, node, pieces)
            agent = text_at(object_of(result), "agentId")
            if agent:
                self.spawned.setdefault(agent, {})["tool_call"] = _call_id(pieces[0])
            return
        is_summary = line.get("isCompactSummary") is True
        follows = self.graph.nodes.get(node.parent or "")
        is_root = is_summary and not (follows is not None and follows.is_root)
        unit = self._say(uuid, msgspec.structs.replace(node, is_root=is_root), kind_of(line), said, time)
        if unit is not None:
            unit.is_summary = is_summary

    def _say(self, uuid: str, node: Node, kind: Kind, said: list[Said], time: float | None) -> Unit | None:
        unit = self._unit(kind, node.key, [Piece(each, time) for each in said], node.number) if said else None
        self._place(uuid, node, unit)
        return unit

    def _result(self, uuid: str, node: Node, pieces: list[Piece]) -> None:
        owner = self._answer(node, pieces)
        self._place(uuid, node, owner)
        if owner is None:
            self._early.append((uuid, node, pieces))  # its call may come in a later line

    def _answer(self, node: Node, pieces: list[Piece]) -> Unit | None:
        """Put tool results to the reply that asked for them; the first result of a call counts."""
        ids = [(each, node.key[0]) for each in map(_call_id, pieces) if each]
        owner = next((self._owners[each] for each in ids if each in self._owners), None)
        if owner is not None and not any(each in self._answered for each in ids):
            owner.pieces += pieces
            self._answered.update(dict.fromkeys(ids, node.number))
        elif owner is not None:
            self._copied.update(ids)
            if pieces[0].said.message["content"] == CLEARED:
                self.changed.append((node.number, tuple(each for each, _ in ids), CLEARED))
        return owner

    def _resume(self, chain: str) -> None:
        """Go on after a copy of what was said before: of a reply in it, results that it lost are not sent any more."""
        if not self._repeated or next(iter(self._repeated.values())).key[0] != chain:
            return
        ids = ((_call_id(piece), chain) for unit in self._repeated.values() for piece in unit.pieces)
        before = [each for each in ids if self._answered.get(each, self._copy_from) < self._copy_from]
        lost = tuple(each for each, _ in before if (each, chain) not in self._copied)
        self.changed.append((self._number - 1, lost, None))
        self._repeated, self._copied = {}, set()

    def _system(self, line: dict[str, Any]) -> None:
        uuid, node = self._placed(line)
        if uuid in self.graph.nodes:
            return
        kind, content = line.get("subtype"), line.get("content")
        if kind == "compact_boundary":
            node = msgspec.structs.replace(node, is_root=True)
            self._boundary(uuid, line.get("compactMetadata"))
        elif kind == "microcompact_boundary":
            ids = object_of(line.get("microcompactMetadata")).get("compactedToolIds")
            self.changed.append((self._number, tuple(map(str, list_of(ids))), CLEARED))
        elif kind == "local_command" and isinstance(content, str):
            words = kind_of({"message": {"content": content}})
            said = [Said({"role": "user", "content": content})]
            self._say(uuid, node, "loop" if words == "typed" else words, said, time_at(line))
            return
        self._place(uuid, node, None)

    def _boundary(self, uuid: str, about: Any) -> None:
        kept, listed = (object_of(object_of(about).get(f"preserved{key}")) for key in ("Segment", "Messages"))
        anchor = text_at(kept, "anchorUuid") or text_at(listed, "anchorUuid")
        named = tuple(each for each in list_of(listed.get("uuids")) if isinstance(each, str))
        if anchor and (kept or named):
            head, tail = text_at(kept, "headUuid"), text_at(kept, "tailUuid")
            self.graph.boundaries.append(Boundary(self._number, uuid, anchor, head, tail, named))

    def _attachment(self, line: dict[str, Any]) -> None:
        uuid, node = self._placed(line)
        if uuid in self.graph.nodes:
            return
        about = object_of(line.get("attachment"))
        text = attached_text(about)
        if not is_sent(about):
            self._place(uuid, node, None)
            return
        if not text:
            self._note_odd(f"what an attachment of type {text_at(about, 'type')!r:.60} says")
            self._place(uuid, node, None)
            return
        queued = about.get("type") == "queued_command" and about.get("commandMode") in (None, "prompt")
        kind = kind_of({"message": {"content": text}}) if queued else "loop"
        self._say(uuid, node, kind, [Said({"role": "user", "content": text})], time_at(line))

    def _replacements(self, line: dict[str, Any]) -> None:
        for each in list_of(line.get("replacements")):
            if isinstance(each, dict) and isinstance(each.get("replacement"), str):
                self.shown[text_at(each, "toolUseId")] = each["replacement"]

    def _pass_on(self, line: dict[str, Any]) -> None:
        """Place a line of which nothing is sent, as others may name it as their parent."""
        if text_at(line, "uuid") and line["uuid"] not in self.graph.nodes:
            self._place(*self._placed(line), None)

    def _placed(self, line: dict[str, Any]) -> tuple[str, Node]:
        key = (
            (text_at(line, "agentId") or "side") if line.get("isSidechain") is True else "",
            text_at(line, "sessionId"),
        )
        if key not in self.labels:
            self.labels[key] = {}
        labels = self.labels[key]
        for name, field in _LABELS.items():
            if name not in labels and text_at(line, field):
                labels[name] = text_at(line, field)
        parent = text_at(line, "parentUuid") or None
        return text_at(line, "uuid") or f"line {self._number}", Node(
            self._number, key, parent, None, None, is_root=False
        )

    def _place(self, uuid: str, node: Node, unit: Unit | None) -> None:
        self.graph.place(uuid, msgspec.structs.replace(node, unit=unit))

    def _unit(self, kind: str, key: Key, pieces: list[Piece], number: int) -> Unit:
        self.graph.units.append(Unit(number, kind, key, pieces))
        return self.graph.units[-1]

    def _spawn(self, call_id: str, name: str, content: Any) -> None:
        """Remember what a sub-agent was started with."""
        if name not in ("Task", "Agent"):
            return
        for block in list_of(content):
            given = block.get("input") if isinstance(block, dict) and block.get("id") == call_id else None
            if isinstance(given, dict) and text_at(given, "prompt"):
                about = {
                    "tool_call": call_id,
                    "agent_type": text_at(given, "subagent_type"),
                    "task": text_at(given, "description"),
                }
                self.spawned[given["prompt"]] = self.spawned[call_id] = about

    def _note_odd(self, what: str) -> None:
        first, count = self._odd.get(what, (self._number, 0))
        self._odd[what] = (first, count + 1)


def _call_id(piece: Piece) -> str:
    """The call that a tool message answers, "" for others."""
    return str(piece.said.message.get("tool_call_id", ""))


def _merge_call(known: dict[str, Any], line: dict[str, Any], message: dict[str, Any]) -> None:
    """Add what a line says of its call: the usage with the largest output is kept, and the largest cost."""
    usage = message.get("usage")
    if isinstance(usage, dict) and _output(usage) >= _output(known.get("usage", {})):
        known["usage"] = usage
    known.update((key, message[key]) for key in ("stop_reason", "model") if text_at(message, key))
    cost = line.get("costUSD")
    if isinstance(cost, int | float) and 0 <= cost < float("inf"):
        known["cost"] = max(float(cost), known.get("cost", 0.0))


def _output(usage: dict[str, Any]) -> int:
    output = usage.get("output_tokens")
    return output if isinstance(output, int) else -1
