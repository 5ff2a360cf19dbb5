"""What lies in a folder and below it, found by listing folder after folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.printable import counted
from agentlab.providers.offline.observing import Document, Entry, entries, hits
from agentlab.providers.offline.roles import required

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result

MOST_FOLDERS = 16  # that are worth a call within one question
MOST_LEVELS = 3
BOOKKEEPING = ("__pycache__", "node_modules")


class Survey(msgspec.Struct, frozen=True):
    """The files of some folders.

    Attributes:
        files: Their entries, by their paths.
        folders: The folders that were met, by their paths, without those that nobody means: hidden ones and caches.
        unseen: How many of these were not looked into.
        left_out: How many hidden folders and caches were met.
        cut: The first listing that was not seen whole, or None.
        error: Why the first folder could not be listed, or nothing.
    """

    files: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()
    unseen: int = 0
    left_out: int = 0
    cut: Document | None = None
    error: str = ""

    @property
    def partial(self) -> bool:
        """Whether there may be more files than these, hidden folders apart."""
        return self.unseen > 0 or self.cut is not None

    @property
    def note(self) -> str:
        """What was not looked at, or nothing."""
        said = f"I did not look into {counted(self.unseen, 'subfolder')}." if self.unseen else ""
        said += f" I left out {counted(self.left_out, 'hidden or cache folder')}." if self.left_out else ""
        gap = self.cut.gap if self.cut else None
        if gap is not None:
            said += f" I saw only part of the list: {gap.omitted:,} characters were cut from the {gap.place}."
        return said.strip()


def listing(desk: Desk, folder: str, *, fresh: bool = False) -> Result:
    """List a folder; the top folder is named where the tool insists on a name."""
    lister = desk.role("lister")
    top = "." if lister.parameters.get("path") in required(lister.tool) else None
    return desk.ask("lister", fresh=fresh, path=folder or top)


def survey(desk: Desk, folder: str = "", *, below: bool = True) -> Survey:
    """Look through a folder, level by level; a level that has too many folders is left out.

    Raises:
        Waiting: A listing has not been made.
        NoTool: Nothing lists folders.
    """
    files: list[Entry] = []
    folders: list[str] = []
    level, looked, left_out, cut = [folder], 0, 0, None
    for depth in range(MOST_LEVELS + 1):
        if depth and (not below or depth > MOST_LEVELS or looked + len(level) > MOST_FOLDERS):
            break
        looked += len(level)
        results = desk.each(lambda path: _seen(desk, path), level)
        if results[0][0].failed and not depth:
            return Survey(error=results[0][0].text)
        following: list[str] = []
        for path, (result, doc) in zip(level, results, strict=True):
            cut = cut or (doc if doc.gap is not None else None)
            for entry in [] if result.failed else entries(doc.seen):
                name = f"{path.rstrip('/')}/{entry.name}" if path.rstrip("/.") else entry.name
                if not name.endswith("/"):
                    files.append(Entry(name, entry.size))
                elif not entry.name.startswith(".") and entry.name.rstrip("/") not in BOOKKEEPING:
                    following.append(name)
                else:
                    left_out += 1
        folders += following
        level = [name.rstrip("/") for name in following]
        if not level:
            break
    return Survey(tuple(files), tuple(folders), len(level) if below else 0, left_out if below else 0, cut)


def _seen(desk: Desk, path: str) -> tuple[Result, Document]:
    result = listing(desk, path)
    return result, result.doc if result.failed else desk.whole(result)


def find_below(desk: Desk, path: str) -> str | None:
    """A file somewhere below whose path ends like this one, else one that has its name.

    A search tool that takes a glob finds it in one call; without one, folder after folder is listed.
    """
    wanted = path.removeprefix("./").strip("/")
    base = wanted.rsplit("/", 1)[-1]
    searcher = desk.roles.get("searcher")
    if searcher is not None and {"glob", "most"} <= set(searcher.parameters):
        globs = dict.fromkeys((f"*/{wanted}", f"*/{base}"))
        return next((found for glob in globs if (found := _by_glob(desk, glob))), None)
    names = [e.name for e in survey(desk).files if e.name.lower().rsplit("/", 1)[-1] == base.lower()]
    return min(names, key=lambda name: (not f"/{name}".endswith(f"/{wanted}"), name.count("/")), default=None)


def _by_glob(desk: Desk, glob: str) -> str | None:
    """The path of the first file that has any text and that a glob matches."""
    found = desk.ask("searcher", pattern=".", glob=glob, most=1)
    return next((hit.path for hit in hits(found.text) if hit.path), None) if not found.failed else None
