"""What a session comes to: its curve and the comparison of cuts, as files and as tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from rich.console import Group

    from agentlab.analysis.session import Session

CURVE_CSV, CURVE_PNG, CUTS_CSV, CUTS_PNG = "curve.csv", "curve.png", "cuts.csv", "cuts.png"


def write_results(session: Session, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[Path]]:
    """Write curve and comparison of a session into a folder; returns the two frames and the files."""
    from agentlab import plots
    from agentlab.analysis.compare import compare_cuts
    from agentlab.analysis.curve import curve

    turns, cuts = curve(session), compare_cuts(session)
    files = [folder / name for name in (CURVE_CSV, CURVE_PNG, CUTS_CSV, CUTS_PNG)]
    turns.to_csv(files[0], index=False)
    plots.save(plots.plot_curve(turns), files[1])
    cuts.to_csv(files[2], index=False)
    plots.save(plots.plot_comparison(cuts), files[3])
    return turns, cuts, files


def print_results(session: Session, turns: pd.DataFrame, cuts: pd.DataFrame | None) -> None:
    """Print the tables and the sentences of a session."""
    from rich.console import Console

    from agentlab.analysis.curve import summary

    console = Console(file=sys.stdout, highlight=False)
    console.print(curve_table(turns))
    for sentence in summary(session):
        console.print(sentence)
    if cuts is not None and len(cuts):
        console.print()
        console.print(cuts_table(cuts))


def curve_table(turns: pd.DataFrame) -> Group:
    """A row per turn."""
    columns = {
        "turn": "turn",
        "calls": "calls",
        "turn_tokens": "sent",
        "context": "context",
        "new_tokens": "new",
        "resent_iterations": "iter.",
        "resent_parallel": "par.",
        "resent_turns": "turns",
        "base": "base",
        "turn_tokens_without": "without",
    }
    title = (
        "Prompt tokens per user turn: sent in all its calls, and in the last (context). Of what was sent: new; re-sent "
        "from earlier iterations (par.: of it parallel results) and from earlier turns; base: system prompt and tools. "
        "Without: sent without continuation."
    )
    return _table(title, columns, turns.to_dict("records"))


def cuts_table(cuts: pd.DataFrame) -> Group:
    """A row per strategy and limit."""
    columns = {
        "strategy": "strategy",
        "limit": "limit",
        "cut": "cut",
        "first_lines_kept": "first",
        "last_lines_kept": "last",
        "error_lines_kept": "error",
        "names_kept": "names",
        "saved": "saved",
    }
    rows = cuts.assign(saved=cuts["saved_first"] + cuts["saved_resent"]).to_dict("records")
    seen = rows[0]
    title = (
        f"What survives a cut of the session's {seen['observations']} observations at a limit in characters: first and "
        f"last lines ({seen['first_lines']}), error and exit lines ({seen['error_lines']}), names and ids that later "
        f"calls cite ({seen['names']}). Saved: tokens, against sending each of them in full with every later call."
    )
    return _table(title, columns, rows)


def _table(title: str, columns: dict[str, str], rows: list[Any]) -> Group:
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, heading in columns.items():
        table.add_column(heading, justify="left" if name == "strategy" else "right")
    for row in rows:
        table.add_row(*[_cell(row[name]) for name in columns])
    return Group(title, table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.0%}"  # noqa: PLR0124 - the test for NaN
    return value if isinstance(value, str) else f"{value:,}"


def as_json(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame as JSON-able rows; what is missing is null."""
    import msgspec

    rows: list[dict[str, Any]] = msgspec.json.decode(frame.to_json(orient="records"))
    return rows
