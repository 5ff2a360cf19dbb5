"""Plans that say what a file is: its purpose in its own words, an extract of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.files import cut_note, fetch, name_of, sorry
from agentlab.providers.offline.text import joined, shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.needs import Need
    from agentlab.providers.offline.observing import Document

DOCSTRING = re.compile(r'^\s*[rRuUbB]{0,2}("""|\'\'\')(.+?)(?:\1|\Z)', re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE)
DEFINED = re.compile(r"^(?:async )?(?:def|class) +(\w+)", re.MULTILINE)
FIRST_LINES = 5


def purpose(desk: Desk, need: Need) -> str:
    """Say what a file is for, in its own words."""
    results = desk.each(lambda path: fetch(desk, path, fresh=need.fresh), need.paths)
    return "\n".join(_purpose(path, result) for path, result in zip(need.paths, results, strict=True))


def _purpose(path: str, result: Result) -> str:
    if result.failed:
        return sorry(path, result)
    doc = result.doc
    return f'{name_of(result, path)} says of itself: "{says(doc)}" ({doc.size()}).{cut_note(doc)}'


def says(doc: Document) -> str:
    """The first thing that a text says about itself: docstring, leading comment, heading or first line."""
    head = (doc.head or doc.tail).lstrip("\ufeff")[:4_000]
    found = DOCSTRING.search(head)
    before = head[: found.start()].splitlines() if found else []
    if found and all(not line.strip() or line.lstrip().startswith("#") for line in before):
        return shorten(found[2].strip().split("\n\n")[0], 240)
    lines = [line.strip() for line in head.splitlines() if line.strip() and not line.startswith("#!")]
    comments = [line.strip("#/*; -=") for line in lines[:10] if line.startswith(("#", "//", "/*", ";", "--"))]
    chosen = next((c for c in comments if len(c) > 3), lines[0] if lines else "nothing: it is empty")
    return shorten(chosen, 240)


def extract(desk: Desk, need: Need) -> str:
    """Sum up files by lines of their own; nothing is written anew, and the answer says so."""
    results = desk.each(lambda path: fetch(desk, path, fresh=need.fresh), need.paths)
    return "\n".join(_extract(path, result) for path, result in zip(need.paths, results, strict=True))


def _extract(path: str, result: Result) -> str:
    if result.failed:
        return sorry(path, result)
    doc, name = result.doc, name_of(result, path)
    title = joined(f"Extract of {name} ({doc.size()}), in its own lines:", cut_note(doc))
    code = name.endswith((".py", ".pyi"))
    listed = list(dict.fromkeys((DEFINED if code else HEADING).findall(doc.seen)))
    if not listed:
        return "\n".join([title, *_first(doc.seen)])
    what = "It defines" if code else "Its headings"
    more = f" and {len(listed) - 30:,} more" if len(listed) > 30 else ""
    first = says(doc) if code else "\n".join(line for line in _first(doc.seen) if not line.startswith("#"))
    return f"{title}\n{first}\n{what}: {', '.join(listed[:30])}{more}."


def _first(text: str) -> list[str]:
    lines = [shorten(line, 160) for line in text.splitlines() if line.strip()]
    return lines[:FIRST_LINES] + ["…"] * (len(lines) > FIRST_LINES)
