"""Evidence: the share of names that later calls cite and that a cut would still have shown.

It measures exposure to loss, not loss, and is no rate of success. The agent of the log saw what it saw; with a cut it
might have read again. A name that is not cited was perhaps read all the same, a sum or a paraphrase is not recognised,
and a log holds results that its own agent had cut before. Runs of one task are not independent, so intervals resample
tasks, not names; and a name can be cited by chance, so the share that stands in another session's observations is
given beside.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.citations import citations, kept, spans_of
from agentlab.analysis.executor import mapped
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.importers.own import NAME as OWN
from agentlab.analysis.shown import cut_policies, show
from agentlab.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd

    from agentlab.analysis.citations import Citation
    from agentlab.analysis.session import Observed, Session

RESAMPLES = 2000
OTHERS = 20
"""In so many other sessions at most a name is looked for, to see what chance does."""

LONG = 500
"""Where in its source a cited name stands is asked of sources of more characters than this."""

STRATEGIES = ("tail_cut", "head_cut", "middle_snip")
LIMITS = (500, 1000, 2000, 4000, 16000)

EVIDENCE_COLUMNS = [
    Column("policy", "string", "", "its name"),
    Column("strategy", "string", "", "of its default limit; missing where it has none"),
    Column("limit", "Int64", "see unit", "value of its default limit; missing where it has none"),
    Column("unit", "string", "", "unit of the limit"),
    Column("tool", "string", "", "the newest source of the name; missing where all tools are together"),
    Column("n", "int64", "names", "that later calls cite and that only observations had"),
    Column("clusters", "int64", "clusters", "tasks that they are from, or sessions where the log names no task"),
    Column("kept", "float64", "share", "of n, still shown whole in an observation; by tool, in the newest"),
    Column("low", "float64", "share", "lower end of the 95 % interval; missing for fewer than two clusters"),
    Column("high", "float64", "share", "upper end"),
    Column("at_risk", "int64", "names", "of n, those of which every source is cut by this policy"),
    Column("at_risk_kept", "float64", "share", "of these, still shown"),
    Column("shown_characters", "float64", "share", "of all characters of the observations"),
]

DIFFERENCE_COLUMNS = [
    Column("policy", "string", "", "the one"),
    Column("against", "string", "", "the other"),
    Column("n", "int64", "names", "the same for both"),
    Column("clusters", "int64", "clusters", "tasks or sessions"),
    Column("difference", "float64", "share", "kept by the one less kept by the other"),
    Column("low", "float64", "share", "lower end of the 95 % interval, resampled in pairs"),
    Column("high", "float64", "share", "upper end"),
]

POSITION_COLUMNS = [
    Column("decile", "int64", "", "tenth of the source, from 1"),
    Column("n", "int64", "uses", f"of a name whose newest source has more than {LONG} characters, at its first place"),
    Column("share", "float64", "share", "of all such uses"),
]


class Cited(msgspec.Struct, frozen=True):
    """A name that a later call cites.

    Attributes:
        atom: The name.
        cluster: What it is from: a task, or a session.
        session: Number of the session among those that were looked at.
        tool: Whose result had it last.
        kept: For each policy, whether it is still shown in one of its sources.
        kept_newest: For each policy, whether it is still shown in the newest of them.
        at_risk: For each policy, whether all of its sources are cut.
    """

    atom: str
    cluster: str
    session: int
    tool: str
    kept: tuple[bool, ...]
    kept_newest: tuple[bool, ...]
    at_risk: tuple[bool, ...]


class Evidence(msgspec.Struct, frozen=True):
    """What each policy keeps of the names that later calls cite.

    Attributes:
        policies: What was asked of.
        cited: The names.
        places: Of each use of a name that an observation had, also of names known from elsewhere: where in its newest
            source it stands, from 0 (the source begins with it) to 1 (it ends with it).
        characters: Of all observations together.
        shown: Of these, what each policy shows.
        chance: Share of the names that stand in an observation of another cluster's session, on average over sessions
            drawn by chance; NaN where there is no other.
        only_cut: Observations that the log has in part only.
        observations: All of them.
    """

    policies: tuple[Policy, ...]
    cited: tuple[Cited, ...]
    places: tuple[float, ...]
    characters: int
    shown: tuple[int, ...]
    chance: float
    only_cut: int
    observations: int

    def by_policy(self, *, by_tool: bool = False, seed: int = 0) -> pd.DataFrame:
        """A row per policy, or per policy and tool, with `EVIDENCE_COLUMNS`.

        By tool a name counts as kept where the tool's own result still shows it, which is its newest source.
        """
        rows = []
        tools = sorted({each.tool for each in self.cited}) if by_tool else [None]
        for number, policy in enumerate(self.policies):
            limit = policy.default
            strategy = (None, None, None) if limit is None else (limit.strategy, limit.value, limit.unit)
            for tool in tools:
                some = [each for each in self.cited if tool is None or each.tool == tool]
                flags = [(each.kept_newest if by_tool else each.kept)[number] for each in some]
                low, high, clusters = _interval(some, flags, seed)
                risky = [flag for each, flag in zip(some, flags, strict=True) if each.at_risk[number]]
                whole = _share(flags)
                part = self.shown[number] / self.characters if self.characters else float("nan")
                rows.append(
                    (
                        policy.name,
                        *strategy,
                        tool,
                        len(some),
                        clusters,
                        whole,
                        low,
                        high,
                        len(risky),
                        _share(risky),
                        part,
                    )
                )
        return frame_of(rows, EVIDENCE_COLUMNS)

    def differences(self, *, seed: int = 0) -> pd.DataFrame:
        """Each pair of policies, with `DIFFERENCE_COLUMNS`."""
        rows = []
        for a, b in combinations(range(len(self.policies)), 2):
            signs = [each.kept[a] - each.kept[b] for each in self.cited]
            low, high, clusters = _interval(self.cited, signs, seed)
            place = (self.policies[a].name, self.policies[b].name, len(signs), clusters)
            rows.append((*place, _share(signs), low, high))
        return frame_of(rows, DIFFERENCE_COLUMNS)

    def positions(self) -> pd.DataFrame:
        """Where in their newest source cited names stand: a row per tenth, with `POSITION_COLUMNS`."""
        tenths = [min(9, int(10 * place)) for place in self.places]
        counts = [tenths.count(decile) for decile in range(10)]
        whole = len(tenths) or float("nan")
        return frame_of([(decile + 1, n, n / whole) for decile, n in enumerate(counts)], POSITION_COLUMNS)


def evidence(
    sessions: Iterable[Session],
    policies: Sequence[Policy] | None = None,
    *,
    seed: int = 0,
    executor: Any = None,
) -> Evidence:
    """Ask of each policy how much of what later calls cite it still shows.

    Args:
        sessions: Any; those with a label `task_id` are clustered by it, a session with those that it started.
        policies: Any; None takes three strategies at five limits. A limit holds with the marker in it.
        seed: Of the sessions in which names are looked for by chance.
        executor: Where to map over the sessions; as in `agentlab.analysis.executor.mapped`.

    Returns:
        The names and what is kept of them; its methods make frames. `agentlab.analysis.citations` defines a name.

    >>> from agentlab.analysis import read_messages
    >>> evidence([read_messages([{"role": "user", "content": "Hi"}])]).by_policy()["n"].tolist()[:2]
    [0, 0]
    """
    chosen = cut_policies(STRATEGIES, LIMITS) if policies is None else list(policies)
    looked = []
    for outcome in mapped(partial(_look, policies=chosen), enumerate(sessions), executor=executor):
        if outcome.value is None:
            raise outcome.error or RuntimeError("nothing came back from a process")
        looked.append(outcome.value)
    cited = tuple(each for one in looked for each in one.cited)
    shown = tuple(sum(one.shown[number] for one in looked) for number in range(len(chosen)))
    return Evidence(
        policies=tuple(chosen),
        cited=cited,
        places=tuple(place for one in looked for place in one.places),
        characters=sum(len(text) for one in looked for text in one.texts),
        shown=shown,
        chance=_chance(cited, [(one.cluster, one.texts) for one in looked], seed),
        only_cut=sum(one.only_cut for one in looked),
        observations=sum(len(one.texts) for one in looked),
    )


class _Looked(msgspec.Struct, frozen=True):
    """What one session has to say."""

    cluster: str
    cited: list[Cited]
    places: list[float]
    texts: list[str]
    shown: list[int]
    only_cut: int


def _look(numbered: tuple[int, Session], policies: Sequence[Policy]) -> _Looked:
    """Ask one session."""
    number, session = numbered
    seen = session.observations()
    by_index = {each.index: each for each in seen}
    shows = [show(seen, policy, elsewhere=session.format != OWN) for policy in policies]
    cuts = [{each.index: cut for each, cut in zip(seen, shown, strict=True)} for shown in shows]
    cluster = str(session.labels.get("task_id") or f"{session.path}: {session.parent or session.id}")
    cited = []
    for citation in citations(session, seen):
        spans = [(index, span) for index, spans in citation.sources.items() for span in spans]
        keeps = tuple(any(kept(s, cut[i].head, cut[i].tail_start) for i, s in spans) for cut in cuts)
        risks = tuple(all(cut[i].text != by_index[i].text for i in citation.sources) for cut in cuts)
        newest = max(citation.sources)
        last = [(newest, span) for span in citation.sources[newest]]
        in_last = tuple(any(kept(s, cut[i].head, cut[i].tail_start) for i, s in last) for cut in cuts)
        cited.append(Cited(citation.atom, cluster, number, by_index[newest].tool, keeps, in_last, risks))
    return _Looked(
        cluster,
        cited,
        list(_places(citations(session, seen, exclusive=False), by_index)),
        [each.text for each in seen],
        [sum(len(cut.text) for cut in shown) for shown in shows],
        sum(not each.whole for each in seen),
    )


def _places(uses: Iterable[Citation], by_index: Mapping[int, Observed]) -> Iterator[float]:
    """Where in its newest source the name of each use stands."""
    for use in uses:
        index = max(use.sources)
        size = len(by_index[index].text)
        if size > LONG:
            start, end = use.sources[index][0]
            yield start / (size - (end - start)) if end - start < size else 0.0


def _chance(cited: Sequence[Cited], texts: Sequence[tuple[str, list[str]]], seed: int) -> float:
    """How often a name stands in an observation of a session of another cluster."""
    from random import Random

    draw = Random(seed)  # noqa: S311 - nothing is kept secret
    hits = looked = 0
    others = {cluster: [each for each in texts if each[0] != cluster and each[1]] for cluster, _ in texts}
    for each in cited:
        pool = others[each.cluster]
        for _, some in draw.sample(pool, min(OTHERS, len(pool))):
            hits += any(spans_of(each.atom, text, 1) for text in some)
            looked += 1
    return hits / looked if looked else float("nan")


def _interval(cited: Sequence[Cited], values: Sequence[int], seed: int) -> tuple[float, float, int]:
    """A 95 % interval of the mean of values, by resampling clusters; and how many there are."""
    import numpy as np

    sums: dict[str, list[int]] = {}
    for each, value in zip(cited, values, strict=True):
        of = sums.setdefault(each.cluster, [0, 0])
        of[0] += value
        of[1] += 1
    if len(sums) < 2:
        return float("nan"), float("nan"), len(sums)
    totals: np.ndarray = np.array(list(sums.values()), dtype=float)
    size = len(totals)
    times = np.random.default_rng(seed).multinomial(size, [1 / size] * size, RESAMPLES)
    drawn = times @ totals
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    return float(low), float(high), size


def _share(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else float("nan")
