"""What each call of a recorded session would have been sent under another policy, the agent doing what it did.

Observations are cut by the code that the loop runs, and its own rules of compaction decide before each call. What the
session's own agent summarised away stays summarised, since nothing else is known of its later calls; agentlab's own
decisions are left out, since they belong to the policy that is replaced. A summary that a policy asks for is a text of
`SUMMARY_SHARE` of what it stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.calibration import Calibration, Fit, estimated_sizes
from agentlab.analysis.citations import kept
from agentlab.analysis.importers.own import NAME as OWN
from agentlab.analysis.shown import Shown, kept_of, show
from agentlab.analysis.sums import Sums
from agentlab.messages import Reply, Usage
from agentlab.tokens.running import estimate_message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentlab.analysis.citations import Citation
    from agentlab.analysis.session import Call, Observed, Replaced, Session
    from agentlab.compaction.compactor import Compactor
    from agentlab.conversation import Conversation
    from agentlab.events import CompactionDecided
    from agentlab.policy import Policy

SUMMARY_SHARE = 0.1


class Sent(msgspec.Struct, frozen=True):
    """A call under a policy.

    Attributes:
        prompt: Its prompt tokens, predicted.
        prefix: Of these, the beginning that is as in the call before.
        changed: Whether something was taken out since the call before.
    """

    prompt: int
    prefix: int
    changed: bool


class Simulated(msgspec.Struct, frozen=True):
    """A session under a policy.

    Attributes:
        calls: What each call is sent.
        kept: For each citation, whether its name is still shown to the call that cites it.
        by_tool: Prompt tokens that each tool's results take, over all calls.
        aside: What calls for summaries use.
    """

    calls: tuple[Sent, ...]
    kept: tuple[bool, ...]
    by_tool: dict[str, int]
    aside: tuple[Usage, ...]


def simulate(
    session: Session,
    policy: Policy | None,
    calibration: Calibration,
    observations: Sequence[Observed],
    cited: Sequence[Citation],
) -> Simulated:
    """Say what each call would have been sent.

    Args:
        session: Any.
        policy: Cuts and compaction; None for what the log has.
        calibration: Of the session: predicts prompt tokens.
        observations: Of the session, in full where they are.
        cited: Names whose fate is asked.

    >>> from agentlab.analysis import read_messages
    >>> from agentlab.analysis.calibration import calibrate
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> session = read_messages(talk * 2)
    >>> [sent.prefix for sent in simulate(session, None, calibrate(session), [], []).calls]
    [0, 5]
    """
    return _Sweep(session, policy, calibration, observations, cited).run()


class _Sweep:
    """Goes through the calls of a session once."""

    def __init__(
        self,
        session: Session,
        policy: Policy | None,
        calibration: Calibration,
        observations: Sequence[Observed],
        cited: Sequence[Citation],
    ) -> None:
        self.session = session
        self.policy = policy
        self.fits = list(calibration.fits[::-1])
        self.drops_own = policy is not None and session.format == OWN
        self.messages: list[Any] = [record.message for record in session.records]
        self.shown: dict[int, Shown] = {}
        self.tools = {seen.index: seen.tool for seen in observations}
        sizes = estimated_sizes(session.records)
        self._cut(observations, sizes)
        if self.drops_own:
            sizes = [0 if record.is_summary else size for record, size in zip(session.records, sizes, strict=True)]
        self.sizes = sizes
        self.sums = Sums(sizes)
        self.cited = dict(enumerate(cited))
        self.by_reply: dict[int, list[int]] = {}
        for number, each in self.cited.items():
            self.by_reply.setdefault(each.cited_at, []).append(number)
        self.kept = [False] * len(self.cited)
        self.gone: set[int] = set()
        self.sent_by_tool: dict[str, float] = {}
        self.since: dict[int, int] = {}  # results that are sent now: from which call on, at their present size
        self.read = 0
        self.talk = _Talk(session, policy)

    def _cut(self, observations: Sequence[Observed], sizes: list[int]) -> None:
        """Put what is shown of each observation in its place; of the recorded policy that is what the log has."""
        if self.policy is None:
            for seen in observations:
                self.shown[seen.index] = kept_of(seen.text, str(self.messages[seen.index]["content"]))
            return
        shown = show(observations, self.policy, elsewhere=self.session.format != OWN)
        for seen, cut in zip(observations, shown, strict=True):
            self.shown[seen.index] = cut
            message = self.messages[seen.index] = {**self.messages[seen.index], "content": cut.text}
            sizes[seen.index] = estimate_message(message) + self.session.records[seen.index].image_tokens

    def run(self) -> Simulated:
        """Go through the calls."""
        changes = [] if self.drops_own else list(self.session.replaced[::-1])
        made: list[Sent] = []
        start = 0
        for number, call in enumerate(self.session.calls):
            lowest: int | None = None
            while changes and changes[-1].call <= number:
                changed = changes.pop()
                lowest = min(changed.index, call.stop if lowest is None else lowest)
                self._replace(number, changed)
            begins = 0 if self.drops_own else call.start
            if begins > start or not number:
                start = self._begin(number, begins)
                lowest = start
            self._enter(number, start, call)
            fit = self._fit(number)
            decided, after = self._decide(number, start, call, fit)
            if after > start:
                start = self._begin(number, after, fresh=False)
                decided = min(start, decided if decided is not None else start)
            if decided is not None:
                lowest = decided if lowest is None else min(lowest, decided)
            made.append(self._sent(start, call, fit, lowest, made[-1] if made else None))
            self._cite(start, call)
        for index in list(self.since):
            self._leave(len(self.session.calls), index)
        by_tool = {tool: round(tokens) for tool, tokens in self.sent_by_tool.items()}
        return Simulated(tuple(made), tuple(self.kept), by_tool, tuple(self.talk.aside))

    def _fit(self, number: int) -> Fit:
        while len(self.fits) > 1 and self.fits[-1].stop <= number:
            self.fits.pop()
        return self.fits[-1]

    def _sent(self, start: int, call: Call, fit: Fit, lowest: int | None, before: Sent | None) -> Sent:
        prompt = fit.predict(self.sums.between(start, call.stop) + self.talk.summary_size)
        if before is None:
            return Sent(prompt, 0, changed=False)
        if lowest is None:
            return Sent(prompt, min(before.prompt, prompt), changed=False)
        if lowest <= start:
            return Sent(prompt, min(round(fit.intercept), before.prompt, prompt), changed=True)
        unchanged = fit.predict(self.sums.between(start, lowest) + self.talk.summary_size)
        return Sent(prompt, min(unchanged, before.prompt, prompt), changed=True)

    def _begin(self, number: int, start: int, *, fresh: bool = True) -> int:
        """Send nothing before `start` any more; a segment of the log's own agent begins a conversation."""
        for index in [each for each in self.since if each < start]:
            self._leave(number, index)
        if fresh:
            self.talk.begin(start)
            self.read = max(self.read, start)
            for index in range(start, self.read):
                self.talk.append(self.messages[index])
        return start

    def _enter(self, number: int, start: int, call: Call) -> None:
        """Take in the messages up to a call's."""
        for index in range(max(self.read, start), call.stop):
            if self.drops_own and self.session.records[index].is_summary:
                self.talk.pass_over()
            else:
                self.talk.append(self.messages[index])
            if index in self.tools:
                self.since[index] = number
        self.read = max(self.read, call.stop)

    def _decide(self, number: int, start: int, call: Call, fit: Fit) -> tuple[int | None, int]:
        """Let the policy's compaction decide; returns the lowest place that it changed, and the new start."""
        decisions = self.talk.decide(fit.predict(self.sums.between(start, call.stop) + self.talk.summary_size))
        lowest = None
        for decision in decisions:
            for each in decision.cleared:
                index = self.talk.record_of(each.index)
                self._change(number, index, estimate_message({**self.messages[index], "content": each.text}))
                self.gone.add(index)
                lowest = index if lowest is None else min(lowest, index)
            if decision.cursor is not None:
                start = max(start, self.talk.record_of(decision.cursor))
        return lowest, start

    def _replace(self, number: int, changed: Replaced) -> None:
        """Do what the log says was sent in a message's place."""
        message = {**self.messages[changed.index], "content": changed.text}
        whole = changed.text == self.session.records[changed.index].text
        size = 0 if changed.text is None else self.sizes[changed.index] if whole else estimate_message(message)
        self._change(number, changed.index, size)
        (self.gone.discard if whole else self.gone.add)(changed.index)

    def _change(self, number: int, index: int, size: int) -> None:
        if index in self.since:
            self._leave(number, index)
            self.since[index] = number
        self.sums.change(index, size)

    def _leave(self, number: int, index: int) -> None:
        """A result is not sent any more as it was: add up what it took until now."""
        size = self.sums.between(index, index + 1)
        tool, slope = self.tools[index], self.fits[-1].slope
        self.sent_by_tool[tool] = self.sent_by_tool.get(tool, 0) + slope * size * (number - self.since.pop(index))

    def _cite(self, start: int, call: Call) -> None:
        """Look what the call could still see of the names that its reply cites."""
        for number in self.by_reply.get(-1 if call.reply is None else call.reply, ()):
            self.kept[number] = any(
                start <= index < call.stop
                and index not in self.gone
                and any(kept(span, self.shown[index].head, self.shown[index].tail_start) for span in spans)
                for index, spans in self.cited[number].sources.items()
            )


