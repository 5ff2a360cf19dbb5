"""What an error observation says to do differently."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentlab.providers.offline.observing import entries
from agentlab.providers.offline.roles import properties
from agentlab.providers.offline.schemas import definitions, neutral
from agentlab.providers.offline.text import closest, likeness, number
from agentlab.providers.offline.tree import find_below

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk, Planned

NO_TOOL = re.compile(
    r"(?:no|unknown|not a|without a|is not) (?:such )?(?:\w+ )?tool|tool .{0,80}(?:not found|does not exist|unknown)",
    re.IGNORECASE,
)
NO_FILE = re.compile(
    r"there is no ['\"]|no (?:such )?(?:file|folder|director|path|entry)|not (?:a )?(?:file|found|folder)"
    r"|does not exist|FileNotFound|is not in",
    re.IGNORECASE,
)
IS_FOLDER = re.compile(r"is a (?:director|folder)|IsADirectory", re.IGNORECASE)
HINTS = re.compile(
    r"(?:closest|did you mean|similar|nearest|perhaps|try|instead|choose|one of|known|available)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
EXTRA = re.compile(
    r"unexpected|unknown (?:argument|field|propert|parameter)|additional|not (?:allowed|accepted|known)"
    r"|no (?:argument|parameter|field)",
    re.IGNORECASE,
)
LACKS = re.compile(r"missing|required|must have", re.IGNORECASE)
NAME = re.compile(r"[\w.+@/-]*\w/?")

LIKE = 0.72  # how similar a name must be to be taken for the one that was meant
SURE = 0.85  # how similar it must be to be taken without looking into other folders


def correct(desk: Desk, planned: Planned, error: str) -> tuple[Planned, str] | None:
    """A better call than one that failed, and a sentence on why; None where the error gives no hint."""
    return _tool(desk, planned, error) or _path(desk, planned, error) or _arguments(desk, planned, error)


def _tool(desk: Desk, planned: Planned, error: str) -> tuple[Planned, str] | None:
    if not NO_TOOL.search(error):
        return None
    named = [name for name in desk.tools if name != planned.name and re.search(rf"\b{re.escape(name)}\b", error)]
    better = closest(planned.name, named or list(desk.tools), 0.0 if named else 0.6)
    if better is None or better == planned.name:
        return None
    return replace(planned, name=better), f"There is no tool `{planned.name}`; I use `{better}`."


def _path(desk: Desk, planned: Planned, error: str) -> tuple[Planned, str] | None:
    fit = next((f for f in desk.roles.values() if f.tool.name == planned.name and "path" in f.parameters), None)
    key = (
        fit.parameters["path"]
        if fit
        else next((k for k in planned.arguments if k in ("path", "file", "filename")), None)
    )
    path = planned.arguments.get(key) if key else None
    if not isinstance(path, str) or not path or key is None:
        return None
    if IS_FOLDER.search(error) and "lister" in desk.roles and desk.roles["lister"].tool.name != planned.name:
        lister = desk.roles["lister"]
        listed = replace(planned, name=lister.tool.name, arguments=lister.arguments({"path": path}))
        return listed, f"{path} is a folder; I list it."
    if not NO_FILE.search(error):
        return None
    hints = HINTS.search(error)
    said = [
        n
        for n in NAME.findall(hints[1] if hints else "")
        if n not in (path, "file", "folder") and ("." in n or "/" in n)
    ]
    better = _closest_path(path, said)
    if not _sure(path, better) and "lister" in desk.roles and desk.roles["lister"].tool.name != planned.name:
        below = find_below(desk, path) if "." in path.rsplit("/", 1)[-1] else None
        if below is not None and below != path:
            found = replace(planned, arguments={**planned.arguments, key: below})
            return found, f"There is no {path} here; I take {below}."
        better = better or _from_listing(desk, path)
    if better is None or better == path:
        return None
    read = replace(planned, arguments={**planned.arguments, key: better})
    return read, f"There is no {path}; the closest name is {better}."


def _sure(path: str, better: str | None) -> bool:
    """Whether a name is so close that no other folder need be looked into."""
    if better is None or likeness(path, better) < SURE or path.rpartition("/")[0] != better.rpartition("/")[0]:
        return False
    base = path.rsplit("/", 1)[-1]
    return "." not in base or better.endswith((f".{base.rpartition('.')[2]}", "/"))


def _closest_path(path: str, said: list[str]) -> str | None:
    """The path that an error offers: a whole one, or the right name of one of its folders."""
    parts = path.split("/")
    folders = [name.rstrip("/") for name in said if name.endswith("/")]
    for index, part in enumerate(parts[:-1]):
        better = closest(part, folders)
        if better is not None and better != part:
            return "/".join([*parts[:index], better, *parts[index + 1 :]])
    better = closest(path, said, LIKE) if said else None
    if better is None or "/" in better.rstrip("/") or len(parts) == 1:
        return better
    return "/".join([*parts[:-1], better])


def _from_listing(desk: Desk, path: str) -> str | None:
    """The closest name in the folder where the file should be, by a listing."""
    folder, _, base = path.rstrip("/").rpartition("/")
    lister = desk.roles["lister"]
    listing = desk.ask("lister", path=folder or ("." if "path" in lister.parameters else None))
    if listing.failed:
        return None
    name = closest(base, [e.name for e in entries(listing.text)], LIKE)
    return f"{folder}/{name}" if folder and name else name


def _arguments(desk: Desk, planned: Planned, error: str) -> tuple[Planned, str] | None:
    """Change the arguments that the error names."""
    tool = desk.tools.get(planned.name)
    if tool is None:
        return None
    have = properties(tool)
    made = dict(planned.arguments)
    for name in {**have, **planned.arguments}:
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error):
            continue
        if name in made and name not in have and EXTRA.search(error):
            del made[name]
        elif name in made and name in have:
            made[name] = _other(made[name], have[name], error)
        elif name not in made and LACKS.search(error):
            made[name] = neutral(have[name], definitions(tool))
    if made == planned.arguments:
        return None
    changed = [n for n in {**made, **planned.arguments} if made.get(n) != planned.arguments.get(n)]
    named = ", ".join(f"`{n}`" for n in changed)
    return replace(planned, arguments=made), f"The error names {named}; I correct it."


def _other(value: Any, schema: dict[str, Any], error: str) -> Any:
    """The value in the kind that the schema asks for, or one that the error offers."""
    kind = schema.get("type")
    if kind in ("integer", "number") and isinstance(value, str):
        n = number(value)
        return value if n is None else int(n) if kind == "integer" else n
    if kind == "string" and not isinstance(value, str):
        return str(value)
    if kind == "array" and not isinstance(value, list):
        return [value]
    options = [o for o in schema.get("enum") or () if isinstance(o, str)]
    if not options and isinstance(value, str):
        hints = HINTS.search(error)
        options = [o for pair in re.findall(r"'([^']+)'|`([^`]+)`", hints[1]) for o in pair if o] if hints else []
    better = closest(str(value), [o for o in options if o != value], 0.5)
    return value if better is None else better
