"""A session as a folder, written while it runs and readable after a crash.

`messages.jsonl` has a header, then a line per appended message or decision of compaction. `transcript.jsonl` has a line
per user turn. `store/` keeps results in full. Each line is one append, so that a crash tears at most the last line; a
reader reports it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.events import CompactionDecided, MessageAppended, Repaired, TurnFinished, moved
from agentlab.messages import Usage
from agentlab.store import Store, open_for_append, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentlab.events import Event
    from agentlab.messages import ToolSpec

SCHEMA = "agentlab-session/1"
MESSAGES, TRANSCRIPT, STORE = "messages.jsonl", "transcript.jsonl", "store"


class Header(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="session"):
    """First line of `messages.jsonl`: what every request of the session has in common."""

    schema: str
    created: float
    provider: str = ""
    model: str | None = None
    system: str = ""
    tools: list[dict[str, Any]] = []
    policy: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class TurnLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of `transcript.jsonl`: one user turn."""

    prompt: str
    reply: str
    iterations: int
    turn: int = 0
    status: str = ""
    reason: str = ""
    usage: Usage | None = None
    tool_calls: list[dict[str, Any]] = []
    started_at: str = ""
    finished_at: str = ""


class Problem(msgspec.Struct, frozen=True):
    """A line that could not be read: which, and why."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


class SessionRecord(msgspec.Struct, frozen=True):
    """What a session folder holds; `decisions` name messages by their place in `lines`.

    `decided_after` has for each decision how many lines stood before it.
    """

    path: Path
    header: Header
    lines: list[MessageAppended]
    turns: list[TurnLine]
    notes: list[Repaired]
    decisions: list[CompactionDecided] = []
    decided_after: list[int] = []

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages alone."""
        return [line.message for line in self.lines]

    def store(self) -> Store:
        """The results that were kept in full."""
        return Store(self.path / STORE)


class SessionWriter:
    """A sink that writes a session folder.

    A folder that holds a session already is continued.

    Args:
        folder: Made when the first line is written.
        provider: Name of the provider, for the header; so are `model`, `system`, `tools`, `policy`, `settings`.
        store: Keeps results in full; None makes one in the folder.
        clock: Seconds since 1970.

    Attributes:
        store: Keeps results in full, in the folder.
    """

    hears = (MessageAppended, Repaired, CompactionDecided, TurnFinished)

    def __init__(
        self,
        folder: str | Path,
        *,
        provider: str = "",
        model: str | None = None,
        system: str = "",
        tools: Iterable[ToolSpec] = (),
        policy: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        store: Store | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = Path(folder)
        self.store = Store(self.folder / STORE) if store is None else store
        self.clock = clock
        specs = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]
        self._header = Header(SCHEMA, clock(), provider, model, system, specs, dict(policy or {}), dict(settings or {}))
        self._messages = -1
        self._turns = TurnWriter(self.folder / TRANSCRIPT)
        self._encode = msgspec.json.Encoder().encode

    def __call__(self, event: Event) -> None:
        """Write the line of an event, where it has one.

        Raises:
            OSError: The disk refused.
        """
        kind = type(event)
        if kind is TurnFinished:
            self._turns(event)
        elif kind is MessageAppended or kind is Repaired or kind is CompactionDecided:
            if self._messages < 0:
                self._open()
            try:
                write_all(self._messages, self._encode(event) + b"\n")
            except OSError:
                self.close()  # the next line is then a fresh one
                raise

    def close(self) -> None:
        """Close the files; the next event opens them again."""
        if self._messages >= 0:
            os.close(self._messages)
        self._messages = -1
        self._turns.close()
        self.store.close()

    def _open(self) -> None:
        """Open `messages.jsonl`; a new one begins with the header."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / MESSAGES
        headed = path.exists() and _has_header(path)
        self._messages = open_for_append(path)
        if not headed:
            write_all(self._messages, self._encode(self._header) + b"\n")


class TurnWriter:
    """A sink that appends a line per user turn to a `transcript.jsonl`.

    Args:
        path: Made, with its folder, when the first line is written.
    """

    hears = (TurnFinished,)

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file = -1

    def __call__(self, event: Event) -> None:
        """Write the line of a turn that is over.

        Raises:
            OSError: The disk refused.
        """
        if not isinstance(event, TurnFinished):
            return
        if self._file < 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open_for_append(self.path)
        line = TurnLine(
            event.prompt,
            event.reply,
            event.iterations,
            event.turn,
            event.status,
            event.reason,
            event.usage,
            event.tool_calls,
            event.started_at,
            event.finished_at,
        )
        try:
            write_all(self._file, msgspec.json.encode(line) + b"\n")
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def read_session(path: str | Path) -> tuple[SessionRecord, list[Problem]]:
    """Read a session folder, or one of its two files.

    Returns:
        What it holds, and a problem for each line that could not be read.

    Raises:
        InputError: There is no such path, or nothing in it is of a session.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    if not path.exists():
        raise InputError("no such file or folder: name a session folder or its messages.jsonl", path=path)
    problems: list[Problem] = []
    if path.is_file() and path.name == TRANSCRIPT:
        return SessionRecord(folder, Header(SCHEMA, 0.0), [], read_turns(path, problems), []), problems
    file = folder / MESSAGES if path.is_dir() else path
    if not file.exists():
        raise InputError(f"there is no {MESSAGES} in it: name the folder that a run wrote", path=path)
    record = _read_messages(file, folder, problems)
    transcript = folder / TRANSCRIPT
    if transcript.exists():
        record.turns.extend(read_turns(transcript, problems))
    return record, problems


