"""What stands in a user's text: quoted parts, file names, numbers, and the clauses that ask for something."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import msgspec

from agentlab.providers.offline.vocabulary import in_order, words

QUOTED = re.compile(
    r"```(?:\w*\n)?(.+?)```|`([^`\n]+)`|\"([^\"]+)\"|“([^”]+)”|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)", re.DOTALL
)
MOST_READ = 2_000  # characters of a clause in which phrases are looked for
MOST_WORDS = 500  # of a clause; a quoted part counts as one
HELD = "\ue000"  # stands for a quoted part while a text is split
EXTENSIONS = words(
    "py pyi pyx ipynb txt md rst log ini cfg conf toml yaml yml json jsonl csv tsv xml html htm css js ts",
    "jsx tsx c h cc cpp hpp rs go java rb sh bash zsh ps1 bat tex pdf sql lock env dat out err in gz zip",
    "tar db sqlite kt swift php r lua pl hs ex scala proto tf mk patch diff svg png jpg gif parquet",
)
FILE = re.compile(r"~?(?:[\w.+@/-]|\[[\w.+@-]*\]|\([\w.+@-]*\))*\.(\w{1,8})")  # brackets come in pairs, as in [slug]
ACTIONS = words(
    "read show open print display list search grep find look locate count compare tell say give check",
    "what what's whats which how where who when why is are does do did has have had can could would",
    "please summarise summarize sum explain describe run execute call use convert translate get fetch add",
    "subtract multiply divide calculate compute lookup send create delete book cancel update set write",
    "also then",
)
JOINTS = words("and then also but")
STOP = words(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had can",
    "could would will shall should may might i me my you your we our it its this that these those there",
    "here what which who whom whose when where why how please tell give show say let us s re ll ve d t m",
    "so as if then than about just also any some all now much many get me use want need like know",
)
NUMBER_WORDS = {
    word: n
    for n, word in enumerate(
        in_order(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
            "seventeen eighteen nineteen twenty",
        )
    )
} | {word: 10 * n for n, word in enumerate(in_order("thirty forty fifty sixty seventy eighty ninety hundred"), 3)}
ORDINALS = {
    word: n for n, word in enumerate(in_order("first second third fourth fifth sixth seventh eighth ninth tenth"))
}
ORDINALS["last"] = -1
BY_NAME = words("readme changelog makefile dockerfile")  # files that are spoken of without an ending
SHOUTED = words("LICENSE LICENCE CONTRIBUTING AUTHORS NOTICE")  # the same, but words where they are not in capitals
AROUND = ',;:!?)]{}<>"*'
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


class Word(msgspec.Struct, frozen=True):
    """One word: as it was typed without its punctuation, and in lower case."""

    text: str
    lower: str


class Clause(msgspec.Struct, frozen=True):
    """A part of a text that asks for one thing.

    `text` has the quoted parts in it, `bare` is the lower-case text without them.
    """

    text: str
    bare: str
    words: tuple[Word, ...]
    quotes: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def numbers(self) -> list[float | int]:
        """The numbers in it, in order; number words such as ten or forty count."""
        return [n for n in (number(word.text) for word in self.words if word.text not in self.files) if n is not None]


def number(text: str) -> float | int | None:
    """Read a number, as digits or as a word; units and currency signs around it are ignored.

    >>> number("1,200"), number("two"), number("$2.50"), number("W4412")
    (1200, 2, 2.5, None)
    """
    if text.lower() in NUMBER_WORDS:
        return NUMBER_WORDS[text.lower()]
    found = NUMBER.fullmatch(text.strip("$€£%°#"))
    if found is None:
        return None
    digits = found[0].replace(",", "")
    return float(digits) if "." in digits else int(digits[:300])


def is_file(token: str) -> bool:
    """Whether a word looks like the name of a file or a path.

    >>> [is_file(word) for word in ("argparse.py", "docs/", "notes/todo.txt", "and/or", "3.11", "os.path")]
    [True, True, True, False, False, False]
    """
    if "://" in token or len(token) > 300:
        return False
    if token.lower() in BY_NAME or token in SHOUTED:
        return True
    found = FILE.fullmatch(token)
    if found is not None and (found[1].lower() in EXTENSIONS or ("/" in token and not found[1].isdigit())):
        return True
    return "/" in token and (token.startswith(("/", "./", "../", "~/")) or (token.endswith("/") and len(token) > 1))


def clauses(text: str, known: frozenset[str] = frozenset()) -> list[Clause]:
    """Split a text into the parts that each ask for one thing.

    Args:
        text: What the user wrote.
        known: Names of files that were seen, which count as files whatever they look like.

    >>> [c.text for c in clauses("Read a.py and b.py, and tell me what time it is.")]
    ['Read a.py and b.py', 'tell me what time it is']
    """
    quotes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        quotes.append(next(group for group in match.groups() if group is not None))
        return f" {HELD}{len(quotes) - 1}{HELD}{match[0][-1] if match[0][-1] in '.?!;' else ''} "

    held = QUOTED.sub(hold, text.replace(HELD, " ").replace("’", "'"))
    return [_clause(part, quotes, known) for part in _split(held.split()) if any(w.strip(".,;:!?()-") for w in part)]


def _split(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for index, token in enumerate(tokens):
        following = tokens[index + 1].lower().strip(",.;:!?") if index + 1 < len(tokens) else ""
        ends = token[-1] in ".?!;:" and not (token[-1] == ":" and following.startswith(HELD))
        if token.lower() in JOINTS and following in ACTIONS:
            parts.append([])
            continue
        parts[-1].append(token)
        if ends or (token.endswith(",") and following in ACTIONS and following != "then"):
            parts.append([])
    return [part for part in parts if part]


def _clause(tokens: list[str], quotes: list[str], known: frozenset[str]) -> Clause:
    words: list[Word] = []
    files: list[str] = []
    mine: list[str] = []
    bare: list[str] = []
    whole: list[str] = []
    for token in tokens[:MOST_WORDS]:
        if token.startswith(HELD):
            inside = quotes[int(token.split(HELD)[1])]
            whole.append(f"'{inside}'")
            (files if is_file(inside) or inside in known else mine).append(inside)
            bare.append("QUOTE")
            continue
        word = bared(token)
        whole.append(word if token == tokens[-1] else token)
        bare.append(word.lower())
        words.append(Word(word, word.lower()))
        if is_file(word) or word in known:
            files.append(word)
    return Clause(
        " ".join(whole).rstrip(".,;:?!"),
        " ".join(bare)[:MOST_READ],
        tuple(words),
        tuple(mine),
        tuple(dict.fromkeys(files)),
    )


def bared(token: str) -> str:
    """A word without the punctuation around it; a bracket that is closed within the word is a part of it.

    >>> bared("(see"), bared("[a.txt],"), bared("[red]a.txt"), bared("main()")
    ('see', 'a.txt', '[red]a.txt', 'main')
    """
    word = token.rstrip(AROUND + "([.").lstrip(AROUND)
    while word.startswith(("(", "[")) and (")" if word[0] == "(" else "]") not in word:
        word = word[1:].lstrip(AROUND)
    return word or token


def stem(word: str) -> str:
    """Cut a word to what its forms share.

    >>> stem("words") == stem("word"), stem("converting") == stem("convert"), stem("cities") == stem("city")
    (True, True, True)
    """
    for ending, put in (("ies", "y"), ("ing", ""), ("sses", "ss"), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + put
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def name_words(name: str) -> list[str]:
    """The words of a tool's or a parameter's name.

    >>> name_words("getOrder_details2")
    ['get', 'order', 'details2']
    """
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])|[^\W_]+", name)]


def closest(name: str, names: list[str], least: float = 0.6) -> str | None:
    """The most similar of some names, or None where none is similar; the first wins a tie.

    >>> closest("sever.py", ["client.py", "server.py"])
    'server.py'
    """
    best = max(names, key=lambda other: likeness(name, other), default=None)
    return best if best is not None and likeness(name, best) >= least else None


def likeness(name: str, other: str) -> float:
    """How similar two names are, 0 to 1; the same name in another folder, or without its ending, is almost the same."""
    a, b = name.lower().strip("./"), other.lower().strip("./")
    base = b.rsplit("/", 1)[-1]
    if a and (base == a or base.split(".")[0] == a or base == a.rsplit("/", 1)[-1]):
        return 0.99
    return max(SequenceMatcher(None, a, b).ratio(), SequenceMatcher(None, a.rsplit("/", 1)[-1], base).ratio())


def shorten(text: str, most: int = 160) -> str:
    """One line of a text, at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def joined(*parts: str) -> str:
    """Sentences with one space between them; empty ones are left out.

    >>> joined("One.", "", " Two.")
    'One. Two.'
    """
    return " ".join(stripped for part in parts if (stripped := part.strip()))
