"""Which of the tools at hand reads files, tells the time, searches: found by names, descriptions and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.providers.offline.text import name_words
from agentlab.providers.offline.vocabulary import in_order, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.messages import ToolSpec


class Role(msgspec.Struct, frozen=True):
    """What a tool of one kind is recognised by.

    Attributes:
        names: Words of its name; one is needed.
        about: Words of its description, or of its name; one is needed where there are any.
        needs: What it must be able to take.
        takes: What it may take besides.
        never: Words that a name of this kind does not have.
    """

    names: frozenset[str]
    about: frozenset[str]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    never: frozenset[str] = frozenset()


PARAMETERS: dict[str, tuple[str, ...]] = {
    "path": in_order(
        "path file filename file_path filepath file_name pathname document folder directory dir dirname root",
        "target_file uri",
    ),
    "pattern": in_order("pattern regex query q term needle search text string keyword expression what"),
    "text": in_order("text content string s body input value words sentence"),
    "start_line": in_order("start_line first_line line_start from_line begin_line start offset first begin"),
    "end_line": in_order("end_line last_line line_end to_line end last stop"),
    "id": in_order("id result_id key handle ref reference"),
    "start": in_order("start offset begin from_char"),
    "end": in_order("end stop to_char"),
    "by": ("by", "unit"),
    "glob": in_order("glob include file_pattern file_glob"),
    "most": in_order("max_matches max_results max_count limit"),
    "ignore_case": in_order("ignore_case case_insensitive ignorecase insensitive"),
    "command": in_order("command cmd script code shell_command"),
}
WRITES = words("write delete remove create edit append save update move rename send upload put post")
ROLES: dict[str, Role] = {
    "clock": Role(
        words("now time clock date datetime today utc utcnow"),
        words("time date clock now"),
        never=words("zone timer diff sleep"),
    ),
    "reader": Role(
        words("read cat open view show load get file readfile"),
        words("file files document contents content"),
        ("path",),
        ("start_line", "end_line"),
        WRITES | words("list dir search grep result count size info stat"),
    ),
    "lister": Role(
        words("list ls dir files folder directory tree browse listdir"),
        words("folder folders directory directories files dir ls"),
        (),
        ("path",),
        WRITES | words("search grep read"),
    ),
    "searcher": Role(
        words("grep search find rg locate"),
        words("file files line lines folder workspace directory grep code"),
        ("pattern",),
        ("path", "ignore_case", "glob", "most"),
        WRITES | words("replace"),
    ),
    "counter": Role(words("wordcount wordcounter word words"), words("word words"), ("text",), (), WRITES),
    "pager": Role(words("result"), words("result results stored"), ("id",), ("start", "end", "by"), WRITES),
    "runner": Role(
        words("run command shell bash exec execute terminal sh"), frozenset(), ("command",), (), frozenset()
    ),
}


class Fit(msgspec.Struct, frozen=True):
    """A tool in a role: `parameters` says what the role's words are called in its schema."""

    tool: Any
    parameters: dict[str, str]

    def arguments(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments in the tool's own words; what it cannot take and what is None is left out."""
        return {self.parameters[k]: v for k, v in wanted.items() if v is not None and k in self.parameters}


def properties(tool: ToolSpec) -> dict[str, Any]:
    """The schema's properties; empty where the schema has none that can be read."""
    schema = tool.parameters
    found = schema.get("properties") if isinstance(schema, dict) else None
    return {k: v if isinstance(v, dict) else {} for k, v in found.items()} if isinstance(found, dict) else {}


def required(tool: ToolSpec) -> list[str]:
    """Names of the arguments that must be there."""
    schema = tool.parameters
    found = schema.get("required") if isinstance(schema, dict) else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list | tuple) else []


def find(tools: Sequence[ToolSpec]) -> dict[str, Fit]:
    """Give each role the first tool that fits it best; a tool has one role.

    >>> from types import SimpleNamespace as Tool
    >>> cat = Tool(name="cat", description="Show a file.", parameters={"properties": {"filename": {"type": "string"}}})
    >>> find([cat])["reader"].parameters
    {'path': 'filename'}
    """
    fits: dict[str, Fit] = {}
    taken: set[int] = set()
    for name in ("pager", "counter", "searcher", "lister", "clock", "runner", "reader"):
        ranked = [
            (score, i, fit) for i, tool in enumerate(tools) if i not in taken for score, fit in _try(ROLES[name], tool)
        ]
        if ranked:
            _, index, fits[name] = max(ranked, key=lambda item: (item[0], -item[1]))
            taken.add(index)
    return fits


def _try(role: Role, tool: ToolSpec) -> list[tuple[int, Fit]]:
    """The tool's score in a role, or nothing where it does not fit."""
    names = set(name_words(tool.name)) | {tool.name.lower().replace("_", "")}
    about = names | {w.strip(".,;:()'\"`").lower() for w in (tool.description or "").split()}
    hits = names & role.names
    if not hits or names & role.never or (role.about and not about & role.about):
        return []
    if role is ROLES["counter"] and "count" not in tool.name.lower():
        return []
    parameters = _parameters(role, tool)
    if any(need not in parameters for need in role.needs):
        return []
    if any(
        name not in parameters.values() and "default" not in properties(tool).get(name, {}) for name in required(tool)
    ):
        return []
    return [(2 * len(hits) + len(about & role.about), Fit(tool, parameters))]


def _parameters(role: Role, tool: ToolSpec) -> dict[str, str]:
    have = properties(tool)
    found: dict[str, str] = {}
    for want in role.needs + role.takes:
        for name in PARAMETERS[want]:
            kind = have.get(name, {}).get("type", "string")
            if name in have and name not in found.values() and _takes(want, kind, have[name]):
                found[want] = name
                break
    return found


def _takes(want: str, kind: Any, schema: dict[str, Any]) -> bool:
    """Whether a parameter of some kind can hold what is wanted of it."""
    if want == "ignore_case":
        return bool(kind == "boolean")
    if want in ("start_line", "end_line", "start", "end", "most"):
        return kind in ("integer", "number") or isinstance(kind, list) or "anyOf" in schema
    return kind not in ("integer", "number", "array", "object", "boolean")
