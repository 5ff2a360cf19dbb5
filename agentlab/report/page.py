"""The page of a report: HTML that needs nothing beside it, no script and no network."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.analysis.composition import composition_by_call
from agentlab.analysis.cost import cache_breaks, cost
from agentlab.analysis.growth import jumps
from agentlab.analysis.importers import load
from agentlab.analysis.sizes import LENGTHS
from agentlab.printable import counted, printable
from agentlab.report.findings import Wanted
from agentlab.report.sentences import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis.session import Session
    from agentlab.report.together import Together
    from agentlab.transcript import Problem

TEMPLATE = Path(__file__).with_name("page.html")
MOST_SESSIONS = 100
MOST_TOOLS = 12
MOST_PROBLEMS = 50


def page(
    all_of_it: Together, problems: Sequence[Problem], *, wanted: Wanted | None = None, with_text: bool = False
) -> str:
    """Write the page.

    Args:
        all_of_it: What was found out.
        problems: What could not be read.
        wanted: How it was found out: the session that sent most is read again so.
        with_text: Whether messages and titles may be shown; without it no text of any message stands in the page.

    Returns:
        HTML.
    """
    from jinja2 import Environment, FileSystemLoader, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(TEMPLATE.parent),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "share": _share, "money": _money, "day": _day, "to": _to, "of": counted}
    replay = all_of_it.replay
    savings = replay.by_tool()
    html = environment.get_template(TEMPLATE.name).render(
        sentences=all_of_it.sentences(),
        all=all_of_it,
        sessions=all_of_it.found[:MOST_SESSIONS],
        policies=replay.by_policy().to_dict("records"),
        tools=list(all_of_it.tools.items())[:MOST_TOOLS],
        settings=_settings(savings),
        has_dollars=not isnan(all_of_it.dollars),
        names=NAMES,
        billed=sum(each.billed for each in replay.sessions if not each.unpriced),
        row_dollars=bool(replay.by_policy()["dollars_cover"].iloc[0] > 0),
        savings=savings[savings["saved"] > 0].groupby("policy", sort=False).head(5).to_dict("records"),
        fits=replay.fits().to_dict("records")[:MOST_SESSIONS],
        assumptions=replay.sentences(),
        pictures=_pictures(all_of_it, wanted or Wanted()),
        days=_days(all_of_it),
        problems=problems[:MOST_PROBLEMS],
        more_problems=max(0, len(problems) - MOST_PROBLEMS),
        with_text=with_text,
    )
    return printable(html)  # an escape or a stray byte in a name of a tool or a file would make it no HTML


def _settings(savings: Any) -> dict[str, str]:
    """What sets the size of each tool's results."""
    return dict(zip(savings["tool"], savings["setting"], strict=True))


def _days(all_of_it: Together) -> str:
    """The first and the last day of all sessions; "" where no log says."""
    ends = [end for each in all_of_it.found for end in each.times if not isnan(end)]
    return _to((_day(min(ends)), _day(max(ends)))) if ends else ""


def _changes(all_of_it: Together) -> bool:
    """Whether any policy would have sent, or left in sight, anything else than what was recorded."""
    rows = all_of_it.replay.by_policy()
    return bool(rows["tokens"].nunique() > 1 or rows["tokens_high"].nunique() > 1 or rows["kept"].nunique() > 1)


def _pictures(all_of_it: Together, wanted: Wanted) -> dict[str, str]:
    """The pictures as SVG, by name; those of one session are of the one that sent most."""
    from agentlab import plots

    made = {}
    if len(all_of_it.replay.policies) > 1 and all_of_it.tokens and _changes(all_of_it):
        made["frontier"] = _svg(plots.plot_frontier(all_of_it.replay.by_policy()))
    session = _again(all_of_it, wanted)
    if session is not None:
        calls = composition_by_call(session, model=LENGTHS)
        made["calls"] = _svg(plots.plot_composition(calls, jumps(session, model=LENGTHS)))
        priced = cost(session, prices=wanted.prices)
        if priced["total"].notna().any():
            made["cost"] = _svg(plots.plot_cost(priced, cache_breaks(session, prices=wanted.prices)))
    return made


def _again(all_of_it: Together, wanted: Wanted) -> Session | None:
    """The session that sent most, read once more."""
    if not all_of_it.found:
        return None
    most = all_of_it.found[0]
    sessions, _ = load(most.path, format=wanted.format)
    return next((each for each in sessions if each.id == most.id), None)


def _svg(ax: Any) -> str:
    """A plot as SVG that can stand in HTML; the same plot gives the same text."""
    import matplotlib as mpl

    written = StringIO()
    with mpl.rc_context({"svg.hashsalt": "agentlab", "svg.fonttype": "none"}):
        ax.get_figure(root=True).savefig(written, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg") :]


def _number(value: float) -> str:
    return "–" if value is None or isnan(value) else f"{value:,.0f}"


def _share(value: float) -> str:
    if value is None or isnan(value):
        return "–"
    return "< 1%" if 0 < value < 0.005 else f"{value:.0%}"


def _money(value: float) -> str:
    if value is None or isnan(value):
        return "–"
    return "< 0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def _to(ends: tuple[str, str]) -> str:
    """Both ends of a range; one where they read the same."""
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _day(seconds: float) -> str:
    return "–" if isnan(seconds) else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
