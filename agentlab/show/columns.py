"""Texts side by side: what one observation becomes under several cuts."""

from __future__ import annotations

from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.show.look import CELL, CODE, clipped, table
from agentlab.truncate import find_marker

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMN_WIDTH: Final = 46
"""Characters of a column in plain text."""


class SideBySide(msgspec.Struct, frozen=True):
    """Texts by title; in HTML the first marker of a cut stands out in each."""

    texts: dict[str, str]

    def __repr__(self) -> str:
        columns = [[title, "-" * len(title), *_wrapped(text)] for title, text in self.texts.items()]
        rows = zip_longest(*columns, fillvalue="")
        return "\n".join(" | ".join(cell.ljust(COLUMN_WIDTH) for cell in row).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        width = f"width:{100 // max(1, len(self.texts))}%"
        pre = f"{CODE};white-space:pre-wrap;overflow-wrap:anywhere"
        heads = "".join(f'<th style="{CELL};{width}">{escape(title)}</th>' for title in self.texts)
        cells = "".join(
            f'<td style="{CELL}"><pre style="{pre}">{_with_marker(text)}</pre></td>' for text in self.texts.values()
        )
        return table(heads, f"<tr>{cells}</tr>", "table-layout:fixed;width:100%")


def side_by_side(texts: Mapping[str, str]) -> SideBySide:
    r"""Show texts in columns.

    Args:
        texts: By title, in the order of the columns.

    >>> side_by_side({"head": "one\ntwo", "tail": "nine"})
    head                                           | tail
    ----                                           | ----
    one                                            | nine
    two                                            |
    """
    return SideBySide({str(title): str(text) for title, text in texts.items()})


def _wrapped(text: str) -> list[str]:
    lines = [clipped(line, len(line) + 1) for line in text.split("\n")]
    return [line[at : at + COLUMN_WIDTH] for line in lines for at in range(0, max(1, len(line)), COLUMN_WIDTH)]


def _with_marker(text: str) -> str:
    marker = find_marker(text)
    if marker is None:
        return escape(text)
    start, end = marker.span
    return f"{escape(text[:start])}<strong>{escape(text[start:end])}</strong>{escape(text[end:])}"