def read_turns(path: str | Path, problems: list[Problem]) -> list[TurnLine]:
    """The lines of a `transcript.jsonl`; a line that cannot be read is added to `problems`."""
    return list(read_lines(Path(path), TurnLine, problems))


def never_begun(path: Path) -> bool:
    """Whether a `messages.jsonl` has no whole line: its writer was killed before the header stood in it."""
    begins = b'{"type":"session"'
    with path.open("rb") as file:
        first = file.readline()
    return not first.endswith(b"\n") and (first.startswith(begins) or begins.startswith(first))


def _has_header(path: Path) -> bool:
    """Whether the first line is a whole header."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        msgspec.json.decode(first, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return first.endswith(b"\n")


def read_lines(path: Path, kind: Any, problems: list[Problem]) -> Iterable[Any]:
    """Yield the lines of a JSONL file as values of a type; each that is not becomes a problem.

    Raises:
        InputError: The file cannot be read.
    """
    return (value for _, value in numbered_lines(path, kind, problems))


def numbered_lines(path: Path, kind: Any, problems: list[Problem]) -> Iterable[tuple[int, Any]]:
    """Yield what `read_lines` does, with the number of each line, from 1.

    Raises:
        InputError: The file cannot be read.
    """
    decode = msgspec.json.Decoder(kind).decode
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    with file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield number, decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                torn = "" if line.endswith(b"\n") else "the line is torn, as after a crash: "
                problems.append(Problem(str(path), number, f"{torn}skipped ({error})"))


def _read_messages(path: Path, folder: Path, problems: list[Problem]) -> SessionRecord:
    header: Header | None = None
    lines: list[MessageAppended] = []
    notes: list[Repaired] = []
    decisions: list[CompactionDecided] = []
    decided_after: list[int] = []
    places: dict[int, int] = {}  # of the messages that the lines so far know: their index, their place in `lines`
    for line in read_lines(path, Header | MessageAppended | Repaired | CompactionDecided, problems):
        if isinstance(line, MessageAppended):
            if lines and line.index == lines[-1].index and line.message == lines[-1].message:
                continue  # written twice, by an interrupt right after the write
            places[line.index] = len(lines)
            lines.append(line)
        elif isinstance(line, CompactionDecided):
            placed = moved(line, places, len(lines))
            if not decisions or placed != decisions[-1]:
                decisions.append(placed)
                decided_after.append(len(lines))
        elif isinstance(line, Repaired):
            notes.append(line)
        elif header is None:
            header = line
    if header is None:
        if not lines:
            raise InputError(f"nothing in it is a line of a session ({SCHEMA})", path=path)
        problems.append(Problem(str(path), 1, "there is no header: system prompt and tools are unknown"))
        header = Header(SCHEMA, 0.0)
    return SessionRecord(folder, header, lines, [], notes, decisions, decided_after)
