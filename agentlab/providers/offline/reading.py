"""What a user's text needs: each clause becomes a `Need`, by what it says and not by what was asked before."""

from __future__ import annotations

import re

import msgspec

from agentlab.providers.offline import patterns as said
from agentlab.providers.offline import questions
from agentlab.providers.offline.naming import code_name, counted_thing, names, sought
from agentlab.providers.offline.needs import Around, Need
from agentlab.providers.offline.questions import folder_of, pointed
from agentlab.providers.offline.text import STOP, clauses

MOST_CLAUSES = 12
MOST_CHARACTERS = 100_000


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
        need = classify(Around(clause, tuple(found), latest_last, known))
        if need is not None:
            found.append(need)
    return _merge(found)


def classify(at: Around) -> Need | None:
    """The first kind that fits, from the most to the least particular; None for a clause that asks for nothing."""
    for kind in KINDS:
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
    of_two = most and (len(clause.files) > 1 or not clause.files or " than" in at.bare)
    if (said.COMPARE.search(at.bare) or of_two) and (at.topics or clause.files or at.before):
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


def _defining(at: Around) -> Need | None:
    kind = said.DEFINES.search(at.bare)
    if kind is None:
        return None
    about, named = pointed(at), code_name(at.clause)
    if kind[1].lower() == "methods":
        owner = named or next((name for name in names(at.clause) if name.isidentifier()), "")
        if owner:
            return Need("members", at.clause, about, owner)
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
    clause, about = at.clause, pointed(at)
    mentions, exists = said.MENTION.search(at.bare), said.EXISTS.search(at.bare)
    asks = said.SEARCH.search(at.bare) or (said.WHERE.search(at.bare) and (mentions or clause.quotes))
    named = about and mentions and said.ASKS.search(at.bare)
    pattern = sought(clause) if asks or named or exists else ""
    pattern = pattern or (counted_thing(clause) if clause.files or folder_of(at) else "")
    if not pattern:
        return None
    return Need(
        "search",
        clause,
        tuple(f for f in about if f != pattern) or folder_of(at),
        pattern,
        _wanted_of_hits(at),
        exact=bool(clause.quotes or code_name(clause)),
    )


def _wanted_of_hits(at: Around) -> str:
    """Whether a search is for a count, for the files, for a yes or no, for what defines a name, or for the lines."""
    if re.search(r"\b(?:how (?:many|often)|count)\b", at.bare) and not said.ONLY_FILES.search(at.bare):
        return "count"
    if said.ONLY_FILES.search(at.bare):
        return "files"
    if said.YES_NO.search(at.bare) or said.EXISTS.search(at.bare):
        return "yes"
    plain = not at.clause.quotes and not code_name(at.clause)
    return "defined" if plain and re.search(r"\bdefine[ds]?\b|\bdefinition\b|\bset\b", at.bare) else ""


def _listing(at: Around) -> Need | None:
    folders = tuple(f for f in at.clause.files if f.endswith("/") or f"{f}/" in at.known) or folder_of(at)
    if any("." in f and f not in folders for f in at.clause.files):
        return None
    lists = said.LIST.search(at.bare) or said.LIST_ALONE.search(at.bare)
    if not lists and not (folders and said.READ.search(at.bare)):
        return None
    detail, endings = questions.kind_of_files(at)
    return Need("list", at.clause, folders, endings, detail, fresh=True)


def _parts(at: Around) -> Need | None:
    """Lines by their numbers, or the start, middle or end."""
    lines, part = said.LINES.search(at.bare), said.PART.search(at.bare)
    if not at.about or not (lines or part):
        return None
    if lines:
        first = int(lines[1])
        return Need("lines", at.clause, at.about[:1], lines=(first, int(lines[2] or first)), fresh=True)
    word = part[1].lower() if part and (pointed(at) or at.before) else ""
    if not word:
        return None
    where = "end" if re.match("end|last|bottom|tail", word) else "middle" if re.match("mid|cent", word) else "start"
    return Need("part", at.clause, at.about, detail=where)


def _reading(at: Around) -> Need | None:
    alone = questions.named_alone(at)
    if alone:
        return Need("read", at.clause, (alone,), fresh=True)
    if not at.about:
        return None
    again = bool(re.search(r"\b(?:again|read|open)\b", at.bare))
    if said.SUMMARY.search(at.bare) and (pointed(at) or at.before):
        return Need("extract", at.clause, at.about, fresh=again)
    if said.PURPOSE.search(at.bare) and (pointed(at) or at.before):
        return Need("purpose", at.clause, at.about, fresh=again)
    short = said.READ.search(at.bare) and said.IT.search(at.bare) and len(at.clause.words) < 8
    return Need("read", at.clause, at.about, fresh=True) if at.clause.files or short else None


KINDS = (
    _chat,
    questions.repeat,
    questions.writing,
    questions.slowest,
    _clock,
    _memory,
    questions.of_the_list,
    _counting,
    questions.largest,
    _measuring,
    _defining,
    _searching,
    _listing,
    _parts,
    questions.value,
    _reading,
)


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
