"""A run described by a few numbers, and the requests that it makes: what a result's size does to the whole bill.

Every turn is the same: a question, some calls that each ask for one result, and a last one that replies. Nothing is
drawn at random, and no model is asked: all of it is an estimate that follows from the numbers.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from agentlab.analysis.prefix_cache import CacheRule, Request, charge
from agentlab.analysis.simulation import SUMMARY_SHARE
from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.tokens.models import Model, Prices, Spent, cost_of

PLACEHOLDER: Final = 47
"""Tokens of the note that stands where a result was cleared; `agentlab.compaction.placeholder` writes one."""

KEEP_ALL, FORGET, CLEAR, CLEAR_LATE, SUMMARISE = (
    "keep all",
    "forget scratchpads",
    "clear at once",
    "clear above threshold",
    "summarise above threshold",
)
POLICIES: Final = {
    KEEP_ALL: "everything is sent again with every call",
    FORGET: "of an earlier turn only question and reply are sent",
    CLEAR: "only the newest results stay, and each call clears what is older",
    CLEAR_LATE: "where the prompt is over the threshold, only the newest results stay",
    SUMMARISE: f"over the threshold a summary of {SUMMARY_SHARE:.0%} takes the place of turns, but not of the last two",
}


class Setting(msgspec.Struct, frozen=True):
    """A run in numbers; sizes in tokens, times in seconds.

    Attributes:
        turns: User turns, at least 1.
        calls: Model calls of each turn, at least 1; all but the last ask for a result.
        result: Size of a result before it is cut.
        limit: The size allowed to it.
        policy: One of `POLICIES`.
        keep: Results that stay, where a policy clears.
        threshold: Prompt tokens above which a policy acts.
        base: System prompt and tools.
        question: The user's message.
        asking: Output of a call that asks for a result.
        reply: Output of the turn's last call.
        pause: Between two turns.
        step: Between two calls of a turn.
    """

    turns: int = 12
    calls: int = 5
    result: int = 3_000
    limit: int = 1_000
    policy: str = KEEP_ALL
    keep: int = 3
    threshold: int = 20_000
    base: int = 2_000
    question: int = 50
    asking: int = 80
    reply: int = 300
    pause: float = 120.0
    step: float = 8.0


class Modelled(msgspec.Struct, frozen=True):
    """The requests of a run, those for summaries apart, which share no prefix with the others."""

    requests: tuple[Request, ...]
    aside: tuple[Request, ...] = ()


class Billed(msgspec.Struct, frozen=True):
    """What a run comes to.

    Attributes:
        turns: Of each turn, its prompt tokens that were read from the cache, written to it, and billed in full.
        contexts: Of each turn, the prompt of its last call.
        usage: All calls together, summaries included.
        spent: US dollars by kind of token.
    """

    turns: tuple[tuple[int, int, int], ...]
    contexts: tuple[int, ...]
    usage: Usage
    spent: Spent


def requests_of(setting: Setting) -> Modelled:
    """The requests that a run makes.

    Args:
        setting: The run.

    Raises:
        InputError: A number is out of its range, or the policy is not known.

    >>> made = requests_of(Setting(turns=1, calls=2, result=500, limit=100, base=1_000, question=10, asking=20))
    >>> [(request.prompt, request.prefix) for request in made.requests]
    [(1010, 0), (1130, 1010)]
    """
    _check(setting)
    prompt = _Prompt(setting)
    requests: list[Request] = []
    aside: list[Request] = []
    time = 0.0
    for turn in range(setting.turns):
        if turn and setting.policy == FORGET:
            prompt.forget_scratchpad()
        prompt.ask()
        for call in range(1, setting.calls + 1):
            last = call == setting.calls
            if summary := prompt.compact():
                aside.append(summary)
            output = setting.reply if last else setting.asking
            requests.append(Request(prompt.size, prompt.same, output, time))
            prompt.same = prompt.size
            if last:
                prompt.add(setting.reply)
            else:
                prompt.add(setting.asking, scratch=True)
                prompt.add_result()
            time += setting.step
        time += setting.pause
    return Modelled(tuple(requests), tuple(aside))


def bill_of(setting: Setting, prices: Prices, seconds: float) -> Billed:
    """What a run comes to at some prices.

    Args:
        setting: The run.
        prices: US dollars per million tokens; without a price for writing the cache, writing is free.
        seconds: How long the cache remembers a prefix after it was last used; 0 for no cache.

    Raises:
        InputError: As `requests_of`.

    >>> bill = bill_of(Setting(turns=1, calls=1, base=1_000, question=0, reply=0), Prices(3.0, 15.0, 0.3, 3.75), 300)
    >>> bill.usage.prompt_tokens, round(bill.spent.total, 6)
    (1000, 0.003)
    """
    made = requests_of(setting)
    rule = _rule(prices, seconds)
    charged = charge(made.requests, rule)
    model = Model("priced by hand", "", "", "", prices=prices)
    turns, contexts = [], []
    for start in range(0, len(charged), setting.calls):
        part = charged[start : start + setting.calls]
        turns.append((sum(c.read for c in part), sum(c.written for c in part), sum(c.uncached for c in part)))
        contexts.append(made.requests[start + setting.calls - 1].prompt)
    usage = sum(
        (Usage(c.uncached, r.output, c.read, c.written, False) for c, r in zip(charged, made.requests, strict=True)),
        Usage(),
    )
    for request in made.aside:
        (alone,) = charge([request], rule)
        usage += Usage(alone.uncached, request.output, alone.read, alone.written, False)
    spent = cost_of(usage, model)
    if spent is None:  # the rule reads and writes only what has a price
        raise InputError("a price of the cache is missing", field="prices")
    return Billed(tuple(turns), tuple(contexts), usage, spent)


def _rule(prices: Prices, seconds: float) -> CacheRule:
    if prices.cache_read is None or seconds <= 0:  # too large a prefix is asked for: nothing is ever cached
        return CacheRule(read=1.0, write=None, seconds=0.0, smallest=2**62)
    write = None if prices.cache_write_5m is None else prices.cache_write_5m / prices.input
    return CacheRule(read=prices.cache_read / prices.input, write=write, seconds=seconds)


class _Prompt:
    """The prompt of the next call: how large it is, and how much of it stands as in the call before."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.size = setting.base
        self.same = 0
        self._result = min(setting.result, setting.limit)
        self._results: deque[int] = deque()  # where each result begins that still stands, before anything was cleared
        self._cleared = 0  # tokens that clearing took out, all of them before the results that stand
        self._scratch = 0  # tokens of the running turn that are neither question nor reply
        self._turn = self._last = self.size  # where the running turn begins, and the one before it
        self._summed = self.size  # where the last summary ends

    def ask(self) -> None:
        self._last, self._turn, self._scratch = self._turn, self.size, 0
        self.add(self._setting.question)

    def add(self, tokens: int, *, scratch: bool = False) -> None:
        self.size += tokens
        self._scratch += tokens if scratch else 0

    def add_result(self) -> None:
        self._results.append(self.size + self._cleared)
        self.add(self._result, scratch=True)

    def forget_scratchpad(self) -> None:
        """Take out what the last turn did between its question and its reply."""
        if self._scratch:
            self.size -= self._scratch
            self.same = min(self.same, self._turn + self._setting.question)

    def compact(self) -> Request | None:
        """Do what the policy says before a call; returns the request for a summary, where it makes one."""
        policy, over = self._setting.policy, self.size > self._setting.threshold
        if policy == CLEAR or (policy == CLEAR_LATE and over):
            self._clear()
        if policy == SUMMARISE and over:
            return self._summarise()
        return None

    def _clear(self) -> None:
        saved = self._result - PLACEHOLDER
        while saved > 0 and len(self._results) > self._setting.keep:
            self.same = min(self.same, self._results.popleft() - self._cleared)
            self._cleared += saved
            self.size -= saved

    def _summarise(self) -> Request | None:
        gone = self._last - self._summed
        if gone <= 0:
            return None
        summary = round(SUMMARY_SHARE * gone)
        self._summed += summary
        self.size -= gone - summary
        self._turn -= gone - summary
        self._last -= gone - summary
        self.same = min(self.same, self._setting.base)
        return Request(gone, 0, summary)


def _check(setting: Setting) -> None:
    if setting.policy not in POLICIES:
        raise InputError(f"unknown policy {setting.policy!r}: one of {', '.join(POLICIES)}", field="policy")
    for name in ("turns", "calls"):
        if getattr(setting, name) < 1:
            raise InputError(f"expected a number from 1, found {getattr(setting, name)}", field=name)
    for name in ("result", "limit", "keep", "threshold", "base", "question", "asking", "reply", "pause", "step"):
        if getattr(setting, name) < 0:
            raise InputError(f"expected a number from 0, found {getattr(setting, name)}", field=name)
