r"""The figures of a paragraph, and whether they are the measured ones.

What must be measured: each number before *tokens* or *lines*, each per cent, each "times as many", and any other number
from 1,000 up that is no setting (16,000 characters, a year). Thousands may be separated in any way. A rounded figure
says so: by a word such as *about* or *nearly*, by *k* or *million*, or by *rounded* anywhere in the text.

>>> unmeasured("From 2,824,747 to about 1.5 million tokens, 46 % less.", [(2_824_747, 1_535_658)])
[]
>>> unmeasured("It saves half: 1 412 000 of 2'824'747 tokens.", [(2_824_747, 1_535_658)])
['1 412 000']
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SETTINGS = (4_000, 16_000, 1_200, 500, 50_000)
"""Numbers that decisions are about: never measured, unless tokens or lines follow."""

FROM = 1_000
"""A number that nothing follows is looked at from here up."""

GAP = "[,.'\u2019_ \u00a0\u2009\u202f]"
NUMBER = re.compile(rf"(?<![\w.,-])\d{{1,3}}(?:{GAP}\d{{3}})+(?!\d)(?:[.,]\d+)?|(?<![\w.,-])\d+(?:[.,]\d+)?")
SCALE = re.compile(r"\s?(k|thousand|million|m)\b(?!-)", re.IGNORECASE)
SCALES = {"k": 1_000, "thousand": 1_000, "million": 1_000_000, "m": 1_000_000}
PERCENT = re.compile(r"\s?(?:%|per\s?cent\b)")
TIMES = re.compile(r"(?:-?fold\b|\s?[x\u00d7](?!\w)|\s+times\s+(?:as|the|more|fewer|less|larger|smaller|cheaper)\b)")
COUNTED = re.compile(r"\s+(?:(?:prompt|input|more|fewer|of the|of its|different)\s+)?(?:tokens|lines)\b")
OTHER = re.compile(
    r"[\s-]+(?:characters?|chars?|token|line|context|window)\b|[\s-]+(?:of|to|and|or)\s+[\d,.]+[\s-]+characters?\b"
)
NEAR = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|some|circa|ca\.)|[~\u2248])\s*(?:the\s+|a\s+)?$",
    re.IGNORECASE,
)
SIDE = re.compile(
    r"\b(?:nearly|almost|over|under|above|below|just|close\s+to|at\s+least|at\s+most|(?:more|less|fewer)\s+than)\s+$",
    re.IGNORECASE,
)
EXACT, NEAREST, ONE_SIDE = 0.0, 0.5, 1.0
MOST_OFF = 0.1
"""A rounded figure is off by no more than this share."""


class Figure(msgspec.Struct, frozen=True):
    """A figure of a text.

    Attributes:
        text: As it stands there.
        readings: What it may mean: the number, and the unit of its last digit; "91.370" has two.
        kind: What it counts.
        rounded: How much of the unit of its last digit that is not 0 it may be off: 0, a half or a whole.
    """

    text: str
    readings: tuple[tuple[float, float], ...]
    kind: Literal["number", "percent", "times"]
    rounded: float


def words(text: str) -> int:
    """How many words a text has.

    >>> words("It saves 46 % - or so.")
    5
    """
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def figures(text: str) -> list[Figure]:
    """The figures of a text that must be measured.

    >>> [each.text for each in figures("Of 60 turns, 10 results of up to 16,000 characters: 5,200 tokens, 3 %.")]
    ['5,200', '3']
    """
    return list(_figures(text))


def _figures(text: str) -> Iterator[Figure]:
    everywhere = re.search(r"\brounded\b", text, re.IGNORECASE) is not None
    for match in NUMBER.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        scale = SCALE.match(after)
        times = 1 if scale is None else SCALES[scale.group(1).lower()]
        after = after if scale is None else after[scale.end() :]
        readings = tuple((value * times, unit * times) for value, unit in _readings(match.group()))
        stated = scale is not None or everywhere or NEAR.search(before) is not None
        rounded = ONE_SIDE if SIDE.search(before) else NEAREST if stated else EXACT
        if PERCENT.match(after):
            yield Figure(match.group(), readings, "percent", rounded)
        elif TIMES.match(after):
            yield Figure(match.group(), readings, "times", rounded)
        elif COUNTED.match(after) or _is_large(match.group(), readings, after):
            yield Figure(match.group(), readings, "number", rounded)


def _is_large(text: str, readings: Sequence[tuple[float, float]], after: str) -> bool:
    year = re.fullmatch(r"(?:19|20)\d\d", text) is not None
    value = readings[0][0]
    return value >= FROM and not year and value not in SETTINGS and OTHER.match(after) is None


def _readings(text: str) -> Iterator[tuple[float, float]]:
    """What a number may mean, with the unit of its last digit; the likelier one first."""
    grouped = re.fullmatch(rf"(\d{{1,3}}(?:{GAP}\d{{3}})+)(?:[.,](\d+))?", text)
    if grouped is not None:
        digits = len(grouped.group(2) or "")
        yield float(re.sub(r"\D", "", grouped.group(1)) + "." + (grouped.group(2) or "0")), 10.0**-digits
    plain = re.fullmatch(r"(\d+)(?:[.,](\d+))?", text)
    if plain is not None:
        digits = len(plain.group(2) or "")
        yield float(f"{plain.group(1)}.{plain.group(2) or '0'}"), 10.0**-digits


def unmeasured(text: str, pairs: Iterable[tuple[float, float]], also: Iterable[float] = ()) -> list[str]:
    """The figures of a text that nobody measured.

    Args:
        text: The paragraph.
        pairs: What was measured twice, as tokens before and after: both, their difference, the per cent that is left
            or that was saved, and "times as many" either way may be said.
        also: What else was measured; only an exact figure says it.

    Returns:
        As they stand in the text.
    """
    measured, others = list(pairs), set(also)
    return [each.text for each in figures(text) if not _is_measured(each, measured, others)]


def says(text: str, value: float) -> bool:
    """Whether a figure of a text is a measured number, exactly or rounded as it says.

    >>> says("It sends about 91,000 tokens.", 91_370), says("It sends 91,000 tokens.", 91_370)
    (True, False)
    """
    return any(each.kind == "number" and _is(each, value) for each in figures(text))


def _is_measured(figure: Figure, pairs: Sequence[tuple[float, float]], also: set[float]) -> bool:
    if figure.kind == "number" and any(value in also for value, _ in figure.readings):
        return True
    return any(_is(figure, value) for pair in pairs for value in _derived(figure.kind, *pair))


def _derived(kind: str, before: float, after: float) -> Iterator[float]:
    if kind == "number":
        yield from (before, after, abs(before - after))
    elif before and after:
        share = after / before
        yield from (
            (share, 1 / share) if kind == "times" else (100 * share, 100 * abs(1 - share), 100 * abs(1 - 1 / share))
        )


def _is(figure: Figure, value: float) -> bool:
    for said, unit in figure.readings:
        shown = unit / 2 if unit < 1 or figure.kind != "number" else 0.0
        if abs(said - value) <= shown + 1e-9:
            return True
        off = figure.rounded * _last_digit(said, unit)
        if abs(said - value) <= min(off, MOST_OFF * abs(value)):
            return True
    return False


def _last_digit(value: float, unit: float) -> float:
    """The unit of the last digit that is not 0: 1,000 of 91,000.

    >>> _last_digit(91_000, 1), _last_digit(1.5, 0.1)
    (1000, 0.1)
    """
    while value and round(value / unit) % 10 == 0:
        unit *= 10
    return unit
