"""The graph of a Claude Code log: which message follows which.

A log is lines, each with a `uuid` and a `parentUuid`. The lines of one model call are put together, and its tool
results with them; what is never sent (progress, notices of errors) only passes its parent on. The order of the file is
not the order of the conversation: a call was sent the path from its parent up to the root. A compaction begins a new
root, and may take earlier messages over (`preservedSegment`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.blocks import Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Key = tuple[str, str]
_STEPS = 8  # from reply to reply in the tree, per message, above which branches are read one after the other
_FAR = 10_000  # lines between a message and its parent that are looked through for a compaction


class Piece(msgspec.Struct, frozen=True):
    """A message of a unit; as in `agentlab.analysis.session.Record`."""

    said: Said
    time: float | None = None
    original_chars: int | None = None


class Unit(msgspec.Struct, eq=False):
    """What is sent together: a user's message, or a reply with the results of its calls.

    Attributes:
        number: Of its first line.
        kind: "assistant", or who wrote it in the user's name; see `claude_words`.
        key: Its chain ("" for the main one) and the id of the session that wrote it.
        pieces: A user's messages; of a reply, the tool results.
        reply: Of a reply, its text, thinking and calls, line by line.
        raw: Of a reply, what its lines say of it; `usage` is the one with the largest output.
        time: Of its last line.
        is_summary: Whether it stands for what was sent before.
        parent: What it follows.
        bridge: What a compaction took over between its parent and it, in the order of the conversation.
    """

    number: int
    kind: str
    key: Key
    pieces: list[Piece] = []
    reply: list[Said] = []
    raw: dict[str, Any] = {}
    time: float | None = None
    is_summary: bool = False
    parent: Unit | None = None
    bridge: tuple[Unit, ...] = ()

    @property
    def is_reply(self) -> bool:
        """Whether the model said it."""
        return self.kind == "assistant"

    def path(self) -> Iterator[Unit]:
        """What leads to it, from the last backwards."""
        unit: Unit | None = self
        while unit is not None:
            yield from reversed(unit.bridge)
            unit = unit.parent
            if unit is not None:
                yield unit


class Node(msgspec.Struct, frozen=True):
    """A line's place: what it names as its parent, and which line of its chain stood before it."""

    number: int
    key: Key
    parent: str | None
    before: str | None
    unit: Unit | None
    is_root: bool


class Boundary(msgspec.Struct, frozen=True):
    """A compaction that kept messages: they follow the line `anchor`, whose other children follow them."""

    number: int
    uuid: str
    anchor: str
    head: str
    tail: str
    kept: tuple[str, ...]


