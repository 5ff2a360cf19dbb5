"""What a replay found, as frames and sentences: a row per policy, per tool, per fit."""

from __future__ import annotations

from math import nan
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import ROUGH, Calibration
from agentlab.analysis.cost import LIST_PRICE
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.settings import setting_of
from agentlab.analysis.simulation import SUMMARY_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

RECORDED = "recorded"

REPLAY_COLUMNS = [
    Column("policy", "string", "", f"its name; {RECORDED} is what the log has"),
    Column("calls", "int64", "calls", "of all sessions"),
    Column("tokens", "int64", "prompt tokens", "optimistic: the agent never misses what was taken away"),
    Column("tokens_high", "int64", "prompt tokens", "pessimistic: each cited name that was taken away is read again"),
    Column("share", "float64", "share", f"tokens of those of {RECORDED}"),
    Column("share_high", "float64", "share", f"tokens_high of those of {RECORDED}"),
    Column("dollars", "float64", "US dollars", "list price, output included, optimistic; missing where none is given"),
    Column("dollars_high", "float64", "US dollars", "the same, pessimistic"),
    Column("dollars_share", "float64", "share", f"dollars of those of {RECORDED}"),
    Column("dollars_share_high", "float64", "share", f"dollars_high of those of {RECORDED}"),
    Column("dollars_cover", "float64", "share", "of the recorded prompt tokens, in sessions that have dollars"),
    Column("names", "int64", "names", "that later calls cite and that only observations had"),
    Column("kept", "float64", "share", "of these, still shown to the call that cites it"),
    Column("more_calls", "int64", "calls", "to read again, at the pessimistic end"),
    Column("rough", "bool", "", f"whether more than {ROUGH:.0%} of the tokens are of sessions with a rough fit"),
]

TOOL_COLUMNS = [
    Column("policy", "string", "", "its name"),
    Column("tool", "string", "", "the tool"),
    Column("tokens", "int64", "prompt tokens", "that its results take, over all calls; optimistic"),
    Column("saved", "int64", "prompt tokens", f"less than {RECORDED}"),
    Column("saved_share", "float64", "share", f"of all prompt tokens of {RECORDED}"),
    Column("setting", "string", "", "what limits its results in the agent that wrote the log"),
]

FIT_COLUMNS = [
    Column("session", "string", "", "its id"),
    Column("format", "string", "", "its format"),
    Column("calls", "int64", "calls", "in it"),
    Column("measured", "int64", "calls", "whose prompt tokens the log has"),
    Column("segments", "int64", "segments", "between compactions, each with a fit of its own"),
    Column("residual", "float64", "share", "median error of the fit; missing where nothing was measured"),
    Column("recorded", "int64", "prompt tokens", "of the measured calls"),
    Column("fitted", "int64", "prompt tokens", "of the same calls, by the fit"),
    Column("observations", "int64", "observations", "in it"),
    Column("cut_before", "int64", "observations", "of these, cut already by the agent that wrote the log"),
    Column("rough", "bool", "", f"whether the residual is above {ROUGH:.0%}, or there is none"),
]

ASSUMPTIONS = (
    "The agent makes the calls that it made; what it would have done with less in sight is not known.",
    (
        "Optimistic: it never misses what was taken away. Pessimistic: each cited name that was taken away costs one "
        "more call, and its source is sent in full with every later call."
    ),
    "What the log's own agent summarised stays summarised; of agentlab's logs the recorded decisions are left out.",
    f"A summary that a policy asks for is {SUMMARY_SHARE:.0%} of what it stands for; pauses do not start one.",
    "Rules that name tools hold for tools of these names: no agent's tool is taken for another's.",
    "The log holds results as the agent saw them, so what it had cut already cannot be cut less.",
)


class Ran(msgspec.Struct, frozen=True):
    """A session under a policy; `None` stands for no dollars.

    Attributes:
        tokens: Prompt tokens, optimistic and pessimistic.
        dollars: At list price, optimistic and pessimistic.
        kept: Names that are still shown to the call that cites them.
        more_calls: At the pessimistic end.
        by_tool: Prompt tokens of each tool's results.
    """

    tokens: tuple[int, int]
    dollars: tuple[float, float] | None
    kept: int
    more_calls: int
    by_tool: dict[str, int]


class Replayed(msgspec.Struct, frozen=True):
    """A session under the recorded policy and under others.

    Attributes:
        session: Its id.
        format: Its format.
        calls: How many it has.
        calibration: The fit.
        recorded: Prompt tokens of the measured calls: as recorded, and by the fit.
        names: Names that later calls cite.
        observations: How many, and how many of them the log has in part only.
        runs: The recorded policy, then the others.
        billed: US dollars of the recorded usage at list price, by no model of a cache; NaN without a price.
        unpriced: Why no dollars are given; "" where they are.
    """

    session: str
    format: str
    calls: int
    calibration: Calibration
    recorded: tuple[int, int]
    names: int
    observations: tuple[int, int]
    runs: tuple[Ran, ...]
    billed: float
    unpriced: str


