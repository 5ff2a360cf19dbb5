"""The rows on reading logs: a large file into a frame of calls, and a long session beside a short one."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Row
from .logs import write_log
from .rounds import ROOT, BenchError, Rounds, environment, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .rounds import Values

MESSAGES, QUICK = 400_000, 40_000
LONG, SHORT = 5_000, 500


def reading(rounds: Rounds, peers: Sequence[str]) -> Iterator[Row]:
    """All rows on reading."""
    few = Rounds(min(rounds.rounds, 3), rounds.repeats, rounds.pythons)
    few.raw = rounds.raw
    messages = QUICK if rounds.rounds == 1 else MESSAGES
    with tempfile.TemporaryDirectory() as folder:
        yield from large_files(few, Path(folder), messages, ["polars"] if "polars" in peers else [])
        yield long_sessions(Path(folder), few.rounds)


def large_files(rounds: Rounds, folder: Path, messages: int, peers: Sequence[str]) -> Iterator[Row]:
    """A file of one message a line into a frame of calls."""
    for mixed in (False, True):
        path = folder / ("mixed.jsonl" if mixed else "log.jsonl")
        say(f"writing {messages:,} messages")
        write_log(path, messages, mixed=mixed)
        size = f"{path.stat().st_size / 1e6:,.0f} MB of JSONL, {messages:,} messages"
        names = ["json", "ours", *peers] if mixed else ["json", "ours", *peers, "read_json"]
        found = rounds.interleave(
            f"calls of {size}{', mixed' if mixed else ''}",
            {name: lambda name=name: _read(rounds, name, path) for name in names},  # type: ignore[misc]  # noqa: B023
        )
        path.unlink()
        if mixed:
            yield _exact(found, peers)
        else:
            yield from _speed(size, found, peers)


def _speed(size: str, found: dict[str, Values], peers: Sequence[str]) -> Iterator[Row]:
    if not _same(found["json"], found["ours"]):
        raise BenchError("the calls of agentlab and of json + pandas do not have the same totals")
    base, mine = found["json"], found["ours"]
    ratio = base["cpu"] / mine["cpu"]
    figure = f"calls frame of {size}"
    yield Row(figure, ">= 6x json + pandas", _s(base), _s(mine), f"{ratio:.1f}x", ratio >= 6)
    ratio = base["MB"] / mine["MB"] if mine["MB"] else 0.0
    yield Row(
        "  its memory", "<= 1/10", f"{base['MB']:,.0f} MB", f"{mine['MB']:,.0f} MB", f"1/{ratio:.1f}", ratio >= 10
    )
    other = found["read_json"]
    yield Row("  beside pandas.read_json", "", _s(other), _s(mine), f"{other['cpu'] / mine['cpu']:.1f}x")
    if peers:
        other = found["polars"]
        ratio = other["cpu"] / mine["cpu"]
        yield Row("  beside polars, schema given", "faster", _s(other), _s(mine), f"{ratio:.1f}x", ratio > 1)
    else:
        yield Row("  beside polars, schema given", "faster (PEERS=polars)", "not asked for", _s(mine), "")


def _exact(found: dict[str, Values], peers: Sequence[str]) -> Row:
    said = {name: "exact" if _same(found["json"], found[name]) else "wrong" for name in ("ours", *peers)}
    beside = f"polars: {said['polars']}" if peers else ""
    return Row("  where content is sometimes a list", "exact", beside, said["ours"], "", said["ours"] == "exact")


def long_sessions(folder: Path, repeats: int) -> Row:
    """All four frames of a session, per call: a long one beside a short one."""
    from agentlab.analysis import grains, load

    us = {}
    for calls in (SHORT, LONG):
        path = folder / f"{calls}.jsonl"
        write_log(path, 2 * calls, turns=10**9)
        times = []
        for _ in range(repeats * 3):
            started = time.process_time()
            sessions, _ = load(path)
            made = grains(sessions)
            times.append((time.process_time() - started) / len(made.calls) * 1e6)
        us[calls] = min(times)
    ratio = us[LONG] / us[SHORT]
    figure = f"frames of a session, per call: {LONG:,} calls beside {SHORT:,}"
    return Row(figure, "<= 1.2", f"{us[SHORT]:.0f} us", f"{us[LONG]:.0f} us", f"{ratio:.2f}x", ratio <= 1.2)


def _read(rounds: Rounds, name: str, path: Path) -> Values:
    python = rounds.pythons.get(name, Path(sys.executable))
    done = subprocess.run(
        [str(python), "-m", "benchmarks.log_readers", name, str(path)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        if name == "polars" and path.stem == "mixed":
            return {"cpu": 0.0, "MB": 0.0, "total calls": -1.0}  # it cannot read such a file
        raise BenchError(f"{name}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    values: Values = json.loads(done.stdout)
    return values


def _same(one: Values, other: Values) -> bool:
    return all(abs(one[name] - other.get(name, -1)) < 0.5 for name in one if name.startswith("total"))


def _s(values: Values) -> str:
    return f"{values['cpu']:.2f} s"
