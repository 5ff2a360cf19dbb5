"""How long a widget takes to show what a control was moved to, on a session of so many calls."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from .figures import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .rounds import Rounds

CALLS, PER_TURN = 1_000, 5
TARGET_MS = 100


def updating(rounds: Rounds) -> Iterator[Row]:
    """All rows on widgets."""
    few = type(rounds)(min(rounds.rounds, 3), min(rounds.repeats, 5), rounds.pythons)
    few.raw = rounds.raw
    found = few.best("widgets", ["ours"], size=0, count=CALLS)["ours"]
    first, meter = found.pop("first policies"), found.pop("chat meter")
    slowest = max(found, key=found.__getitem__)
    yield Row(
        f"widget update, session of {CALLS:,} calls",
        f"<= {TARGET_MS} ms",
        "",
        f"{found[slowest]:.0f} ms ({slowest})",
        "",
        found[slowest] <= TARGET_MS,
    )
    yield Row("  policies side by side, when first asked for", "", "", f"{first:.0f} ms", "")
    yield Row("  ChatLab's meter after a turn, off the kernel's thread", "", "", f"{meter:.0f} ms", "")


def measure(calls: int, repeats: int) -> dict[str, float]:
    """CPU milliseconds of each update: the slowest of its repeats, since a reader feels that one."""
    from agentlab.analysis import read_messages
    from agentlab.widgets import BudgetLab, CutExplorer, SessionExplorer, Setting
    from agentlab.widgets.token_meter import meter_html, token_meter

    session = read_messages(talk(calls))
    explorer = SessionExplorer(session)
    explorer.page.value = "Composition"
    found = {"first policies": _timed(lambda: setattr(explorer.page, "value", "Policies"))}
    found["chat meter"] = min(_timed(lambda: meter_html(token_meter(session))) for _ in range(2))
    budget = BudgetLab(Setting(turns=calls // PER_TURN, calls=PER_TURN))
    cuts = CutExplorer("".join(f"{n} a line of a log, as a build writes it\n" for n in range(2_500)))
    tokens = CutExplorer(cuts.text, unit="tokens")

    def each(number: int) -> dict[str, Callable[[], Any]]:
        page = ("Curve", "Composition", "Policies")[number % 3]
        return {
            "SessionExplorer, page": lambda: setattr(explorer.page, "value", page),
            "SessionExplorer, call": lambda: setattr(explorer.call, "value", 2 + number * 7),
            "SessionExplorer, jump": explorer.jumps[number % len(explorer.jumps)].click,
            "BudgetLab, limit": lambda: setattr(budget.limit, "value", 500 + 50 * number),
            "CutExplorer, 100,000 characters": lambda: setattr(cuts.limit, "value", 20_000 + 700 * number),
            "CutExplorer, the same by tokens": lambda: setattr(tokens.limit, "value", 5_000 + 100 * number),
        }

    for number in range(max(3, repeats)):
        for name, act in each(number).items():
            found[name] = max(found.get(name, 0.0), _timed(act))
    return found


def talk(calls: int) -> list[dict[str, Any]]:
    """Messages of a session: turns of so many calls, all but the last of which read something."""
    made: list[dict[str, Any]] = []
    for number in range(1, calls + 1):
        if number % PER_TURN == 1:
            made.append({"role": "user", "content": f"What is in shelf {number}?"})
        if number % PER_TURN:
            function = {"name": "read_file", "arguments": json.dumps({"path": f"shelf_{number}.txt"})}
            made.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
                }
            )
            text = "".join(f"box {number}-{n} holds {n * 7} candles of src/shelf_{n}.py\n" for n in range(60))
            made.append({"role": "tool", "tool_call_id": f"c{number}", "name": "read_file", "content": text})
        else:
            made.append({"role": "assistant", "content": f"Candles, in box {number - 1}-1. " * 20})
    return made


def _timed(act: Callable[[], Any]) -> float:
    started = time.process_time()
    act()
    return 1_000 * (time.process_time() - started)
