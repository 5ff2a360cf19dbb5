"""What a clause names: a piece of code, or the text that a search is for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.patterns import EXISTS, HOW_MANY, SEARCH_VERB
from agentlab.providers.offline.text import STOP
from agentlab.providers.offline.vocabulary import words as word_set

if TYPE_CHECKING:
    from agentlab.providers.offline.text import Clause, Word

PLACES = ("in", "inside", "within", "under", "across", "among", "at")
PLURAL = word_set("any all every each some no more many")
DULL = word_set(
    "file files folder folders directory subfolder lines line words word here workspace session conversation them",
    "it this that define defined called named",
)


def code_name(clause: Clause) -> str:
    """A name that is written as code, or stands after "class", "function" or "method".

    >>> from agentlab.providers.offline.text import clauses
    >>> code_name(clauses("Show the function parse_args in argparse.py")[0])
    'parse_args'
    """
    words = [word for word in clause.words if word.text not in clause.files]
    for index, word in enumerate(words):
        plain = word.text.removesuffix("()")
        coded = "_" in plain.strip("_") or word.text.endswith("()") or re.search(r"[a-z][A-Z]", plain)
        if coded and re.fullmatch(r"[A-Za-z_]\w*", plain):
            return plain
        after = words[index + 1].text if index + 1 < len(words) else ""
        kind = word.lower in ("class", "function", "method", "def") and after.lower() not in STOP | DULL
        if kind and re.fullmatch(r"[A-Za-z_]\w*", after):
            return after
    return next((quote for quote in clause.quotes if re.fullmatch(r"[A-Za-z_]\w*", quote)), "")


def sought(clause: Clause) -> str:
    """What a search is for: the quoted part, a name, or the words between the verb and the place.

    >>> from agentlab.providers.offline.text import clauses
    >>> [sought(clauses(t)[0]) for t in ("Find 'def main' in a.py", "Which files mention retry_limit?")]
    ['def main', 'retry_limit']
    """
    named = clause.quotes[0] if clause.quotes else code_name(clause)
    if named:
        return named
    words = [word for word in clause.words if word.text not in clause.files]
    if EXISTS.search(clause.bare):
        return _existing(words)
    start = max((i for i, word in enumerate(words) if SEARCH_VERB.fullmatch(word.lower)), default=-1)
    rest: list[str] = []
    for word in words[start + 1 :] if start >= 0 else ():
        if word.lower in PLACES or (rest and word.lower in ("is", "are", "occur", "appear", "defined")):
            break
        rest.append(word.text)
    while rest and rest[0].lower() in STOP | {"word", "line", "lines", "text", "string", "every", "each", "all"}:
        rest.pop(0)
    if rest and words[start].lower.startswith("import"):
        return f"import {rest[0]}"
    return singular(" ".join(rest)) if any(word.lower in PLURAL for word in words[: start + 3]) else " ".join(rest)


def _existing(words: list[Word]) -> str:
    """The thing of which it is asked whether there is any: "Are there any errors in a.log?"."""
    rest: list[str] = []
    for word in words[0 if words[0].lower == "any" else 2 :]:
        if word.lower in PLACES:
            break
        if rest or word.lower not in STOP | PLURAL:
            rest.append(word.text)
    while rest and rest[-1].lower() in STOP | PLURAL:
        rest.pop()
    return "" if {word.lower() for word in rest} & DULL else singular(" ".join(rest))


def counted_thing(clause: Clause) -> str:
    """The thing that "how many ... are in" asks to count.

    >>> from agentlab.providers.offline.text import clauses
    >>> counted_thing(clauses("How many TODOs are in shop.py?")[0])
    'TODO'
    """
    found = HOW_MANY.search(clause.bare)
    plain = [word for word in found[1].split() if word not in STOP] if found else []
    if not plain or set(plain) & (DULL | {"characters", "bytes", "times", "seconds", "minutes", "hours", "days"}):
        return ""
    return singular(" ".join(word.text for word in clause.words if word.lower in plain))


def singular(text: str) -> str:
    """A plural's last word without its s, as a search for one finds the other.

    >>> [singular(word) for word in ("errors", "TODOs", "status", "class", "tax rates")]
    ['error', 'TODO', 'status', 'class', 'tax rate']
    """
    short = len(text.rpartition(" ")[2]) < 4
    return text if short or not text.endswith("s") or text.endswith(("ss", "us", "is")) else text[:-1]


def names(clause: Clause) -> list[str]:
    """Runs of words in capitals, the first word of the clause apart: "Buenos Aires", "USD".

    >>> from agentlab.providers.offline.text import clauses
    >>> names(clauses("What is the weather in Buenos Aires and in Oslo?")[0])
    ['Buenos Aires', 'Oslo']
    """
    runs: list[list[str]] = [[]]
    for index, word in enumerate(clause.words):
        capital = word.text[:1].isupper() and (index > 0 or word.lower not in STOP) and word.text not in clause.files
        if capital and index == 0 and len(clause.words) > 1 and not word.text.isupper():
            capital = False
        if capital and word.lower not in STOP:
            runs[-1].append(word.text)
        elif runs[-1]:
            runs.append([])
    return [" ".join(run).removesuffix("'s") for run in runs if run]


FILE_TYPES = {
    "python": "py",
    "markdown": "md",
    "text": "txt",
    "log": "log",
    "yaml": "yaml yml",
    "javascript": "js",
    "typescript": "ts",
    "notebook": "ipynb",
    "html": "html htm",
    "shell": "sh",
    "rust": "rs",
}
FILE_KINDS = (
    frozenset(FILE_TYPES)
    | frozenset(end for ends in FILE_TYPES.values() for end in ends.split())
    | {"json", "csv", "toml"}
)


def endings_of(word: str) -> str:
    """The endings of the files of a kind, or nothing.

    >>> endings_of("Python"), endings_of("*.py"), endings_of("old")
    ('py', 'py', '')
    """
    word = word.lower().lstrip("*.").rstrip("s") if word.lower() != "js" else "js"
    return FILE_TYPES.get(word, word if word in FILE_KINDS else "")
