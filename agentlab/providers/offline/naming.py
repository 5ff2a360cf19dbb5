"""What a clause names: a piece of code, or the text that a search is for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.patterns import SEARCH_VERB
from agentlab.providers.offline.text import STOP
from agentlab.providers.offline.vocabulary import words as word_set

if TYPE_CHECKING:
    from agentlab.providers.offline.text import Clause

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
    start = max((i for i, word in enumerate(words) if SEARCH_VERB.fullmatch(word.lower)), default=-1)
    rest: list[str] = []
    for word in words[start + 1 :] if start >= 0 else ():
        places = word.lower in ("in", "inside", "within", "under", "across", "among")
        if places or (rest and word.lower in ("is", "are", "occur", "appear", "defined")):
            break
        rest.append(word.text)
    while rest and rest[0].lower() in STOP | {"word", "line", "lines", "text", "string", "every", "each", "all"}:
        rest.pop(0)
    if rest and words[start].lower.startswith("import"):
        return f"import {rest[0]}"
    return " ".join(rest)
