"""What is timed: each subject drives the same script through a loop of its own.

A subject's module is imported in the process that runs it, which for a peer has the peer's own Python.
"""

from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.policies import FORGETTING
from benchmarks.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable

HOMES: Final = {
    "floor": "floor:Floor",
    "floor-orjson": "floor:FloorOrjson",
    "ours": "ours:Ours",
    "ours-stored": "ours:Stored",
    "ours-default": "ours:DefaultLimit",
    "ours-default-stored": "ours:DefaultLimitStored",
    "ours-uncut": "ours:Uncut",
    "ours-timed": "ours:Timed",
    "harness": "harness:Cog",
    "harness-in-memory": "harness:CogInMemory",
    "llm": "peer_llm:Llm",
    "smolagents": "peer_smolagents:Smolagents",
    "pydantic-ai": "peer_pydantic_ai:PydanticAi",
}
"""Module and class, by the subject's name."""


class Subject:
    """A loop that runs the script, in a folder of its own.

    Args:
        size: Characters of a tool's result.
        clock: As in `Script`.
    """

    def __init__(self, size: int, clock: Callable[[], int] | None = None) -> None:
        self.script = Script(size, clock)
        self.folder = Path(tempfile.mkdtemp(prefix="agentlab-bench-"))
        self._folders = 0
        self.build()

    def build(self) -> None:
        """Make what is made once: the model, the tool."""

    def prepare(self) -> None:
        """Make what a run needs once per session and no iteration has a part in; it is not timed."""

    def run(self, iterations: int) -> Any:
        """Run a fresh conversation of so many calls and a final text; returns what holds its history."""
        raise NotImplementedError

    def start_session(self) -> None:
        """Begin a conversation that `turn` goes on with."""
        raise NotImplementedError

    def turn(self) -> None:
        """Run one user turn: one call and a final text."""
        raise NotImplementedError

    def end_session(self) -> None:
        """Close what the session holds open."""

    def fresh_folder(self) -> Path:
        """A folder that nothing was written to yet."""
        self._folders += 1
        folder = self.folder / str(self._folders)
        folder.mkdir()
        return folder

    def bytes_kept(self) -> int:
        """Bytes of all files that it wrote and that are still there."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def clean(self) -> None:
        """Remove its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def subject_class(name: str) -> type[Subject]:
    """The class of a subject, by name."""
    if name.startswith(FORGETTING):
        return import_module(".forgetting", __name__).forgetting(name.removeprefix(FORGETTING))  # type: ignore[no-any-return]
    module, _, attribute = HOMES[name].partition(":")
    return getattr(import_module(f".{module}", __name__), attribute)  # type: ignore[no-any-return]
