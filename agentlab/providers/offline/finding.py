"""Plans that look for something: in files, in folders, among definitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.desk import NoTool
from agentlab.providers.offline.files import between, complete, cut_note, fetch, name_of, sorry, takes_lines
from agentlab.providers.offline.observing import Hit, entries, hits
from agentlab.providers.offline.patterns import REGULAR
from agentlab.providers.offline.roles import properties, required
from agentlab.providers.offline.text import shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.observing import Document
    from agentlab.providers.offline.reading import Need

SPECIAL = re.compile(r"([.^$*+?{}\[\]\\|()])")
STOPPED = re.compile(r"^\((stopped [^:)\n]+)", re.MULTILINE)  # a search that did not look at everything says so
MAX_READ = 8
DEFINITIONS = {
    "class": ("^class ", r"^class\s+(\w+)"),
    "function": ("^(async )?def ", r"^(?:async\s+)?def\s+(\w+)"),
    "method": ("^ +(async )?def ", r"^\s+(?:async\s+)?def\s+(\w+)"),
    "import": ("^(import|from) ", r"^(?:import|from)\s+([\w.]+)"),
    "heading": ("^#+ ", r"^#+\s+(.+)"),
    "section": ("^(#+ |\\[)", r"^(?:#+\s+|\[)([^\]\n]+)"),
}


def regular(desk: Desk) -> bool:
    """Whether the search tool takes regular expressions, by what it says of itself."""
    fit = desk.role("searcher")
    key = fit.parameters["pattern"]
    about = f"{fit.tool.description} {properties(fit.tool).get(key, {})} {key} {fit.tool.name}".lower()
    plain = re.search("literal|substring|plain text", about)
    return plain is None and re.search("regex|regular|pattern|grep", about) is not None


def grep(desk: Desk, pattern: str, path: str | None) -> Result:
    """Search with the search tool; a folder is named where the tool insists on one."""
    fit = desk.role("searcher")
    key = fit.parameters.get("path")
    return desk.ask("searcher", pattern=pattern, path=path or ("." if key in required(fit.tool) else None))


def search(desk: Desk, need: Need) -> str:
    """Find lines that have a text in them."""
    paths = list(need.paths) or [""]
    literal = not (REGULAR.search(need.clause.bare) and compiles(need.pattern))
    found = desk.each(lambda path: look(desk, need.pattern, path, literal=literal, all_of_it=bool(need.detail)), paths)
    lines = [hit for result in found for hit in result[0]]
    notes = " ".join(dict.fromkeys(note for _, note in found if note))
    return report(need, lines, notes)


def compiles(pattern: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def look(
    desk: Desk, pattern: str, path: str, *, literal: bool, keep: str = "", all_of_it: bool = True
) -> tuple[list[Hit], str]:
    """The lines that match, and a word on what could not be seen.

    Args:
        desk: The tools.
        pattern: What to look for.
        path: A file or folder, or "" for everywhere.
        literal: Whether the pattern is plain text.
        keep: Regular expression that a found line must match.
        all_of_it: Whether hits that were cut are worth further calls where some were seen.

    Raises:
        NoTool: Nothing at hand can search or read.
    """
    plain = SPECIAL.sub(r"\\\1", pattern) if literal else pattern
    if "searcher" in desk.roles and (not path or "path" in desk.roles["searcher"].parameters):
        wanted = plain if regular(desk) else pattern if literal else pattern.strip("^").split("(")[0].split("+")[-1]
        result = grep(desk, wanted, path or None)
        if result.failed:
            return [], sorry(path or "the files", result)
        doc = result.doc
        if all_of_it or not hits(doc.seen, path):
            doc = desk.whole(result)
        lines = [h for h in hits(doc.seen, path) if not keep or re.search(keep, h.text)]
        other = "" if lines or not doc.seen.strip() or keep else f"The search said: {shorten(doc.seen, 200)}"
        stopped = STOPPED.search(doc.seen)
        other += f" The search {stopped[1]}." if stopped else ""
        return lines, other + cut_note(doc).replace("part of it", "part of the hits")
    matches = re.compile(keep or plain)
    targets = [path] if path and not path.endswith("/") else _inside(desk, path)
    found = desk.each(lambda target: _scan(desk, target, matches), targets)
    return [h for some, _ in found for h in some], "".join(note for _, note in found)


def _inside(desk: Desk, folder: str) -> list[str]:
    """The first files of a folder."""
    listing = desk.ask("lister", path=folder or None)
    found = [] if listing.failed else [f"{folder}{e.name}" for e in entries(listing.text) if not e.name.endswith("/")]
    return found[:MAX_READ]


def _scan(desk: Desk, path: str, matches: re.Pattern[str]) -> tuple[list[Hit], str]:
    """Look through one file by reading it, further than what was seen only where that had nothing."""
    result = fetch(desk, path)
    if result.failed:
        return [], sorry(path, result)
    name = name_of(result, path)
    found = _matching(result.doc, name, matches)
    doc = result.doc
    if not found and doc.gap is not None:
        doc = complete(desk, path, result)
        found = _matching(doc, name, matches)
    return found, cut_note(doc) if doc.gap is not None else ""


def _matching(doc: Document, path: str, matches: re.Pattern[str]) -> list[Hit]:
    return [Hit(path, n or 0, line) for n, line in doc.numbered() if matches.search(line)]


def report(need: Need, lines: list[Hit], notes: str) -> str:
    """Say what a search found."""
    where = f" in {', '.join(need.paths)}" if need.paths else ""
    if not lines:
        return f'I found no line with "{need.pattern}"{where}. {notes}'.strip()
    files = list(dict.fromkeys(hit.path for hit in lines if hit.path))
    counted = f'{"at least " if notes else ""}{len(lines)} line{"s" * (len(lines) != 1)} with "{need.pattern}"'
    counted = counted[0].upper() + counted[1:]
    if need.detail == "count":
        inside = f" in {len(files)} file{'s' * (len(files) != 1)}" if len(files) != 1 else f" in {files[0]}"
        return f"{counted}{inside}. {notes}".strip()
    shown = "\n".join(
        f"{h.path}:{h.line}: {shorten(h.text, 200)}" if h.line else f"{h.path}: {shorten(h.text, 200)}"
        for h in lines[:8]
    )
    more = f"\nand {len(lines) - 8} more" if len(lines) > 8 else ""
    if need.detail == "files" and files:
        shown = f"{', '.join(files[:40])}\n{shown}"
    return f"{counted}{where}:\n{shown}{more}\n{notes}".strip()


def defines(desk: Desk, need: Need) -> str:
    """Name the classes, functions, imports or headings of a file."""
    if not need.paths:
        return f"Which file do you mean? Name it and I look for its {need.detail} definitions."
    pattern, keep = DEFINITIONS.get(need.detail, DEFINITIONS["class"])
    found = desk.each(lambda path: look(desk, pattern, path, literal=False, keep=keep), need.paths)
    return "\n".join(_defined(need.detail, path, *result) for path, result in zip(need.paths, found, strict=True))


def _defined(kind: str, path: str, lines: list[Hit], notes: str) -> str:
    keep = DEFINITIONS.get(kind, DEFINITIONS["class"])[1]
    found = (re.search(keep, hit.text) for hit in lines)
    names = list(dict.fromkeys(m[1].strip() for m in found if m))
    plural = f"{kind}es" if kind == "class" else f"{kind}s"
    if not names:
        return f"I found no {plural} in {path}. {notes}".strip()
    last = f" (the last at line {lines[-1].line})" if lines[-1].line else ""
    counted = f"{len(names)} {plural if len(names) != 1 else kind}"
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    return f"{path} has {counted}: {shown}{last}. {notes}".strip()


def definition(desk: Desk, need: Need) -> str:
    """Show the code of one class or function."""
    path = need.paths[0] if need.paths else ""
    lines, notes = look(
        desk, f"(def|class) {need.pattern}", path, literal=False, keep=rf"(?:def|class)\s+{need.pattern}\b"
    )
    if not lines:
        return f"I found no definition of {need.pattern}{f' in {path}' if path else ''}. {notes}".strip()
    hit = lines[0]
    if hit.line and takes_lines(desk):
        return f"{need.pattern} is defined in {hit.path}:{hit.line}. {between(desk, hit.path, hit.line, hit.line + 19)}"
    return f"{need.pattern} is defined in {hit.path}:{hit.line}: {shorten(hit.text, 200)} {notes}".strip()


def folder(desk: Desk, need: Need) -> str:
    """List a folder."""
    return "\n".join(desk.each(lambda path: _folder(desk, path, need), need.paths or ("",)))


def _folder(desk: Desk, path: str, need: Need) -> str:
    lister = desk.role("lister")
    given = path or ("." if lister.parameters.get("path") in required(lister.tool) else None)
    result = desk.ask("lister", fresh=need.fresh, path=given)
    if result.failed:
        return f"I could not list {path or 'the folder'}. {shorten(result.text, 300)}"
    doc = desk.whole(result) if need.detail == "count" else result.doc
    names = [e.name for e in entries(doc.seen)]
    where = name_of(result, path) if path else "The folder"
    if doc.gap is not None:
        note = f" I saw only part of the list: {doc.gap.omitted} characters were cut from the {doc.gap.place}."
        total = f"{doc.gap.lines} entries" if doc.gap.lines else f"more than {len(names)} entries"
    else:
        note, total = "", f"{len(names)} entr{'y' if len(names) == 1 else 'ies'}"
    shown = names if len(names) <= 30 else [*names[:20], "…", *names[-5:]]
    return f"{where} has {total}: {', '.join(shown)}.{note}" if names else f"{where} is empty: {shorten(result.text)}"


def known_names(desk: Desk) -> frozenset[str]:
    """Names of files and folders that listings of this request showed."""
    try:
        lister = desk.role("lister").tool.name
    except NoTool:
        return frozenset()
    seen = [o for o in desk.history.observations if o.name == lister and not o.is_error]
    names = {e.name for o in seen[-5:] for e in entries(o.text)[:3_000]}
    return frozenset(n for name in names for n in (name, name.rstrip("/")) if len(n) > 2)
