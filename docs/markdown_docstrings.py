"""What autodoc is given: docstrings are written in Markdown, and Sphinx reads reStructuredText.

Fences, tables and code in backticks are put into its words; sections such as `Args:` are left to napoleon. Names in
annotations get the module that they are imported from, so that two classes of one name are not taken for each other.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils.nodes import document
    from sphinx.application import Sphinx

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAME = re.compile(r"agentlab(?:\.\w+)+|[A-Z]\w*[a-z]\w*")  # what may be a link; other code is code
PACKAGE: Final = "agentlab"


def to_rst(lines: list[str]) -> list[str]:
    r"""The lines of a docstring, with fences, tables and code in reStructuredText.

    >>> to_rst(["A list `[1]` of `Limit`.", "", "```", "a  b", "```"])
    ['A list ``[1]`` of `Limit`.', '', '', '::', '', '    a  b', '', '']
    >>> to_rst(["| a | b |", "|---|---|", "| `Cut` | 2 |"])[4:]
    ['    * - a', '      - b', '    * - `Cut`', '      - 2', '']
    """
    return list(_converted(lines))


def _converted(lines: list[str]) -> Iterator[str]:
    rest = iter([*lines, ""])
    for line in rest:
        start = line.lstrip()
        indent = line[: len(line) - len(start)]
        if start.startswith("```"):
            fenced = takewhile(lambda inside: not inside.lstrip().startswith("```"), rest)
            yield from ("", f"{indent}::", "", *(f"    {inside}" for inside in fenced), "")
        elif start.startswith("| "):
            yield from _table([line, *takewhile(lambda inside: inside.lstrip().startswith("|"), rest)], indent)
        elif start.startswith(">>>"):
            yield from (line, *takewhile(str.strip, rest), "")
        else:
            yield CODE.sub(_code, line)


def _code(found: re.Match[str]) -> str:
    return found[0] if NAME.fullmatch(found[1]) else f"``{found[1]}``"


def _table(rows: list[str], indent: str) -> Iterator[str]:
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
    yield from ("", f"{indent}.. list-table::", f"{indent}    :header-rows: 1", "")
    for row in (cells[0], *cells[2:]):
        for number, cell in enumerate(row):
            yield f"{indent}    {'* -' if number == 0 else '  -'} {CODE.sub(_code, cell)}".rstrip()
    yield ""


def process(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place, as autodoc's event asks for."""
    lines[:] = to_rst(lines)


@cache
def imported(module: str) -> dict[str, str]:
    """Full names of what a module imports from this package, for annotations too, by the name that it has there.

    What a package exports is written in its modules, so their imports count as its own.
    """
    made = importlib.import_module(module)
    names: dict[str, str] = {}
    for inside in pkgutil.iter_modules(getattr(made, "__path__", ()), f"{module}."):
        names = imported(inside.name) | names
    for node in ast.walk(ast.parse(inspect.getsource(made))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
            for each in node.names:
                names[each.asname or each.name] = public(node.module, each.name)
    return names


def public(module: str, name: str) -> str:
    """The full name under which a name of a module is documented: that of the highest package that exports it.

    >>> public("agentlab.analysis.session", "Session")
    'agentlab.analysis.Session'
    >>> public("agentlab.messages", "Reply")
    'agentlab.messages.Reply'
    """
    made = getattr(importlib.import_module(module), name, None)
    home = getattr(made, "__module__", None) or module
    parts = home.split(".")
    for size in range(2, len(parts)):
        package = importlib.import_module(".".join(parts[:size]))
        if name in getattr(package, "__all__", ()) and getattr(package, name) is made:
            return f"{package.__name__}.{name}"
    return f"{home}.{name}"


def resolve(_app: Sphinx, tree: document) -> None:
    """Give each reference to a bare name the module that the name is from."""
    from sphinx.addnodes import pending_xref

    for node in list(tree.findall(pending_xref)):
        module, target = node.get("py:module"), node["reftarget"]
        if node.get("refdomain") != "py" or not module or "." in target:
            continue
        own = public(module, target) if hasattr(importlib.import_module(module), target) else None
        full = imported(module).get(target) or own
        if full:
            node["reftarget"] = full
        node.attributes.pop("refspecific", None)  # or a bare name is looked for in every module


def setup(app: Sphinx) -> dict[str, bool]:
    """Join Sphinx's events."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process, priority=100)  # before napoleon
    app.connect("doctree-read", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
