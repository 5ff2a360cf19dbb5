"""What a user's text needs: each clause becomes a `Need`, by what it says and not by what was asked before."""

from __future__ import annotations

import re

import msgspec

from agentlab.providers.offline import patterns as said
from agentlab.providers.offline.naming import DULL, code_name, sought
from agentlab.providers.offline.text import STOP, Clause, clauses, is_file

MOST_CLAUSES = 12
MOST_CHARACTERS = 100_000
FOLDERS = ("folder", "directory", "subfolder")
PLACES = ("in", "inside", "of", "under", "within", "below")


class Need(msgspec.Struct, frozen=True):
    """One thing that the text asks for.

    Attributes:
        kind: Which plan serves it: a key of `planner.PLANS`.
        clause: Where it stands.
        paths: The files or folders that it is about.
        pattern: What to search for.
        detail: Which part or property is asked for.
        lines: First and last line, where lines are named.
        fresh: Whether the user asks to look now, not to remember.
        silent: Whether another need of the same text answers with what this one fetches.
    """

    kind: str
    clause: Clause
    paths: tuple[str, ...] = ()
    pattern: str = ""
    detail: str = ""
    lines: tuple[int, int] | None = None
    fresh: bool = False
    silent: bool = False


class Around(msgspec.Struct, frozen=True):
    """A clause, and what its words may point at.

    Attributes:
        clause: The clause.
        before: Needs of the clauses before it.
        topics: Files spoken of, the latest last.
        known: Names that listings showed; folders end in `/`.
    """

    clause: Clause
    before: tuple[Need, ...] = ()
    topics: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def bare(self) -> str:
        """The clause in lower case, without its quoted parts."""
        return self.clause.bare

    @property
    def about(self) -> tuple[str, ...]:
        """The files that it names, else the file last spoken of."""
        return self.clause.files or self.topics[-1:]


def read(text: str, *, topics: tuple[str, ...] = (), known: frozenset[str] = frozenset()) -> list[Need]:
    """Find what a text needs.

    Args:
        text: What the user wrote.
        topics: Files last spoken of, the latest last: what "it" and "them" mean.
        known: Names that listings of this request showed.

    >>> [(n.kind, n.paths) for n in read("Read a.py and tell me what time it is.")]
    [('read', ('a.py',)), ('time', ())]
    """
    found: list[Need] = []
    for clause in clauses(text[:MOST_CHARACTERS], known)[:MOST_CLAUSES]:
        spoken = (*topics, *(path for need in found for path in need.paths))
        latest_last = tuple(reversed(dict.fromkeys(reversed(spoken))))
        need = _classify(Around(clause, tuple(found), latest_last, known))
        if need is not None:
            found.append(need)
    return _merge(found)


def _classify(at: Around) -> Need | None:
    """The first kind that fits, from the most to the least particular; None for a clause that asks for nothing."""
    for kind in (_chat, _clock, _memory, _counting, _measuring, _defining, _searching, _listing, _parts, _reading):
        need = kind(at)
        if need is not None:
            return need
    empty = not at.clause.quotes and all(word.lower in STOP for word in at.clause.words)
    return None if empty and at.before else Need("other", at.clause, at.about)


def _chat(at: Around) -> Need | None:
    if at.clause.files or at.clause.quotes:
        return None
    fits = {
        "greeting": said.GREETING.search(at.bare),
        "thanks": said.THANKS.search(at.bare),
        "abilities": said.ABILITIES.search(at.bare) or said.HELP.search(at.bare),
        "review": said.REVIEW.search(at.bare) and (said.SO_FAR.search(at.bare) or not at.topics),
        "more": said.MORE.search(at.bare) and not said.LINES.search(at.bare),
    }
    return next((Need(kind, at.clause) for kind, fit in fits.items() if fit), None)


def _clock(at: Around) -> Need | None:
    if said.ELAPSED.search(at.bare):
        return Need("elapsed", at.clause, fresh=True)
    asks = said.TIME.search(at.bare) or at.bare in ("time", "the time")
    return (
        Need("time", at.clause, fresh=True)
        if asks and not at.clause.files and not said.SEARCH.search(at.bare)
        else None
    )


def _memory(at: Around) -> Need | None:
    if at.clause.quotes or not said.RECALL.search(at.bare):
        return None
    most = said.MOST.search(at.bare)
    if most is None and len(at.clause.files) == 1 and not re.search(r"\b(?:what|which|how many)\b", at.bare):
        return None
    return Need("recall", at.clause, at.clause.files, detail=most[1].lower() if most else "")


def _counting(at: Around) -> Need | None:
    if not said.WORDS.search(at.bare):
        return None
    return Need("words", at.clause, () if at.clause.quotes else at.about)


def _measuring(at: Around) -> Need | None:
    clause, most = at.clause, said.MOST.search(at.bare)
    detail = most[1].lower() if most else ""
    if said.CHANGED.search(at.bare):
        return Need("changed", clause, at.about, fresh=True)
    if most and said.ONE_OF_MANY.search(at.bare) and len(clause.files) < 2 and "two" not in at.bare:
        return Need("largest", clause, clause.files, detail=detail)
    pointed = most and (len(clause.files) > 1 or not clause.files or " than" in at.bare)
    if (said.COMPARE.search(at.bare) or pointed) and (at.topics or clause.files or at.before):
        return Need("compare", clause, _compared(at), detail=detail)
    counts_hits = said.WHERE.search(at.bare) and said.MENTION.search(at.bare) and sought(clause)
    return (
        Need("size", clause, at.about) if said.SIZE.search(at.bare) and not clause.quotes and not counts_hits else None
    )


