"""Who is in the class: a CSV file with a line per person, whatever system wrote it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ID = ("id", "student id", "student", "username", "sis user id", "sis login id", "id number", "email", "email address")
"""Columns that name a person, the first one that is there."""
NAME = ("name", "full name", "student name")
FIRST = ("first name", "firstname", "first", "given name")
LAST = ("last name", "lastname", "surname", "last", "family name")


class Person(msgspec.Struct, frozen=True):
    """A line of the roster.

    Attributes:
        id: What the grades call the person.
        name: For people to read.
        known_as: All that may name the person in a path, folded.
    """

    id: str
    name: str = ""
    known_as: tuple[str, ...] = ()


def fold(text: str) -> str:
    """A name without case, accents, blanks and signs.

    >>> fold("Lovelace, Ada"), fold("Zoë")
    ('lovelaceada', 'zoe')
    """
    plain = unicodedata.normalize("NFKD", text)
    return re.sub(r"[^\w]|_", "", "".join(c for c in plain if not unicodedata.combining(c))).casefold()


def read_roster(path: str | Path) -> list[Person]:
    """Read a roster: a header line, then a person on each line; comma, semicolon or tab.

    Raises:
        InputError: It cannot be read, has no line of a person, or has one person twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error}): save it as CSV in UTF-8", path=path) from None
    first = text.splitlines()[0] if text.strip() else ""
    delimiter = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    columns = {(name or "").strip().lower(): name for name in (rows[0] if rows else {}) if isinstance(name, str)}
    if not rows or not columns:
        raise InputError("holds no person: expected a header line such as `id,name`, then a line each", path=path)
    ident = next((columns[name] for name in ID if name in columns), next(iter(columns.values())))
    people = [person for row in rows if (person := _person(row, ident, columns)) is not None]
    for name, times in Counter(person.id for person in people).items():
        if times > 1:
            raise InputError(f"{name!r} is there {times} times, expected once", path=path, field=ident)
    return people


def _person(row: dict[str, str], ident: str, columns: dict[str, str]) -> Person | None:
    values = {key: value.strip() for key, value in row.items() if isinstance(key, str) and isinstance(value, str)}
    if not values.get(ident):
        return None

    def column(names: Sequence[str]) -> str:
        return next((values.get(columns[name], "") for name in names if name in columns), "")

    first, last = column(FIRST), column(LAST)
    name = column(NAME) or f"{first} {last}".strip()
    written = [*values.values(), name, first + last, last + first, *_turned(name)]
    return Person(values[ident], name, tuple(dict.fromkeys(filter(None, map(fold, written)))))


def _turned(name: str) -> list[str]:
    """A name with its parts the other way round, as learning platforms write it."""
    parts = re.split(r",\s*", name, maxsplit=1) if "," in name else name.rsplit(maxsplit=1)
    return ["".join(reversed(parts))] if len(parts) == 2 else []


def person_of(who: Iterable[str], people: Sequence[Person]) -> Person | None:
    """The person that a path names; None where nobody is named, or more than one is.

    >>> class_ = [Person("u1", "Ada Lovelace", ("u1", "adalovelace", "lovelaceada"))]
    >>> person_of(["Ada Lovelace", "815"], class_).id, person_of(["grace"], class_)
    ('u1', None)
    """
    for name in who:
        named = [person for person in people if fold(name) in person.known_as]
        if len(named) == 1:
            return named[0]
    return None
