"""Plans on what the request holds of earlier turns: what was read and asked, what was said, what a cut left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.printable import counted
from agentlab.providers.offline.comparing import winner
from agentlab.providers.offline.files import cut_note, quoted, sorry
from agentlab.providers.offline.observing import Document, document
from agentlab.providers.offline.text import ORDINALS, shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Result
    from agentlab.providers.offline.history import Observation, Turn
    from agentlab.providers.offline.needs import Need


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
    if re.search(r"\b(?:ask(?:ed)?|questions?|messages?|requests?|prompts?)\b|\bi (?:say|want)\b", bare):
        return _asked(desk.history.earlier, bare)
    if re.search(r"\b(?:tools?|calls?|called|used?)\b", bare):
        names = [o.name for o in desk.history.observations]
        counts = ", ".join(f"{n} {names.count(n)}" for n in dict.fromkeys(names))
        return f"Calls in what was sent to me: {counts}." if names else "What was sent to me holds no earlier call."
    docs = {p: d for p, d in files_read(desk).items() if not need.paths or p in need.paths}
    if not docs:
        return "What was sent to me holds no earlier observation of a file, so I cannot tell."
    if need.detail:
        return winner(docs, need.detail)
    return _in_order(list(docs.items()), bare)


def _in_order(read: list[tuple[str, Document]], bare: str) -> str:
    """The files that were read: the first, the last, or all."""
    for word, (path, doc) in (("first", read[0]), ("last", read[-1])):
        if re.search(rf"\b{word}\b", bare):
            return f"{path} was the {word} ({doc.size()})."
    listed = "; ".join(f"{path} ({doc.size()})" for path, doc in read)
    return f"I read {counted(len(read), 'file')}: {listed}."


def _asked(turns: list[Turn], bare: str) -> str:
    if not turns:
        return "This is the first message that was sent to me."
    if re.search(r"\b(?:last|before|previous|just)\b", bare):
        return f'You asked before this: "{shorten(turns[-1].text, 200)}"'
    place = next((n for word, n in ORDINALS.items() if re.search(rf"\b{word}\b", bare)), None)
    if place == 0:
        return f'You first asked: "{shorten(turns[0].text, 200)}"'
    if place is not None and place < len(turns):
        return f'Your question {place + 1} was: "{shorten(turns[place].text, 200)}"'
    return "You asked:\n" + "\n".join(f"{i}. {shorten(t.text, 120)}" for i, t in enumerate(turns, 1))


def repeat(desk: Desk, need: Need) -> str:
    """Say an earlier reply again."""
    turns = [turn for turn in desk.history.earlier if turn.reply]
    if not turns:
        return "I have not answered anything yet in what was sent to me."
    return turns[0 if re.search(r"\bfirst\b", need.clause.bare) else -1].reply


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
    left = f" {counted(page.doc.gap.omitted, 'character')} of it are still missing." if page.doc.gap else ""
    return f"The next part of {what} ({counted(len(page.text), 'character')}):{left}\n{quoted(page.text, 800)}"