def _compared(at: Around) -> tuple[str, ...]:
    """The files to compare: those named, with the one last spoken of where only one is named."""
    files = at.clause.files
    if len(files) > 1:
        return files
    if files:
        return (*[topic for topic in at.topics if topic not in files][-1:], *files)
    last = at.before[-1] if at.before else None
    return last.paths if last is not None and last.kind == "compare" else at.topics[-2:]


def _pointed(at: Around) -> tuple[str, ...]:
    """The files that it names or points at by a pronoun."""
    return at.clause.files or (at.topics[-1:] if said.IT.search(at.bare) else ())


def _defining(at: Around) -> Need | None:
    kind = said.DEFINES.search(at.bare)
    if kind is None:
        return None
    about, named = _pointed(at), code_name(at.clause)
    if named:
        return Need("definition", at.clause, about, named) if said.DEFINITION.search(at.bare) else None
    if said.DEFINE_ASK.search(at.bare) and (about or "define" in at.bare) and not at.clause.quotes:
        word = kind[1].lower()
        return Need(
            "defines",
            at.clause,
            about or at.topics[-1:],
            detail="class" if word.startswith("class") else word.rstrip("s"),
        )
    return None


def _searching(at: Around) -> Need | None:
    clause, about = at.clause, _pointed(at)
    mentions = said.MENTION.search(at.bare)
    asks = said.SEARCH.search(at.bare) or (said.WHERE.search(at.bare) and (mentions or clause.quotes))
    named = about and mentions and said.ASKS.search(at.bare) and (clause.quotes or code_name(clause))
    pattern = sought(clause) if asks or named else ""
    if not pattern:
        return None
    if re.search(r"\b(?:how (?:many|often)|count)\b", at.bare):
        detail = "count"
    else:
        detail = "files" if said.ONLY_FILES.search(at.bare) else ""
    return Need("search", clause, tuple(f for f in about if f != pattern) or _folder(at), pattern, detail)


def _folder(at: Around) -> tuple[str, ...]:
    """The folder that a clause names: beside the word "folder", or after "in" where a listing or a slash tells."""
    words = at.clause.words
    for index, word in enumerate(words):
        before = words[index - 1].lower if index else ""
        after = words[index + 1].lower if index + 1 < len(words) else ""
        file = is_file(word.text) and not word.text.endswith("/") and f"{word.text}/" not in at.known
        if word.lower in DULL | STOP or file:
            continue
        beside = after in FOLDERS or before in FOLDERS
        placed = before in PLACES or (before == "the" and index > 1 and words[index - 2].lower in PLACES)
        if beside or (placed and (f"{word.text}/" in at.known or "/" in word.text)):
            return (word.text,)
    return ()


def _listing(at: Around) -> Need | None:
    folders = tuple(f for f in at.clause.files if f.endswith("/") or f"{f}/" in at.known) or _folder(at)
    if any("." in f and f not in folders for f in at.clause.files):
        return None
    lists = said.LIST.search(at.bare) or said.LIST_ALONE.search(at.bare)
    if not lists and not (folders and said.READ.search(at.bare)):
        return None
    return Need("list", at.clause, folders, detail="count" if "how many" in at.bare else "", fresh=True)


def _parts(at: Around) -> Need | None:
    """Lines by their numbers, or the start, middle or end."""
    lines, part = said.LINES.search(at.bare), said.PART.search(at.bare)
    if not at.about or not (lines or part):
        return None
    if lines:
        first = int(lines[1])
        return Need("lines", at.clause, at.about[:1], lines=(first, int(lines[2] or first)), fresh=True)
    word = part[1].lower() if part and (_pointed(at) or at.before) else ""
    if not word:
        return None
    where = "end" if re.match("end|last|bottom|tail", word) else "middle" if re.match("mid|cent", word) else "start"
    return Need("part", at.clause, at.about, detail=where)


def _reading(at: Around) -> Need | None:
    if not at.about:
        return None
    again = bool(re.search(r"\b(?:again|read|open)\b", at.bare))
    if said.PURPOSE.search(at.bare) and (_pointed(at) or at.before):
        return Need("purpose", at.clause, at.about, fresh=again)
    short = said.READ.search(at.bare) and said.IT.search(at.bare) and len(at.clause.words) < 8
    return Need("read", at.clause, at.about, fresh=True) if at.clause.files or short else None


def _merge(needs: list[Need]) -> list[Need]:
    """Join a comparison and its measure, drop what is asked twice, and hush what another need answers."""
    joined: list[Need] = []
    for need in needs:
        last = joined[-1] if joined else None
        if last is not None and need.kind == last.kind == "compare" and need.paths == last.paths:
            joined[-1] = msgspec.structs.replace(last, detail=last.detail or need.detail)
        elif need.kind == "other" or all(_asked(need) != _asked(other) for other in joined):
            joined.append(need)
    answered = [set(need.paths) for need in joined if need.kind != "read"]
    return [
        msgspec.structs.replace(need, silent=True)
        if need.kind == "read" and any(set(need.paths) <= paths for paths in answered)
        else need
        for need in joined
    ]


def _asked(need: Need) -> tuple[object, ...]:
    return need.kind, need.paths, need.pattern, need.detail, need.lines, need.clause.quotes
