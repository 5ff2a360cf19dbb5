"""What other policies would have sent, cost and lost on recorded sessions, as a range.

First the recorded policy is replayed and a line from text to tokens is fitted to what the log recorded; its residual is
given. Then each policy is replayed with the same fit. The agent is frozen: it makes the calls that it made. At the
optimistic end it never misses what a policy took away. At the pessimistic end each name that a later call cites, and
that the policy had taken away, costs one more call just before it, which brings its source back in full, to be sent
with every later call.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agentlab.analysis.calibration import ROUGH, calibrate
from agentlab.analysis.citations import citations
from agentlab.analysis.cost import bill, output_of
from agentlab.analysis.executor import mapped
from agentlab.analysis.prefix_cache import Request, dollars, rule_of
from agentlab.analysis.replayed import RECORDED, Ran, Replay, Replayed
from agentlab.analysis.simulation import Simulated, simulate
from agentlab.tokens import models
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from agentlab.analysis.session import Session
    from agentlab.policy import Policy


def replay(
    sessions: Iterable[Session],
    policies: Sequence[Policy],
    *,
    prices: Path | None = None,
    executor: Any = None,
) -> Replay:
    """Replay recorded sessions under policies.

    Args:
        sessions: Any.
        policies: What to ask of: presets or any policy.
        prices: A table in the format of `agentlab/tokens/models.json`; None takes that one.
        executor: Where to map over the sessions; None decides by how many there are. See `agentlab.analysis.executor`.

    Returns:
        The recorded policy and the others; frames by its methods, assumptions in `sentences()`.

    >>> from agentlab.analysis import read_messages
    >>> from agentlab.policy import CHAPTER
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> replay([read_messages(talk)], [CHAPTER]).by_policy()["tokens"].tolist()
    [5, 5]
    """
    done = []
    for outcome in mapped(partial(replay_one, policies=list(policies), prices=prices), sessions, executor=executor):
        if outcome.error is not None:
            raise outcome.error
        if outcome.value is not None:
            done.append(outcome.value)
    return Replay((RECORDED, *(policy.name for policy in policies)), tuple(done))


def replay_one(session: Session, policies: Sequence[Policy], prices: Path | None = None) -> Replayed:
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
        bill(session, prices=prices).dollars,
        case.unpriced,
    )


class _Case:
    """A session, and what is asked of it under every policy."""

    def __init__(self, session: Session, prices: Path | None) -> None:
        self.session = session
        self.calibration = calibrate(session)
        self.observations = session.observations()
        self.cited = citations(session, self.observations)
        self.base = simulate(session, None, self.calibration, self.observations, self.cited)
        self.by_reply = {call.reply: number for number, call in enumerate(session.calls) if call.reply is not None}
        self.sources = {seen.index: (len(seen.text) + 3) // 4 for seen in self.observations}
        names = {call.model or session.model for call in session.calls}
        self.models = {name: None if name is None else models.find(name, prices) for name in names}
        self.hour = any(call.cache_write_1h_tokens for call in session.calls)
        self.unpriced = self._unpriced()

    def _unpriced(self) -> str:
        """Why no dollars are given; "" where they are."""
        if not self.calibration.n:
            return "a log records no usage"
        if self.calibration.rough:
            return f"in a session the fit is off by {self.calibration.residual:.0%}, more than {ROUGH:.0%}"
        unknown = sorted(str(name) for name, model in self.models.items() if model is None or rule_of(model) is None)
        return f"there is no list price for {', '.join(unknown)}" if unknown else ""

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
        ends = (self._requests(made, again=False), self._requests(made, again=True))
        aside = sum(usage.prompt_tokens for usage in made.aside)
        low, high = (sum(each.prompt for each in requests) + aside for requests in ends)
        bills = [self._dollars(requests, made) for requests in ends]
        dollars = None if self.unpriced or None in bills else (bills[0] or 0.0, bills[1] or 0.0)
        return Ran((low, high), dollars, sum(made.kept), len(ends[1]) - len(ends[0]), made.by_tool)

    def _requests(self, made: Simulated, *, again: bool) -> list[Request]:
        """The requests; where it is asked for, with what was taken away read again just before it is cited."""
        lost = self._lost(made) if again else {}
        done: list[Request] = []
        more = 0
        for number, (call, sent) in enumerate(zip(self.session.calls, made.calls, strict=True)):
            fit = self.calibration.fit_of(number)
            if sent.changed and sent.prefix <= fit.intercept + 1:
                more = 0  # a summary or a new segment: what was read again is gone too
            name = call.model or self.session.model
            prefix = sent.prefix if sent.changed or not done else done[-1].prompt
            for source in lost.get(number, ()):
                prompt = sent.prompt + more
                read = Request(prompt, min(prefix, prompt), self._asked(source), call.time, name)
                more += round(fit.slope * (self.sources[source] + read.output))
                prefix = read.prompt
                done.append(read)
            prompt, output = sent.prompt + more, output_of(self.session, call)
            done.append(Request(prompt, min(prefix, prompt), output, call.time, name))
        return done

    def _lost(self, made: Simulated) -> dict[int, list[int]]:
        """By call: the newest source of each name that it cites and a policy took away, and the log's own did not."""
        lost: dict[int, set[int]] = {}
        for number, citation in enumerate(self.cited):
            if self.base.kept[number] and not made.kept[number]:
                lost.setdefault(self.by_reply[citation.cited_at], set()).add(max(citation.sources))
        return {call: sorted(sources) for call, sources in lost.items()}

    def _asked(self, source: int) -> int:
        """Output tokens of a call that asks for a result again: as many as the message that asked for it has."""
        records = self.session.records
        asked = next((index for index in range(source, -1, -1) if records[index].role == "assistant"), None)
        return 0 if asked is None else estimate_message(records[asked].message)

    def _dollars(self, requests: Sequence[Request], made: Simulated) -> float | None:
        """What requests cost, and the calls for summaries, which share no prefix with them."""
        name = self.session.calls[0].model or self.session.model if self.session.calls else None
        asides = [Request(usage.prompt_tokens, 0, usage.output_tokens, model=name) for usage in made.aside]
        parts = [dollars(each, self.models, hour=self.hour) for each in (requests, *([aside] for aside in asides))]
        return None if None in parts else sum(part or 0.0 for part in parts)
