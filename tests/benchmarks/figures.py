"""The rows of the table: what each measures, beside which floor, and its target.

A target is judged by ratios within one run, never by absolute figures. Where a target names milliseconds, they are
those of a machine on which `import json` takes 6 ms of CPU.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING

from . import starting
from .peers import IMPORTS
from .policies import FORGETTING, POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .rounds import Rounds

ITERATIONS, TURNS = 400, 200
SMALL, LARGE, TURN_SIZE, READ_SIZE = 100, 20_000, 1_000, 2_000
LOG_CHARACTERS = 10_000_000
IMPORT = "from agentlab.loop import agent_step"
JSON_MS, JSON_MB = 6.0, 9.8
"""`import json` on the machine that the targets were set on."""


@dataclass(frozen=True)
class Row:
    """One line of the table; `meets` is None where there is no target, or nothing to judge it by."""

    figure: str
    target: str
    floor: str
    ours: str
    ratio: str
    meets: bool | None = None


def rows(rounds: Rounds, peers: Sequence[str]) -> Iterator[Row]:
    """All rows, in the order of the targets."""
    yield from small_iterations(rounds)
    yield from large_iterations(rounds, peers)
    yield from growing(rounds)
    yield from growing_while_it_forgets(rounds)
    yield from sessions(rounds)
    yield from harnesses(rounds)
    yield from held(rounds)
    yield from importing(rounds)
    yield from cutting(rounds)
    yield from felt_first(rounds)


def small_iterations(rounds: Rounds) -> Iterator[Row]:
    """An iteration with a short result."""
    found = rounds.best("iteration", ["floor", "ours-stored"], size=SMALL, count=ITERATIONS)
    floor, ours = found["floor"]["us"], found["ours-stored"]["us"]
    yield Row(
        f"iteration, K={ITERATIONS}, S={SMALL}",
        "<= 2x floor",
        _us(floor),
        _us(ours),
        _x(ours / floor),
        ours <= 2 * floor,
    )


def large_iterations(rounds: Rounds, peers: Sequence[str]) -> Iterator[Row]:
    """An iteration with a long result, cut by default and where the floor cuts."""
    limits = {"ours-default": "cut at 4,000", "ours": "cut at 16,000 as the floor"}
    orjson = ["floor-orjson"] if find_spec("orjson") else []
    llm = ["llm"] if "llm" in peers else []
    subjects = ["floor", *orjson, *llm, *limits, *(f"{name}-stored" for name in limits)]
    us = {name: one["us"] for name, one in rounds.best("iteration", subjects, size=LARGE, count=ITERATIONS).items()}
    for suffix, times in (("", 1.0), ("-stored", 2.0)):
        for name, limit in limits.items():
            ours = us[f"{name}{suffix}"]
            figure = f"iteration, K={ITERATIONS}, S={LARGE:,}, store {'on' if suffix else 'off'}, {limit}"
            target = "<= 2x llm unlogged" if suffix else "below llm unlogged"
            if llm:
                yield Row(
                    figure, target, f"llm {_us(us['llm'])}", _us(ours), _x(ours / us["llm"]), ours <= times * us["llm"]
                )
            else:
                yield Row(figure, f"{target} (PEERS=llm)", _us(us["floor"]), _us(ours), _x(ours / us["floor"]))
    if orjson:
        floor, ours = us["floor-orjson"], us["ours-stored"]
        yield Row("the last, beside the floor with orjson", "stretch: 1x", _us(floor), _us(ours), _x(ours / floor))


def growing(rounds: Rounds) -> Iterator[Row]:
    """Last tenth over first, within a run."""
    found = rounds.best("growth", ["floor", "ours-stored"], size=SMALL, count=ITERATIONS)
    yield _growth(f"growth over {ITERATIONS} iterations, last / first tenth", found)


def growing_while_it_forgets(rounds: Rounds) -> Iterator[Row]:
    """Last tenth over first under each policy that compacts, iterations with a decision apart from the others."""
    subjects = [f"{FORGETTING}{policy}" for policy in POLICIES]
    found = rounds.best("forgetting", subjects, size=READ_SIZE, count=ITERATIONS)
    for subject in subjects:
        one = found[subject]
        ratios = {
            kind: one[f"{kind}_last"] / one[f"{kind}_first"] for kind in ("without", "with") if one[f"{kind}_first"]
        }
        yield Row(
            f"growth over {ITERATIONS} iterations, {subject.removeprefix(FORGETTING)}",
            "<= 1.3",
            "",
            ", ".join(f"{ratio:.2f} {kind} a decision" for kind, ratio in ratios.items()),
            f"{one['mixed']:.2f} mixed, {one['decisions']:.0f} decisions",
            max(ratios.values()) <= 1.3,
        )


def harnesses(rounds: Rounds) -> Iterator[Row]:
    """A cog's cycle with its log, beside a turn that writes its session folder: without a deadline, and with one."""
    subjects = ["ours-stored", "ours-timed", "harness-in-memory", "harness"]
    us = {name: one["us"] for name, one in rounds.best("iteration", subjects, size=SMALL, count=ITERATIONS).items()}
    for name, what in (("harness-in-memory", "cycle log"), ("harness", "cycle log and session folder")):
        for floor, beside in (("ours-stored", "a turn without a deadline"), ("ours-timed", "one that has it too")):
            yield Row(
                f"iteration of the harness, {what}, beside {beside}",
                "<= 2x the turn",
                _us(us[floor]),
                _us(us[name]),
                _x(us[name] / us[floor]),
                us[name] <= 2 * us[floor],
            )


