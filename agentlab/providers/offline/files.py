"""Plans about one file: read it, a part of it, its purpose, its size, its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.printable import counted
from agentlab.providers.offline.observing import Document
from agentlab.providers.offline.text import shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.needs import Need

WHOLE = 1_500
SHOWN_LINES = 6
AROUND = 10
MAX_ARGUMENT = 20_000


def fetch(desk: Desk, path: str, *, fresh: bool = False) -> Result:
    """Read a file; an earlier observation of it serves unless it shall be fresh."""
    return desk.ask("reader", fresh=fresh, path=path)


def name_of(result: Result, path: str) -> str:
    """The path that was read in the end, which may be a corrected one."""
    return next((v for v in result.call.arguments.values() if isinstance(v, str)), path)


def sorry(path: str, result: Result) -> str:
    """Say that a call failed, with the error's first line."""
    return f"I could not read {path}. {shorten(result.text, 300)}"


def cut_note(doc: Document) -> str:
    """What was not seen, or nothing."""
    if doc.gap is None:
        return ""
    return f" I saw only part of it: {doc.gap.omitted:,} characters were cut from the {doc.gap.place}."


def quoted(text: str, most: int = WHOLE) -> str:
    """A text as it is, or its first and last lines where it is long."""
    text = text.strip("\n")
    lines = text.splitlines()
    if len(text) <= most and len(lines) <= 60:
        return text
    head, tail = lines[:SHOWN_LINES], lines[-SHOWN_LINES:] if len(lines) > 2 * SHOWN_LINES else []
    return "\n".join([*(line[:200] for line in head), "…", *(line[:200] for line in tail)])


def read(desk: Desk, need: Need) -> str:
    """Show files."""
    results = desk.each(lambda path: fetch(desk, path, fresh=need.fresh), need.paths)
    if need.silent:
        return "\n".join(sorry(p, r) for p, r in zip(need.paths, results, strict=True) if r.failed)
    return "\n\n".join(_shown(path, result) for path, result in zip(need.paths, results, strict=True))


def _shown(path: str, result: Result) -> str:
    if result.failed:
        return sorry(path, result)
    doc = result.doc
    return f"{name_of(result, path)} ({doc.size()}):{cut_note(doc)}\n{quoted(doc.seen)}"


def size(desk: Desk, need: Need) -> str:
    """Say how long files are; a marker gives the size of the whole even where a part was cut."""
    if not need.paths:
        return "Which file do you mean? Name it and I measure it."
    results = desk.each(lambda path: fetch(desk, path, fresh=need.fresh), need.paths)
    return "\n".join(
        sorry(p, r) if r.failed else f"{name_of(r, p)} has {r.doc.size()}."
        for p, r in zip(need.paths, results, strict=True)
    )


def words(desk: Desk, need: Need) -> str:
    """Count words, of quoted text or of files."""
    if need.clause.quotes:
        counted = desk.each(lambda text: _count(desk, text, f'"{shorten(text, 60)}"'), need.clause.quotes)
        return "\n".join(counted)
    if not need.paths:
        said = need.clause.text.partition(":")[2].strip()
        return _count(desk, said, "the text") if said else "Which text? Put it in quotes, or name a file."
    return "\n".join(desk.each(lambda path: _words_of(desk, path), need.paths))


def _words_of(desk: Desk, path: str) -> str:
    result = fetch(desk, path)
    if result.failed:
        return sorry(path, result)
    doc = complete(desk, path, result)
    path = name_of(result, path)
    if doc.gap is None:
        return _count(desk, doc.head, path)
    seen = len(doc.seen.split())
    return (
        f"I cannot count all words of {path}: the parts that I saw have {seen:,}, and {doc.gap.omitted:,} of "
        f"{counted(doc.characters, 'character')} were cut from the {doc.gap.place}."
    )


def _count(desk: Desk, text: str, what: str) -> str:
    own = len(text.split())
    if "counter" in desk.roles and len(text) <= MAX_ARGUMENT:
        result = desk.ask("counter", text=text)
        found = None if result.failed else re.search(r"\d[\d,]*", result.text)
        if found:
            return f"{what} has {counted(int(found[0].replace(',', '')[:18]), 'word')}."
        if result.failed:
            error = shorten(result.text, 120)
            return f"The word count failed ({error}); by my own count {what} has {counted(own, 'word')}."
    return f"{what} has {counted(own, 'word')}, by my own count."