class _Talk:
    """The conversation that a policy's rules of compaction look at; nothing where it has none."""

    def __init__(self, session: Session, policy: Policy | None) -> None:
        self.session = session
        self.compaction = None if policy is None else policy.compaction
        self.aside: list[Usage] = []
        self.summary_size = 0
        self._conversation: Conversation | None = None
        self._compactor: Compactor | None = None
        self._records: list[int] = []
        self._next = 0

    def begin(self, start: int) -> None:
        """Begin anew at a message of the log."""
        self.summary_size = 0
        self._next = start
        self._records = []
        if self.compaction is None:
            return
        from agentlab.compaction.compactor import Compactor
        from agentlab.conversation import Conversation
        from agentlab.events import Audience
        from agentlab.scribe import Scribe

        self._conversation = Conversation()
        scribe = Scribe(self._conversation, Audience())
        self._compactor = Compactor(self.compaction, scribe, _StandIn(self.session.model), {})

    def append(self, message: Any) -> None:
        """Take in the next message of the log."""
        if self._conversation is not None:
            self._conversation.append(message)
            self._records.append(self._next)
        self._next += 1

    def pass_over(self) -> None:
        """Leave the next message of the log out."""
        self._next += 1

    def record_of(self, index: int) -> int:
        """The place in the log of a message of the conversation."""
        return self._records[index] if index < len(self._records) else self._next

    def decide(self, prompt: int) -> list[CompactionDecided]:
        """Carry out what is due before a call with so many prompt tokens; returns what was decided."""
        talk, compactor = self._conversation, self._compactor
        if talk is None or compactor is None:
            return []
        before = len(talk.decisions)
        talk.count.report(Usage(prompt))
        compactor.before_call()
        made = talk.decisions[before:]
        for decision in made:
            if decision.cursor is not None:
                self.summary_size = (len(decision.summary) + 3) // 4
                self.aside += [] if decision.usage is None else [decision.usage]
        return made


class _StandIn:
    """Stands in for the model: its window, and summaries of `SUMMARY_SHARE` of what they stand for."""

    name = "stand-in"

    def __init__(self, model: str | None) -> None:
        from agentlab.tokens import models

        known = None if model is None else models.find(model)
        self.window = None if known is None else known.window

    def call(self, messages: Sequence[Any], *, max_output_tokens: int | None = None, **_: Any) -> Reply:
        """Summarise."""
        size = sum(len(message["content"]) for message in messages)
        most = size if max_output_tokens is None else 4 * max_output_tokens
        text = "." * max(1, min(int(SUMMARY_SHARE * size), most))
        return Reply(text, usage=Usage((size + 3) // 4, (len(text) + 3) // 4, exact=False), stop_reason="end_turn")