def sessions(rounds: Rounds) -> Iterator[Row]:
    """Turns of a long session, and what is written for it."""
    found = rounds.best("session", ["floor", "ours-stored"], size=TURN_SIZE, count=TURNS)
    yield _growth(f"growth over {TURNS} turns, last / first tenth", found)
    floor, ours = (found[name]["last"] for name in ("floor", "ours-stored"))
    yield Row(f"turn {TURNS}", "<= 2x floor", _us(floor), _us(ours), _x(ours / floor), ours <= 2 * floor)
    if "written" in found["ours-stored"]:
        floor, ours = (found[name]["written"] / found[name]["kept"] for name in ("floor", "ours-stored"))
        yield Row("bytes written / kept", "<= 1.1", f"{floor:.2f}", f"{ours:.2f}", "", ours <= 1.1)


def held(rounds: Rounds) -> Iterator[Row]:
    """Memory after a run, over the characters that its tool returned."""
    found = rounds.best("memory", ["floor", "ours-uncut", "ours-default"], size=LARGE, count=ITERATIONS)
    floor, uncut, cut = (found[name]["held"] / found[name]["payload"] for name in found)
    yield Row("memory held / payload of 8 MB, nothing cut", "<= 1.1", "", f"{uncut:.2f}", "", uncut <= 1.1)
    yield Row(
        "memory held / payload of 8 MB, cut at entry",
        "stretch: below 1",
        f"{floor:.2f} (at 16,000)",
        f"{cut:.2f}",
        "",
        cut < 1,
    )


def importing(rounds: Rounds) -> Iterator[Row]:
    """What an import costs over a Python that has started."""
    statements = {"json": "import json", "msgspec": "import msgspec", "ours": IMPORT}
    measures = {
        name: lambda statement=statement: starting.imported(statement) for name, statement in statements.items()
    }
    starting.imported(IMPORT)  # writes the byte code
    found = rounds.interleave("import", measures, median)  # type: ignore[arg-type]  # the lambdas' default
    json, ours = found["json"], found["ours"]
    times = 40 / JSON_MS
    yield Row(
        f"`{IMPORT}`, CPU",
        f"<= {times:.1f}x `import json` (40 ms)",
        f"{json['ms']:.1f} ms (msgspec {found['msgspec']['ms']:.1f})",
        f"{ours['ms']:.1f} ms",
        _x(ours["ms"] / json["ms"]),
        ours["ms"] <= times * json["ms"],
    )
    yield Row(
        "the same, memory of the process",
        f"<= {14 - JSON_MB:.1f} MB over json (14 MB)",
        f"{json['MB']:.1f} MB (msgspec {found['msgspec']['MB']:.1f})",
        f"{ours['MB']:.1f} MB",
        f"+{ours['MB'] - json['MB']:.1f} MB",
        ours["MB"] - json["MB"] <= 14 - JSON_MB,
    )


