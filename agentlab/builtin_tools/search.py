"""What `grep` does, in a `Workspace`."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentlab.budgets import Scope
from agentlab.builtin_tools.files import MAX_WHOLE_BYTES, text_stream
from agentlab.builtin_tools.matching import ChildMatcher, Hits, cannot_explode, compiled, hits
from agentlab.builtin_tools.workspace import Workspace, quoted
from agentlab.errors import DeadlineExceeded, ScopeEnded, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_MATCHES = 1_000
MAX_PATTERN_CHARS = 1_000
MAX_GLOBS = 64
SEARCHED_CHARS = 2_000
"""How much of a line is searched."""

SHOWN_CHARS = 500
"""How much of a matching line is shown."""

_SPECIAL = frozenset(".^$*+?{}[]\\|()")


@dataclass
class _Report:
    """What was found, and what was not looked at."""

    pattern: str
    glob: str
    where: str
    most: int
    matches: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    files: int = 0
    binary: int = 0
    huge: int = 0
    long_lines: int = 0
    stopped: str = ""

    def text(self) -> str:
        """The observation: matches, then a line for each thing that the model should know about them."""
        notes = [f"(stopped early: {self.stopped})"] if self.stopped else []
        if len(self.matches) > self.most:
            notes.append(f"(stopped at {self.most} matches: narrow pattern, path or glob to see the others)")
        skipped = [
            f"{count} {what}"
            for count, what in (
                (self.binary, "binary"),
                (self.huge, f"over {MAX_WHOLE_BYTES // 1_000_000} MB"),
                (len(self.unreadable), "unreadable"),
            )
            if count
        ]
        if skipped:
            notes.append(f"(not searched: {', '.join(skipped)})")
        if self.long_lines:
            notes.append(
                f"({self.long_lines} longer lines were searched in their first {SEARCHED_CHARS} characters only)"
            )
        return "\n".join((self.matches[: self.most] or [self._nothing()]) + notes)

    def _nothing(self) -> str:
        """Say that there is no match, and the likely reason."""
        if not self.files and not self.stopped:
            return f"no file in {quoted(self.where)} to search, for the glob {quoted(self.glob)}"
        across = " (each line is searched by itself)" if "\n" in self.pattern or "\\n" in self.pattern else ""
        return f"no match for {quoted(self.pattern)} in {self.files} file{'s' * (self.files != 1)}{across}"


def search(
    workspace: Workspace,
    pattern: str,
    path: str = ".",
    glob: str = "*",
    *,
    ignore_case: bool = False,
    max_matches: int = 200,
    scope: Scope | None = None,
    seconds: float = 10.0,
) -> str:
    """Find the lines that a regular expression matches.

    Args:
        workspace: Where the path must lie.
        pattern: Python regular expression, matched against each line by itself.
        path: File, or folder searched with all that is below it; links are not followed, and hidden folders are left
            out unless this names one.
        glob: Which files, by name or by path: `*.py`, `src/**/*.py`, `*.{md,txt}`.
        ignore_case: Whether upper and lower case are the same.
        max_matches: 1 to 1,000; no more lines are shown.
        scope: Ends the search, whatever the expression.
        seconds: After this time what was found so far is returned.

    Returns:
        `path:line: text` per match, in order, then notes on what was skipped.

    Raises:
        ToolError: No such path inside the workspace, or not a regular expression.
        ScopeEnded: The scope ended.
    """
    if not 1 <= max_matches <= MAX_MATCHES:
        raise ToolError(f"max_matches={max_matches}: expected 1 to {MAX_MATCHES}")
    expression = _expression(pattern, ignore_case=ignore_case)
    needed = "" if ignore_case or _SPECIAL.intersection(pattern) else pattern
    wanted = _wanted(glob)
    root = workspace.resolve(path)
    report = _Report(pattern, glob, workspace.shown(root), max_matches)
    own = (scope or Scope()).child(seconds)
    try:
        with _matcher(expression, own) as find:
            for real in workspace.walk(path, report.unreadable):
                own.check()
                shown = workspace.shown(real)
                if _hidden(real, root) or not wanted(shown):
                    continue
                lines = _lines(workspace, real, report, needed, asked_for=shown == report.where)
                if not lines:
                    continue
                found = find([line[:SEARCHED_CHARS] for line in lines], max_matches + 1 - len(report.matches))
                report.matches += [f"{shown}:{line + 1}: {_clipped(lines[line], start)}" for line, start in found]
                if len(report.matches) > max_matches:
                    break
    except ScopeEnded:
        if scope is not None:
            scope.check()
        report.stopped = f"the search takes over {seconds:g} seconds; use a simpler pattern, or a narrower path or glob"
    return report.text()


def _hidden(real: str, root: str) -> bool:
    """Whether a file lies in a folder below `root` whose name begins with a dot."""
    return f"{os.sep}." in real[len(root) :].rpartition(os.sep)[0]


def _expression(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    """Compile what the model gave, or say what is wrong with it."""
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise ToolError(f"pattern has {len(pattern)} characters: expected 1 to {MAX_PATTERN_CHARS}")
    try:
        return compiled(pattern, ignore_case=ignore_case)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(
            f"{quoted(pattern)} is not a regular expression: {error}. To find its characters as they are, put a "
            "backslash before each of . ^ $ * + ? { } [ ] \\ | ( )"
        ) from error


def _wanted(glob: str) -> Callable[[str], bool]:
    """A test of shown paths against a glob; `*` also matches across folders."""
    from fnmatch import translate

    globs = [glob.removeprefix("./")]
    while any(_BRACES.search(each) for each in globs):
        globs = [made for each in globs for made in _expanded(each)]
        if len(globs) > MAX_GLOBS:
            raise ToolError(f"{quoted(glob)} stands for more than {MAX_GLOBS} globs: give a simpler one")
    tests = [re.compile(translate(each)).match for each in globs]

    def wanted(shown: str) -> bool:
        names = (shown.rpartition("/")[2], shown, f"/{shown}")
        return any(test(name) for test in tests for name in names)

    return wanted


_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def _expanded(glob: str) -> list[str]:
    """The globs that the first pair of braces stands for.

    >>> _expanded("a.{md,txt}")
    ['a.md', 'a.txt']
    """
    braces = _BRACES.search(glob)
    if braces is None:
        return [glob]
    return [glob[: braces.start()] + choice + glob[braces.end() :] for choice in braces[1].split(",")]


@contextlib.contextmanager
def _matcher(expression: re.Pattern[str], own: Scope) -> Iterator[Callable[[list[str], int], Hits]]:
    """A function that matches lines; it raises `ScopeEnded` when the scope ends, whatever the expression does."""
    if cannot_explode(expression.pattern):
        yield lambda lines, most: hits(expression, lines, most, own.check)
        return
    from threading import Timer

    child = ChildMatcher(expression.pattern, ignore_case=bool(expression.flags & re.IGNORECASE))
    timer = None if own.endless else Timer(own.remaining(), child.kill)
    undo = own.on_cancel(child.kill)

    def find(lines: list[str], most: int) -> Hits:
        found = child.hits(lines, most)
        if found is None:
            raise DeadlineExceeded("the process that matches was ended")
        return found

    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        yield find
    finally:
        undo()
        if timer is not None:
            timer.cancel()
        child.close()


def _lines(workspace: Workspace, real: str, report: _Report, needed: str, *, asked_for: bool) -> list[str]:
    """The lines of a file; none where it does not have the text `needed`, or cannot be searched, which is reported."""
    try:
        raw = workspace.open(real)
    except ToolError:
        if asked_for:
            raise
        report.unreadable.append(real)
        return []
    with raw:
        if os.fstat(raw.fileno()).st_size > MAX_WHOLE_BYTES:
            report.huge += 1
            return []
        stream = text_stream(raw)
        if stream is None:
            report.binary += 1
            return []
        text = stream.read(MAX_WHOLE_BYTES)
    report.files += 1
    if needed not in text:
        return []
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if len(max(lines, key=len)) > SEARCHED_CHARS:
        report.long_lines += sum(len(line) > SEARCHED_CHARS for line in lines)
    return lines


def _clipped(line: str, start: int) -> str:
    """A line, or the part of it around the match; valid text."""
    if len(line) > SHOWN_CHARS:
        room = SHOWN_CHARS - 6
        begin = max(0, start - room // 4) if start > room // 2 else 0
        line = f"{'...' * (begin > 0)}{line[begin : begin + room]}{'...' * (begin + room < len(line))}"
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
