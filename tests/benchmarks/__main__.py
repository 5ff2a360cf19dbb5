"""Measure, and print one table.

    python -m tests.benchmarks                    some minutes
    python -m tests.benchmarks --quick            one round, for a look
    PEERS=llm,smolagents python -m tests.benchmarks

The floor is a loop of a few lines that cuts at 16,000 characters, sizes each message once and appends it to a JSONL
file with the standard library's json. agentlab runs with everything on: limits, a budget, checked arguments, events,
the session folder, the running count. Trust the ratios, which are of one run; CPU time is the best of interleaved
rounds in fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

from . import figures, grading, reading, widgets
from .peers import GRADERS, READERS, asked_for, python_of
from .rounds import BenchError, Rounds

HEAD = ["figure", "target", "floor in the same run", "ours", "ratio", "meets?"]


def main() -> int:
    """Run what the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round of few repeats")
    parser.add_argument("--clone", action="store_true", help="also time a clone, a new environment and the demo in it")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all values there")
    asked = parser.parse_args()
    started = time.perf_counter()
    try:
        peers = asked_for(os.environ.get("PEERS", ""))
        rounds = Rounds(*((1, 4) if asked.quick else (5, 12)), pythons={peer: python_of(peer) for peer in peers})
        rows = [
            *figures.rows(rounds, peers),
            *reading.reading(rounds, peers),
            *widgets.updating(rounds),
            *grading.grading(rounds, peers),
        ]
        if asked.clone:
            rows += figures.from_a_clone()
        tables = [[HEAD, *(_cells(row) for row in rows)]]
        if loops := [peer for peer in peers if peer not in READERS + GRADERS]:
            tables.append(figures.beside_peers(rounds, loops))
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 2
    about = _about(rounds, time.perf_counter() - started)
    sys.stdout.write("\n\n".join([*map(_markdown, tables), about]) + "\n")
    if asked.json is not None:
        values = {"about": about, "rows": [asdict(row) for row in rows], "values": rounds.raw}
        asked.json.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return 0


def _cells(row: figures.Row) -> list[str]:
    meets = {True: "yes", False: "no", None: ""}[row.meets]
    return [row.figure, row.target, row.floor, row.ours, row.ratio, meets]


def _markdown(table: list[list[str]]) -> str:
    """A table whose columns are aligned in a terminal too."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def _about(rounds: Rounds, seconds: float) -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}; "
        f"{rounds.rounds} rounds of {rounds.repeats}; {time.strftime('%Y-%m-%d')}; {seconds:.0f} s."
    )


if __name__ == "__main__":
    sys.exit(main())
