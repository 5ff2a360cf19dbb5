"""Install nbgrader where the course's tests look for it, once: `python -m tests.course`."""

from __future__ import annotations

import sys

from tests.benchmarks.peers import python_of
from tests.benchmarks.rounds import BenchError

if __name__ == "__main__":
    try:
        python_of("nbgrader")
    except BenchError as error:
        sys.exit(str(error))
