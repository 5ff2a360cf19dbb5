"""Plans that put observations side by side: of two files, of now and before, of all that was read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.files import cut_note, fetch, name_of, quoted, sorry
from agentlab.providers.offline.observing import Document, document, entries
from agentlab.providers.offline.text import shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.history import Observation, Turn
    from agentlab.providers.offline.reading import Need

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


def most(docs: dict[str, Document], detail: str) -> str | None:
    """The one that leads by lines (long, short) where all are known, else by characters; None where all are equal."""
    by_lines = detail.startswith(("long", "short", "most", "few")) and all(d.lines is not None for d in docs.values())
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
    return f" {common} line{' stands' if common == 1 else 's stand'} in both;{' and'.join(said)}.{note}"


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


def largest(desk: Desk, need: Need) -> str:
    """Find the largest or smallest file of a folder, by the listing's sizes or by reading a few."""
    lister = desk.role("lister")
    folder = need.paths[0] if need.paths else ("." if "path" in lister.parameters else None)
    listing = desk.ask("lister", path=folder)
    if listing.failed:
        return f"I could not list it. {shorten(listing.text, 300)}"
    doc = desk.whole(listing)
    found = [e for e in entries(doc.seen) if not e.name.endswith("/")]
    sizes = {e.name: e.size for e in found if e.size is not None}
    if sizes:
        choose = min if need.detail.startswith(LEAST) else max
        best = choose(sizes, key=lambda name: sizes[name])
        return f"{best} with {sizes[best]} bytes, of {len(sizes)} files whose size the list shows.{cut_note(doc)}"
    prefix = f"{folder.rstrip('/')}/" if folder and folder != "." else ""
    names = [prefix + e.name for e in found[:8]]
    results = desk.each(lambda name: fetch(desk, name), names)
    docs = {n: r.doc for n, r in zip(names, results, strict=True) if not r.failed}
    return _winner(docs, need.detail) + (
        f" I measured {len(names)} of {len(found)} files." if len(found) > len(names) else ""
    )


def _winner(docs: dict[str, Document], detail: str) -> str:
    if not docs:
        return "I have no file to measure."
    best = most(docs, detail) or next(iter(docs))
    sizes = "; ".join(f"{path}: {doc.size()}" for path, doc in docs.items())
    return f"{best} is {comparative(detail, 3)}. {sizes}."


def files_read(desk: Desk) -> dict[str, Document]:
    """Every file that was read whole in the earlier turns, as far as the request still holds it."""
    if "reader" not in desk.roles:
        return {}
    reader = desk.roles["reader"]
    key = reader.parameters["path"]
    docs: dict[str, Document] = {}
    for seen in desk.history.observations:
        path = seen.arguments.get(key)
        if seen.name == reader.tool.name and isinstance(path, str) and not seen.is_error:
            ranged = any(
                k in reader.parameters and reader.parameters[k] in seen.arguments for k in ("start_line", "end_line")
            )
            if not ranged or path not in docs:
                docs[path] = document(seen.text)
    return docs


def recall(desk: Desk, need: Need) -> str:
    """Answer from what the request holds of earlier turns, with no call."""
    bare = need.clause.bare
    if re.search(r"\bask(?:ed)?\b", bare):
        return _asked(desk.history.earlier, bare)
    if re.search(r"\b(?:tools?|calls?|called|used?)\b", bare):
        names = [o.name for o in desk.history.observations]
        counts = ", ".join(f"{n} {names.count(n)}" for n in dict.fromkeys(names))
        return f"Calls in what was sent to me: {counts}." if names else "What was sent to me holds no earlier call."
    docs = {p: d for p, d in files_read(desk).items() if not need.paths or p in need.paths}
    if not docs:
        return "What was sent to me holds no earlier observation of a file, so I cannot tell."
    if need.detail:
        return _winner(docs, need.detail)
    return _in_order(list(docs.items()), bare)


def _in_order(read: list[tuple[str, Document]], bare: str) -> str:
    """The files that were read: the first, the last, or all."""
    for word, (path, doc) in (("first", read[0]), ("last", read[-1])):
        if re.search(rf"\b{word}\b", bare):
            return f"{path} was the {word} ({doc.size()})."
    listed = "; ".join(f"{path} ({doc.size()})" for path, doc in read)
    return f"I read {len(read)} file{'s' * (len(read) != 1)}: {listed}."


def _asked(turns: list[Turn], bare: str) -> str:
    if not turns:
        return "This is the first message that was sent to me."
    if "first" in bare:
        return f'You first asked: "{shorten(turns[0].text, 200)}"'
    if re.search(r"\b(?:last|before|previous|just)\b", bare):
        return f'You asked before this: "{shorten(turns[-1].text, 200)}"'
    return "You asked:\n" + "\n".join(f"{i}. {shorten(t.text, 120)}" for i, t in enumerate(turns, 1))


def more(desk: Desk, _need: Need) -> str:
    """Fetch what the latest cut left out."""
    earlier = [o for o in desk.history.observations if o.turn < desk.history.current.index and not o.is_error]
    cut = next(((o, d) for o in reversed(earlier) if (d := document(o.text)).gap is not None), None)
    if cut is None:
        return "Nothing that was sent to me is cut: there is no missing part to show."
    seen, doc = cut
    gap = doc.gap
    what = _origin(desk, seen, gap.id if gap else "")
    if gap is None or gap.start is None or gap.end is None or not gap.id or "pager" not in desk.roles:
        return _more_lines(desk, seen.arguments, doc, what)
    page = desk.ask("pager", fresh=True, id=gap.id, start=gap.start, end=gap.end)
    return _page(page, what)


def _origin(desk: Desk, seen: Observation, key: str) -> str:
    """What a cut result is of: for a page of a stored text, the call whose result was stored."""
    first = next((o for o in desk.history.observations if key and f'"{key}"' in o.text), seen)
    return next((v for v in first.arguments.values() if isinstance(v, str)), first.name)


def _more_lines(desk: Desk, arguments: dict[str, object], doc: Document, what: str) -> str:
    """The next lines of a file that was cut without a stored text."""
    reader = desk.roles.get("reader")
    path = arguments.get(reader.parameters["path"]) if reader else None
    if reader is None or not isinstance(path, str) or "start_line" not in reader.parameters:
        return f"I cannot fetch what was cut from {what}: nothing says how to get it.{cut_note(doc)}"
    begun = arguments.get(reader.parameters["start_line"])
    first = (begun if isinstance(begun, int) else 1) + max(0, len(doc.head.splitlines()) - 1)
    return _page(desk.ask("reader", fresh=True, path=path, start_line=first, end_line=first + 50), what)


def _page(page: Result, what: str) -> str:
    if page.failed:
        return sorry(what, page)
    left = f" {page.doc.gap.omitted} characters of it are still missing." if page.doc.gap else ""
    return f"The next part of {what} ({len(page.text)} characters):{left}\n{quoted(page.text, 800)}"
