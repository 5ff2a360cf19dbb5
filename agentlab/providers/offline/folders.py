"""Plans about folders: what they hold, how many files of a kind, which is the largest, the second of a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentlab.printable import counted
from agentlab.providers.offline import files
from agentlab.providers.offline.comparing import LEAST, comparative, most, winner
from agentlab.providers.offline.desk import NoTool
from agentlab.providers.offline.naming import FILE_KINDS
from agentlab.providers.offline.observing import entries
from agentlab.providers.offline.text import ORDINALS, joined, shorten
from agentlab.providers.offline.tree import listing, survey

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.needs import Need
    from agentlab.providers.offline.observing import Entry

MOST_MEASURED = 8


def folder(desk: Desk, need: Need) -> str:
    """List folders, or count what is in them."""
    plan = _counted if need.detail or need.pattern else _listed
    return "\n".join(desk.each(lambda path: plan(desk, path, need), need.paths or ("",)))


def _listed(desk: Desk, path: str, need: Need) -> str:
    result = listing(desk, path, fresh=need.fresh)
    if result.failed:
        return f"I could not list {path or 'the folder'}. {shorten(result.text, 300)}"
    doc = result.doc
    names = [e.name for e in entries(doc.seen)]
    where = files.name_of(result, path) if path else "The folder"
    note, total = "", counted(len(names), "entry", "entries")
    if doc.gap is not None:
        note = f" I saw only part of the list: {doc.gap.omitted:,} characters were cut from the {doc.gap.place}."
        total = f"{doc.gap.lines:,} entries" if doc.gap.lines else f"more than {len(names):,} entries"
    return f"{where} has {total}: {_some(names)}.{note}" if names else f"{where} is empty: {shorten(result.text)}"


def _counted(desk: Desk, path: str, need: Need) -> str:
    """Count files, of a kind or all, here or also below; folders are counted apart."""
    below = "below" in need.detail
    if not below:
        listing(desk, path, fresh=need.fresh)
    found = survey(desk, path, below=below)
    if found.error:
        return f"I could not list {path or 'the folder'}. {shorten(found.error, 300)}"
    where = path.rstrip("/") if path.rstrip("/.") else "The folder"
    here = entries(desk.whole(listing(desk, path)).seen)
    folders = list(found.folders) if below else [e.name for e in here if e.name.endswith("/")]
    endings = tuple(f".{ending}" for ending in need.pattern.split())
    chosen = [e.name for e in found.files if not endings or e.name.lower().endswith(endings)]
    kind = next((f"{w.text} " for w in need.clause.words if endings and w.lower.lstrip("*.") in FILE_KINDS), "")
    prefix = f"{path.rstrip('/')}/" if path.rstrip("/.") else ""
    shown = _some([name.removeprefix(prefix) for name in chosen])
    least = "at least " if found.partial else ""
    if "folders" in need.detail:
        return joined(f"{where} has {least}{counted(len(folders), 'folder')}: {_some(folders)}.", found.note)
    apart = f" and {counted(len(folders), 'folder')}" if folders else ""
    apart = f" outside its {counted(len(folders), 'subfolder')}" if apart and endings else apart
    inside = f" in it and its {counted(len(folders), 'subfolder')}" if below and folders else apart
    listed = f": {shown}" if chosen else ""
    return joined(f"{where} has {least}{counted(len(chosen), f'{kind}file')}{inside}{listed}.", found.note)


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 30 else [*names[:20], "…", *names[-5:]])


def largest(desk: Desk, need: Need) -> str:
    """Find the largest or smallest file of a folder and what is below it."""
    return pick(desk, need)[1]


def read_largest(desk: Desk, need: Need) -> str:
    """Find the largest or smallest file, and read it."""
    best, said = pick(desk, need)
    return f"{said}\n{files.read(desk, replace(need, paths=(best,)))}" if best else said


def pick(desk: Desk, need: Need) -> tuple[str, str]:
    """The largest or smallest file, by the sizes in listings or by reading a few, and a sentence on it."""
    found = survey(desk, need.paths[0] if need.paths else "")
    if found.error:
        return "", f"I could not list it. {shorten(found.error, 300)}"
    endings = tuple(f".{ending}" for ending in need.pattern.split())
    chosen = [e for e in found.files if not endings or e.name.lower().endswith(endings)]
    sizes = {e.name: e.size for e in chosen if e.size is not None}
    if not sizes or "line" in need.detail:
        return _by_reading(desk, need, sorted(chosen, key=lambda e: -(e.size or 0)), found.note)
    choose = min if need.detail.startswith(LEAST) else max
    best = choose(sizes, key=lambda name: sizes[name])
    below = f" here and in {counted(len(found.folders), 'subfolder')}" if found.folders and not found.unseen else ""
    is_it = f"{best} is {comparative(need.detail, 3)}"
    said = f"{is_it}: {counted(sizes[best], 'byte')}, of {counted(len(sizes), 'file')}{below}."
    return best, joined(said, found.note)


def _by_reading(desk: Desk, need: Need, chosen: list[Entry], note: str) -> tuple[str, str]:
    names = [e.name for e in chosen[:MOST_MEASURED]]
    results = desk.each(lambda name: files.fetch(desk, name), names)
    docs = {n: r.doc for n, r in zip(names, results, strict=True) if not r.failed}
    best = (most(docs, need.detail) or next(iter(docs))) if docs else ""
    measured = f"I measured {len(names)} of {len(chosen)} files." if len(chosen) > len(names) else ""
    return best, joined(winner(docs, need.detail), measured, note)


def of_the_list(desk: Desk, need: Need) -> str:
    """Read the file at a place of the list that was shown last, or of the folder's."""
    seen = desk.last_of("lister")
    if seen is None:
        result = listing(desk, "")
        if result.failed:
            return f"I could not list the folder. {shorten(result.text, 300)}"
        text, arguments = result.text, result.call.arguments
    else:
        text, arguments = seen.text, seen.arguments
    path = arguments.get(desk.roles["lister"].parameters.get("path", ""), "")
    prefix = f"{path.rstrip('/')}/" if isinstance(path, str) and path.rstrip("/.") else ""
    names = [e.name for e in entries(text) if not e.name.endswith("/")]
    place = ORDINALS.get(need.detail, 0)
    if not -len(names) <= place < len(names):
        return f"The list has only {counted(len(names), 'file')}."
    chosen = replace(need, paths=(prefix + names[place],))
    return (
        files.size(desk, chosen)
        if re.search(r"\bhow (?:long|big|many)\b", need.clause.bare)
        else files.read(desk, chosen)
    )


def known_names(desk: Desk) -> frozenset[str]:
    """Names of files and folders that listings of this request showed."""
    try:
        lister = desk.role("lister").tool.name
    except NoTool:
        return frozenset()
    seen = [o for o in desk.history.observations if o.name == lister and not o.is_error]
    names = {e.name for o in seen[-5:] for e in entries(o.text)[:3_000]}
    return frozenset(n for name in names for n in (name, name.rstrip("/")) if len(n) > 2)
