"""Filling the arguments of any tool from what stands in the user's text, by its JSON schema alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentlab.providers.offline.naming import names
from agentlab.providers.offline.roles import PARAMETERS, properties, required
from agentlab.providers.offline.schemas import MAX_DEPTH, definitions, kind_of, resolve
from agentlab.providers.offline.text import STOP, Clause, name_words, number, stem
from agentlab.providers.offline.vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.messages import ToolSpec

MISSING: Any = object()
NUMERIC = ("number", "integer")
PLACES = words("city place location town country region state address where area")
SOURCES = words("from origin source start src departure sender")
TARGETS = words("to destination target dest into goal recipient receiver arrival")
IDS = words("id number code key ref reference sku order invoice ticket account")
FREE = words("text content message body string input sentence note comment prompt value")
ASKED = words("query q search term keyword topic subject question pattern what")
PREPOSITIONS = (
    (SOURCES, ("from",)),
    (TARGETS, ("to", "into", "for")),
    (PLACES, ("in", "at", "for", "near", "of")),
)
EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}")
SINGLE = words("amount n count first second left right numerator denominator dividend divisor factor value")
WHEN = words("today tomorrow tonight now currently outside right weekend week morning evening")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?")


class Filler:
    """Takes values out of one clause; a number or a name is used once.

    Args:
        clause: What the user asked for.
        topic: The file last spoken of, for "it".
        defs: Schemas that others refer to.
        about: Stems of words that name the tool, and no place or thing.
    """

    def __init__(
        self, clause: Clause, topic: str = "", defs: dict[str, Any] | None = None, about: frozenset[str] = frozenset()
    ) -> None:
        self.clause = clause
        self.topic = topic
        self.defs = defs or {}
        self.about = about
        self.numbers = list(clause.numbers)
        if re.search(r"\b(?:subtract|take|deduct)\b.*\bfrom\b", clause.bare):
            self.numbers.reverse()
        self.quotes = list(clause.quotes)
        self.files = list(clause.files)
        self.names = names(clause)
        self.codes = [
            w.text.strip("#")
            for w in clause.words
            if re.fullmatch(r"#?(?=[\w-]*\d)[\w-]*[A-Za-z_-][\w-]*|#\w+", w.text)
        ]

    def value(self, name: str, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value for one property, or `MISSING`."""
        schema = resolve(schema, self.defs)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list):
            return self.choice(schema["enum"])
        makers: dict[str, Callable[[], Any]] = {
            "integer": lambda: self.number(name, whole=True),
            "number": lambda: self.number(name, whole=False),
            "boolean": lambda: self.boolean(name),
            "array": lambda: self.array(name, schema, depth),
            "object": lambda: self.object(schema, depth),
            "null": lambda: None,
        }
        untyped = not {"type", "properties"} & set(schema) and (len(name) == 1 or set(name_words(name)) & SINGLE)
        make = makers["number"] if untyped and self.numbers else makers.get(kind_of(schema))
        return make() if make is not None else self.string(name, str(schema.get("description", "")))

    def boolean(self, name: str) -> bool:
        """True where the text speaks of it and does not deny it."""
        said = {stem(word.lower) for word in self.clause.words}
        denied = {"not", "without", "no"} & {word.lower for word in self.clause.words}
        return not denied and any(stem(word) in said for word in name_words(name))

    def choice(self, options: list[Any]) -> Any:
        """The allowed value that the text names, the only one where there is one."""
        said = f" {' '.join(stem(w.lower) for w in self.clause.words)} "
        for option in sorted(options, key=lambda o: -len(str(o))):
            wanted = " ".join(stem(w) for w in name_words(str(option)))
            if wanted and f" {wanted} " in said:
                return option
        quoted = [q for q in self.quotes if q in options]
        return quoted[0] if quoted else options[0] if len(options) == 1 else MISSING

    def number(self, name: str, *, whole: bool) -> Any:
        """The number next to the property's name, or the first that is left."""
        words = self.clause.words
        wanted = {stem(w) for w in name_words(name)}
        for index, word in enumerate(words):
            if stem(word.lower) in wanted:
                for near in (index - 1, index + 1, index + 2):
                    n = number(words[near].text) if 0 <= near < len(words) else None
                    if n in self.numbers and n is not None and not (whole and n != int(n)):
                        self.numbers.remove(n)
                        return int(n) if whole else n
        for n in self.numbers:
            if not whole or n == int(n):
                self.numbers.remove(n)
                return int(n) if whole else n
        return MISSING

    def pools(self) -> tuple[list[Any], ...]:
        """What can be taken, by its look."""
        return self.quotes, self.codes, self.names, self.files, self.numbers

    def left(self) -> int:
        """How many values are left to take."""
        return sum(len(pool) for pool in self.pools())

    def array(self, name: str, schema: dict[str, Any], depth: int) -> Any:
        """All values of one kind; a list of numbers takes every number."""
        items = schema.get("items")
        items = items if isinstance(items, dict) else {}
        found: list[Any] = []
        while depth < MAX_DEPTH and len(found) < 100:
            before = self.left()
            value = self.value(name, items, depth + 1)
            after = self.left()
            if value is MISSING or (found and before == after):
                break
            found.append(value)
            if before == after:
                break
        return found or MISSING

    def object(self, schema: dict[str, Any], depth: int) -> Any:
        """An object with its required properties."""
        if depth >= MAX_DEPTH:
            return MISSING
        have = schema.get("properties")
        have = have if isinstance(have, dict) else {}
        made = {}
        for name in schema.get("required") or ():
            inner = have.get(name)
            value = self.value(name, inner if isinstance(inner, dict) else {}, depth + 1)
            if value is MISSING:
                return MISSING
            made[name] = value
        return made

    def string(self, name: str, description: str) -> Any:
        """A text that fits the property's name."""
        words = set(name_words(name)) | {name.lower()}
        found = self._by_kind(words)
        if found is MISSING:
            found = self._beside(words)
        if found is MISSING and words & (FREE | ASKED):
            found = self._rest()
        if found is MISSING:
            found = self._by_kind(set(re.findall(r"[a-z]+", description.lower())) & (PLACES | IDS))
        if found is not MISSING:
            return found
        for pool in self.pools()[:4]:
            if pool:
                return pool.pop(0)
        return self._object(self.about | WHEN)

    def _by_kind(self, words: set[str]) -> Any:
        """A value that its shape or its place in the sentence gives away."""
        text = self.clause.text
        for kinds, shape in (({"email", "mail"}, EMAIL), ({"date", "day", "when"}, DATE)):
            found = shape.search(text) if words & kinds else None
            if found:
                return found[0]
        if words & {"url", "link", "uri", "href"}:
            return next((word.text for word in self.clause.words if "://" in word.text), MISSING)
        if words & set(PARAMETERS["path"]) and (self.files or self.topic):
            return self.files.pop(0) if self.files else self.topic
        for kind, prepositions in PREPOSITIONS:
            if words & kind:
                return self._after(prepositions)
        return self._code() if words & IDS else MISSING

    def _code(self) -> Any:
        """An id: a word with digits in it, or a number."""
        if self.codes:
            return self.codes.pop(0)
        return str(self.numbers.pop(0)) if self.numbers else MISSING

    def _after(self, prepositions: tuple[str, ...]) -> Any:
        """The name that follows a preposition; before "to", the word that stands there ("250 USD to EUR")."""
        for index, word in enumerate(self.clause.words):
            if word.lower in prepositions and index + 1 < len(self.clause.words):
                rest = self.clause.words[index + 1 :]
                for name in self.names:
                    if name.split()[0] == rest[0].text:
                        self.names.remove(name)
                        return name
        if prepositions == ("from",) and self.names:
            return self.names.pop(0)
        if prepositions[0] == "in" and self.names:
            return self.names.pop(0)
        for index, word in enumerate(self.clause.words[:-1]):
            following = self.clause.words[index + 1]
            if word.lower in prepositions and following.lower not in STOP and number(following.text) is None:
                return following.text
        return MISSING

    def _beside(self, words: set[str]) -> Any:
        """The word that follows the property's name in the text: "currency EUR"."""
        wanted = {stem(w) for w in words}
        for index, word in enumerate(self.clause.words[:-1]):
            following = self.clause.words[index + 1]
            if stem(word.lower) in wanted and following.lower not in STOP:
                return following.text
        return MISSING

    def _rest(self) -> Any:
        """The quoted part, or what follows the verb."""
        if self.quotes:
            return self.quotes.pop(0)
        return self._object()

    def _object(self, without: frozenset[str] = frozenset()) -> Any:
        content = [
            w.text for w in self.clause.words[1:] if w.lower not in STOP and not {w.lower, stem(w.lower)} & without
        ]
        return " ".join(content) if content else MISSING


