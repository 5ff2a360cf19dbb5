"""What a kernel and its children take together: counted from outside, where no notebook can change the count."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from agentlab.grading.box import Limits

SHARED_FILES = 16
"""More files than a connection and its sockets: a kernel writes into the folder that it shares with us."""
LARGE = 2**16
"""Bytes of a file that is none of them."""
PROC = Path("/proc")


class Watch:
    """Looks at a kernel from outside.

    Args:
        pid: Its process, or the one that boxes it.
        private: The folder that it shares with us; None where it has no other to work in.
        limits: What it may take.
    """

    def __init__(self, pid: int, private: Path | None, limits: Limits) -> None:
        self.pid = pid
        self.private = private
        self.limits = limits
        self.inside: Path | None = None

    def excess(self) -> str | None:
        """What the kernel takes too much of, or None."""
        family = self.family()
        if len(family) > self.limits.processes:
            return f"it started more than {self.limits.processes} processes"
        if sum(map(_resident, family)) > self.limits.memory:
            return f"its processes took more than {self.limits.memory // 2**20:,} MB of memory"
        return "it wrote into the folder of its own connection" if self._crowded() else None

    def _crowded(self) -> bool:
        """Whether more lies in the shared folder than a connection needs: that is the one place on disk."""
        if self.private is None:
            return False
        try:
            with os.scandir(self.private) as entries:
                listed = list(entries)
            return len(listed) > SHARED_FILES or any(map(_is_large, listed))
        except OSError:
            return False

    def family(self) -> list[Path]:
        """The folders in `/proc` of the kernel and of all that it started.

        A box has a `/proc` of its own, in which they stand alone, however they were started.
        """
        if self.inside is None:
            self.inside = _proc_of_box(self.pid)
        if self.inside is not None:
            try:
                return [self.inside / name for name in os.listdir(self.inside) if name.isdigit()]  # noqa: PTH208
            except OSError:
                return []
        try:
            children = psutil.Process(self.pid).children(recursive=True)
        except psutil.Error:
            return []
        return [PROC / str(pid) for pid in (self.pid, *(child.pid for child in children))]


def _proc_of_box(pid: int) -> Path | None:
    """The `/proc` that the first process of a box sees; None where there is no box, or it is not up yet."""
    try:
        for child in psutil.Process(pid).children():
            if os.stat(f"/proc/{child.pid}/ns/pid").st_ino != os.stat("/proc/self/ns/pid").st_ino:  # noqa: PTH116
                inside = Path(f"/proc/{child.pid}/root/proc")
                return inside if (inside / "1").is_dir() else None
    except (OSError, psutil.Error):
        pass
    return None


def _is_large(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_size > LARGE


def _resident(process: Path) -> int:
    """Bytes of memory that a process holds; 0 where it is gone."""
    try:
        return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
