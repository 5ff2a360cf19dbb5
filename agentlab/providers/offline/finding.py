"""Plans that look for a text in files and folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from agentlab.printable import counted
from agentlab.providers.offline.files import complete, cut_note, fetch, name_of, sorry
from agentlab.providers.offline.observing import HIT, Hit, entries, hits
from agentlab.providers.offline.patterns import REGULAR
from agentlab.providers.offline.roles import properties, required
from agentlab.providers.offline.text import joined, shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.needs import Need
    from agentlab.providers.offline.observing import Document

SPECIAL = re.compile(r"([.^$*+?{}\[\]\\|()])")
STOPPED = re.compile(r"^\((stopped [^:)\n]+)", re.MULTILINE)  # a search that did not look at everything says so
MAX_READ = 8
SHOWN = 8
DEFINES = "class |def |async def |const |let |var |function |type |export "
APART = "[ _-]?"  # what may stand between the words of a name: tax rate, tax_rate, tax-rate, taxrate


class Found(msgspec.Struct, frozen=True):
    """What a search found: the lines that were seen, how many there are at least, and what was not looked at.

    `notes` is empty where `total` is the whole count.
    """

    hits: list[Hit]
    total: int
    notes: str = ""


def regular(desk: Desk) -> bool:
    """Whether the search tool takes regular expressions, by what it says of itself."""
    fit = desk.role("searcher")
    key = fit.parameters["pattern"]
    about = f"{fit.tool.description} {properties(fit.tool).get(key, {})} {key} {fit.tool.name}".lower()
    plain = re.search("literal|substring|plain text", about)
    return plain is None and re.search("regex|regular|pattern|grep", about) is not None


def grep(desk: Desk, pattern: str, path: str | None, *, any_case: bool = False, most: int | None = None) -> Result:
    """Search with the search tool; a folder is named where the tool insists on one.

    Args:
        desk: The tools.
        pattern: What the tool is given.
        path: A file or folder.
        any_case: Whether upper and lower case are the same, as far as the tool can do that.
        most: How many hits are wanted at most, where the tool can be told.
    """
    fit = desk.role("searcher")
    key = fit.parameters.get("path")
    if any_case and "ignore_case" not in fit.parameters and regular(desk):
        pattern = f"(?i){pattern}"
    where = path or ("." if key in required(fit.tool) else None)
    return desk.ask("searcher", pattern=pattern, path=where, ignore_case=any_case or None, most=most)


def search(desk: Desk, need: Need) -> str:
    """Find lines that have a text in them: as it was quoted, or a plain word in any case."""
    paths = list(need.paths) or [""]
    literal = not (REGULAR.search(need.clause.bare) and compiles(need.pattern))
    any_case = literal and not need.exact
    if need.detail == "defined" and literal and ("searcher" not in desk.roles or regular(desk)):
        pattern = rf"^\s*({DEFINES})?[\"']?{apart(need.pattern)}[\"']?\s*[:=(]"
        given = desk.each(lambda path: look(desk, pattern, path, literal=False, any_case=any_case), paths)
        lines = [hit for result in given for hit in result.hits]
        if lines:
            lines = [hit for hit in lines if not hit.text[:1].isspace()] or lines
            return report(need, Found(lines, len(lines)), any_case=any_case)
    depth = "lines" if need.detail == "files" else "count" if need.detail in ("count", "yes") else ""
    found = desk.each(
        lambda path: look(desk, need.pattern, path, literal=literal, any_case=any_case, depth=depth), paths
    )
    lines = [hit for result in found for hit in result.hits]
    notes = joined(*dict.fromkeys(result.notes for result in found))
    return report(need, Found(lines, sum(result.total for result in found), notes), any_case=any_case)


def apart(name: str) -> str:
    """The expression for a name of several words, however they are joined.

    >>> apart("tax rate")
    'tax[ _-]?rate'
    """
    return re.sub(r"[\s_-]+", APART, SPECIAL.sub(r"\\\1", name))


def compiles(pattern: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def look(
    desk: Desk,
    pattern: str,
    path: str,
    *,
    literal: bool,
    keep: str = "",
    depth: str = "lines",
    any_case: bool = False,
    most: int | None = None,
) -> Found:
    """The lines that match, and a word on what could not be seen.

    Args:
        desk: The tools.
        pattern: What to look for.
        path: A file or folder, or "" for everywhere.
        literal: Whether the pattern is plain text.
        keep: Regular expression that a found line must match.
        depth: Where hits were cut and some were seen: whether every line is worth further calls (`"lines"`), the
            count is where it is not known (`"count"`), or nothing is (`""`).
        any_case: Whether upper and lower case are the same; then words may be joined in any way, too.
        most: How many hits are wanted at most, where that is more than the tool gives by itself.

    Raises:
        NoTool: Nothing at hand can search or read.
    """
    plain = pattern if not literal else apart(pattern) if any_case else SPECIAL.sub(r"\\\1", pattern)
    if "searcher" in desk.roles and (not path or "path" in desk.roles["searcher"].parameters):
        wanted = plain if regular(desk) else pattern if literal else pattern.strip("^").split("(")[0].split("+")[-1]
        result = grep(desk, wanted, path or None, any_case=any_case, most=most)
        return _of_result(desk, result, path, keep, depth)
    matches = re.compile(keep or plain, re.IGNORECASE if any_case else 0)
    targets = [path] if path and not path.endswith("/") else _inside(desk, path)
    found = desk.each(lambda target: _scan(desk, target, matches), targets)
    lines = [hit for one in found for hit in one.hits]
    return Found(lines, len(lines), joined(*(one.notes for one in found)))


def _of_result(desk: Desk, result: Result, path: str, keep: str, depth: str) -> Found:
    """Read what the search tool returned."""
    if result.failed:
        return Found([], 0, sorry(path or "the files", result))
    doc = result.doc
    told = None if keep else _total(doc)
    if depth == "lines" or not hits(doc.seen, path) or (depth and told is None):
        doc = desk.whole(result)
    lines = [h for h in hits(doc.seen, path) if not keep or re.search(keep, h.text)]
    nothing = lines or keep or doc.seen.lstrip().startswith("no ")
    other = "" if nothing or not doc.seen.strip() else f"The search said: {shorten(doc.seen, 200)}"
    stopped = STOPPED.search(doc.seen)
    notes = [other, f"The search {stopped[1]}." if stopped else ""]
    if doc.gap is not None and told is None:
        notes.append(cut_note(doc).replace("part of it", "part of the hits"))
    return Found(lines, max(len(lines), told or 0), joined(*notes))


def _total(doc: Document) -> int | None:
    """How many hits a search had, by the note of the cut where the end of its result was seen; None if unknown."""
    gap = doc.gap
    end = doc.tail.splitlines()[1:]
    if gap is None or gap.lines is None or gap.place == "end" or not end:
        return None
    remarks = sum(1 for line in end if line.startswith("("))
    return gap.lines - remarks if all(HIT.match(line) or line.startswith("(") for line in end) else None


def _inside(desk: Desk, folder: str) -> list[str]:
    """The first files of a folder."""
    listing = desk.ask("lister", path=folder or None)
    found = [] if listing.failed else [f"{folder}{e.name}" for e in entries(listing.text) if not e.name.endswith("/")]
    return found[:MAX_READ]


def _scan(desk: Desk, path: str, matches: re.Pattern[str]) -> Found:
    """Look through one file by reading it, further than what was seen only where that had nothing."""
    result = fetch(desk, path)
    if result.failed:
        return Found([], 0, sorry(path, result))
    name = name_of(result, path)
    found = _matching(result.doc, name, matches)
    doc = result.doc
    if not found and doc.gap is not None:
        doc = complete(desk, path, result)
        found = _matching(doc, name, matches)
    return Found(found, len(found), cut_note(doc) if doc.gap is not None else "")


def _matching(doc: Document, path: str, matches: re.Pattern[str]) -> list[Hit]:
    return [Hit(path, n or 0, line) for n, line in doc.numbered() if matches.search(line)]


def report(need: Need, found: Found, *, any_case: bool = False) -> str:
    """Say what a search found; a yes or no first where that is asked."""
    lines, notes = found.hits, found.notes
    where = f" in {', '.join(need.paths)}" if need.paths else ""
    what = f'with "{need.pattern}"{" (case ignored)" if any_case else ""}'
    if not lines:
        none = "No: there is no line" if need.detail == "yes" and not notes else "I found no line"
        return joined(f"{none} {what}{where}.", notes)
    files = list(dict.fromkeys(hit.path for hit in lines if hit.path))
    said = f"{'at least ' if notes else ''}{counted(found.total, 'line')} {what}"
    said = f"Yes: {said}" if need.detail == "yes" else said[0].upper() + said[1:]
    if need.detail == "count":
        least = "at least " if found.total > len(lines) and len(need.paths) != 1 else ""
        return joined(
            f"{said} in {files[0] if len(files) == 1 and not least else least + counted(len(files), 'file')}.", notes
        )
    shown = "\n".join(
        f"{h.path}:{h.line}: {shorten(h.text, 200)}" if h.line else f"{h.path}: {shorten(h.text, 200)}"
        for h in lines[:SHOWN]
    )
    more = f"\nand {found.total - SHOWN:,} more" if found.total > SHOWN else ""
    if need.detail == "files" and files:
        shown = f"{', '.join(files[:40])}\n{shown}"
    return f"{said}{where}:\n{shown}{more}\n{notes}".strip()
