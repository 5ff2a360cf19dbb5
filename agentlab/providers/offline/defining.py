"""Plans about definitions: which classes, functions or headings a file has, the code of one, the methods of a class."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.files import between, complete, cut_note, fetch, sorry, takes_lines
from agentlab.providers.offline.finding import look
from agentlab.providers.offline.text import counted, joined, shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.finding import Found
    from agentlab.providers.offline.needs import Need

DEFINITIONS = {
    "class": ("^class ", r"^class\s+(\w+)"),
    "function": ("^(async )?def ", r"^(?:async\s+)?def\s+(\w+)"),
    "method": ("^ +(async )?def ", r"^\s+(?:async\s+)?def\s+(\w+)"),
    "import": ("^(import|from) ", r"^(?:import|from)\s+([\w.]+)"),
    "heading": ("^#+ ", r"^#+\s+(.+)"),
    "section": ("^(#+ |\\[)", r"^(?:#+\s+|\[)([^\]\n]+)"),
}
METHOD = re.compile(r"\s+(?:async\s+)?def\s+(\w+)")


def defines(desk: Desk, need: Need) -> str:
    """Name the classes, functions, imports or headings of a file."""
    if not need.paths:
        return f"Which file do you mean? Name it and I look for its {need.detail} definitions."
    pattern, keep = DEFINITIONS.get(need.detail, DEFINITIONS["class"])
    found = desk.each(lambda path: look(desk, pattern, path, literal=False, keep=keep), need.paths)
    return "\n".join(_defined(need.detail, path, result) for path, result in zip(need.paths, found, strict=True))


def _defined(kind: str, path: str, seen: Found) -> str:
    lines, notes = seen.hits, seen.notes
    keep = DEFINITIONS.get(kind, DEFINITIONS["class"])[1]
    found = (re.search(keep, hit.text) for hit in lines)
    names = list(dict.fromkeys(m[1].strip() for m in found if m))
    plural = f"{kind}es" if kind == "class" else f"{kind}s"
    if not names:
        return joined(f"I found no {plural} in {path}.", notes)
    last = f" (the last at line {lines[-1].line})" if lines[-1].line else ""
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40:,} more" if len(names) > 40 else "")
    return joined(f"{path} has {counted(len(names), kind, plural)}: {shown}{last}.", notes)


def definition(desk: Desk, need: Need) -> str:
    """Show the code of one class or function."""
    path = need.paths[0] if need.paths else ""
    name = re.escape(need.pattern)
    found = look(desk, f"(def|class) {name}", path, literal=False, keep=rf"(?:def|class)\s+{name}\b")
    if not found.hits:
        return joined(f"I found no definition of {need.pattern}{f' in {path}' if path else ''}.", found.notes)
    hit = found.hits[0]
    if hit.line and takes_lines(desk):
        return f"{need.pattern} is defined in {hit.path}:{hit.line}. {between(desk, hit.path, hit.line, hit.line + 19)}"
    return joined(f"{need.pattern} is defined in {hit.path}:{hit.line}: {shorten(hit.text, 200)}", found.notes)


def members(desk: Desk, need: Need) -> str:
    """Name the methods of one class."""
    path = need.paths[0] if need.paths else ""
    name = re.escape(need.pattern)
    found = look(desk, f"class {name}", path, literal=False, keep=rf"^\s*class\s+{name}\b")
    if not found.hits:
        return joined(f"I found no class {need.pattern}{f' in {path}' if path else ''}.", found.notes)
    hit = found.hits[0]
    result = fetch(desk, hit.path)
    if result.failed:
        return sorry(hit.path, result)
    doc = complete(desk, hit.path, result)
    methods = _methods([line for n, line in doc.numbered() if n is not None and n >= hit.line])
    where = f"class {need.pattern} ({hit.path}:{hit.line})"
    if not methods:
        return joined(f"I found no methods in {where}.", cut_note(doc))
    return joined(f"{where} has {counted(len(methods), 'method')}: {', '.join(methods)}.", cut_note(doc))


def _methods(lines: list[str]) -> list[str]:
    """The functions that a class defines, from its first line on; those inside of them do not count."""
    if not lines:
        return []
    own = len(lines[0]) - len(lines[0].lstrip())
    found: list[tuple[int, str]] = []
    for line in lines[1:]:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= own and not line.lstrip().startswith((")", "#")):
            break
        method = METHOD.match(line)
        if method:
            found.append((indent, method[1]))
    least = min((indent for indent, _ in found), default=0)
    return list(dict.fromkeys(name for indent, name in found if indent == least))