class Replay(msgspec.Struct, frozen=True):
    """Sessions under policies; its methods make frames.

    Attributes:
        policies: Names, `RECORDED` first.
        sessions: What became of each.
    """

    policies: tuple[str, ...]
    sessions: tuple[Replayed, ...]

    def by_policy(self) -> pd.DataFrame:
        """A row per policy over all sessions, with `REPLAY_COLUMNS`; dollars are of the sessions that have them."""
        rows = []
        rough = self._of_tokens(lambda each: each.calibration.rough) > ROUGH
        covered = self._of_tokens(lambda each: not each.unpriced)
        names = sum(each.names for each in self.sessions)
        base_tokens, base_dollars = 0, nan
        for number, name in enumerate(self.policies):
            runs = [each.runs[number] for each in self.sessions]
            tokens = [sum(run.tokens[end] for run in runs) for end in (0, 1)]
            dollars = [sum(run.dollars[end] for run in runs if run.dollars) if covered else nan for end in (0, 1)]
            if not number:
                base_tokens, base_dollars = tokens[0], dollars[0]
            shares = [_ratio(value, base_tokens) for value in tokens]
            dollar_shares = [_ratio(value, base_dollars) for value in dollars]
            kept = _ratio(sum(run.kept for run in runs), names)
            more = sum(run.more_calls for run in runs)
            calls = sum(each.calls for each in self.sessions)
            rows.append((name, calls, *tokens, *shares, *dollars, *dollar_shares, covered, names, kept, more, rough))
        return frame_of(rows, REPLAY_COLUMNS)

    def _of_tokens(self, holds: Callable[[Replayed], bool]) -> float:
        """The share of the recorded prompt tokens that sessions have for which something holds."""
        whole = sum(each.runs[0].tokens[0] for each in self.sessions)
        return _ratio(sum(each.runs[0].tokens[0] for each in self.sessions if holds(each)), whole) if whole else 0.0

    def by_tool(self) -> pd.DataFrame:
        """A row per policy and tool, with `TOOL_COLUMNS`; what saves most stands first."""
        rows = []
        recorded: dict[tuple[str, str], int] = {}
        for each in self.sessions:
            for tool, tokens in each.runs[0].by_tool.items():
                recorded[each.format, tool] = recorded.get((each.format, tool), 0) + tokens
        whole = sum(each.runs[0].tokens[0] for each in self.sessions)
        for number, name in enumerate(self.policies[1:], 1):
            left: dict[tuple[str, str], int] = {}
            for each in self.sessions:
                for tool, tokens in each.runs[number].by_tool.items():
                    left[each.format, tool] = left.get((each.format, tool), 0) + tokens
            for place, before in recorded.items():
                saved = before - left.get(place, 0)
                rows.append((name, place[1], before - saved, saved, _ratio(saved, whole), setting_of(*place)))
        rows.sort(key=lambda row: (self.policies.index(row[0]), -row[3]))
        return frame_of(rows, TOOL_COLUMNS)

    def fits(self) -> pd.DataFrame:
        """A row per session: how well the recorded policy is reproduced, with `FIT_COLUMNS`."""
        rows = []
        for each in self.sessions:
            fit = each.calibration
            numbers = (each.calls, fit.n, len(fit.fits), fit.residual, *each.recorded, *each.observations)
            rows.append((each.session, each.format, *numbers, fit.rough))
        return frame_of(rows, FIT_COLUMNS)

    def sentences(self) -> list[str]:
        """What holds for all of it: the residual, why there are no dollars, and the assumptions."""
        measured = [each for each in self.sessions if each.calibration.n]
        said = []
        if measured:
            recorded, fitted = (sum(each.recorded[end] for each in measured) for end in (0, 1))
            worst = max(each.calibration.residual for each in measured)
            middle = median(each.calibration.residual for each in measured)
            residuals = f"{worst:.1%}" if len(measured) == 1 else f"{middle:.1%} (in the worst session {worst:.1%})"
            said.append(
                f"The recorded policy, replayed: {fitted:,} prompt tokens against {recorded:,} recorded; half of its "
                f"calls are off by less than {residuals}."
            )
        if len(measured) < len(self.sessions):
            n = len(self.sessions) - len(measured)
            said.append(f"{n:,} of {len(self.sessions):,} sessions record no usage: their tokens are rough estimates.")
        reasons = dict.fromkeys(each.unpriced for each in self.sessions if each.unpriced)
        without = sum(bool(each.unpriced) for each in self.sessions)
        if reasons:
            where = f" for {without:,} of {len(self.sessions):,} sessions" if len(self.sessions) > 1 else ""
            said.append(f"No dollars are given{where}: {'; '.join(reasons)}.")
        priced = [each for each in self.sessions if not each.unpriced]
        if priced:
            modelled = sum(each.runs[0].dollars[0] for each in priced if each.runs[0].dollars)
            billed = sum(each.billed for each in priced)
            said.append(
                f"The recorded policy costs {modelled:,.2f} dollars by the cache's model, {billed:,.2f} by its usage."
            )
            said.append(LIST_PRICE)
        return [*said, *ASSUMPTIONS]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else nan
