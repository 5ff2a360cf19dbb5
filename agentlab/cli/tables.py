"""Frames as tables of the terminal: a title, and the columns that a person reads."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from agentlab.printable import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from agentlab.analysis.cost import Bill
    from agentlab.analysis.evidence import Evidence

MOST_TURNS = 40
MOST_TOOLS = 8
MOST_BREAKS = 10
LONGEST_NAME = 60
KINDS = ("first_lines", "last_lines", "error_lines", "names")
LEFT = ("strategy", "kind", "grown_by", "policy", "tool", "setting", "session", "reason")
KEEPS = {"middle_snip": "ends", "tail_cut": "head", "head_cut": "tail"}


def composition_table(kinds: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per kind that was sent."""
    columns = {"kind": "kind", "messages": "messages", "once": "once", "resent": "re-sent", "share": "of all"}
    title = "What all prompts together are made of, in tokens: sent for the first time, and sent again with later ones."
    return title, table_of(columns, kinds[kinds["sent"] > 0].to_dict("records"))


def jumps_table(jumped: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per jump."""
    columns = {"call": "call", "turn": "turn", "iteration": "iter.", "growth": "tokens", "share": "of growth"}
    title = "The largest jumps: calls whose prompt grew most, and what of the new messages takes most."
    return title, table_of({**columns, "grown_by": "grown by"}, jumped.to_dict("records"))


def evidence_table(rows: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per policy, or per policy and tool."""
    first = rows.iloc[0]
    by_tool = rows["tool"].notna().any()
    columns = {"policy": "policy", "tool": "tool", "n": "names", "kept": "kept", "interval": "95 % interval"}
    more = {"at_risk": "at risk", "at_risk_kept": "of these kept", "shown_characters": "text shown"}
    clusters = int(first["clusters"])
    source = "one task or session, so there is no interval"
    if clusters > 1:
        source = f"{clusters:,} tasks or sessions, which the interval resamples"
    title = (
        f"Names and ids that later calls cite and only observations had, and the share of them that is still shown: n "
        f"{int(rows['n'].max()):,} from {source}. At risk: names of which every source is cut."
    )
    if by_tool:
        title = "The same by the tool whose result had the name last."
        del more["shown_characters"]  # it is of all tools
    else:
        del columns["tool"]
    shown = rows.assign(interval=[_ends(row) for row in rows.to_dict("records")])
    return title, table_of({**columns, **more}, shown.to_dict("records"))


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


def bills_table(names: Sequence[str], bills: Sequence[Bill]) -> tuple[str, Table]:
    """A title, and a row per session."""
    columns = {"session": "session", "calls": "calls", "dollars": "dollars", "recorded": "recorded", "read": "read"}
    more = {"multiplier": "per token", "breaks": "breaks", "lost": "lost to them"}
    rows = [
        {
            "session": name,
            "calls": each.calls,
            "dollars": _number(each.dollars, ",.4f"),
            "recorded": _number(each.recorded, ",.4f"),
            "read": each.hit_rate,
            "multiplier": _number(each.multiplier, ".3f"),
            "breaks": f"{each.breaks[0]} ({each.breaks[1]})",
            "lost": each.lost_share,
        }
        for name, each in zip(names, bills, strict=True)
    ]
    title = (
        "What each session cost in US dollars at list price, and as its log records. Read: prompt tokens from the "
        "cache. Per token: a prompt token in prices of an uncached one. Breaks: candidates for breaks of it (expired), "
        "and the share of the input's price that was lost to them."
    )
    return title, table_of({**columns, **more}, rows)


def breaks_table(breaks: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per candidate for a break of the cache."""
    columns = {"call": "call", "turn": "turn", "lost": "tokens billed again", "dollars": "dollars", "gap": "after s"}
    shown = breaks.head(MOST_BREAKS)
    rows = shown.assign(
        dollars=[_number(value, ",.4f") for value in shown["dollars"]], gap=[_number(v, ",.0f") for v in shown["gap"]]
    )
    title = "Candidates for breaks of the cache: calls that read less of it than the call before had left in it."
    return title, table_of({**columns, "reason": "reason"}, rows.to_dict("records"))


def _number(value: float, how: str) -> str:
    return "-" if isnan(value) else format(value, how)


def replay_table(rows: pd.DataFrame) -> tuple[str, Table]:
    """A title, and a row per policy."""
    from agentlab.printable import counted

    named = int(rows["names"].max())
    title = (
        "What each policy would have sent and cost, of what was recorded: from an agent that misses nothing to one "
        "that reads again what it cites. "
    )
    columns = {"policy": "policy", "tokens": "tokens", "of_recorded": "of recorded"}
    if named:
        names = counted(named, "name")
        title += f"Kept: of {names} that later calls cite, what is still shown to them. More calls: to read again."
        columns |= {"kept": "kept"}
    else:
        title += "No call cites a name that could be hidden from it."
    shown = rows.assign(of_recorded=[_range(row["share"], row["share_high"]) for row in rows.to_dict("records")])
    if (rows["dollars_cover"] > 0).all():
        columns |= {"price": "dollars", "of_price": "of recorded "}
        pairs = rows.to_dict("records")
        shown["price"] = [_dollars(row["dollars"], row["dollars_high"]) for row in pairs]
        shown["of_price"] = [_range(row["dollars_share"], row["dollars_share_high"]) for row in pairs]
    return title, table_of({**columns, "more_calls": "more calls"}, shown.to_dict("records"))


def savings_table(rows: pd.DataFrame) -> tuple[str, Table]:
    """A title, and for each policy the tools whose results save most."""
    title = "What each policy saves most on, in prompt tokens, and what sets it in the agent that wrote the log."
    columns = {"policy": "policy", "tool": "tool", "saved": "saved", "saved_share": "of all", "setting": "setting"}
    most = rows[rows["saved"] > 0].groupby("policy", sort=False).head(3 if rows["policy"].nunique() > 1 else MOST_TOOLS)
    return title, table_of(columns, most.to_dict("records"))


def _dollars(low: float, high: float) -> str:
    """A range of dollars; below ten of them with as many digits as a difference needs."""
    ends = [f"{value:,.2f}" if value >= 10 else f"{value:,.4f}" for value in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _range(low: float, high: float) -> str:
    if isnan(low):
        return "-"
    return f"{low:.0%}" if round(low, 2) == round(high, 2) else f"{low:.0%} to {high:.0%}"


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
    return title, table_of(columns, rows)


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
    return title, table_of(columns, rows)


def _in_words(row: dict[Any, Any], share_kept: Callable[[int, float], str]) -> dict[str, str]:
    """What survives, as shares or, of few, as counts; what is saved, with its share."""
    kept = {f"{kind}_kept": share_kept(row[kind], row[f"{kind}_kept"]) for kind in KINDS}
    strategy = f"{row['strategy']} ({KEEPS[row['strategy']]})" if row["strategy"] in KEEPS else row["strategy"]
    saved = f"{row['saved_first'] + row['saved_resent']:,} ({row['saved_share']:.0%})"
    return {**kept, "strategy": strategy, "saved": saved}


def table_of(columns: dict[str, str], rows: list[Any]) -> Table:
    """A table of rows: names of columns, and their headings."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, heading in columns.items():
        table.add_column(heading, justify="left" if name in LEFT else "right", no_wrap=True)
    for row in rows:
        table.add_row(*[_cell(row[name]) for name in columns])
    return table


def print_table(title: str, table: Table) -> None:
    """Print a table in its full width: a terminal that is too narrow folds its lines, and no digit is lost."""
    console = wide_console()
    console.print(title)
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(max_width=10_000)).maximum)
    console.print(table)


def wide_console() -> Console:
    """A console that is not narrower than our texts need."""
    from agentlab.cli.terminal import MIN_WIDTH, plain_console

    console = plain_console()
    console.width = max(MIN_WIDTH, console.width)
    return console


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.0%}"  # noqa: PLR0124 - the test for NaN
    return shortened(printable(value), LONGEST_NAME) if isinstance(value, str) else f"{value:,}"


def as_json(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame as JSON-able rows; what is missing is null."""
    import msgspec

    rows: list[dict[str, Any]] = msgspec.json.decode(frame.to_json(orient="records"))
    return rows