class Graph:
    """Lines and units of one file.

    >>> graph = Graph()
    >>> asked, said = Unit(2, "typed", ("", "s")), Unit(1, "assistant", ("", "s"))
    >>> graph.units += [said, asked]
    >>> graph.place("b", Node(1, ("", "s"), "a", None, said, is_root=False))
    >>> graph.place("a", Node(2, ("", "s"), None, None, asked, is_root=False))
    >>> graph.link()
    >>> [unit.kind for unit in in_order(graph.units)]
    ['typed', 'assistant']
    """

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.nodes: dict[str, Node] = {}
        self.boundaries: list[Boundary] = []
        self._lines: dict[int, list[str]] = {}
        self._last: dict[Key, str] = {}
        self._linked: set[Key] = set()
        self._found: dict[str, Unit | None] = {}

    def place(self, uuid: str, node: Node) -> None:
        """Place a line; `before` is found here."""
        self.nodes[uuid] = msgspec.structs.replace(node, before=self._last.get(node.key))
        self._last[node.key] = uuid
        if node.parent is not None:
            self._linked.add(node.key)
        if node.unit is not None:
            self._lines.setdefault(id(node.unit), []).append(uuid)

    def assign(self, uuid: str, unit: Unit) -> None:
        """Say what a line that is placed belongs to."""
        self.nodes[uuid] = msgspec.structs.replace(self.nodes[uuid], unit=unit)
        self._lines.setdefault(id(unit), []).append(uuid)

    def link(self) -> None:
        """Give each unit its parent, once all lines are placed."""
        self.units.sort(key=lambda unit: unit.number)
        for unit in self.units:
            for uuid in self._lines.get(id(unit), ()):
                above = self._parent_of(uuid)
                parent = self._unit_at(above)
                if parent is not unit:
                    unit.parent = parent
                    break
        _cut_cycles(self.units)
        for boundary in self.boundaries:
            self._bridge(boundary)

    def _parent_of(self, uuid: str) -> str | None:
        """What a line follows; where that is not in the file, the line before it in its chain."""
        node = self.nodes[uuid]
        if node.is_root:
            return None
        if node.parent in self.nodes:
            return node.parent
        if node.parent is None and node.key in self._linked:
            return None
        return node.before

    def _unit_at(self, uuid: str | None) -> Unit | None:
        """The unit of a line, or of the nearest one above it."""
        trail: list[str] = []
        while uuid is not None and uuid not in self._found:
            self._found[uuid] = self.nodes[uuid].unit  # None for now, where lines follow each other in a circle
            if self._found[uuid] is not None:
                break
            trail.append(uuid)
            uuid = self._parent_of(uuid)
        unit = None if uuid is None else self._found[uuid]
        for each in trail:
            self._found[each] = unit
        return unit

    def _bridge(self, boundary: Boundary) -> None:
        """Put what a compaction kept between its anchor and what follows that."""
        kept = self._kept(boundary)
        anchor = self.nodes.get(boundary.anchor)
        name = boundary.anchor if anchor is not None and anchor.number >= boundary.number else boundary.uuid
        if not kept:
            return
        among = set(kept)
        for unit in self.units:
            if unit.number > boundary.number and unit not in among and self._follows(unit, name):
                unit.bridge = kept

    def _kept(self, boundary: Boundary) -> tuple[Unit, ...]:
        units = [self._unit_at(uuid) for uuid in boundary.kept if uuid in self.nodes]
        if not units:
            ends = (each if each in self.nodes else None for each in (boundary.head, boundary.tail))
            head, tail = map(self._unit_at, ends)
            for unit in [] if tail is None else [tail, *tail.path()]:
                units.append(unit)
                if unit is head:
                    break
            else:
                units = []  # the head is not above the tail: nothing is known to be kept
            units.reverse()
        return tuple(dict.fromkeys(unit for unit in units if unit is not None and unit.number < boundary.number))

    def _follows(self, unit: Unit, name: str) -> bool:
        """Whether a unit comes right after a line, with nothing that is sent between them."""
        uuids = self._lines.get(id(unit))
        above = self._parent_of(uuids[0]) if uuids else None
        for _ in range(_FAR):
            if above is None or above == name:
                break
            if self.nodes[above].unit is not None:
                return False
            above = self._parent_of(above)
        return above == name


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Units in the order of their lines, but none before what it follows."""
    placed: set[int] = set()
    order: list[Unit] = []
    for unit in units:
        waiting = []
        above: Unit | None = unit
        while above is not None and id(above) not in placed:
            placed.add(id(above))
            waiting.append(above)
            above = above.parent
        order += reversed(waiting)
    return order


def is_tangled(units: Sequence[Unit]) -> bool:
    """Whether replies of long branches take turns, so that each call would be sent much that the one before was not."""
    depth: dict[int, int] = {}
    for unit in units:
        depth[id(unit)] = 0 if unit.parent is None else depth[id(unit.parent)] + 1
    most, steps = _STEPS * len(units) + _FAR, 0
    last: Unit | None = None
    for unit in units:
        left, right = (last, unit) if unit.is_reply else (None, None)
        while left is not right and left is not None and right is not None and steps <= most:
            if depth[id(left)] >= depth[id(right)]:
                left = left.parent
            else:
                right = right.parent
            steps += 1
        last = unit if unit.is_reply else last
    return steps > most


def by_branch(units: Sequence[Unit]) -> list[Unit]:
    """Units with each branch in one piece, rather than in the order of their lines."""
    below: dict[int, list[Unit]] = {}
    for unit in reversed(units):
        below.setdefault(0 if unit.parent is None else id(unit.parent), []).append(unit)
    waiting, order = below.pop(0, []), []
    while waiting:
        order.append(waiting.pop())
        waiting += below.pop(id(order[-1]), [])
    return order


def _cut_cycles(units: Iterable[Unit]) -> None:
    """Make a root where messages follow each other in a circle, as only a damaged log says."""
    done: set[int] = set()
    for unit in units:
        trail: set[int] = set()
        at: Unit | None = unit
        while at is not None and id(at) not in done:
            done.add(id(at))
            trail.add(id(at))
            if at.parent is not None and id(at.parent) in trail:
                at.parent = None
            at = at.parent
