"""What a session comes to: its curve and the comparison of cuts, as files and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.cli.folders import OTHER, RESULTS
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from agentlab.analysis.session import Session

KINDS = ("first_lines", "last_lines", "error_lines", "names")
KEEPS = {"middle_snip": "ends", "tail_cut": "head", "head_cut": "tail"}


def write_results(session: Session, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[Path]]:
    """Write curve and comparison of a session into a folder; returns the two frames and the files.

    Raises:
        InputError: The system refuses.
    """
    from agentlab import plots
    from agentlab.analysis.compare import compare_cuts
    from agentlab.analysis.curve import curve

    turns, cuts = curve(session), compare_cuts(session)
    files = [folder / name for name in RESULTS]
    curve_csv, curve_png, cuts_csv, cuts_png = files
    try:
        turns.to_csv(curve_csv, index=False)
        plots.save(plots.plot_curve(turns), curve_png)
        cuts.to_csv(cuts_csv, index=False)
        plots.save(plots.plot_comparison(cuts), cuts_png)
    except OSError as error:
        where = error.filename or folder
        raise InputError(f"cannot be written ({error.strerror or error}): {OTHER}", path=where) from error
    return turns, cuts, files


def print_results(session: Session, turns: pd.DataFrame, cuts: pd.DataFrame | None) -> None:
    """Print the tables and the sentences of a session."""
    from agentlab.analysis.curve import summary
    from agentlab.cli.terminal import MIN_WIDTH, plain_console

    console = plain_console()
    console.width = max(MIN_WIDTH, console.width)
    _print_table(console, *curve_table(turns))
    for sentence in summary(session):
        console.print(sentence)
    if cuts is not None:
        from agentlab.analysis.compare import nothing_cut

        console.print()
        if said := nothing_cut(cuts):
            console.print(said)
        else:
            _print_table(console, *cuts_table(cuts))


def curve_table(turns: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per turn."""
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
    return title, _table(columns, turns.to_dict("records"))


def cuts_table(cuts: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per strategy and limit."""
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
    from agentlab.analysis.compare import share_kept

    rows = [{**row, **_in_words(row, share_kept)} for row in cuts.to_dict("records")]
    seen = rows[0]
    title = (
        f"What survives a cut of the session's {seen['observations']} observations at a limit in characters: first and "
        f"last lines ({seen['first_lines']}), error and exit lines ({seen['error_lines']}), names and ids that later "
        f"calls cite ({seen['names']}). Saved: tokens, against sending each of them in full with every later call."
    )
    return title, _table(columns, rows)


def _in_words(row: dict[Any, Any], share_kept: Callable[[int, float], str]) -> dict[str, str]:
    """What survives, as shares or, of few, as counts; what is saved, with its share."""
    kept = {f"{kind}_kept": share_kept(row[kind], row[f"{kind}_kept"]) for kind in KINDS}
    strategy = f"{row['strategy']} ({KEEPS[row['strategy']]})" if row["strategy"] in KEEPS else row["strategy"]
    saved = f"{row['saved_first'] + row['saved_resent']:,} ({row['saved_share']:.0%})"
    return {**kept, "strategy": strategy, "saved": saved}


def _table(columns: dict[str, str], rows: list[Any]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, heading in columns.items():
        table.add_column(heading, justify="left" if name == "strategy" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*[_cell(row[name]) for name in columns])
    return table


def _print_table(console: Console, title: str, table: Table) -> None:
    """Print a table in its full width: a terminal that is too narrow folds its lines, and no digit is lost."""
    console.print(title)
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(max_width=10_000)).maximum)
    console.print(table)
    console.width = width


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.0%}"  # noqa: PLR0124 - the test for NaN
    return value if isinstance(value, str) else f"{value:,}"


def as_json(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame as JSON-able rows; what is missing is null."""
    import msgspec

    rows: list[dict[str, Any]] = msgspec.json.decode(frame.to_json(orient="records"))
    return rows
