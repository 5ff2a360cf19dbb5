"""What the prototype did, in so far as agentlab does it otherwise: cuts without a marker, replays without a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.citations import citations
from agentlab.analysis.evidence import Cited, Evidence
from agentlab.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agentlab.analysis.citations import Citation
    from agentlab.analysis.session import Call, Session

    Sizes = dict[int, float]
    Rule = Callable[[Session], Callable[[Call, Sizes], Sizes]]

READ, WRITE = 0.1, 1.25
PREFIX, PLACEHOLDER = 15_000, 10


def pieces(size: int, limit: int, shape: str) -> list[tuple[int, int]]:
    """Which ranges of a text a cut of exactly `limit` characters keeps."""
    if size <= limit:
        return [(0, size)]
    if shape == "4 slices":
        each = limit // 4
        starts = [round(n * (size - each) / 3) for n in range(4)]
        return [(start, start + each) for start in starts]
    head = {"head": limit, "tail": 0, "middle": limit // 2, "80/20": limit * 4 // 5}[shape]
    return [(0, head), (size - (limit - head), size)]


def keeps(citation: Citation, sizes: dict[int, int], limit: int, shape: str) -> bool:
    """Whether a cut shows the name in one of its sources at least."""
    return any(
        low <= start and end <= high
        for index, spans in citation.sources.items()
        for low, high in pieces(sizes[index], limit, shape)
        for start, end in spans
    )


def cut_evidence(sessions: Sequence[Session], cuts: Sequence[tuple[str, int]], *, every_use: bool = False) -> Evidence:
    """As `agentlab.analysis.evidence`, by cuts that need no room for a marker."""
    cited = []
    characters = [0] * len(cuts)
    whole = 0
    for number, session in enumerate(sessions):
        seen = session.observations()
        by_index = {each.index: each for each in seen}
        sizes = {each.index: len(each.text) for each in seen}
        whole += sum(sizes.values())
        for place, (_, limit) in enumerate(cuts):
            characters[place] += sum(min(size, limit) for size in sizes.values())
        cluster = str(session.labels.get("task_id", f"session {number}"))
        for citation in citations(session, seen, exclusive=not every_use):
            kept = tuple(keeps(citation, sizes, limit, shape) for shape, limit in cuts)
            risk = tuple(all(sizes[index] > limit for index in citation.sources) for _, limit in cuts)
            newest = max(citation.sources)
            only = msgspec.structs.replace(citation, sources={newest: citation.sources[newest]})
            in_newest = tuple(keeps(only, sizes, limit, shape) for shape, limit in cuts)
            cited.append(Cited(citation.atom, cluster, number, by_index[newest].tool, kept, in_newest, risk))
    policies = tuple(Policy(f"{shape} {limit}") for shape, limit in cuts)
    return Evidence(policies, tuple(cited), (), whole, tuple(characters), float("nan"), 0, 0)


def masked(sessions: Iterable[Session], keep: int) -> float:
    """% of names of which a source is among the newest `keep` results at the call that cites them."""
    found = []
    for session in sessions:
        seen = session.observations()
        for citation in citations(session, seen):
            newest = [each.index for each in seen if each.index < citation.cited_at][-keep:]
            found.append(not citation.sources.keys().isdisjoint(newest))
    return 100 * sum(found) / len(found)


def cap(limit: int) -> Rule:
    """Results of `limit` characters at most."""
    return lambda session: (
        lambda call, sizes: {
            index: min(size, limit / 4) if session.records[index].role == "tool" else size
            for index, size in sizes.items()
        }
    )


def mask(keep: int, every: int = 1, over: int = 0) -> Rule:
    """All results but the newest `keep` masked, once `every` of them wait for it and the prompt is over `over`."""

    def of(session: Session) -> Callable[[Call, Sizes], Sizes]:
        gone: set[int] = set()

        def sent(call: Call, sizes: Sizes) -> Sizes:
            now = {index: min(size, PLACEHOLDER) if index in gone else size for index, size in sizes.items()}
            old = [index for index in sizes if session.records[index].role == "tool"][:-keep]
            if len([index for index in old if index not in gone]) < every or sum(now.values()) + PREFIX <= over:
                return now
            gone.update(old)
            return {index: min(size, PLACEHOLDER) if index in gone else size for index, size in sizes.items()}

        return sent

    return of


RULES: dict[str, Rule] = {
    "cap 500": cap(500),
    "cap 1,000": cap(1_000),
    "cap 2,000": cap(2_000),
    "cap 8,000": cap(8_000),
    "cap 16,000": cap(16_000),
    "sliding, last 5": mask(5),
    "sliding, last 10": mask(10),
    "sliding, last 20": mask(20),
    "batched 5, every 10": mask(5, every=10),
    "batched 5, every 25": mask(5, every=25),
    "clear at 100k, keep 3": mask(3, over=100_000),
    "clear at 60k, keep 3": mask(3, over=60_000),
}


def replayed(sessions: Iterable[Session], rule: Rule | None, prefix: float = PREFIX) -> tuple[float, float]:
    """Tokens of all prompts, and their cost in prices of an uncached token: four characters to a token."""
    tokens = cost = 0.0
    for session in sessions:
        before: list[tuple[int, float]] | None = None
        for sent in _sent(session, rule):
            now = list(sent.items())
            prompt = prefix + sum(sent.values())
            same = 0.0 if before is None else prefix + _common(before, now)
            tokens, cost, before = tokens + prompt, cost + READ * same + WRITE * (prompt - same), now
    return tokens, cost


def _sent(session: Session, rule: Rule | None) -> Iterator[Sizes]:
    sizes = []
    for record in session.records:
        named = sum(len(c["function"]["name"]) + len(c["function"]["arguments"]) for c in record.tool_calls)
        sizes.append((len(record.text) + named) / 4)
    change = None if rule is None else rule(session)
    for call in session.calls:
        raw = {index: sizes[index] for index in range(call.start, call.stop)}
        yield raw if change is None else change(call, raw)


def _common(before: Sequence[tuple[int, float]], now: Sequence[tuple[int, float]]) -> float:
    total = 0.0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        total += new[1]
    return total
