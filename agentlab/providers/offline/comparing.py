"""Plans that put observations side by side: of two files, of now and before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.printable import counted
from agentlab.providers.offline.files import cut_note, fetch, name_of, sorry
from agentlab.providers.offline.observing import Document, document
from agentlab.providers.offline.text import shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.needs import Need

LEAST = ("short", "small", "fewest")


def compare(desk: Desk, need: Need) -> str:
    """Say which of some files is longer, or in what they differ."""
    if len(need.paths) < 2:
        return "Which two files shall I compare? Name both."
    results = desk.each(lambda path: fetch(desk, path), need.paths)
    failed = [sorry(p, r) for p, r in zip(need.paths, results, strict=True) if r.failed]
    if failed:
        return "\n".join(failed)
    docs = {name_of(r, p): r.doc for p, r in zip(need.paths, results, strict=True)}
    sizes = "; ".join(f"{path} has {doc.size()}" for path, doc in docs.items())
    if not need.detail or len(docs) < 2:
        return f"{sizes}.{differences(docs)}" if len(docs) > 1 else f"Both names mean {next(iter(docs))}: {sizes}."
    best = most(docs, need.detail)
    if best is None:
        return f"They are equally long: {sizes}."
    other = most(docs, need.detail, by_lines=False)
    if other not in (None, best):
        word = comparative(need.detail, len(docs))
        return f"{best} is {word} by lines, {other} by characters: {sizes}."
    asked = re.match(r"(?:is|are|was) (\S+)", need.clause.bare)
    verdict = "" if asked is None else "Yes: " if best.lower().endswith(asked[1].strip("./")) else "No: "
    return f"{verdict}{best} is {comparative(need.detail, len(docs))}: {sizes}."


def comparative(detail: str, count: int) -> str:
    """The word for two, or for more.

    >>> comparative("longest", 2), comparative("longer", 3)
    ('longer', 'the longest')
    """
    root = re.sub(r"(?:gest|ger|gger|ggest|est|er)$", "", detail)
    if "line" in detail:
        return detail
    root = {"lon": "long", "lar": "larg", "bi": "bigg", "big": "bigg"}.get(root, root)
    return f"{root}er" if count == 2 else f"the {root}est"


def most(docs: dict[str, Document], detail: str, *, by_lines: bool = True) -> str | None:
    """The one that leads by lines (long, short) where all are known, else by characters; None where all are equal."""
    asks = detail.startswith(("long", "short", "most", "few")) and all(d.lines is not None for d in docs.values())
    by_lines = by_lines and asks
    measure = {path: (d.lines or 0) if by_lines else d.characters for path, d in docs.items()}
    if len(set(measure.values())) == 1:
        return None
    choose = min if detail.startswith(LEAST) else max
    return choose(measure, key=lambda path: measure[path])


def differences(docs: dict[str, Document]) -> str:
    """What stands in one of two texts only, of what was seen."""
    (first, one), (second, two) = list(docs.items())[:2]
    a, b = [[line.strip() for line in d.seen.splitlines() if line.strip()] for d in (one, two)]
    only_a, only_b = [x for x in dict.fromkeys(a) if x not in set(b)], [x for x in dict.fromkeys(b) if x not in set(a)]
    common = len(set(a) & set(b))
    if not only_a and not only_b:
        return " I see no line that differs." + cut_note(one)
    said = [
        f' only {path} has "{shorten(lines[0], 80)}"' for path, lines in ((first, only_a), (second, only_b)) if lines
    ]
    note = " I saw only part of them." if one.gap or two.gap else ""
    return f" {counted(common, 'line stands', 'lines stand')} in both;{' and'.join(said)}.{note}"


def changed(desk: Desk, need: Need) -> str:
    """Read a file again and compare with the earlier observation of it."""
    if not need.paths:
        return "Changed since when? I compare a file with an earlier observation of it: name the file."
    path = need.paths[0]
    result = fetch(desk, path, fresh=True)
    if result.failed:
        return sorry(path, result)
    before = desk.before(result.call)
    if before is None:
        return f"What was sent to me holds no earlier observation of {path}; now it has {result.doc.size()}."
    old = document(before.text)
    if before.text == result.seen.text:
        return f"{path} reads as before: {result.doc.size()}.{cut_note(result.doc)}"
    both = differences({"the earlier one": old, "the new one": result.doc})
    return f"{path} changed: it had {old.size()}, now {result.doc.size()}.{both}"


def winner(docs: dict[str, Document], detail: str) -> str:
    """Say which of some documents leads, and what each measures."""
    if not docs:
        return "I have no file to measure."
    best = most(docs, detail) or next(iter(docs))
    sizes = "; ".join(f"{path}: {doc.size()}" for path, doc in docs.items())
    return f"{best} is {comparative(detail, 3)}. {sizes}."
