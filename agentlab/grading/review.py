"""Paragraphs that a person marks: written to a CSV file, filled in by hand, merged into the grades."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError
from agentlab.grading.spreadsheet import plain, write_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.grading.exercise import Exercise
    from agentlab.grading.gradebook import Graded
    from agentlab.grading.result import Result, Text

COLUMNS = ("exercise", "paragraph", "text_id", "file", "rubric", "text", "max", "points", "comment")
"""Only `points` and `comment` are filled in; `text_id` finds the text again, whoever wrote it."""


class Given(msgspec.Struct, frozen=True):
    """What a person gave for a text."""

    points: float
    comment: str


Key = tuple[str, str, str]
"""Exercise, paragraph, and the digest of a text."""


def text_id(text: str) -> str:
    """Names a text: equal texts are marked once and earn the same.

    >>> text_id("so") == text_id("so"), len(text_id("so"))
    (True, 12)
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def review_csv(graded: Iterable[Graded], exercises: Sequence[Exercise]) -> str:
    """The file to fill in: a line per text that was written, without the student's name beyond the file's."""
    rubrics = {(e.name, p.id): p.rubric for e in exercises for p in e.paragraphs}
    lines: dict[Key, list[object]] = {}
    for each in graded:
        for text in each.result.texts if each.result is not None else ():
            if not text.text:
                continue
            key = (each.exercise, text.id, text_id(text.text))
            rubric = rubrics.get(key[:2], "")
            points = "" if text.earned is None else text.earned
            lines.setdefault(key, [*key, each.handed.label, rubric, text.text, text.points, points, text.comment])
    return write_csv(COLUMNS, [lines[key] for key in sorted(lines)])


def read_review(path: str | Path) -> dict[Key, Given]:
    """What a person filled in; lines without points are left out.

    Raises:
        InputError: A line cannot be read, or gives more than there is.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error}): save it as CSV in UTF-8", path=path) from None
    first = text.splitlines()[0] if text else ""
    reader = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"has no column {missing[0]!r}: fill in the file that --review wrote", path=path)
    given: dict[Key, Given] = {}
    for row in reader:
        points = (row["points"] or "").strip().replace(",", ".")
        if not points:
            continue
        most = float(row["max"].replace(",", ".")) if _is_number(row["max"]) else 0.0
        if not _is_number(points) or not 0 <= float(points) <= most:
            problem = f"found {points!r}, expected a number from 0 to {row['max']}"
            raise InputError(problem, path=path, line=reader.line_num, field="points")
        key = (plain(row["exercise"]), plain(row["paragraph"]), plain(row["text_id"]))
        given[key] = Given(float(points), plain(row["comment"] or ""))
    return given


def _is_number(text: str | None) -> bool:
    try:
        return float((text or "").replace(",", ".")) >= 0
    except ValueError:
        return False


def merge(graded: Iterable[Graded], given: Mapping[Key, Given]) -> tuple[list[Graded], list[Key]]:
    """The grades with what a person gave; and which of it belongs to no text that is there."""
    used: set[Key] = set()
    merged = []
    for each in graded:
        if each.result is not None:
            texts = [_marked(each.exercise, text, given, used) for text in each.result.texts]
            result: Result = msgspec.structs.replace(each.result, texts=texts)
            each = msgspec.structs.replace(each, result=result)  # noqa: PLW2901 - the same notebook, marked
        merged.append(each)
    return merged, [key for key in given if key not in used]


def _marked(exercise: str, text: Text, given: Mapping[Key, Given], used: set[Key]) -> Text:
    key = (exercise, text.id, text_id(text.text))
    if not text.text or key not in given:
        return text
    used.add(key)
    return msgspec.structs.replace(text, earned=given[key].points, comment=given[key].comment)
