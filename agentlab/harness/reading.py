"""Reading the cycle log: lines, cycles, a frame. A damaged line is reported and passed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.harness.records import (
    SCHEMA,
    AgentCycleStart,
    AnyRecord,
    BudgetExtended,
    CycleComplete,
    CycleStart,
    LlmRequest,
    LlmResponse,
    Record,
    type_of,
)
from agentlab.messages import Usage
from agentlab.transcript import Problem, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

LOG_FOLDER = "cycles"
ABANDONED = "abandoned"


class CycleView(msgspec.Struct, frozen=True):
    """A cycle as its lines tell it; `path` and `line` are where the first of them stands."""

    id: str
    records: list[Record]
    path: str = ""
    line: int = 0

    @property
    def start(self) -> CycleStart | None:
        """Its first line, where it was not lost."""
        return next((record for record in self.records if isinstance(record, CycleStart)), None)

    @property
    def end(self) -> CycleComplete | None:
        """Its terminal line; None where it is abandoned, or still runs."""
        return next((record for record in reversed(self.records) if isinstance(record, CycleComplete)), None)

    @property
    def actor(self) -> str:
        """Who acted."""
        return self.records[0].actor

    @property
    def parent(self) -> str | None:
        """The cycle that it worked for."""
        return self.records[0].parent

    @property
    def parent_turn(self) -> int:
        """The turn of that cycle in which it began; 0 where it is not known."""
        return self.start.parent_turn if isinstance(self.start, AgentCycleStart) else 0

    @property
    def status(self) -> str:
        """How it ended; `abandoned` without a terminal line."""
        return ABANDONED if self.end is None else self.end.status

    @property
    def reason(self) -> str:
        """Why it ended so."""
        return "no terminal line" if self.end is None else self.end.reason

    @property
    def turns(self) -> int:
        """Turns that were used."""
        return max(record.turn for record in self.records) if self.end is None else self.end.turns

    @property
    def allowed(self) -> int:
        """Turns that were allowed last; 0 where it is not known."""
        for record in reversed(self.records):
            if isinstance(record, CycleComplete | LlmRequest):
                return record.allowed
            if isinstance(record, BudgetExtended):
                return record.after
        return 0 if self.start is None else self.start.turns

    @property
    def usage(self) -> Usage:
        """Tokens of its calls, without those of its agents."""
        answers = [record.usage for record in self.of(LlmResponse) if not record.is_error]
        return sum(answers[1:], answers[0]) if answers else Usage()

    def of(self, kind: type[Any]) -> list[Any]:
        """Its lines of a type."""
        return [record for record in self.records if isinstance(record, kind)]


def read_log(path: str | Path) -> tuple[list[Record], list[Problem]]:
    """Read a log file, a folder of them, or a session folder that has one.

    Returns:
        The lines in order of writing, and the problems: lines that cannot be read, lines that are missing, and cycles
        without a terminal line, which were abandoned (or still run).

    Raises:
        InputError: There is no such path, or no log in it.
    """
    placed, problems = _placed(Path(path))
    for view in _views(placed):
        problems += _gaps(view)
        if view.end is None:
            problems.append(Problem(view.path, view.line, f"cycle {view.id} has no terminal line: {ABANDONED}"))
    return [record for record, _, _ in placed], problems


def read_cycles(path: str | Path) -> tuple[list[CycleView], list[Problem]]:
    """Read a log as cycles, in the order in which they began; see `read_log`."""
    placed, problems = _placed(Path(path))
    views = _views(placed)
    return views, problems + [gap for view in views for gap in _gaps(view)]


def cycles_of(records: Iterable[Record]) -> list[CycleView]:
    """The cycles of lines, in the order in which they began."""
    return _views([(record, "", 0) for record in records])


def find_cycle(cycles: Sequence[CycleView], wanted: str) -> CycleView:
    """The cycle of an id, of the beginning of one, or `last`: the newest that works for no other.

    Raises:
        InputError: There is none, or several.
    """
    if wanted == "last":
        roots = [view for view in cycles if view.parent is None] or list(cycles)
        if roots:
            return roots[-1]
    found = [view for view in cycles if view.id == wanted] or [view for view in cycles if view.id.startswith(wanted)]
    if wanted and len(found) == 1:
        return found[0]
    newest = ", ".join(view.id for view in cycles[-5:]) or "none"
    problem = f"{len(found)} cycles begin with" if wanted and found else "there is no cycle"
    raise InputError(f"{problem} {wanted!r}; the newest are {newest}")


def log_files(path: Path) -> list[Path]:
    """The files of a log, by day.

    Raises:
        InputError: There are none.
    """
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError("no such file or folder: name a log file, or a folder that a harness wrote", path=path)
    folder = path / LOG_FOLDER if (path / LOG_FOLDER).is_dir() else path
    files = sorted(folder.glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].jsonl"))
    if not files:
        raise InputError("there is no cycle log in it: its files are named YYYY-MM-DD.jsonl", path=path)
    return files


COLUMNS: dict[str, str] = {
    "cycle": "string",
    "seq": "int64",
    "parent": "string",
    "actor": "string",
    "turn": "int64",
    "timestamp": "datetime64[ns, UTC]",
    "type": "string",
    "status": "string",
    "reason": "string",
    "name": "string",
    "call_id": "string",
    "is_error": "boolean",
    "cut": "boolean",
    "original_chars": "Int64",
    "chars": "Int64",
    "prompt_tokens": "Int64",
    "output_tokens": "Int64",
    "exact": "boolean",
    "seconds": "Float64",
    "left": "Int64",
    "allowed": "Int64",
    "granted": "Int64",
    "error": "string",
}
"""Columns of `frame` and their types: what a line has not is missing. Sizes in characters, times in seconds."""


def frame(records: Iterable[Record]) -> pd.DataFrame:
    """The lines as a frame, a row each, with the columns of `COLUMNS`.

    >>> list(frame([]).columns)[:3]
    ['cycle', 'seq', 'parent']
    """
    import pandas as pd

    rows = []
    for record in records:
        fields = msgspec.structs.asdict(record)
        usage = fields.get("usage")
        if usage is not None and not fields.get("is_error"):
            fields |= {
                "prompt_tokens": usage.prompt_tokens,
                "output_tokens": usage.output_tokens,
                "exact": usage.exact,
            }
        fields["type"] = type_of(record)
        rows.append([fields.get(column) for column in COLUMNS])
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    made["timestamp"] = pd.to_datetime(made["timestamp"], utc=True)
    return made.astype(COLUMNS)


def _placed(path: Path) -> tuple[list[tuple[Record, str, int]], list[Problem]]:
    """Each line that can be read, with its file and number."""
    problems: list[Problem] = []
    placed: list[tuple[Record, str, int]] = []
    for file in log_files(path):
        for number, record in numbered_lines(file, AnyRecord, problems):
            if record.schema != SCHEMA:
                problems.append(Problem(str(file), number, f"skipped (schema {record.schema}, this reads {SCHEMA})"))
                continue
            placed.append((record, str(file), number))
    return placed, problems


def _views(placed: Iterable[tuple[Record, str, int]]) -> list[CycleView]:
    views: dict[str, CycleView] = {}
    for record, path, line in placed:
        view = views.get(record.cycle)
        if view is None:
            view = views[record.cycle] = CycleView(record.cycle, [], path, line)
        view.records.append(record)
    return list(views.values())


def _gaps(view: CycleView) -> list[Problem]:
    """Lines that are missing from a cycle, by their numbers."""
    seen = {record.seq for record in view.records}
    missing = [seq for seq in range(1, max(seen) + 1) if seq not in seen]
    if not missing:
        return []
    which = ", ".join(map(str, missing[:5])) + ("..." if len(missing) > 5 else "")
    return [Problem(view.path, view.line, f"cycle {view.id} lacks {len(missing)} of its lines (no. {which})")]
