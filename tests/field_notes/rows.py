"""A row: a figure of theirs, ours by the same definition, ours as agentlab gives it, and what to make of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis import load
from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.analysis import Session

DATA = Path(__file__).parents[3] / "shared/data/sessions"

GROUPS = {
    "tau": ("tau-bench/gpt-4o-airline.json",),
    "coding": ("claude-code/coding-1.jsonl", "claude-code/coding-3.jsonl", "claude-code/coding-4.jsonl"),
    "pi": ("pi/large-session.jsonl",),
    "swe": (
        "swe-agent/ctf-web.traj",
        "swe-agent/humanevalfix.traj",
        "swe-agent/marshmallow-1867-function-calling.traj",
        "swe-agent/marshmallow-1867-window100.traj",
        "swe-agent/pydicom-1458.traj",
    ),
}
PARTLY = {"coding": "3 of 7 sessions are here", "pi": "1 of 2 sessions is here", "swe": "5 of 21 sessions are here"}


class Row(msgspec.Struct, frozen=True):
    """A figure.

    Attributes:
        section: Of the notes.
        name: What is measured.
        theirs: Their figure.
        ours: Ours by the same definition; None where it cannot be had.
        given: What agentlab itself gives, where that is by another definition.
        within: How far off still counts as the same.
        interval: The 95 % interval of ours, where it has one.
        partly: Why the row is for orientation only; "" where all of its data is here.
        why: Why the two differ, where that was found out.
    """

    section: str
    name: str
    theirs: float
    ours: float | None
    given: float | None = None
    within: float = 0.0
    interval: tuple[float, float] | None = None
    partly: str = ""
    why: str = ""

    @property
    def same(self) -> bool:
        """Whether both are the same within rounding."""
        return self.ours is not None and abs(self.ours - self.theirs) <= self.within + 1e-9

    @property
    def verdict(self) -> str:
        """What to make of it."""
        if self.ours is None:
            return "missing: no session of it can be read"
        if self.partly:
            return f"orientation: {self.partly}"
        if self.same:
            return "same within rounding"
        if self.interval is not None and self.interval[0] <= self.theirs <= self.interval[1]:
            return "within the interval"
        return f"differs: {self.why or 'not explained'}"


class Logs:
    """The public logs, each read once.

    Args:
        folder: That holds `tau-bench`, `claude-code` and the others.
    """

    def __init__(self, folder: Path = DATA) -> None:
        self.folder = folder
        self._read: dict[str, list[Session]] = {}

    def sessions(self, *files: str) -> list[Session]:
        """The sessions of files; none of a file that is not there or that nothing reads."""
        for file in files:
            if file not in self._read:
                try:
                    self._read[file] = load(self.folder / file)[0]
                except InputError:
                    self._read[file] = []
        return [session for file in files for session in self._read[file]]

    def group(self, name: str) -> list[Session]:
        """The sessions of a group."""
        return self.sessions(*GROUPS[name])

    def main(self, file: str) -> Session | None:
        """The longest session of a file, the others being those of its sub-agents."""
        return max(self.sessions(file), key=lambda session: len(session.calls), default=None)