def complete(desk: Desk, path: str, result: Result) -> Document:
    """The whole of a file that was cut: by its stored text, else by reading it in ranges of lines."""
    doc = desk.whole(result)
    stored = doc.gap is not None and doc.gap.id and "pager" in desk.roles
    if doc.gap is None or stored or doc.gap.place == "start" or not takes_lines(desk):
        return doc
    first = max(1, len(doc.head.splitlines()))
    page = max(5, (len(doc.head.splitlines()) + len(doc.tail.splitlines())) * 2 // 3)
    text = "\n".join(doc.head.splitlines()[: first - 1])
    text += "\n" if text else ""
    for _ in range(desk.max_pages):
        part = fetch_lines(desk, name_of(result, path), first, first + page - 1)
        if part.failed:
            return Document(text)
        if part.doc.gap is not None:
            return doc
        text += part.doc.head if part.doc.head.endswith("\n") else part.doc.head + "\n"
        if len(part.doc.head.splitlines()) < page:
            return Document(text)
        first += page
    return doc


def fetch_lines(desk: Desk, path: str, first: int, last: int) -> Result:
    """Read some lines of a file."""
    return desk.ask("reader", path=path, start_line=first, end_line=last)


def takes_lines(desk: Desk) -> bool:
    """Whether the reader can be asked for some lines."""
    return {"start_line", "end_line"} <= set(desk.role("reader").parameters)


def lines(desk: Desk, need: Need) -> str:
    """Show lines by their numbers."""
    path = need.paths[0]
    first, last = need.lines or (1, 1)
    last = max(first, last)
    return between(desk, path, first, last)


def between(desk: Desk, path: str, first: int, last: int) -> str:
    """Some lines of a file, from what was observed or by asking for them."""
    if takes_lines(desk):
        result = fetch_lines(desk, path, first, last)
        if result.failed:
            return sorry(path, result)
        return f"{name_of(result, path)}, lines {first} to {last}:{cut_note(result.doc)}\n{quoted(result.text, 3_000)}"
    result = fetch(desk, path)
    if result.failed:
        return sorry(path, result)
    doc = complete(desk, path, result)
    chosen = [line for n, line in doc.numbered() if n is not None and first <= n <= last]
    if len(chosen) == last - first + 1 or (doc.gap is None and chosen):
        return f"{path}, lines {first} to {last}:\n" + quoted("\n".join(chosen), 3_000)
    return f"I do not have lines {first} to {last} of {path} ({doc.size()}).{cut_note(doc)}"


def part(desk: Desk, need: Need) -> str:
    """Show the start, the middle or the end of files."""
    return "\n".join(desk.each(lambda path: _part(desk, path, need), need.paths))


def _part(desk: Desk, path: str, need: Need) -> str:
    result = fetch(desk, path)
    if result.failed:
        return sorry(path, result)
    where, doc = need.detail, result.doc
    path = name_of(result, path)
    default = 1 if re.search(r"\b(?:first|last) line\b", need.clause.bare) else AROUND
    n = next((int(x) for x in need.clause.numbers if 0 < x <= 200 and x == int(x)), default)
    gap = doc.gap
    if where == "start" and (gap is None or gap.place != "start"):
        return f"{path} begins with:\n" + quoted("\n".join(doc.head.splitlines()[:n]))
    if where == "end" and (gap is None or gap.place != "end"):
        return f"{path} ({doc.size()}) ends with:\n" + quoted(
            "\n".join((doc.tail if gap else doc.head).splitlines()[-n:])
        )
    total = doc.lines
    if total is not None:
        first = {"start": 1, "end": total - n + 1}.get(where, total // 2 - n // 2)
        if gap is None:
            return f"The {where} of {path}:\n" + quoted(
                "\n".join(doc.head.splitlines()[max(0, first - 1) : first - 1 + n])
            )
        if takes_lines(desk):
            return f"The {where} of {path}. " + between(desk, path, max(1, first), max(1, min(total, first + n - 1)))
    return _part_stored(desk, path, where, doc)


def _part_stored(desk: Desk, path: str, where: str, doc: Document) -> str:
    """The part that was cut, out of the stored text."""
    gap = doc.gap
    if gap is None or gap.start is None or gap.end is None or not gap.id or "pager" not in desk.roles:
        return f"I cannot show the {where} of {path}: that part was cut and I have no way to fetch it.{cut_note(doc)}"
    middle = (gap.start + gap.end) // 2
    start = {"start": gap.start, "end": gap.end - 600}.get(where, middle - 300)
    start = max(gap.start, start)
    page = desk.ask("pager", id=gap.id, start=start, end=min(gap.end, start + 600))
    return sorry(path, page) if page.failed else f"The {where} of {path} ({doc.size()}):\n{quoted(page.text)}"
