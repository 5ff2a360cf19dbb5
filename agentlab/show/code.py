"""The package's own source, where a notebook has come to the point of reading it."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from agentlab.errors import InputError
from agentlab.show.look import CODE, QUIET
from agentlab.tools import Tool


class Source(msgspec.Struct, frozen=True):
    """Code, and where it stands.

    Attributes:
        code: Without the indentation that it has in its file.
        file: Relative to the folder that holds its package; a cell's is `this notebook`.
        first_line: Of the code in the file, from 1.
        last_line: Included.
    """

    code: str
    file: str
    first_line: int
    last_line: int

    @property
    def place(self) -> str:
        """File and lines, for people."""
        return f"{self.file}, lines {self.first_line}-{self.last_line}"

    def __repr__(self) -> str:
        return f"{self.place}\n\n{self.code}"

    def _repr_html_(self) -> str:
        place = f'<div style="{QUIET}">{escape(self.place)}</div>'
        return f'{place}<pre style="{CODE};padding:2px 10px">{_highlighted(self.code)}</pre>'


def source(item: Any, *, docstring: bool = True) -> Source:
    """Show the code of a function, method, class, module or tool.

    Args:
        item: Such as `agentlab.loop.run_turn`; of a tool it is the function that runs.
        docstring: False leaves the docstring of the function or class out.

    Raises:
        InputError: Python has no source for it.

    >>> from agentlab.store import Store
    >>> print(source(Store.__contains__, docstring=False).code)
    def __contains__(self, key: str) -> bool:
        return key in self._entries
    """
    import inspect
    from textwrap import dedent

    wanted = inspect.unwrap(item.run if isinstance(item, Tool) else item)
    try:
        lines, first = inspect.getsourcelines(wanted)
        file = inspect.getsourcefile(wanted) or ""
    except (TypeError, OSError):
        raise InputError(
            f"there is no Python source for {item!r:.100}: name a function, a class, a module or a tool"
        ) from None
    first = max(1, first)
    code = dedent("".join(lines)).rstrip("\n")
    return Source(code if docstring else _without_docstring(code), _file(file, wanted), first, first + len(lines) - 1)


def _file(file: str, item: Any) -> str:
    """A file without the machine's folders: they may not end up in a notebook that is handed on."""
    import inspect
    import sys
    from pathlib import Path

    path = Path(file)
    module = inspect.getmodule(item)
    package = sys.modules.get(module.__name__.partition(".")[0]) if module is not None else None
    root = getattr(package, "__file__", None)
    if root is None:
        return path.name if path.is_file() else "this notebook"
    home = Path(root).parent.parent if Path(root).name == "__init__.py" else Path(root).parent
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else path.name


def _without_docstring(code: str) -> str:
    """Code without the docstring of its function or class, unless nothing else is in it."""
    import ast

    item = ast.parse(code).body[0]
    if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or len(item.body) < 2:
        return code
    if ast.get_docstring(item) is None:
        return code
    lines = code.split("\n")
    rest = lines[item.body[0].end_lineno :]
    return "\n".join(lines[: item.body[0].lineno - 1] + rest[not rest[0].strip() :])


def _highlighted(code: str) -> str:
    """Code as HTML in the colours of JupyterLab's theme; plain where its style is not installed."""
    try:
        from jupyterlab_pygments import JupyterStyle  # type: ignore[import-untyped]
        from pygments import highlight, lexers  # type: ignore[import-untyped]
        from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    except ImportError:
        return escape(code)
    formatter = HtmlFormatter(nowrap=True, noclasses=True, style=JupyterStyle)
    return str(highlight(code, lexers.PythonLexer(stripnl=False), formatter))
