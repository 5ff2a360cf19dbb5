"""Plans about definitions: which classes, functions or headings a file has, the code of one, the methods of a class."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.printable import counted
from agentlab.providers.offline.files import between, takes_lines
from agentlab.providers.offline.finding import look
from agentlab.providers.offline.text import joined, shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.finding import Found
    from agentlab.providers.offline.needs import Need
    from agentlab.providers.offline.observing import Hit

DEFINITIONS = {
    "class": ("^class ", r"^class\s+(\w+)"),
    "function": ("^(async )?def ", r"^(?:async\s+)?def\s+(\w+)"),
    "method": ("^ +(async )?def ", r"^\s+(?:async\s+)?def\s+(\w+)"),
    "import": ("^(import|from) ", r"^(?:import|from)\s+([\w.]+)"),
    "heading": ("^#+ ", r"^#+\s+(.+)"),
    "section": ("^(#+ |\\[)", r"^(?:#+\s+|\[)([^\]\n]+)"),
}
STARTS = re.compile(r"\s*((?:async\s+)?def|class)\s+(\w+)")
MOST_HITS = 1_000


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
    """Name the methods of one class, by the definitions that follow it in its file."""
    path = need.paths[0] if need.paths else ""
    name = re.escape(need.pattern)
    found = look(desk, f"class {name}", path, literal=False, keep=rf"^\s*class\s+{name}\b")
    if not found.hits:
        return joined(f"I found no class {need.pattern}{f' in {path}' if path else ''}.", found.notes)
    hit = found.hits[0]
    file = hit.path or path
    seen = look(desk, "^ *(async )?(class|def) ", file, literal=False, keep=STARTS.pattern, most=MOST_HITS)
    methods = _methods([one for one in seen.hits if one.line >= hit.line])
    where = f"class {need.pattern} ({file}:{hit.line})"
    if not methods:
        return joined(f"I found no methods in {where}.", seen.notes)
    return joined(f"{where} has {counted(len(methods), 'method')}: {', '.join(methods)}.", seen.notes)


def _methods(hits: list[Hit]) -> list[str]:
    """The functions that a class defines, of the definitions from its own on; those inside of them do not count."""
    own, *following = [_indent(hit.text) for hit in hits] or [0]
    end = next((i for i, indent in enumerate(following, 1) if indent <= own), len(hits))
    inside = hits[1:end]
    least = min((_indent(hit.text) for hit in inside), default=0)
    starts = [STARTS.match(hit.text) for hit in inside if _indent(hit.text) == least]
    return list(dict.fromkeys(start[2] for start in starts if start and start[1].endswith("def")))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
