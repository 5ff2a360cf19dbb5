"""Rows on recorded usage: prompts, cache and cost, how prompts grow, fits of text to tokens, replays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentlab.analysis import bill, growth, replay
from agentlab.analysis.calibration import calibrate
from agentlab.analysis.prefix_cache import ANTHROPIC_1H, ANTHROPIC_5M, OPENAI, break_even
from agentlab.policy import Limit, Policy
from agentlab.policy.specs import Batched, ClearAt, Compaction, Sliding

from . import prototype, theirs
from .rows import GROUPS, PARTLY, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rows import Logs

NOT_SENT = (
    "they count tokens as billed again that the smaller prompt after the break no longer held (73,186 at a prompt of "
    "67,071); ours stops at the prompt"
)


def usage(logs: Logs) -> Iterator[Row]:
    """The table of real usage."""
    for file, figures in theirs.USAGE.items():
        session = logs.main(file)
        ours: list[float | None] = [None] * len(figures)
        if session is not None:
            found, grown = bill(session), growth(session)
            power = grown.exponents["cumulative"].value
            rates = (100 * found.hit_rate, found.multiplier, *found.breaks, 100 * found.lost_share)
            ours = [len(session.calls), grown.largest, power, *rates]
        for (name, within), figure, own in zip(theirs.USAGE_COLUMNS, figures, ours, strict=True):
            why = NOT_SENT if (name.startswith("%") and file.endswith("tool-calls.jsonl")) else ""
            yield Row("usage", f"{file}: {name}", figure, own, within=within, why=why)


def once(logs: Logs) -> Iterator[Row]:
    """What counting each message once does, from the lines themselves and from the sessions."""
    for file, (naive, merged) in theirs.ONCE.items():
        sessions = logs.sessions(file)
        lines = _assistant_lines(logs, file)
        every = sum(used.get("cache_read_input_tokens") or 0 for _, used in lines) / 1e6
        own = sum(call.usage.cache_read_tokens for s in sessions for call in s.calls if call.usage) / 1e6
        yield Row("once", f"{file}: M tokens read, all lines", naive, every if lines else None, within=0.05)
        yield Row("once", f"{file}: M tokens read, each message once", merged, own if sessions else None, within=0.05)
    for file, (first, largest) in theirs.OUTPUT.items():
        lines = _assistant_lines(logs, file)
        firsts: dict[str, int] = {}
        for key, used in lines:
            firsts.setdefault(key, used.get("output_tokens") or 0)
        sessions = logs.sessions(file)
        own = sum(call.usage.output_tokens for s in sessions for call in s.calls if call.usage)
        yield Row("once", f"{file}: output, first line", first, sum(firsts.values()) if lines else None)
        yield Row("once", f"{file}: output, largest", largest, own if sessions else None)


def _assistant_lines(logs: Logs, file: str) -> list[tuple[str, dict[str, int]]]:
    """Message and usage of each line that has both."""
    path = logs.folder / file
    found = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            message = json.loads(line)["message"]
            found.append((message["id"], message["usage"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def trends(logs: Logs) -> Iterator[Row]:
    """How increments go with their order, of each session and over all of them."""
    name, bound = "largest |tau|", theirs.TREND["largest |tau|"]
    low, high = theirs.TREND["smallest % by a tenth of the calls"], theirs.TREND["largest % by a tenth of the calls"]
    for file in theirs.USAGE:
        session = logs.main(file)
        grown = None if session is None else growth(session)
        tests = [] if grown is None else [t for t in grown.trends if t and t.n >= theirs.FEWEST_INCREMENTS]
        largest = max((abs(test.tau) for test in tests), default=None)
        why = (
            "the first half of its 53 increments has a median of 1,732 tokens, the second of 317: this session cannot "
            "be among their 18 segments"
        )
        yield Row("trend", f"{file}: {name}, at most", bound, largest, within=bound, why=why)
        share = None if grown is None else 100 * grown.concentration
        middle, half = (low + high) / 2, (high - low) / 2
        yield Row("trend", f"{file}: % of growth by a tenth, {low} to {high}", middle, share, within=half)


def factors(_: Logs) -> Iterator[Row]:
    """After how many calls an edit pays that removes as much as stays behind it."""
    from msgspec.structs import replace

    rules = (ANTHROPIC_5M, ANTHROPIC_1H, OPENAI, replace(OPENAI, read=0.5))
    for (name, figure), rule in zip(theirs.BREAK_EVEN.items(), rules, strict=True):
        yield Row("break even", name, figure, break_even(1_000, 1_000, rule) + 1, within=0.001)


def fits(logs: Logs) -> Iterator[Row]:
    """Lines from visible text to recorded prompts."""
    files = [f"claude-code/coding-{n}.jsonl" for n in (1, 2, 3, 4)]
    found = [calibrate(session) for file in files if (session := logs.main(file)) is not None]
    lines = [fit for each in found for fit in each.fits]
    residuals = [100 * fit.residual for fit in lines]
    lowest = (
        "their count is without what surrounds a message and a call; ours is with it, so a token of it stands for less"
    )
    images = "a slope of 2.34 comes out for coding-2 when its images count nothing; ours counts them by their size"
    for name, figures, ours, within, why in (
        ("slope", theirs.SLOPES, [fit.slope for fit in lines], 0.1, (lowest, images)),
        ("intercept", theirs.INTERCEPTS, [fit.intercept for fit in lines], 600.0, ("", "")),
        ("median error %", theirs.ERRORS, residuals, 0.2, ("", "")),
    ):
        for which, figure, reason in zip((min, max), figures, why, strict=True):
            own = which(ours) if ours else None
            yield Row("fits", f"coding-1 to 4: {which.__name__} {name}", figure, own, within=within, why=reason)
    session = logs.main("claude-code/tool-calls.jsonl")
    fit = None if session is None else calibrate(session)
    why = (
        "theirs comes out when all lines of the file are added up in its order, the copies of a resumed session too; "
        "along the branch that was sent the error is a sixth of it"
    )
    slope, error = theirs.TOOL_CALLS_FIT
    yield Row("fits", "tool-calls: slope", slope, fit and fit.fits[0].slope, within=0.005, why=why)
    yield Row("fits", "tool-calls: median error %", error, fit and 100 * fit.residual, within=0.5, why=why)


POLICIES = {
    "cap 2,000": Limit(2_000),
    "cap 8,000": Limit(8_000),
    "cap 16,000": Limit(16_000),
    "sliding, last 5": Sliding(keep=5, min_chars=0),
    "sliding, last 10": Sliding(keep=10, min_chars=0),
    "batched 5, every 10": Batched(keep=5, every=10, min_chars=0),
    "batched 5, every 25": Batched(keep=5, every=25, min_chars=0),
    "clear at 100k, keep 3": ClearAt(threshold=100_000, keep=3),
    "clear at 60k, keep 3": ClearAt(threshold=60_000, keep=3),
}


def policy_of(name: str) -> Policy:
    """Agentlab's policy of that name in their table."""
    rule = POLICIES[name]
    if isinstance(rule, Limit):
        return Policy(name, default=rule, errors=rule)
    return Policy(name, default=Limit(10**9), errors=Limit(10**9), compaction=Compaction(results=rule))


