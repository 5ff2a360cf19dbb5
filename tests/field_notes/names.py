"""Rows on evidence: what cuts and masks keep of the names and lines that later calls take from observations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from agentlab.analysis.anchors import edit_anchors
from agentlab.analysis.evidence import evidence
from agentlab.policy import Limit, Policy

from . import prototype, theirs
from .rows import GROUPS, PARTLY, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.evidence import Evidence

    from .rows import Logs

STRATEGIES = {
    "head": ("tail_cut", 0.5),
    "tail": ("head_cut", 0.5),
    "middle": ("middle_snip", 0.5),
    "80/20": ("head_tail", 0.8),
}


@cache
def found_by_theirs(logs: Logs, group: str) -> Evidence:
    """Names and what cuts without a marker keep of them."""
    limits = theirs.EVIDENCE[group][1]
    return prototype.cut_evidence(logs.group(group), [(shape, limit) for limit in limits for shape in theirs.SHAPES])


@cache
def found_by_ours(logs: Logs, group: str) -> Evidence:
    """The same, with the marker inside the limit."""
    cuts = [
        (f"{shape} {limit}", Limit(limit, strategy=strategy, ratio=ratio))
        for limit in theirs.EVIDENCE[group][1]
        for shape, (strategy, ratio) in STRATEGIES.items()
    ]
    return evidence(logs.group(group), [Policy(name, default=cut, errors=cut) for name, cut in cuts])


def kept(logs: Logs, groups: tuple[str, ...] = tuple(theirs.EVIDENCE)) -> Iterator[Row]:
    """The table of what cuts keep."""
    for group in groups:
        n, table = theirs.EVIDENCE[group]
        partly = PARTLY.get(group, "")
        frame = found_by_theirs(logs, group).by_policy().set_index("policy")
        given = found_by_ours(logs, group).by_policy().set_index("policy")
        names = int(frame["n"].iloc[0])
        yield Row("kept", f"{group}: names", n, names or None, partly=partly)
        if group == "tau":
            yield Row("kept", f"{group}: tasks", theirs.TAU_CLUSTERS, int(frame["clusters"].iloc[0]) or None)
        for limit, figures in table.items():
            for shape, figure in zip(theirs.SHAPES, figures, strict=False):
                name = f"{shape} {limit}"
                row = frame.loc[name]
                own = 100 * row["kept"] if names else None
                other = 100 * given["kept"][name] if names and name in given.index else None
                interval = (100 * row["low"], 100 * row["high"])
                label = f"{group} at {limit}: {shape} %"
                yield Row("kept", label, figure, own, other, 0.05, interval, partly)
            removed = 100 * (1 - frame["shown_characters"][f"head {limit}"])
            other = 100 * (1 - given["shown_characters"][f"head {limit}"])
            label = f"{group} at {limit}: % of characters removed"
            yield Row("kept", label, figures[-1], removed if names else None, other, 0.5, partly=partly)


def at_risk(logs: Logs) -> Iterator[Row]:
    """What is kept of names all of whose sources are over the limit."""
    frame = found_by_theirs(logs, "tau").by_policy().set_index("policy")
    given = found_by_ours(logs, "tau").by_policy().set_index("policy")
    for limit, figures in theirs.AT_RISK_KEPT.items():
        for shape, figure in zip(theirs.SHAPES, figures, strict=False):
            name = f"{shape} {limit}"
            own = (100 * frame["at_risk_kept"][name], 100 * given["at_risk_kept"][name])
            yield Row(
                "at risk", f"tau at {limit}: {shape} %", figure, *(own if logs.group("tau") else (None,)), within=0.5
            )


def differences(logs: Logs, groups: tuple[str, ...] = ("tau", "coding")) -> Iterator[Row]:
    """Pairs of shapes, with the ends of the interval."""
    for (group, shape, other, limit), figures in theirs.DIFFERENCES.items():
        if group not in groups:
            continue
        ours = _difference(found_by_theirs(logs, group), f"{shape} {limit}", f"{other} {limit}")
        given = _difference(found_by_ours(logs, group), f"{shape} {limit}", f"{other} {limit}")
        for place, (what, within) in enumerate((("", 0.05), (", low", 2.5), (", high", 2.5))):
            label = f"{group} at {limit}: {shape} less {other}{what}"
            values = (ours[place], given[place]) if logs.group(group) else (None, None)
            yield Row("differences", label, figures[place], *values, within, partly=PARTLY.get(group, ""))


def _difference(found: Evidence, one: str, other: str) -> tuple[float, float, float]:
    """In points; the pair stands in the order of the policies."""
    frame = found.differences().set_index(["policy", "against"])
    turned = (one, other) not in frame.index
    row = 100 * frame.loc[(other, one) if turned else (one, other)]
    if turned:
        return -row["difference"], -row["high"], -row["low"]
    return row["difference"], row["low"], row["high"]


def by_tool(logs: Logs) -> Iterator[Row]:
    """What is kept of each tool's names."""
    frame = found_by_theirs(logs, "tau").by_policy(by_tool=True).set_index(["policy", "tool"])
    given = found_by_ours(logs, "tau").by_policy(by_tool=True).set_index(["policy", "tool"])
    for tool, (n, *figures) in theirs.BY_TOOL.items():
        here = bool(logs.group("tau"))
        yield Row("by tool", f"{tool}: names", n, int(frame["n"]["head 500", tool]) if here else None)
        for shape, figure in zip(theirs.SHAPES, figures, strict=False):
            place = (f"{shape} 500", tool)
            values = (100 * frame["kept"][place], 100 * given["kept"][place]) if here else (None,)
            yield Row("by tool", f"{tool} at 500: {shape} %", figure, *values, within=0.5)


