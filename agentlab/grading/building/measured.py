"""What a decision does to a recorded session, measured by the course: what a student's own measurement is held against.

Both run the same session, but not the same loop: a student's may word a note differently, so figures agree within
`TOLERANCE`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from agentlab.grading.building import recorded as course
from agentlab.grading.building.decisions import DECISIONS
from agentlab.grading.building.figures import says, unmeasured, words
from agentlab.grading.building.recorded import Recorded, Turn
from agentlab.messages import Reply, ToolCall

TOLERANCE = 0.02
SHORTEST, LONGEST = 60, 200
"""Words of a paragraph."""
READ = {
    "name": "read_file",
    "description": "Read a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}
NOW = {"name": "now", "description": "Return the time.", "parameters": {"type": "object", "properties": {}}}


def agrees(found: Any, session: Recorded, decision: str) -> bool:
    """Whether a student's measurement is the course's, but for `TOLERANCE`.

    >>> from agentlab.grading.building.recorded import recorded
    >>> short = recorded("short")
    >>> agrees({"tokens": 23_800, "lines": 106}, short, "chapter"), agrees({"tokens": 6_674}, short, "chapter")
    (True, False)
    """
    if not isinstance(found, dict):
        return False
    wanted = course.measure(session, decision)
    numbers = [found.get(name) for name in wanted]
    return all(
        isinstance(number, int | float) and abs(number - value) <= TOLERANCE * value
        for number, value in zip(numbers, wanted.values(), strict=True)
    )


def drawn(seed: int) -> Recorded:
    """A session that is drawn: 11 to 15 turns, long and short results, a rest somewhere.

    >>> drawn(1).turns == drawn(1).turns, 11 <= len(drawn(1).turns) <= 15
    (True, True)
    """
    draw = random.Random(seed)  # noqa: S311 - the same for the same seed
    count = draw.randrange(11, 16)
    rested = draw.randrange(count // 2, count - 1)
    turns = []
    for number in range(count):
        asked = draw.randrange(1, 4)
        replies = [Reply("", (_call(draw, f"{number}-{each}"),)) for each in range(asked)]
        results = tuple(_text(draw) if reply.tool_calls[0].name == "read_file" else "15:40:22" for reply in replies)
        said = Reply(f"Turn {number} is done: {draw.randrange(10**9)} was the last reference that I saw.")
        turns.append(Turn(f"Do task {number}.", (*replies, said), results, rested=number == rested))
    return Recorded("Answer from what your tools show you.", (READ, NOW), tuple(turns))


def _call(draw: random.Random, ident: str) -> ToolCall:
    if draw.random() < 0.2:
        return ToolCall(ident, "now", {})
    return ToolCall(ident, "read_file", {"path": f"file-{draw.randrange(1_000)}.txt"})


def _text(draw: random.Random) -> str:
    size = draw.choice((8, 60, 200, 500))
    return "\n".join(
        f"reference {draw.randrange(10**12):012d} of order {draw.randrange(10**6):06d}" for _ in range(size)
    )


class Cited(msgspec.Struct, frozen=True):
    """What a paragraph may cite: all that a student measured.

    Attributes:
        numbers: By session, what was measured under the chapter (`chapter`) and under the chosen decision (`mine`).
        sessions: The sessions by the same names; a paragraph has to tell what the longest cost.
        per_turn: Tokens of each turn of the longest session, under the chapter and under the chosen decision.
        measured: `measured(session, decision)` is asked for other decisions, where a figure is none of these.
    """

    numbers: Mapping[str, Any]
    sessions: Mapping[str, Recorded]
    per_turn: tuple[Sequence[float], Sequence[float]] = ((0,), (0,))
    measured: Callable[[Recorded, str], Mapping[str, float]] = course.measure

    def pairs(self) -> list[tuple[float, float]]:
        """What was measured twice."""
        found = [(self.per_turn[0][-1], self.per_turn[1][-1])]
        for name, session in self.sessions.items():
            chapter, mine = self.numbers[name]["chapter"], self.numbers[name]["mine"]
            found += _pairs(session, chapter, mine)
            found.append((len(session.lines), chapter["lines"]))
        return found

    def more_pairs(self) -> list[tuple[float, float]]:
        """The same for every other decision."""
        return [
            pair
            for name, session in self.sessions.items()
            for decision in DECISIONS
            for pair in _pairs(session, self.numbers[name]["chapter"], self.measured(session, decision))
        ]


def _pairs(session: Recorded, before: Mapping[str, float], after: Mapping[str, float]) -> list[tuple[float, float]]:
    return [*((before[what], after[what]) for what in ("tokens", "lines")), (len(session.lines), after["lines"])]


def problems_of(paragraph: Any, cited: Cited) -> list[str]:
    """What stands against a paragraph, one line each; nothing says whether its argument is good."""
    if not isinstance(paragraph, str):
        return [f"expected a text, found {type(paragraph).__name__}"]
    count = words(paragraph)
    said = [] if SHORTEST <= count <= LONGEST else [f"expected {SHORTEST} to {LONGEST} words, found {count}"]
    return said + figures_missing(paragraph, cited) + figures_wrong(paragraph, cited)


def figures_missing(paragraph: str, cited: Cited) -> list[str]:
    """The two figures that a paragraph has to have, where it has not: the tokens of the longest session."""
    longest = max(cited.sessions, key=lambda name: len(cited.sessions[name].turns))
    wanted = {"under the chapter": "chapter", "under your decision": "mine"}
    tokens = {what: cited.numbers[longest][name]["tokens"] for what, name in wanted.items()}
    return [
        f"expected the tokens of {longest!r} {what}, {value:,}, and found no such figure"
        for what, value in tokens.items()
        if not says(paragraph, value)
    ]


def figures_wrong(paragraph: str, cited: Cited) -> list[str]:
    """The figures of a paragraph that were not measured."""
    pairs, turns = cited.pairs(), [tokens for listed in cited.per_turn for tokens in listed]
    found = unmeasured(paragraph, pairs, turns)
    if found:
        found = unmeasured(paragraph, [*pairs, *cited.more_pairs()], turns)
    return [f"{text} is none of the figures that you measured" for text in found]
