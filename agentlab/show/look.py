"""What the HTML of this package has in common, and texts that are safe to show.

Styles are inline, because a notebook that is not trusted loses its style sheets. They set no background and no colour
of the text: both come from the theme.
"""

from __future__ import annotations

from html import escape
from typing import Final

CODE: Final = (
    "margin:0;padding:0;background:transparent;font-family:var(--jp-code-font-family,monospace);font-size:0.92em;"
    "line-height:1.4;overflow-x:auto"
)
CELL: Final = "text-align:left;vertical-align:top;padding:2px 10px;white-space:normal;overflow-wrap:anywhere"
WORD: Final = "text-align:left;vertical-align:top;padding:2px 10px;white-space:nowrap"
NUMBER: Final = "text-align:right;vertical-align:top;padding:2px 10px;white-space:nowrap"
QUIET: Final = "opacity:0.7;font-size:0.92em;padding:2px 10px"


def table(heads: str, rows: str, style: str = "table-layout:auto") -> str:
    """Lay out a table of cells that are HTML already."""
    opening = f'<table style="{style};margin:0;border-collapse:collapse">'
    return f"{opening}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def heads(*named: tuple[str, str]) -> str:
    """The cells of a table's head, of names and their styles.

    >>> heads(("a & b", "x"))
    '<th scope="col" style="x">a &amp; b</th>'
    """
    return "".join(f'<th scope="col" style="{style}">{escape(name)}</th>' for name, style in named)


def clipped(text: str, limit: int) -> str:
    r"""At most so many characters in one line, none of which moves a terminal's cursor.

    >>> clipped("a\tb\x1b[2J", 5)
    'a b�…'
    """
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in short)
