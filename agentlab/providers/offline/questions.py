"""Questions that are known by their wording: of a value, a place in a list, the slowest line, the largest file."""

from __future__ import annotations

import re

from agentlab.providers.offline import patterns as said
from agentlab.providers.offline.naming import DULL, endings_of
from agentlab.providers.offline.needs import Around, Need
from agentlab.providers.offline.text import STOP, is_file
from agentlab.providers.offline.vocabulary import words

FOLDERS = ("folder", "directory", "subfolder", "package")
PLACES = ("in", "inside", "of", "under", "within", "below")
NO_FOLDER = ("total", "full", "detail", "order", "alphabetical", "general")
SETTINGS = re.compile(r"\.(?:json|ini|cfg|conf|toml|ya?ml|env|properties)$", re.IGNORECASE)
NO_KEYS = words(
    "purpose content contents size length point meaning gist summary title end start beginning middle top bottom time",
    "first last line lines text word words number idea topic result difference rest name",
)


def pointed(at: Around) -> tuple[str, ...]:
    """The files that a clause names or points at by a pronoun."""
    return at.clause.files or (at.topics[-1:] if said.IT.search(at.bare) else ())


def folder_of(at: Around) -> tuple[str, ...]:
    """The folder that a clause names: beside the word "folder", or after "in" where a listing or a slash tells."""
    spoken = at.clause.words
    for index, word in enumerate(spoken):
        before = spoken[index - 1].lower if index else ""
        after = spoken[index + 1].lower if index + 1 < len(spoken) else ""
        file = is_file(word.text) and not word.text.endswith("/") and f"{word.text}/" not in at.known
        if word.lower in DULL | STOP or file:
            continue
        beside = after in FOLDERS or before in FOLDERS
        placed = before in PLACES or (before == "the" and index > 1 and spoken[index - 2].lower in PLACES)
        listed = f"{word.text}/" in at.known or "/" in word.text
        last = index == len(spoken) - 1 and word.lower not in NO_FOLDER and said.LIST.search(at.bare) is not None
        if beside or (placed and (listed or last)):
            return (word.text,)
    return ()


def kind_of_files(at: Around) -> tuple[str, str]:
    """What a listing is asked for (count, folders, below), and the endings of the files that are meant."""
    kind = said.KIND_OF_FILES.search(at.bare)
    endings = endings_of(kind[1]) if kind else ""
    counts = said.COUNT_FILES.search(at.bare)
    if not counts:
        return "", endings
    what = re.search(r"\b(?:folders?|director(?:y|ies)|subfolders?|entries|names)\b", counts[0])
    detail = "count" if what is None else "folders" if what[0][0] not in "en" else ""
    return detail + " below" * bool(detail and said.BELOW.search(at.bare)), endings


def repeat(at: Around) -> Need | None:
    """Ask for an earlier reply."""
    return Need("repeat", at.clause) if said.REPEAT.search(at.bare) and not at.clause.quotes else None


def writing(at: Around) -> Need | None:
    """Ask to write or change something, which a tool must be made for."""
    return Need("writing", at.clause, at.about) if said.WRITING.search(at.bare) else None


def slowest(at: Around) -> Need | None:
    """Ask which line of a file tells the longest time."""
    slow = said.SLOW.search(at.bare)
    if slow is None or not at.about:
        return None
    word = slow[1] or slow[2]
    return Need(
        "slowest",
        at.clause,
        at.about[:1],
        detail="shortest" if re.match("s.*t.st|fa|qu|lea", word) and word != "slowest" else "longest",
    )


def of_the_list(at: Around) -> Need | None:
    """Ask for the file at a place of a list."""
    nth = said.NTH.search(at.bare)
    return Need("nth", at.clause, detail=nth[1], fresh=True) if nth and not at.clause.files else None


def largest(at: Around) -> Need | None:
    """Ask for the largest or smallest of all files, or to read it."""
    clause, most = at.clause, said.MOST.search(at.bare)
    if most is None or len(clause.files) > 1 or "two" in at.bare:
        return None
    reads = said.THE_MOST.search(at.bare)
    compared = most[1].endswith("er") and len(at.topics) > 1
    alone = said.MOST_ALONE.search(at.bare) and not clause.files and len(at.topics) < 2
    if not (reads or alone or said.ONE_OF_MANY.search(at.bare)) or compared:
        return None
    kind = said.KIND_OF_FILES.search(at.bare)
    folder = tuple(f for f in clause.files if f.endswith("/")) or folder_of(at) or clause.files
    endings = endings_of(kind[1]) if kind else ""
    return Need("read_largest" if reads else "largest", clause, folder, endings, most[1].lower(), fresh=True)


def value(at: Around) -> Need | None:
    """Ask for the value of a key."""
    outright, about = said.VALUE_OF.search(at.bare), pointed(at)
    found = outright or said.SET_TO.search(at.bare)
    if found is None and not about:
        found, about = said.KEY_ALONE.search(at.bare), at.topics[-1:]
    if found is None or not about:
        return None
    key = next(group for group in found.groups() if group)
    words_of_key = [word for word in key.split() if word not in STOP]
    if not words_of_key or not (outright or SETTINGS.search(about[0])) or set(words_of_key) & NO_KEYS:
        return None
    named = at.clause.quotes[0] if key.upper() == "QUOTE" and at.clause.quotes else " ".join(words_of_key)
    return Need("value", at.clause, about[:1], named)


def named_alone(at: Around) -> str:
    """The one word that a short "open notes" names, as the name of a file; nothing where there is more to it."""
    spoken = [
        word
        for word in at.clause.words
        if word.lower not in STOP | {"file", "document", "again", "contents", "content", "in"}
    ]
    plain = len(spoken) == 2 and not at.clause.files and not at.clause.quotes and len(at.clause.words) < 6
    if not plain or spoken[0].lower not in ("read", "open", "show", "print", "display", "cat", "view", "load"):
        return ""
    word = spoken[1].text
    return (
        word if re.fullmatch(r"[\w.-]*[A-Za-z]\w*", word) and word.lower() not in DULL | {"everything", "more"} else ""
    )
