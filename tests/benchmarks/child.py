"""What a fresh process does: one measurement, printed as one line of JSON.

    python -m benchmarks.child iteration --subject ours --size 100 --count 400 --repeats 3

What a framework itself prints goes nowhere. It runs in the peer's Python too, which has nothing of agentlab.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from . import clocks
from .subjects import subject_class

LOOPS = {
    "iteration": clocks.iteration,
    "growth": clocks.growth,
    "session": clocks.session,
    "forgetting": clocks.forgetting,
    "memory": clocks.memory,
}


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=[*LOOPS, "cuts", "widgets"])
    parser.add_argument("--subject", default="ours")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    answer = os.fdopen(os.dup(1), "w")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    sys.stdout = os.fdopen(silent, "w", closefd=False)
    if asked.what == "cuts":
        from .cuts import measure

        result = measure(asked.count, asked.repeats)
    elif asked.what == "widgets":
        from .widgets import measure as measure_widgets

        result = measure_widgets(asked.count, asked.repeats)
    else:
        result = _loop(asked)
    answer.write(json.dumps(result) + "\n")
    answer.flush()


def _loop(asked: argparse.Namespace) -> dict[str, float]:
    made = []

    def make(*settings: object) -> object:
        made.append(subject_class(asked.subject)(*settings))  # type: ignore[arg-type]
        return made[-1]

    try:
        return LOOPS[asked.what](make, asked.size, asked.count, asked.repeats)  # type: ignore[arg-type]
    finally:
        for subject in made:
            subject.clean()


if __name__ == "__main__":
    main()
