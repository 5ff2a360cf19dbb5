"""The tools that agentlab comes with.

`TOOLS` are the chapter's three, which the loop takes where it is given no others; `lorem` lies beside them. Tools that
work in a folder are made by `workspace_tools`.

>>> from agentlab.builtin_tools import TOOLS, wordcount
>>> [each.name for each in TOOLS], wordcount("one two three")
(['now', 'wordcount', 'read_file'], '3')
"""

# The docstrings of tools are read by models, which know nothing of `scope`.
# ruff: noqa: D417

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.budgets import Scope  # noqa: TC001 - `tool` reads the annotations
from agentlab.builtin_tools.basics import lorem, make_now, now, wordcount
from agentlab.tools import Tool, tool

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from agentlab.builtin_tools.workspace import Workspace

__all__ = ["TOOLS", "lorem", "make_now", "now", "read_file", "wordcount", "workspace_tools"]


def workspace_tools(
    root: str | os.PathLike[str] = ".", *, commands: bool = False, command_seconds: float = 30.0
) -> list[Tool]:
    """Tools that read the files of one folder and nothing outside it.

    Args:
        root: The folder.
        commands: Whether `run_command` is among them. It starts in the folder but is not confined to it: a command
            can read and change whatever the user can. Switch it on only where that is acceptable.
        command_seconds: When a command is stopped.

    Returns:
        `read_file`, `list_dir`, `grep`, and `run_command` where it is switched on.

    Raises:
        InputError: There is no such folder.

    >>> [each.name for each in workspace_tools(".")]
    ['read_file', 'list_dir', 'grep']
    """
    from agentlab.builtin_tools.workspace import Workspace

    workspace = Workspace(root)
    made = [_read_file(lambda: workspace), _list_dir(workspace), _grep(workspace)]
    return [*made, _run_command(workspace, command_seconds)] if commands else made


def _read_file(workspace: Callable[[], Workspace]) -> Tool:
    """The tool `read_file` in the workspace of the moment."""

    @tool
    def read_file(
        path: str, start_line: int | None = None, end_line: int | None = None, scope: Scope | None = None
    ) -> str:
        """Read a text file of the workspace: the whole of it, or the lines from start_line to end_line.

        Args:
            path: Path relative to the workspace.
            start_line: First line to read, counted from 1.
            end_line: Last line to read, included.
        """
        from agentlab.builtin_tools.files import read_text

        return read_text(workspace(), path, start_line, end_line, scope)

    return read_file


def _list_dir(workspace: Workspace) -> Tool:
    """The tool `list_dir`."""

    @tool
    def list_dir(path: str = ".") -> str:
        """List what a folder of the workspace holds; names of folders end in /.

        Args:
            path: Path relative to the workspace.
        """
        from agentlab.builtin_tools.files import list_folder

        return list_folder(workspace, path)

    return list_dir


def _grep(workspace: Workspace) -> Tool:
    """The tool `grep`."""

    @tool
    def grep(  # noqa: PLR0917 - a model passes them by name
        pattern: str,
        path: str = ".",
        glob: str = "*",
        ignore_case: bool = False,  # noqa: FBT001, FBT002
        max_matches: int = 200,
        scope: Scope | None = None,
    ) -> str:
        """Find the lines of text files that a regular expression matches; gives path:line: text.

        Args:
            pattern: Python regular expression, matched line by line.
            path: File, or folder to search with all below it, relative to the workspace.
            glob: Which files to search, such as *.py or docs/*.{md,txt}.
            ignore_case: True to ignore the case of letters.
            max_matches: How many matches to show at most, 1 to 1000.
        """
        from agentlab.builtin_tools.search import search

        return search(workspace, pattern, path, glob, ignore_case=ignore_case, max_matches=max_matches, scope=scope)

    return grep


def _run_command(workspace: Workspace, seconds: float) -> Tool:
    """The tool `run_command`; the default cut keeps both ends, so the exit code stays."""

    @tool(strategy="middle_snip")
    def run_command(command: str, scope: Scope | None = None) -> str:
        """Run a shell command in the workspace; gives its output, and its exit code in the last line.

        It has no input, and what it leaves running is stopped.

        Args:
            command: The command line.
        """
        from agentlab.builtin_tools.shell import run_shell

        return run_shell(command, workspace.root, seconds, scope)

    return run_command


def _current_folder() -> Workspace:
    """The folder where the process is now."""
    from agentlab.builtin_tools.workspace import Workspace

    return Workspace(".")


read_file = _read_file(_current_folder)
TOOLS: list[Tool] = [now, wordcount, read_file]
