"""CSV that a spreadsheet opens as it stands: no text in it is taken for a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r")
QUOTE = "'"


def write_csv(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """The text of a CSV file.

    >>> print(write_csv(["id", "points"], [["=1+1", 2.0], ["ada", 0.5]]), end="")
    id,points
    '=1+1,2
    ada,0.5
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for line in lines:
        writer.writerow([_cell(value) for value in line])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and value.startswith(FORMULA):
        return QUOTE + value
    return value


def plain(value: str) -> str:
    """A text as it was before `write_csv` guarded it.

    >>> plain("'=1+1"), plain("'tis")
    ('=1+1', "'tis")
    """
    return value[1:] if value.startswith(QUOTE) and value[1:].startswith(FORMULA) else value