def fill(tool: ToolSpec, clause: Clause, topic: str = "") -> tuple[dict[str, Any], list[str]]:
    """Fill a tool's arguments from a clause.

    Returns:
        The arguments, and the names of the required ones for which nothing was found.
    """
    about = {stem(w.strip(".,;:()'\"`!?").lower()) for w in (tool.description or "").split()}
    filler = Filler(clause, topic, definitions(tool), frozenset(about | {stem(w) for w in name_words(tool.name)}))
    have, needed = properties(tool), required(tool)
    made: dict[str, Any] = {}
    missing: list[str] = []
    for name in sorted(needed, key=lambda n: _order(n, have.get(n, {}))):
        value = filler.value(name, have.get(name, {}))
        if value is not MISSING:
            made[name] = value
        elif "default" not in have.get(name, {}):
            missing.append(name)
    for name in have:
        if name not in needed and _named(name, have[name], clause):
            value = filler.value(name, have[name])
            if value is not MISSING and value is not None:
                made[name] = value
    if needed and all(have.get(name, {}).get("type") in NUMERIC for name in needed):
        for name in [
            name for name in have if name not in made and have[name].get("type") in NUMERIC and filler.numbers
        ]:
            value = filler.value(name, have[name])
            made |= {} if value is MISSING else {name: value}
    return {name: made[name] for name in [*needed, *have] if name in made}, missing


def _order(name: str, schema: dict[str, Any]) -> int:
    """What can be told by its kind is filled first, free text last."""
    words = set(name_words(name))
    if "enum" in schema or "const" in schema:
        return 0
    if words & (TARGETS | IDS | {"email", "url", "date"}):
        return 1
    return 3 if words & (FREE | ASKED) else 2


def _named(name: str, schema: dict[str, Any], clause: Clause) -> bool:
    """Whether the text speaks of an optional property: by its name, or by one of its allowed values."""
    said = {stem(w.lower) for w in clause.words}
    options = schema.get("enum")
    if isinstance(options, list):
        return any({stem(w) for w in name_words(str(o))} <= said for o in options if name_words(str(o)))
    if schema.get("type") == "boolean":
        return any(stem(w) in said for w in name_words(name) if w not in STOP)
    return any(stem(w) in said for w in name_words(name) if w not in STOP and len(w) > 1)