def positions(logs: Logs, groups: tuple[str, ...] = tuple(theirs.POSITIONS)) -> Iterator[Row]:
    """In which tenth of its newest source a name stands, and how often one stands elsewhere by chance."""
    for group in groups:
        found = found_by_ours(logs, group)
        shares = found.positions()["share"]
        for tenth, figure in enumerate(theirs.POSITIONS[group]):
            own = 100 * float(shares[tenth]) if found.places else None
            yield Row(
                "positions", f"{group}: tenth {tenth + 1} %", figure, own, within=0.5, partly=PARTLY.get(group, "")
            )
        if group in theirs.CHANCE and (found.chance == found.chance or not found.cited):
            own = 100 * found.chance if found.cited else None
            yield Row(
                "positions",
                f"{group}: by chance %",
                theirs.CHANCE[group],
                own,
                within=0.1,
                partly=PARTLY.get(group, ""),
            )


def every_use(logs: Logs, groups: tuple[str, ...] = ("tau", "coding")) -> Iterator[Row]:
    """What a middle cut keeps when every use of a name counts, wherever else it stands."""
    for (group, limit), figure in theirs.EVERY_USE.items():
        if group in groups:
            frame = prototype.cut_evidence(logs.group(group), [("middle", limit)], every_use=True).by_policy()
            own = 100 * float(frame["kept"][0]) if logs.group(group) else None
            label = f"{group} at {limit}: middle, of {int(frame['n'][0]):,} uses %"
            yield Row("every use", label, figure, own, within=0.1, partly=PARTLY.get(group, ""))


def masked(logs: Logs, groups: tuple[str, ...] = ("tau", "coding", "pi")) -> Iterator[Row]:
    """What is kept when only the newest results are sent."""
    for (group, keep), figure in theirs.MASKED.items():
        if group in groups:
            own = prototype.masked(logs.group(group), keep) if logs.group(group) else None
            yield Row("masked", f"{group}: last {keep} %", figure, own, within=0.05, partly=PARTLY.get(group, ""))


def same_saving(logs: Logs) -> Iterator[Row]:
    """A cap and a mask that save as much: what each keeps."""
    for (group, name), (saved, names) in theirs.SAME_SAVING.items():
        sessions = [session for file in GROUPS[group] if (session := logs.main(file)) is not None]
        own, kept_names = None, None
        if sessions:
            raw, less = (prototype.replayed(sessions, rule, 0)[0] for rule in (None, prototype.RULES[name]))
            own = 100 * (1 - less / raw)
            number = int(name.split()[-1].replace(",", ""))
            by_cut = found_by_theirs(logs, group).by_policy().set_index("policy")
            is_cap = name.startswith("cap")
            kept_names = 100 * by_cut["kept"][f"middle {number}"] if is_cap else prototype.masked(sessions, number)
        yield Row("same saving", f"{group}: {name}, % saved", saved, own, partly=PARTLY[group])
        yield Row("same saving", f"{group}: {name}, % kept", names, kept_names, partly=PARTLY[group])


def anchors(logs: Logs) -> Iterator[Row]:
    """The lines that edits name."""
    for group, (n, seen, table) in theirs.ANCHORS.items():
        found, partly = [], PARTLY[group]
        for session in logs.group(group):
            observations = session.observations()
            sizes = {each.index: len(each.text) for each in observations}
            found += [(sizes, each) for each in edit_anchors(session, observations)]
        had = [(sizes, each) for sizes, each in found if each.sources]
        yield Row("anchors", f"{group}: lines", n, len(found) or None, partly=partly)
        yield Row("anchors", f"{group}: % seen", seen, 100 * len(had) / len(found) if found else None, partly=partly)
        for limit, ends in table.items():
            shares = [
                100 * sum(prototype.keeps(each, sizes, limit, shape) for sizes, each in had) / len(had)
                for shape in theirs.SHAPES
                if had
            ]
            for which, figure in zip((min, max), ends, strict=True):
                own = which(shares) if shares else None
                yield Row(
                    "anchors", f"{group} at {limit}: {which.__name__} % of the shapes", figure, own, partly=partly
                )
