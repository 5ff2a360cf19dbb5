"""What a session comes to: its curve and the comparison of cuts, as files and on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.cli.folders import OTHER, RESULTS
from agentlab.cli.tables import (
    composition_table,
    curve_table,
    cuts_table,
    jumps_table,
    print_table,
    wide_console,
)
from agentlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from agentlab.analysis.growth import Growth
    from agentlab.analysis.session import Session

MOST_JUMPS = 5


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

    print_table(*curve_table(turns))
    console = wide_console()
    for sentence in summary(session):
        console.print(sentence)
    if cuts is not None:
        from agentlab.analysis.compare import nothing_cut

        console.print()
        if said := nothing_cut(cuts):
            console.print(said)
        else:
            print_table(*cuts_table(cuts))


def print_growth(kinds: pd.DataFrame, grown: Growth, jumped: pd.DataFrame) -> None:
    """Print what a session's prompts are made of, how they grow, and where they jump."""
    console = wide_console()
    console.print()
    print_table(*composition_table(kinds))
    for sentence in grown.sentences:
        console.print(sentence)
    if len(jumped):
        console.print()
        print_table(*jumps_table(jumped.head(MOST_JUMPS)))
