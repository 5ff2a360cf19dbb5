"""What other policies would have sent, cost and lost on recorded sessions, as a range.

First the recorded policy is replayed and a line from text to tokens is fitted to what the log recorded; its residual is
given. Then each policy is replayed with the same fit. The agent is frozen: it makes the calls that it made. At the
optimistic end it never misses what a policy took away. At the pessimistic end each name that a later call cites, and
that the policy had taken away, costs one more call just before it, which brings its source back in full, to be sent
with every later call.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.calibration import ROUGH, Calibration, calibrate
from agentlab.analysis.citations import citations
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.settings import setting_of
from agentlab.analysis.simulation import SUMMARY_SHARE, Simulated, simulate
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from agentlab.analysis.session import Call, Session
    from agentlab.policy import Policy

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
    Column("names", "int64", "names", "that later calls cite and that only observations had"),
    Column("kept", "float64", "share", "of these, still shown to the call that cites it"),
    Column("more_calls", "int64", "calls", "to read again, at the pessimistic end"),
    Column("rough", "bool", "", f"whether a fit is off by more than {ROUGH:.0%}, or nothing was recorded to fit to"),
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


class Request(msgspec.Struct, frozen=True):
    """A call as it is priced: prompt tokens, of these the beginning that the call before had too, output, and when."""

    prompt: int
    prefix: int
    output: int
    time: float | None = None


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
        """A row per policy over all sessions, with `REPLAY_COLUMNS`; dollars only where every session has them."""
        rows = []
        rough = any(each.calibration.rough for each in self.sessions)
        priced = bool(self.sessions) and not any(each.unpriced for each in self.sessions)
        names = sum(each.names for each in self.sessions)
        base_tokens, base_dollars = 0, nan
        for number, name in enumerate(self.policies):
            runs = [each.runs[number] for each in self.sessions]
            tokens = [sum(run.tokens[end] for run in runs) for end in (0, 1)]
            dollars = [sum(run.dollars[end] for run in runs if run.dollars) if priced else nan for end in (0, 1)]
            if not number:
                base_tokens, base_dollars = tokens[0], dollars[0]
            shares = [_ratio(value, base_tokens) for value in tokens]
            dollar_shares = [_ratio(value, base_dollars) for value in dollars]
            kept = _ratio(sum(run.kept for run in runs), names)
            more = sum(run.more_calls for run in runs)
            calls = sum(each.calls for each in self.sessions)
            rows.append((name, calls, *tokens, *shares, *dollars, *dollar_shares, names, kept, more, rough))
        return frame_of(rows, REPLAY_COLUMNS)

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
            said.append(
                f"The recorded policy, replayed: {fitted:,} prompt tokens against {recorded:,} recorded "
                f"({fitted / recorded - 1:+.1%}); a call is off by {worst:.1%} in the worst session's median."
            )
        if len(measured) < len(self.sessions):
            n = len(self.sessions) - len(measured)
            said.append(f"{n:,} of {len(self.sessions):,} sessions record no usage: their tokens are rough estimates.")
        reasons = dict.fromkeys(each.unpriced for each in self.sessions if each.unpriced)
        said += [f"No dollars are given: {reason}." for reason in reasons]
        if not reasons and self.sessions:
            said.append("List price; a subscription is not billed so.")
        return [*said, *ASSUMPTIONS]


def replay(
    sessions: Iterable[Session],
    policies: Sequence[Policy],
    *,
    prices: Any = None,
    executor: Any = None,
) -> Replay:
    """Replay recorded sessions under policies.

    Args:
        sessions: Any.
        policies: What to ask of: presets or any policy.
        prices: By model; None takes the dated list that agentlab ships.
        executor: Where to map over the sessions; None decides by how many there are. See `agentlab.analysis.executor`.

    Returns:
        The recorded policy and the others; frames by its methods, assumptions in `sentences()`.

    >>> from agentlab.analysis import read_messages
    >>> from agentlab.policy import CHAPTER
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> replay([read_messages(talk)], [CHAPTER]).by_policy()["tokens"].tolist()
    [5, 5]
    """
    from functools import partial

    from agentlab.analysis.executor import mapped

    done = []
    for outcome in mapped(partial(replay_one, policies=list(policies), prices=prices), sessions, executor=executor):
        if outcome.error is not None:
            raise outcome.error
        if outcome.value is not None:
            done.append(outcome.value)
    return Replay((RECORDED, *(policy.name for policy in policies)), tuple(done))


def replay_one(session: Session, policies: Sequence[Policy], prices: Any = None) -> Replayed:
    """Replay one session; see `replay`."""
    case = _Case(session, prices)
    runs = [case.run(None), *(case.run(policy) for policy in policies)]
    seen = case.observations
    return Replayed(
        session.id,
        session.format,
        len(session.calls),
        case.calibration,
        case.recorded(),
        len(case.cited),
        (len(seen), sum(not each.whole for each in seen)),
        tuple(runs),
        case.unpriced,
    )


class _Case:
    """A session, and what is asked of it under every policy."""

    def __init__(self, session: Session, prices: Any) -> None:
        self.session = session
        self.calibration = calibrate(session)
        self.observations = session.observations()
        self.cited = citations(session, self.observations)
        self.base = simulate(session, None, self.calibration, self.observations, self.cited)
        self.by_reply = {call.reply: number for number, call in enumerate(session.calls) if call.reply is not None}
        self.sources = {seen.index: (len(seen.text) + 3) // 4 for seen in self.observations}
        self.outputs = [_output(session, call) for call in session.calls]
        self.unpriced = "prices are not known"
        self.prices = prices

    def recorded(self) -> tuple[int, int]:
        """Prompt tokens of the measured calls: as recorded, and by the fit."""
        pairs = [
            (call.usage.prompt_tokens, sent.prompt)
            for call, sent in zip(self.session.calls, self.base.calls, strict=True)
            if call.usage is not None and call.measured
        ]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def run(self, policy: Policy | None) -> Ran:
        """The session under a policy, at both ends."""
        made = self.base
        if policy is not None:
            made = simulate(self.session, policy, self.calibration, self.observations, self.cited)
        low = [
            Request(sent.prompt, sent.prefix, output, call.time)
            for sent, output, call in zip(made.calls, self.outputs, self.session.calls, strict=True)
        ]
        high = self._again(made, low)
        aside = sum(usage.prompt_tokens for usage in made.aside)
        tokens = [sum(each.prompt for each in requests) + aside for requests in (low, high)]
        return Ran(
            (tokens[0], tokens[1]), self._dollars(low, high, made), sum(made.kept), len(high) - len(low), made.by_tool
        )

    def _again(self, made: Simulated, low: Sequence[Request]) -> list[Request]:
        """The requests where what a policy took away, and the log's own did not, is read again when it is cited."""
        lost: dict[int, set[int]] = {}
        for number, citation in enumerate(self.cited):
            if self.base.kept[number] and not made.kept[number]:
                lost.setdefault(self.by_reply[citation.cited_at], set()).add(max(citation.sources))
        done: list[Request] = []
        more = 0
        for number, request in enumerate(low):
            fit = self.calibration.fit_of(number)
            if made.calls[number].changed and made.calls[number].prefix <= fit.intercept + 1:
                more = 0  # a summary or a new segment: what was read again is gone too
            now = Request(request.prompt + more, request.prefix, request.output, request.time)
            if done and not made.calls[number].changed:
                now = msgspec.structs.replace(now, prefix=min(done[-1].prompt, now.prompt))
            for source in sorted(lost.get(number, ())):
                read = Request(now.prompt, now.prefix, self._asked(source), request.time)
                more += round(fit.slope * (self.sources[source] + read.output))
                done.append(read)
                now = Request(request.prompt + more, read.prompt, request.output, request.time)
            done.append(now)
        return done

    def _asked(self, source: int) -> int:
        """Output tokens of a call that asks for a result again: as many as the message that asked for it has."""
        records = self.session.records
        asked = next((index for index in range(source, -1, -1) if records[index].role == "assistant"), None)
        return 0 if asked is None else estimate_message(records[asked].message)

    def _dollars(self, low: Sequence[Request], high: Sequence[Request], made: Simulated) -> tuple[float, float] | None:
        return None


def _output(session: Session, call: Call) -> int:
    """Output tokens of a call: as reported, where that is a count of them, else the size of its reply."""
    if call.usage is not None and call.output_measured:
        return call.usage.output_tokens
    if call.reply is None:
        return 0
    record = session.records[call.reply]
    return estimate_message(record.message) + (len(record.thinking) + 3) // 4


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else nan