def replays(logs: Logs) -> Iterator[Row]:
    """Tokens and cost under other policies, in % of raw: theirs by their rules, and ours by a fit to the usage."""
    for column, group in enumerate(("pi", "coding")):
        sessions = [session for file in GROUPS[group] if (session := logs.main(file)) is not None]
        raw = prototype.replayed(sessions, None)
        shares = _given(sessions)
        for name, both in theirs.REPLAY.items():
            made = prototype.replayed(sessions, prototype.RULES[name])
            for place, what in enumerate(("tokens", "cost")):
                own = 100 * made[place] / raw[place] if sessions else None
                given = shares.get(name, (None, None))[place]
                label = f"{group}: {name}, {what} %"
                yield Row("replay", label, both[column][place], own, given, within=0.1, partly=PARTLY[group])
    yield from replays_of_tau(logs)


def replays_of_tau(logs: Logs) -> Iterator[Row]:
    """The one policy that they replayed on tau, with the prefix that they name and with a shorter one."""
    sessions = logs.group("tau")
    raw = {prefix: prototype.replayed(sessions, None, prefix) for prefix in (prototype.PREFIX, 3_500)}
    for name, both in theirs.REPLAY_TAU.items():
        for prefix, base in raw.items():
            made = prototype.replayed(sessions, prototype.RULES[name], prefix)
            why = {
                prototype.PREFIX: "with the prefix that the notes name so little of a prompt is results that nothing "
                "gives 119; theirs had a shorter one here",
                3_500: "with the system prompt and some 2,000 tokens for tools tokens are the same and cost is near",
            }[prefix]
            for place, what in enumerate(("tokens", "cost")):
                own = 100 * made[place] / base[place] if sessions else None
                label = f"tau: {name}, prefix of {prefix:,}, {what} %"
                yield Row("replay", label, both[place], own, within=0.2, why=why)


def _given(sessions: list) -> dict[str, tuple[float, float | None]]:
    if not sessions:
        return {}
    frame = replay(sessions, [policy_of(name) for name in POLICIES], executor=None).by_policy().set_index("policy")
    return {name: (100 * row["share"], 100 * row["dollars_share"]) for name, row in frame.iterrows()}
