"""Skills: texts that an actor reads when it needs them.

A skill is a folder with a SKILL.md: front matter with `name`, `description` and `agents` (which actors see it), then
the text. The skills that agentlab ships state budgets in a block that is made from the actors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError, ToolError
from agentlab.harness.actors import ACTORS, EXTEND
from agentlab.tools import Tool, tool
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentlab.harness.actors import Actor

FILE = "SKILL.md"
SHIPPED = Path(__file__).parent / "shipped"
READ_SKILL_CHARS = 12_000
_BLOCK = re.compile(r"(<!-- budgets -->\n).*?(<!-- end of budgets -->)", re.DOTALL)


class Skill(msgspec.Struct, frozen=True):
    """A skill: `agents` are the actors that see it, as front matter calls them."""

    name: str
    description: str
    agents: tuple[str, ...]
    text: str
    path: str = ""


def read_skills(
    folder: str | Path = SHIPPED, actors: Mapping[str, Actor] = ACTORS
) -> tuple[list[Skill], list[Problem]]:
    """Read the skills of a folder, each in a folder of its own.

    Args:
        folder: Holds a folder per skill, or is one.
        actors: Whose budgets the texts state, and whose names `agents` may have.

    Returns:
        The skills by name, and a problem, with file and line, for each that cannot be used.

    Raises:
        InputError: There is no such folder, or no skill in it.

    >>> [skill.name for skill in read_skills()[0]]
    ['harness-errors', 'harness-turns']
    """
    folder = Path(folder)
    files = [folder / FILE] if (folder / FILE).is_file() else sorted(folder.glob(f"*/{FILE}"))
    if not files:
        raise InputError(f"there is no skill in it: a skill is a folder with a {FILE}", path=folder)
    skills: list[Skill] = []
    problems: list[Problem] = []
    for file in files:
        try:
            skill = read_skill_file(file, actors)
            if any(other.name == skill.name for other in skills):
                raise InputError(f"another skill is named {skill.name!r} too: rename one", path=file, line=1)
        except InputError as error:
            problems.append(Problem(str(file), error.line or 1, error.problem))
        else:
            skills.append(skill)
    return skills, problems


def read_skill_file(path: Path, actors: Mapping[str, Actor] = ACTORS) -> Skill:
    """Read one SKILL.md.

    Raises:
        InputError: It cannot be read, or its front matter is not what was expected; the text names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as text in UTF-8: {error}", path=path, line=1) from None
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        raise InputError("the front matter is missing: expected a line ---, fields, and a line ---", path=path, line=1)
    fields = _front_matter(path, "\n".join(lines[1:end]))
    name, line = _text_field(path, fields, "name")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise InputError(f"name: expected lower-case words joined by -, found {name!r}", path=path, line=line)
    description, _ = _text_field(path, fields, "description")
    agents = _agents(path, fields, actors)
    body = with_budgets("\n".join(lines[end + 1 :]).strip() + "\n", actors)
    return Skill(name, description, agents, body, str(path))


def with_budgets(text: str, actors: Mapping[str, Actor]) -> str:
    """The text with its block of budgets made from the actors; a text without the block as it is."""
    return _BLOCK.sub(lambda found: found[1] + budgets_block(actors) + found[2], text)


def budgets_block(actors: Mapping[str, Actor]) -> str:
    """The budgets of the actors, as skills state them.

    >>> print(budgets_block({"observer": ACTORS["observer"]}))
    | actor | turns | failed model calls in a row | time |
    |---|---|---|---|
    | observer | 6 | 3 | 90 s |
    <BLANKLINE>
    """
    rows = ["| actor | turns | failed model calls in a row | time |", "|---|---|---|---|"]
    for actor in actors.values():
        more = f", up to {actor.ceiling} with {EXTEND}" if actor.extendable else ""
        errors = "the first ends the cycle" if actor.errors is None else str(actor.errors)
        rows.append(f"| {actor.called} | {actor.turns}{more} | {errors} | {actor.seconds:g} s |")
    return "\n".join(rows) + "\n"


def skills_for(actor: Actor, skills: Iterable[Skill]) -> list[Skill]:
    """The skills that an actor sees."""
    return [skill for skill in skills if actor.called in skill.agents or actor.name in skill.agents]


def listing(skills: Sequence[Skill]) -> str:
    """The skills as a system prompt lists them; empty without any."""
    if not skills:
        return ""
    rows = "\n".join(f"- {skill.name}: {skill.description}" for skill in skills)
    return f"Skills, to be read with read_skill when they apply:\n{rows}"


def read_skill_tool(skills: Sequence[Skill]) -> Tool:
    """The tool `read_skill` over the skills that one actor sees."""
    known = {skill.name: skill for skill in skills}

    @tool(max_observation_chars=READ_SKILL_CHARS, pinned=True)
    def read_skill(name: str) -> str:
        """Read a skill: how to do something here, in full. The system prompt lists the skills.

        Args:
            name: Its name in the list.
        """
        if name in known:
            return known[name].text
        from difflib import get_close_matches

        close = get_close_matches(name, known, n=1)
        guess = f"Did you mean {close[0]!r}?" if close else f"The skills are: {', '.join(known) or 'none'}."
        raise ToolError(f"there is no skill {name[:80]!r}. {guess}")

    return read_skill


def _front_matter(path: Path, text: str) -> dict[str, tuple[Any, int]]:
    """The fields of a front matter, each with its line in the file."""
    import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 if mark is None else mark.line + 2
        problem = getattr(error, "problem", None) or str(error)
        raise InputError(f"the front matter is not YAML: {problem}", path=path, line=line) from None
    if not isinstance(values, dict):
        raise InputError("the front matter has no fields: expected name, description, agents", path=path, line=2)
    lines = {key.value: key.start_mark.line + 2 for key, _ in node.value}
    return {str(key): (value, lines.get(str(key), 2)) for key, value in values.items()}


def _text_field(path: Path, fields: dict[str, tuple[Any, int]], field: str) -> tuple[str, int]:
    if field not in fields:
        raise InputError(f"{field} is missing from the front matter", path=path, line=1)
    value, line = fields[field]
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{field}: expected a text, found {value!r}", path=path, line=line)
    return " ".join(value.split()), line


def _agents(path: Path, fields: dict[str, tuple[Any, int]], actors: Mapping[str, Actor]) -> tuple[str, ...]:
    """The names under `agents`: a list, or one text with commas."""
    if "agents" not in fields:
        raise InputError("agents is missing from the front matter: name the actors that see it", path=path, line=1)
    value, line = fields["agents"]
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"agents: expected a list of names, found {value!r}", path=path, line=line)
    known = {name for actor in (*ACTORS.values(), *actors.values()) for name in (actor.name, actor.called)}
    for name in names:
        if name not in known:
            raise InputError(
                f"agents: there is no actor {name!r}, the actors are {', '.join(sorted(known))}", path=path, line=line
            )
    return tuple(names)
