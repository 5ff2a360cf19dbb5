"""The file that a recorded session of model calls is kept in.

JSONL. The first line is the header; each further line is one call with its request and its response, complete, since
what a request shares with earlier ones is named, not repeated, and the file grows by what is new:

- A list of messages is named by a digest that includes the digest of the list without its last message, as commits
  of a repository name their past. A request says which list of an earlier line it begins with, `after`, and the
  messages that follow.
- A message, system prompt or list of tools that an earlier line holds stands as `{"ref": DIGEST}`.

No secret is written: every text goes through `redact` first, and so does what is compared with it later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from agentlab.errors import CassetteMiss, ContextWindowError, InputError, ProviderError, TransportError
from agentlab.messages import Reply
from agentlab.providers.digests import chain, digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA: Final = "agentlab-cassette"
VERSION = 1
ROOT = ""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a cassette: who answered."""

    schema: Literal["agentlab-cassette"]
    version: int
    provider: str | None
    model: str | None
    window: int | None = None


class Ref(msgspec.Struct, frozen=True):
    """Stands for a value that an earlier line holds."""

    ref: str


class Request(msgspec.Struct, frozen=True):
    """What was asked: `messages` follow the list that `after` names."""

    after: str
    messages: list[dict[str, Any]]
    system: str | Ref
    tools: list[dict[str, Any]] | Ref
    tool_choice: str = "auto"
    max_output_tokens: int | None = None


class Failure(msgspec.Struct, frozen=True):
    """A `ProviderError` as data."""

    type: str
    message: str
    status: int | None = None
    kind: str | None = None
    retry_after: float | None = None
    transient: bool = False
    text: str = ""
    prompt_tokens: int | None = None
    window: int | None = None

    @classmethod
    def of(cls, error: ProviderError) -> Failure:
        """Read an error; a subclass that the tree of `agentlab.errors` does not draw becomes a `ProviderError`."""
        known = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        fields = {field: getattr(error, field) for field in cls.__struct_fields__[2:] if hasattr(error, field)}
        return cls(known, str(error), **fields)

    def error(self) -> ProviderError:
        """The error again, to be raised."""
        error = _ERRORS.get(self.type, ProviderError)(self.message)
        for field in self.__struct_fields__[2:]:
            if hasattr(error, field):
                setattr(error, field, getattr(self, field))
        return error


_ERRORS: dict[str, type[ProviderError]] = {
    kind.__name__: kind for kind in (ProviderError, TransportError, ContextWindowError, CassetteMiss)
}


class Response(msgspec.Struct, frozen=True):
    """What came back: a reply or an error, and the pieces in which its text was streamed."""

    reply: Reply | None = None
    error: Failure | None = None
    deltas: list[str] = []


class Line(msgspec.Struct, frozen=True):
    """One call."""

    request: Request
    response: Response


class Node:
    """A list of messages: `parent` without its last one, `message`."""

    __slots__ = ("key", "length", "message", "parent")

    def __init__(self, parent: Node | None = None, message: dict[str, Any] | None = None, key: str = ROOT) -> None:
        self.parent = parent
        self.message = message or {}
        self.key = key
        self.length: int = 0 if parent is None else parent.length + 1

    def upwards(self) -> Iterator[Node]:
        """This list, the one without its last message, and so on down to the empty one."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def messages(self) -> list[dict[str, Any]]:
        """The messages, first to last."""
        return [node.message for node in self.upwards() if node.parent is not None][::-1]


class Asked(msgspec.Struct, frozen=True):
    """A request in full."""

    messages: list[dict[str, Any]]
    system: str
    tools: list[dict[str, Any]]
    tool_choice: str


class Recorded(msgspec.Struct, frozen=True):
    """A call as it was recorded, put together again; `line` counts from 1."""

    line: int
    node: Node
    system: str
    tools: list[dict[str, Any]]
    tool_choice: str
    response: Response


class Cassette:
    """What a cassette holds.

    Attributes:
        header: Its first line, or None where there is none yet.
        calls: The calls in the order of their lines.
        known: Digests of all values and lists that a further line may name.
        problems: What was skipped, one sentence each.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Header | None = None
        self.calls: list[Recorded] = []
        self.problems: list[str] = []
        self._values: dict[str, Any] = {}
        self._lists: dict[str, Node] = {ROOT: Node()}

    @property
    def known(self) -> set[str]:
        """Digests of all values and lists that a further line may name."""
        return {*self._values, *self._lists}

    def add(self, line: Line, number: int) -> None:
        """Take up a call, the line of that number.

        Raises:
            InputError: It names something that no earlier line holds.
        """
        request = line.request
        node = self._lists.get(request.after)
        if node is None:
            raise self._missing(number, "request.after")
        for index, entry in enumerate(request.messages):
            ref = entry.get("ref") if len(entry) == 1 else None
            message = entry if ref is None else self._value(Ref(ref), number, f"request.messages[{index}]")
            key = chain(node.key, ref or self._keep(message))
            node = self._lists.setdefault(key, Node(node, message, key))
        system = self._value(request.system, number, "request.system")
        tools = self._value(request.tools, number, "request.tools")
        self.calls.append(Recorded(number, node, system, tools, request.tool_choice, line.response))

    def _keep(self, value: Any) -> str:
        key = digest(value)
        self._values.setdefault(key, value)
        return key

    def _value(self, value: Any, number: int, field: str) -> Any:
        if not isinstance(value, Ref):
            self._keep(value)
            return value
        if value.ref not in self._values:
            raise self._missing(number, field)
        return self._values[value.ref]

    def _missing(self, number: int, field: str) -> InputError:
        problem = "names something that no earlier line holds: the file was edited or has lost a line; record it again"
        return InputError(problem, path=self.path, line=number, field=field)


def read_cassette(path: Path) -> Cassette:
    """Read a cassette; a line whose write was cut off is skipped and noted in `problems`.

    Raises:
        InputError: There is no such file, it is no cassette, or a line is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error}); name a cassette that was recorded before"
        raise InputError(problem, path=path) from error
    cassette = Cassette(path)
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if cassette.header is None:
                cassette.header = _header(line, path, number)
            else:
                cassette.add(_LINE.decode(line), number)
        except msgspec.DecodeError as error:
            if number < len(lines) and not _torn(line):
                problem = f"damaged ({error}); mend the line from a backup, or record the cassette again"
                raise InputError(problem, path=path, line=number) from error
            cassette.problems.append(f"{path}:{number}: skipped: the write of this line was cut off")
    return cassette


_LINE = msgspec.json.Decoder(Line)


def _header(line: bytes, path: Path, number: int) -> Header:
    """The header, of a schema and version that can be read here."""
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.ValidationError as error:
        expected = f'not a cassette: expected a first line {{"schema":"{SCHEMA}","version":{VERSION},...}}'
        raise InputError(f"{expected}; {error}", path=path, line=number) from error
    if header.version > VERSION:
        problem = f"expected {VERSION}, found {header.version}: a newer agentlab wrote it; update, or record it again"
        raise InputError(problem, path=path, line=number, field="version")
    return header


def _torn(line: bytes) -> bool:
    """Whether a line is the beginning of one; with a digit added, also where it was cut within a number."""
    for candidate in (line, line + b"0"):
        try:
            msgspec.json.decode(candidate)
        except msgspec.DecodeError as error:
            if str(error) == "Input data was truncated":
                return True
    return False
