"""Where a regular expression matches, line by line, here or in a process of its own.

`re` backtracks, and while it does nothing else in the process runs and nothing can stop it: an expression such as
`(a+)+$` takes longer than a life on forty characters. So only expressions that cannot do this run here. The others run
in a child process, this file as a script, which is killed when the time is over.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

Hits = list[tuple[int, int]]
"""Where it matched: index of the line and of the character in it, both from 0."""


def compiled(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    """Compile an expression without warnings about syntax that may change one day.

    Raises:
        re.error: It is not a regular expression.
        RecursionError: It is nested too deeply.
        OverflowError: A repeat count is too large.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern, re.IGNORECASE if ignore_case else 0)


def hits(expression: re.Pattern[str], lines: list[str], most: int, check: Callable[[], None] | None = None) -> Hits:
    """Where the first `most` matches are; `check` is called now and then and may raise.

    >>> hits(re.compile("b"), ["abc", "", "b"], 10)
    [(0, 1), (2, 0)]
    """
    found: Hits = []
    for index, line in enumerate(lines):
        if check is not None and index % 64 == 0:
            check()
        match = expression.search(line)
        if match is not None:
            found.append((index, match.start()))
            if len(found) >= most:
                break
    return found


def cannot_explode(pattern: str) -> bool:
    r"""True where matching takes, at worst, time that grows with the square of a line's length.

    It errs on the safe side: at most one repeat and no group, or no repeat and few alternatives.

    >>> [cannot_explode(p) for p in ("def main", r"class \w+\(", "(?i)todo|fixme", "(a+)+$", "a?a?a?aaa", r"\s*x.*y")]
    [True, True, True, False, False, False]
    """
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern, flags=re.DOTALL)
    plain = re.sub(r"^\(\?[aiLmsu]+\)", "", plain)
    repeats = len(re.findall(r"[*+?{]", plain))
    if repeats == 0:
        return plain.count("|") <= 8
    return repeats == 1 and "(" not in plain


class ChildMatcher:
    """Matches in a process of its own, which `kill` ends at any time, from any thread.

    Args:
        pattern: An expression that compiles.
        ignore_case: Whether upper and lower case are the same.

    Raises:
        OSError: The process could not be started.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        import subprocess

        self._process = subprocess.Popen(  # noqa: S603 - this file, run by this interpreter
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
        )
        self._setup: dict[str, object] = {"pattern": pattern, "ignore_case": ignore_case}

    def hits(self, lines: list[str], most: int) -> Hits | None:
        """Where the first `most` matches are; None when the process has been killed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            return None
        try:
            stdin.write(json.dumps({**self._setup, "lines": lines, "most": most}) + "\n")
            stdin.flush()
        except (BrokenPipeError, OSError):
            return None
        answer = stdout.readline()
        return [(line, start) for line, start in json.loads(answer)] if answer.endswith("\n") else None

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()

    def close(self) -> None:
        """End the process and leave nothing of it behind."""
        import contextlib

        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not yet written meets a closed pipe
                    pipe.close()
        self._process.wait()


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer each line of requests with a line of hits, until there are no more."""
    for line in requests:
        asked = json.loads(line)
        expression = compiled(asked["pattern"], ignore_case=asked["ignore_case"])
        answers.write(json.dumps(hits(expression, asked["lines"], asked["most"])) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
