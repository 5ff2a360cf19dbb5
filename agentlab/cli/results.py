"""What a session comes to: its curve and the comparison of cuts, as files and as tables."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from agentlab.cli.folders import OTHER, RESULTS
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from agentlab.analysis.evidence import Evidence
    from agentlab.analysis.growth import Growth
    from agentlab.analysis.session import Session

MOST_JUMPS = 5
MOST_TURNS = 40
KINDS = ("first_lines", "last_lines", "error_lines", "names")
LEFT = ("strategy", "kind", "grown_by", "policy", "tool")
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


def print_growth(kinds: pd.DataFrame, grown: Growth, jumped: pd.DataFrame) -> None:
    """Print what a session's prompts are made of, how they grow, and where they jump."""
    from agentlab.cli.terminal import MIN_WIDTH, plain_console

    console = plain_console()
    console.width = max(MIN_WIDTH, console.width)
    console.print()
    _print_table(console, *composition_table(kinds))
    for sentence in grown.sentences:
        console.print(sentence)
    if len(jumped):
        console.print()
        _print_table(console, *jumps_table(jumped.head(MOST_JUMPS)))


def composition_table(kinds: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per kind that was sent."""
    columns = {"kind": "kind", "messages": "messages", "once": "once", "resent": "re-sent", "share": "of all"}
    title = "What all prompts together are made of, in tokens: sent for the first time, and sent again with later ones."
    return title, _table(columns, kinds[kinds["sent"] > 0].to_dict("records"))


def jumps_table(jumped: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per jump."""
    columns = {"call": "call", "turn": "turn", "iteration": "iter.", "growth": "tokens", "share": "of growth"}
    title = "The largest jumps: calls whose prompt grew most, and what of the new messages takes most."
    return title, _table({**columns, "grown_by": "grown by"}, jumped.to_dict("records"))


def evidence_table(rows: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per policy, or per policy and tool."""
    first = rows.iloc[0]
    by_tool = rows["tool"].notna().any()
    columns = {"policy": "policy", "tool": "tool", "n": "names", "kept": "kept", "interval": "95 % interval"}
    more = {"at_risk": "at risk", "at_risk_kept": "of these kept", "shown_characters": "text shown"}
    title = (
        f"Names and ids that later calls cite and only observations had, and the share of them that is still shown: n "
        f"{int(rows['n'].max()):,} from {int(first['clusters']):,} tasks or sessions, which the interval resamples. At "
        f"risk: names of which every source is cut."
    )
    if by_tool:
        title = "The same by the tool whose result had the name last."
    else:
        del columns["tool"]
    shown = rows.assign(interval=[_ends(row) for row in rows.to_dict("records")])
    return title, _table({**columns, **more}, shown.to_dict("records"))


def positions_line(found: Evidence) -> list[str]:
    """What stands beside the table: where cited names stand, what chance does, and what the log had cut already."""
    positions = found.positions()
    said = []
    if positions["n"].sum():
        tenths = " ".join(f"{share:.0%}" for share in positions["share"])
        said.append(f"Where cited names stand in their newest source, by tenths of it: {tenths}.")
    if not isnan(found.chance):
        said.append(f"By chance {found.chance:.1%} of them stand in an observation of another task or session.")
    if found.only_cut:
        said.append(
            f"{found.only_cut:,} of {found.observations:,} observations are in the log in part only, as their agent "
            f"had cut them: what it had removed cannot be seen here."
        )
    return said


def _ends(row: dict[Any, Any]) -> str:
    return "-" if isnan(row["low"]) else f"{row['low']:.0%} to {row['high']:.0%}"


def print_table(title: str, table: Table) -> None:
    """Print a table in the width of the terminal, or in its own."""
    from agentlab.cli.terminal import MIN_WIDTH, plain_console

    console = plain_console()
    console.width = max(MIN_WIDTH, console.width)
    _print_table(console, title, table)


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
    rows = turns.to_dict("records")
    if len(rows) > MOST_TURNS:
        half = MOST_TURNS // 2
        title += f" {len(rows) - MOST_TURNS:,} turns in the middle are left out here."
        rows = [*rows[:half], *rows[-half:]]
    return title, _table(columns, rows)


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
        table.add_column(heading, justify="left" if name in LEFT else "right", no_wrap=True)
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
