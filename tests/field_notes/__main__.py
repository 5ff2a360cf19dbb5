"""Prints ours beside theirs: `python -m tests.field_notes [--data FOLDER] [--markdown]`."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from . import names, usage
from .rows import DATA, Logs, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS = (
    usage.usage,
    usage.once,
    usage.trends,
    usage.factors,
    usage.fits,
    names.kept,
    names.at_risk,
    names.differences,
    names.by_tool,
    names.positions,
    names.every_use,
    names.masked,
    names.same_saving,
    names.anchors,
    usage.replays,
)
HEADER = ("", "theirs", "ours", "off", "agentlab", "verdict")


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts."""
    off = None if row.ours is None else row.ours - row.theirs
    return (row.name, _number(row.theirs), _number(row.ours), _number(off), _number(row.given), row.verdict)


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3f}".rstrip("0")


def table(rows: Sequence[tuple[str, ...]], *, markdown: bool) -> str:
    """Rows in columns."""
    if markdown:
        lines = [HEADER, ("---", *["---:"] * 4, "---"), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    widths = [max(len(line[n]) for line in [HEADER, *rows]) for n in range(5)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(line[n].rjust(widths[n]) for n in range(1, 5)), line[5]])
        for line in [HEADER, *rows]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and how many rows came to what."""
    parser = argparse.ArgumentParser(prog="python -m tests.field_notes", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public logs")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    chosen = parser.parse_args(arguments)
    if not chosen.data.is_dir():
        sys.stderr.write(f"{chosen.data}: no such folder: name the one with tau-bench/ and claude-code/ in it\n")
        return 2
    logs = Logs(chosen.data)
    rows = [row for section in SECTIONS for row in section(logs)]
    for section, group in groupby(rows, key=lambda row: row.section):
        sys.stdout.write(f"\n{'## ' if chosen.markdown else ''}{section}\n\n")
        sys.stdout.write(table([cells(row) for row in group], markdown=chosen.markdown) + "\n")
    counts: dict[str, int] = {}
    for row in rows:
        said = row.verdict.split(":")[0]
        counts[said] = counts.get(said, 0) + 1
    sys.stdout.write(f"\n{', '.join(f'{said}: {n}' for said, n in counts.items())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
