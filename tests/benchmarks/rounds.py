"""Fresh processes, interleaved: in each round every subject runs once, so that a noisy neighbour hits all alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

Values = dict[str, float]


class BenchError(Exception):
    """A measurement could not be made; the text says what to do."""


def environment() -> dict[str, str]:
    """The environment of what is timed: no keys, byte code kept, nothing that reports home."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_TOKEN")) and name not in {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    }
    quiet = {
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
    }
    return {**kept, **quiet, "PYTHONPATH": str(HERE.parent), "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}


class Rounds:
    """Runs measurements, so many rounds of so many repeats each.

    Args:
        rounds: How often every subject gets a fresh process.
        repeats: How often it measures there.
        pythons: Python of each subject that has one of its own.
    """

    def __init__(self, rounds: int, repeats: int, pythons: Mapping[str, Path] | None = None) -> None:
        self.rounds = rounds
        self.repeats = repeats
        self.pythons = dict(pythons or {})
        self.raw: dict[str, dict[str, Values]] = {}

    def best(self, what: str, subjects: Iterable[str], *, size: int, count: int) -> dict[str, Values]:
        """Measure each subject; the least of every value is kept, since noise only adds."""
        title = f"{what}, size {size:,}, count {count:,}"
        settings = [what, "--size", str(size), "--count", str(count), "--repeats", str(self.repeats)]
        return self.interleave(title, {name: lambda name=name: self._child(name, settings) for name in subjects})  # type: ignore[misc]

    def interleave(
        self, title: str, measures: Mapping[str, Callable[[], Values]], keep: Callable[[list[float]], float] = min
    ) -> dict[str, Values]:
        """Call each function once per round and keep one of the values that it gave, by name."""
        found: dict[str, list[Values]] = {name: [] for name in measures}
        for number in range(1, self.rounds + 1):
            say(f"{title}: round {number} of {self.rounds}")
            for name, measure in measures.items():
                found[name].append(measure())
        kept = {name: {key: keep([one[key] for one in values]) for key in values[0]} for name, values in found.items()}
        self.raw[title] = kept
        return kept

    def _child(self, subject: str, settings: list[str]) -> Values:
        python = self.pythons.get(subject, Path(sys.executable))
        done = subprocess.run(
            [str(python), "-m", "benchmarks.child", *settings, "--subject", subject],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise BenchError(f"{subject}, {' '.join(settings)}: {last}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def say(text: str) -> None:
    """Progress, beside the table."""
    sys.stderr.write(f"  {text}\n")
    sys.stderr.flush()
