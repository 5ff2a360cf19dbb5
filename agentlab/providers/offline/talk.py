"""What the model says of itself and of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.printable import counted
from agentlab.providers.offline.text import shorten

if TYPE_CHECKING:
    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.needs import Need

LABEL = "rule-based, not an LLM"
CAN = {
    "clock": "tell the time and how long ago you asked",
    "reader": "read files, whole or in part",
    "lister": "list folders",
    "searcher": "search files",
    "counter": "count words",
    "pager": "page through what was cut",
    "runner": "run a command",
}
EXAMPLES = {
    "lister": '"List the files."',
    "reader": '"Read {file}."',
    "clock": '"What time is it?"',
    "searcher": '"Find all TODOs."',
    "counter": "\"How many words are in 'to be or not to be'?\"",
}
WITHOUT_TOOLS = ('"What can you do?"', '"Sum up our session."', '"What was my first question?"')
NEEDS_TOOL = {
    "clock": "tells the time",
    "reader": "reads files",
    "lister": "lists folders",
    "searcher": "searches files",
    "counter": "counts words",
    "pager": "reads stored results",
    "runner": "runs commands",
}


def abilities(desk: Desk) -> str:
    """What can be done with the tools at hand."""
    able = [CAN[name] for name in CAN if name in desk.roles]
    taken = {fit.tool.name for fit in desk.roles.values()}
    able += [
        f"call `{t.name}` ({shorten(t.description or 'no description', 60)})"
        for t in desk.tools.values()
        if t.name not in taken
    ][:12]
    listed = "; ".join(able) if able else "nothing but talk: no tool was given to me"
    return (
        f"I am the offline model: {LABEL}. With the tools at hand I can {listed}. I compare with what I observed "
        "before, and I can summarise."
    )


def greeting(desk: Desk, _need: Need) -> str:
    """Greet back."""
    return f"Hello. I am the offline model: {LABEL}. {examples(desk)}"


def examples(desk: Desk) -> str:
    """Three questions that can be answered with the tools at hand."""
    seen = desk.last_of("reader") if "reader" in desk.roles else None
    file = next((v for v in seen.arguments.values() if isinstance(v, str)), "") if seen else ""
    able = [text.format(file=file or "README.md") for name, text in EXAMPLES.items() if name in desk.roles]
    able += WITHOUT_TOOLS
    return f"Ask me, for example: {', '.join(able[:3])}."


def thanks(_desk: Desk, _need: Need) -> str:
    """Answer a thanks."""
    return "You are welcome."


def about(desk: Desk, _need: Need) -> str:
    """Say what it can do."""
    return abilities(desk)


def unknown(desk: Desk) -> str:
    """Say in one line that a request cannot be served, and what can; what it is, it says once."""
    said = any(LABEL in turn.reply for turn in desk.history.earlier)
    return f"I have no rule for that{'' if said else f' (I am {LABEL})'}. {examples(desk)}"


def declined(desk: Desk) -> str:
    """Say that nothing is written or changed."""
    return (
        "I cannot write or change anything: I have no tool for it."
        if desk.tools
        else "I cannot do that: I have no tools."
    )


def no_tool(role: str) -> str:
    """Say which tool is missing."""
    return f"I have no tool that {NEEDS_TOOL.get(role, role)}, so I cannot do that."


def review(desk: Desk, _need: Need) -> str:
    """Sum up the conversation as far as it was sent."""
    turns = desk.history.earlier
    if not turns:
        return "There is nothing to sum up: this is the first message that was sent to me."
    lines = []
    for number, turn in enumerate(turns, 1):
        tools = ", ".join(dict.fromkeys(o.name for o in turn.observations))
        lines.append(
            f"{number}. You: {shorten(turn.text, 120)}{f' [{tools}]' if tools else ''} - I: {shorten(turn.reply, 160)}"
        )
    return f"So far, {counted(len(turns), 'turn')}:\n" + "\n".join(lines)
