"""A session that shows a harness at work, offline: what the actors say is written down here, everything else is real.

The tools run on Python's own library, the budgets are those of the actors, and what stands in the answers is taken from
what the tools gave. It shows mechanics, never how a model behaves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentlab.harness.actors import EXTEND
from agentlab.providers.scripted import ScriptedModel, call, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.messages import Message

LABEL = "scripted scenario: the replies are written in advance; tools, budgets, errors and the log are real"
MODEL = "scripted-scenario"
PROMPTS = [
    "Which regular expression finds a number in Python's json package, and who uses it?",
    "What happened while you worked on that, and where did the tokens go?",
]


def workspace() -> str:
    """The folder of Python's own library."""
    from sysconfig import get_path

    return get_path("stdlib")


def providers() -> dict[str, ScriptedModel]:
    """The actors of the scenario, each a fresh script: a researcher that reads too much, and a cog that recovers."""
    return {name: ScriptedModel(steps, model=MODEL) for name, steps in _scripts().items()}


def _scripts() -> dict[str, list[Any]]:
    return {"cog": [*_cog_works(), *_cog_explains()], "researcher": _researcher(), "observer": _observer()}


def _cog_works() -> list[Any]:
    """Twelve turns: an agent that gets lost, a narrower brief, an error, and more turns than there were at first."""
    return [
        say(
            "Plan: let the researcher find the place, check it myself, then look for who uses it.",
            call(
                "agent_researcher", instruction="Read the whole json package and report all that it does with numbers."
            ),
        ),
        say(
            "The brief was too wide. One file, one question:",
            call(
                "agent_researcher",
                instruction="In which line of json/scanner.py is NUMBER_RE defined?",
                context="grep finds it; the file has fewer than 100 lines.",
            ),
        ),
        say("I check that in the file.", call("read_file", path="json/scaner.py", start_line=1, end_line=30)),
        _read_the_right_file,
        call("grep", pattern="NUMBER_RE", path="json"),
        call("read_skill", name="harness-turns"),
        call("grep", pattern="parse_float|parse_int", path="json/decoder.py"),
        call("activity", last=5),
        say(
            "Two checks are left and only two turns.",
            call(EXTEND, additional=3, reason="Two places that use the expression are still to be checked."),
        ),
        call("grep", pattern="py_make_scanner", path="json"),
        call("read_file", path="json/scanner.py", start_line=30, end_line=60),
        _answer,
    ]


def _cog_explains() -> list[Any]:
    return [
        call(
            "agent_observer",
            instruction="How did the last cycle that is over go: its agents, errors, extensions, tokens?",
        ),
        lambda messages: _last(messages, "agent_observer"),
    ]


def _researcher() -> list[Any]:
    """A first brief that eats all turns, and a second that needs two."""
    reads = [
        call("read_file", path=f"json/{name}.py", start_line=start, end_line=start + 99)
        for name, start in (("__init__", 1), ("__init__", 101), ("decoder", 1), ("decoder", 101), ("decoder", 201))
    ]
    return [
        call("list_dir", path="json"),
        say("decoder.py and scanner.py look right; I read everything in order all the same.", reads[0]),
        *reads[1:],
        call("grep", pattern="float", path="json"),
        call("grep", pattern="int", path="json"),
        call("grep", pattern="^NUMBER_RE", path="json/scanner.py"),
        _found,
    ]


def _observer() -> list[Any]:
    return [
        call("list_cycles"),
        [call("read_cycle"), call("read_cycle", view="tokens")],
        _explained,
    ]


def _read_the_right_file(messages: Sequence[Message]) -> Any:
    """The name that the error suggests, read for the same lines."""
    named = re.search(r"closest names in [^:]* are (\S+?\.py)\b", messages[-1]["content"])
    path = f"json/{named[1].rpartition('/')[2]}" if named else "json/scanner.py"
    return say(
        "A wrong name; the error says which one is there.", call("read_file", path=path, start_line=1, end_line=30)
    )


def _found(messages: Sequence[Message]) -> str:
    line = _last(messages, "grep").splitlines()[0]
    return f"{line.partition(': ')[0]} holds the definition: {line.partition(': ')[2]}"


def _answer(messages: Sequence[Message]) -> str:
    """The final reply, from what the tools gave."""
    used = next(m["content"] for m in messages if m.get("name") == "grep" and "NUMBER_RE" in m["content"])
    lines = [line for line in used.splitlines() if "NUMBER_RE" in line]
    return "The researcher's second report holds. The lines that name the expression:\n" + "\n".join(lines)


def _explained(messages: Sequence[Message]) -> str:
    """What the observer says: the log's own words."""
    ending, tokens = (m["content"] for m in messages[-2:])
    return f"How it went, by the log:\n{ending}\n\nWhere the tokens went:\n{tokens}"


def _last(messages: Sequence[Message], tool: str) -> str:
    return next(m["content"] for m in reversed(messages) if m.get("name") == tool)
