"""Using any tool: chosen by its name and description, filled by its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.providers.offline.desk import Planned
from agentlab.providers.offline.filling import fill
from agentlab.providers.offline.naming import names
from agentlab.providers.offline.roles import properties, required
from agentlab.providers.offline.text import STOP, name_words, shorten, stem
from agentlab.providers.offline.vocabulary import words

if TYPE_CHECKING:
    from agentlab.messages import ToolSpec
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.text import Clause

SYNONYMS = [
    frozenset(map(stem, group.split()))
    for group in (
        "add plus sum total addition",
        "subtract minus less difference",
        "multiply times product multiplied",
        "divide divided quotient over",
        "weather forecast temperature rain sunny",
        "find search lookup look locate query",
        "get fetch show retrieve lookup look check give",
        "create make new open start",
        "delete remove drop erase",
        "send mail email write",
        "convert change turn exchange",
        "translate translation",
        "list show enumerate",
        "calculate compute evaluate calculator math",
        "run execute command shell",
        "book reserve order buy",
        "cancel abort stop",
        "update modify change edit set",
        "price cost",
        "dir folder directory",
    )
]
LACKS = "To call `"  # begins a reply that asks for an argument
SYMBOLS = {"+": "plus", "-": "minus", "*": "times", "×": "times", "/": "divided", "÷": "divided"}
DULL = frozenset(
    map(
        stem,
        words(
            "file text number name get list return read user data value result given line use find show two from",
            "current string id more make tool call input new set world long time word",
        ),
    )
)


def said(clause: Clause) -> set[str]:
    """The stems of a clause's words, with what they are also called."""
    stems = {stem(w.lower) for w in clause.words if w.lower not in STOP or w.lower in ("get", "show", "give")}
    stems |= {SYMBOLS[w.lower] for w in clause.words if w.lower in SYMBOLS}
    stems |= {stem(part) for w in clause.words for part in name_words(w.text) if len(part) > 2 and part not in STOP}
    wide = set(stems)
    for group in SYNONYMS:
        if stems & group:
            wide |= group
    return wide


def score(tool: ToolSpec, clause: Clause) -> float:
    """How much a clause speaks of a tool: words of its name count most, dull words nothing on their own."""
    own = {stem(w.lower) for w in clause.words} | {w.lower for w in clause.words}
    if tool.name.lower() in own or tool.name in clause.quotes:
        return 100.0
    spoken = said(clause)
    in_name = {stem(w) for w in name_words(tool.name)} - {"get", "th"}
    about = {stem(w.strip(".,;:()'\"`!?").lower()) for w in (tool.description or "").split()} - {stem(w) for w in STOP}
    options = {stem(w) for p in properties(tool).values() for o in p.get("enum") or () for w in name_words(str(o))}
    keys = {stem(w) for name in properties(tool) for w in name_words(name)}
    exact = (in_name & spoken) - DULL
    return (
        3.0 * len(exact)
        + 0.5 * len(in_name & spoken & DULL)
        + 1.0 * len((about & own) - DULL)
        + 0.4 * len((about & spoken) - own - DULL)
        + 1.0 * bool(options & own)
        + 0.5 * len((keys & own) - DULL)
        + 0.3 * len(about & own & DULL)
    )


def choose(desk: Desk, clause: Clause, least: float = 1.0) -> ToolSpec | None:
    """The tool that a clause speaks of most, or None; one that plans know must be spoken of by its name."""
    known = {fit.tool.name for fit in desk.roles.values()}
    ranked = [(score(tool, clause), -i, tool) for i, tool in enumerate(desk.tools.values())]
    fitting = [item for item in ranked if item[0] >= (max(least, 3.0) if item[2].name in known else least)]
    best = max(fitting, key=lambda item: item[:2], default=None)
    return best[2] if best is not None else None


def strong(desk: Desk, clause: Clause) -> ToolSpec | None:
    """A tool without a role that the clause names outright: by its name, or by two words of it."""
    roles = {fit.tool.name for fit in desk.roles.values()}
    spoken = {stem(w.lower) for w in clause.words}
    best = choose(desk, clause, 6.0)
    if best is None or best.name in roles:
        return None
    parts = {stem(w) for w in name_words(best.name)}
    named = len(parts) > 1 and parts <= said(clause) and len(parts & spoken) > 1
    return best if (named or score(best, clause) >= 100.0) and not fill(best, clause)[1] else None


def use(desk: Desk, clause: Clause, topic: str = "", tool: ToolSpec | None = None) -> str | None:
    """Call the tool that a clause speaks of, and quote what it returns.

    Returns:
        The answer; None where no tool fits.
    """
    tool = tool or choose(desk, clause)
    if tool is None:
        return None
    sets, missing = _argument_sets(tool, clause, topic)
    if missing:
        lacking = ", ".join(f"`{name}`" for name in missing)
        return f"{LACKS}{tool.name}` I need {lacking}: please say which."
    folded = _fold(desk, tool, clause)
    if folded is not None:
        return folded
    results = desk.each(lambda arguments: desk.call(Planned(tool.name, arguments)), sets)
    return "\n".join(_said(tool.name, result) for result in results)


def _said(name: str, result: Any) -> str:
    from agentlab.providers.offline.files import cut_note, quoted

    if result.failed:
        return f"`{name}` failed: {shorten(result.text, 400)}"
    return f"{name}: {quoted(result.text)}{cut_note(result.doc)}"


def _argument_sets(tool: ToolSpec, clause: Clause, topic: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The arguments, once for each of several names where the tool takes one name at a time."""
    made, missing = fill(tool, clause, topic)
    needed = required(tool)
    several = names(clause)
    if len(needed) == 1 and len(several) > 1 and made.get(needed[0]) == several[0]:
        return [{**made, needed[0]: name} for name in several[:8]], []
    return [made], missing


def _fold(desk: Desk, tool: ToolSpec, clause: Clause) -> str | None:
    """Add or multiply more than two numbers with a tool for two: each result goes into the next call."""
    needed, have = required(tool), properties(tool)
    kinds = [have.get(n, {}).get("type") for n in needed]
    numbers = clause.numbers
    commutes = {stem(w) for w in name_words(tool.name)} & (SYNONYMS[0] | SYNONYMS[2])
    if len(needed) != 2 or any(k not in ("number", "integer") for k in kinds) or len(numbers) < 3 or not commutes:
        return None
    total: Any = numbers[0]
    for n in numbers[1:12]:
        result = desk.call(Planned(tool.name, {needed[0]: total, needed[1]: n}))
        try:
            total = msgspec.json.decode(result.text)
        except (msgspec.DecodeError, UnicodeError):
            return _said(tool.name, result)
        if result.failed or not isinstance(total, int | float):
            return _said(tool.name, result)
    return f"{tool.name}: {total}"