def cutting(rounds: Rounds) -> Iterator[Row]:
    """A cut in tokens of a text of which nearly nothing is kept."""
    found = rounds.best("cuts", ["ours"], size=0, count=LOG_CHARACTERS)["ours"]
    all_of_it = found["encode_all"]
    for name, key, times in (("bare", "bare", 100), ("with lines, hash and store", "observation", 25)):
        ms = found[key]
        yield Row(
            f"token cut of a 10 MB log to 4,000 tokens, {name}",
            f">= {times}x faster than encoding all",
            f"{all_of_it:,.0f} ms",
            f"{ms:.1f} ms",
            f"{all_of_it / ms:,.0f}x faster",
            all_of_it >= times * ms,
        )
    seen = found["seen_per_token"]
    yield Row(
        "characters that its tokenizer saw, per token of the limit",
        "a constant",
        f"{LOG_CHARACTERS / 4_000:,.0f}",
        f"{seen:.1f}",
        "",
        seen < 100,
    )


def felt_first(rounds: Rounds) -> Iterator[Row]:
    """Whole processes, on the wall."""
    pairs = {
        "`agentlab --help`": ("import argparse", lambda: starting.command("-c", "import argparse"), _help),
        "first cell of a notebook: kernel and first offline `agent_step`": (
            "kernel and an empty cell",
            lambda: starting.cell("pass"),
            lambda: starting.cell(starting.FIRST_CELL),
        ),
        "first picture: `agentlab demo`, installed": (
            "pandas, matplotlib and a line",
            starting.plotting_alone,
            starting.first_picture,
        ),
    }
    for figure, (beside, floor, ours) in pairs.items():
        found = rounds.interleave(figure, {"floor": floor, "ours": ours}, median)  # type: ignore[arg-type]
        low, high = found["floor"]["wall"], found["ours"]["wall"]
        yield Row(figure, "", f"{low:.2f} s ({beside})", f"{high:.2f} s", _x(high / low))


def from_a_clone() -> Iterator[Row]:
    """From a clone to the first picture, with the package index as it is reached from here."""
    taken = starting.clone_to_picture()
    parts = f"clone {taken['clone']:.1f} s, install {taken['install']:.0f} s, demo {taken['demo']:.1f} s"
    yield Row("clone to first picture, environment made anew", "", "", f"{sum(taken.values()):.0f} s", parts)


def beside_peers(rounds: Rounds, peers: Sequence[str]) -> list[list[str]]:
    """A second table, with the peers: microseconds of an iteration and of a turn, growth, import."""
    names = ["floor", "ours-stored", *peers]
    loops = rounds.best("iteration", names, size=SMALL, count=ITERATIONS)
    growths = rounds.best("growth", names, size=SMALL, count=ITERATIONS)
    turns = rounds.best("session", names, size=TURN_SIZE, count=TURNS)
    statements = {"floor": "import json", "ours-stored": IMPORT, **{peer: IMPORTS[peer] for peer in peers}}
    imports = rounds.interleave(
        "import of peers",
        {
            name: lambda name=name: starting.imported(statements[name], rounds.pythons.get(name, sys.executable))  # type: ignore[misc]
            for name in names
        },
        median,  # type: ignore[arg-type]
    )
    head = [
        "loop",
        f"iteration, K={ITERATIONS}, S={SMALL}",
        "last / first tenth",
        f"turn, first -> last tenth of {TURNS}",
        "import: CPU, memory",
    ]
    return [
        head,
        *(
            [
                name.removesuffix("-stored"),
                _us(loops[name]["us"]),
                f"{growths[name]['last'] / growths[name]['first']:.1f}",
                f"{turns[name]['first']:,.0f} -> {_us(turns[name]['last'])}",
                f"{imports[name]['ms']:.0f} ms, {imports[name]['MB']:.0f} MB",
            ]
            for name in names
        ),
    ]


def _help() -> dict[str, float]:
    return starting.command("-m", "agentlab", "--help")


def _growth(figure: str, found: dict[str, dict[str, float]]) -> Row:
    floor, ours = (found[name]["last"] / found[name]["first"] for name in ("floor", "ours-stored"))
    return Row(figure, "<= 1.2", f"{floor:.2f}", f"{ours:.2f}", "", ours <= 1.2)


def _us(microseconds: float) -> str:
    return f"{microseconds:,.1f} us" if microseconds < 100 else f"{microseconds:,.0f} us"


def _x(ratio: float) -> str:
    return f"{ratio:.2f}x"
