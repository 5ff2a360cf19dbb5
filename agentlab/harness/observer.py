"""What happened: tools over the activity of the running cycle and over the log of all cycles."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import TYPE_CHECKING, Literal

from agentlab.errors import InputError, ToolError
from agentlab.harness.cycle import CURRENT
from agentlab.harness.reading import cycles_of, find_cycle, read_cycles
from agentlab.harness.records import (
    TERMINAL,
    BudgetExtended,
    CycleStart,
    LlmRequest,
    LlmResponse,
    ToolResult,
    WatchdogFire,
)
from agentlab.harness.tree import ending, tree
from agentlab.harness.wording import in_words, line_of
from agentlab.tools import Tool, tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agentlab.harness.cycle import Cycle
    from agentlab.harness.reading import CycleView
    from agentlab.harness.records import Record
    from agentlab.messages import Usage

KEPT = 2_000
MOST = 200
_CHARS_PER_TOKEN = 4


class Activity:
    """The newest lines of the log, kept in memory.

    Args:
        on_line: Is given a line of text for each, for people and widgets.
    """

    def __init__(self, on_line: Callable[[str], None] | None = None) -> None:
        self._kept: deque[tuple[Record, int]] = deque(maxlen=KEPT)  # each with the turns allowed at the time
        self._allowed: dict[str, int] = {}
        self._on_line = on_line
        self._lock = threading.Lock()

    def __call__(self, record: Record) -> None:
        """Take note of a line of the log."""
        if isinstance(record, CycleStart):
            self._allowed[record.cycle] = record.turns
        elif isinstance(record, BudgetExtended):
            self._allowed[record.cycle] = record.after
        allowed = self._allowed.get(record.cycle, 0)
        if type(record) in TERMINAL:
            self._allowed.pop(record.cycle, None)
        with self._lock:
            self._kept.append((record, allowed))
        if self._on_line is not None:
            self._on_line(line_of(record, allowed))

    @property
    def records(self) -> list[Record]:
        """The newest lines, the oldest first."""
        with self._lock:
            return [record for record, _ in self._kept]

    def lines(self, last: int = 20, *, cycle: str | None = None) -> list[str]:
        """The newest lines of text, the oldest first.

        Args:
            last: How many at most.
            cycle: Only those of this cycle and of its agents.
        """
        with self._lock:
            known = list(self._kept)
        found = [pair for pair in known if cycle is None or cycle in (pair[0].cycle, pair[0].parent)]
        return [line_of(record, allowed) for record, allowed in found[-last:]] if last > 0 else []


def activity_tool(activity: Activity) -> Tool:
    """The tool `activity`: the newest events of the running cycle."""

    @tool(name="activity", polling=True)
    def recent(last: int = 20) -> str:
        """The newest events of the running cycle and its agents, one line each, with turn and cap.

        Args:
            last: How many lines, 1 to 200.
        """
        if not 1 <= last <= MOST:
            raise ToolError(f"last={last}: expected 1 to {MOST}")
        running = _root(CURRENT.get())
        found = activity.lines(last, cycle=None if running is None else running.id)
        return "\n".join(found) or "nothing has happened yet"

    return recent


def observer_tools(log: Path | None, activity: Activity) -> list[Tool]:
    """The tools over the log of cycles.

    Args:
        log: Folder of the log; None for what is in memory.
        activity: Lines in memory.

    Returns:
        `list_cycles` and `read_cycle`.
    """

    def cycles() -> list[CycleView]:
        try:
            return cycles_of(activity.records) if log is None else read_cycles(log)[0]
        except InputError as error:
            raise ToolError(error.problem) from None

    @tool
    def list_cycles(last: int = 10) -> str:
        """The newest cycles that work for no other, the oldest first: id, what was asked, how it ended, turns left.

        Args:
            last: How many, 1 to 200.
        """
        if not 1 <= last <= MOST:
            raise ToolError(f"last={last}: expected 1 to {MOST}")
        roots = [view for view in cycles() if view.parent is None][-last:]
        return "\n".join(_headline(view) for view in roots) or "there is no cycle in the log yet"

    @tool
    def read_cycle(cycle: str = "last", view: Literal["ending", "events", "tokens"] = "ending") -> str:
        """Read one cycle of the log: why it ended and what was left, its events as a tree, or where its tokens went.

        Args:
            cycle: Its id, or the beginning of it; "last" is the newest that is over.
            view: "ending", "events" or "tokens".
        """
        known = cycles()
        live = _live()
        try:
            found = find_cycle([each for each in known if cycle != "last" or each.id not in live], cycle)
        except InputError as error:
            raise ToolError(error.problem) from None
        if view == "events":
            return "\n".join(tree(found, known, running=found.id in live))
        return "\n".join(_tokens(found, known) if view == "tokens" else _ending(found, known, live))

    return [list_cycles, read_cycle]


def _root(cycle: Cycle | None) -> Cycle | None:
    while cycle is not None and cycle.parent is not None:
        cycle = cycle.parent
    return cycle


def _live() -> set[str]:
    """The cycles that run here: the current one and those that it works for."""
    live = set()
    cycle = CURRENT.get()
    while cycle is not None:
        live.add(cycle.id)
        cycle = cycle.parent
    return live


def _headline(view: CycleView) -> str:
    asked = view.start.prompt if view.start is not None else "?"
    return f'{view.id} {view.actor} "{asked[:80]}" {ending(view, running=view.id in _live())}'


def _ending(view: CycleView, cycles: Sequence[CycleView], live: set[str]) -> list[str]:
    """Why a cycle ended, what its agents came to, and what failed in it."""
    lines = [_headline(view)]
    lines += [f"more turns: {in_words(each)}" for each in view.of(BudgetExtended)]
    lines += [f"agent in turn {each.parent_turn}: {_headline(each)}" for each in cycles if each.parent == view.id]
    failed = [each for each in view.records if isinstance(each, ToolResult | LlmResponse) and each.is_error]
    lines += [f"turn {each.turn}: {in_words(each)}" for each in failed]
    lines += [f"turn {each.turn}: {in_words(each)}" for each in view.of(WatchdogFire)]
    if view.end is None and view.id not in live:
        lines.append("it has no terminal line: its process was ended, or it runs elsewhere")
    return lines


def _tokens(view: CycleView, cycles: Sequence[CycleView]) -> list[str]:
    """Where the tokens of a cycle went: by turn, by agent, and by the tool whose results fill the context."""
    lines = [f"{view.id} {view.actor}: {_in_and_out(view.usage)}"]
    answers = [answer for answer in view.of(LlmResponse) if not answer.is_error]
    lines += [f"turn {answer.turn}: {_in_and_out(answer.usage)}" for answer in answers]
    agents = [each for each in cycles if each.parent == view.id]
    lines += [f"agent {each.actor} {each.id}, beside that: {_in_and_out(each.usage)}" for each in agents]
    calls = {request.turn for request in view.of(LlmRequest)}
    sent: Counter[str] = Counter()
    for result in view.of(ToolResult):
        sent[result.name] += result.chars * sum(turn > result.turn for turn in calls)
    lines += [
        f"results of {name}: about {chars // _CHARS_PER_TOKEN:,} prompt tokens over the turns (estimated)"
        for name, chars in sent.most_common(5)
    ]
    return lines


def _in_and_out(usage: Usage) -> str:
    counted = "measured" if usage.exact else "estimated"
    return f"{usage.prompt_tokens:,} prompt + {usage.output_tokens:,} output tokens ({counted})"
