"""From a request to the next calls, or to the final answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.providers.offline import (
    clock,
    comparing,
    defining,
    files,
    finding,
    folders,
    gist,
    recalling,
    summary,
    talk,
    tooluse,
    values,
)
from agentlab.providers.offline.desk import Desk, NoTool, Planned, Waiting
from agentlab.providers.offline.filling import fill
from agentlab.providers.offline.patterns import FOLLOW_UP
from agentlab.providers.offline.reading import read
from agentlab.providers.offline.roles import properties
from agentlab.providers.offline.schemas import definitions, neutral
from agentlab.providers.offline.text import STOP, clauses, is_file, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.messages import ToolChoice, ToolSpec
    from agentlab.providers.offline.history import History
    from agentlab.providers.offline.needs import Need

PLANS: dict[str, Callable[[Desk, Need], str]] = {
    "greeting": talk.greeting,
    "thanks": talk.thanks,
    "abilities": talk.about,
    "review": talk.review,
    "time": clock.time,
    "elapsed": clock.elapsed,
    "recall": recalling.recall,
    "repeat": recalling.repeat,
    "more": recalling.more,
    "compare": comparing.compare,
    "changed": comparing.changed,
    "largest": folders.largest,
    "read_largest": folders.read_largest,
    "nth": folders.of_the_list,
    "words": files.words,
    "size": files.size,
    "read": files.read,
    "purpose": gist.purpose,
    "extract": gist.extract,
    "value": values.value,
    "slowest": values.slowest,
    "lines": files.lines,
    "part": files.part,
    "list": folders.folder,
    "search": finding.search,
    "defines": defining.defines,
    "definition": defining.definition,
    "members": defining.members,
}
PARTIAL = "Partial result: I had to stop before this was done:"
FOLLOWED = 6  # turns in which "and the README?" looks for what was asked
WITHOUT_TOOLS = frozenset(("greeting", "thanks", "abilities", "review", "recall", "repeat", "more"))


class Decision(msgspec.Struct, frozen=True):
    """What the model does next: calls, or a final text."""

    text: str
    calls: tuple[Planned, ...] = ()


class Limits(msgspec.Struct, frozen=True):
    """Where the model stops by itself within one user turn."""

    steps: int = 8
    calls: int = 24


def decide(
    history: History,
    system: str,
    tools: Sequence[ToolSpec],
    *,
    limits: Limits,
    tool_choice: ToolChoice = "auto",
    wording: str = "quote",
) -> Decision:
    """Decide on the next calls, or on the final answer."""
    turn = history.current
    if summary.wanted(system, turn.text, tools=bool(tools)):
        return Decision(summary.summarise(turn.text))
    left = limits.calls - turn.calls
    desk = Desk(history, tools, system=system, wording=wording, max_pages=max(1, min(8, left)))
    stop = tool_choice == "none" or turn.must_finish or left <= 0 or turn.steps >= limits.steps
    done, calls, reasons, open_needs = _serve(desk, needs_of(desk))
    if calls and not stop:
        return Decision(_preface(desk, reasons), _distinct(calls)[:left])
    if tool_choice == "any" and desk.tools:
        return Decision("", (forced(history, tools),))
    if open_needs:
        done.append(f"{PARTIAL} {'; '.join(shorten(n.clause.text, 100) for n in open_needs)}.")
    text = "\n".join(part for part in desk.corrections * bool(done) + done if part) or talk.unknown(desk)
    return Decision(_rest(text, turn.pieces))


def _rest(text: str, pieces: str) -> str:
    """What is left to say after a reply that was cut at the output limit."""
    return text[len(pieces) :] if pieces and text.startswith(pieces) and len(text) > len(pieces) else text


def needs_of(desk: Desk) -> list[Need]:
    """What the current turn needs; "continue" after a partial answer means what that turn needed."""
    history = desk.history
    known = folders.known_names(desk)
    names = frozenset(n for n in known if len(n) > 3 and ("." in n or n[0].isupper()))
    known = names | frozenset(n for n in known if n.endswith("/"))
    found = read(history.current.text, topics=topics(desk), known=known)
    before = history.earlier[-1] if history.earlier else None
    if found and found[0].kind == "more" and before is not None and PARTIAL in before.reply:
        return [
            msgspec.structs.replace(need, fresh=False) for need in read(before.text, topics=topics(desk), known=names)
        ]
    if len(found) == 1 and found[0].kind == "other" and before is not None and before.reply.startswith(tooluse.LACKS):
        return read(f"{before.text.rstrip(' .?!')} in {history.current.text}", topics=topics(desk), known=known)
    return [followed_up(desk, found[0], known)] if len(found) == 1 else found


def followed_up(desk: Desk, need: Need, known: frozenset[str]) -> Need:
    """What "and the README?" means: what was asked last, of another file."""
    others = [w for w in need.clause.words if w.text not in need.clause.files and w.lower not in STOP | {"same"}]
    if not need.clause.files or others or need.clause.quotes or not FOLLOW_UP.search(need.clause.bare):
        return need
    for turn in reversed(desk.history.earlier[-FOLLOWED:]):
        asked = read(turn.text, topics=topics(desk), known=known)
        if not all(FOLLOW_UP.search(other.clause.bare) for other in asked):
            same = [other for other in asked if other.paths and other.kind != "compare"]
            return msgspec.structs.replace(same[-1], paths=need.clause.files, silent=False) if same else need
    return need


def topics(desk: Desk) -> tuple[str, ...]:
    """The files spoken of in earlier turns, by call or by text, the latest last."""
    found: list[str] = []
    reader = desk.roles.get("reader")
    for turn in desk.history.earlier[-30:]:
        found += [f for clause in clauses(turn.text[:4_000])[:12] for f in clause.files]
        for seen in turn.observations:
            path = seen.arguments.get(reader.parameters["path"]) if reader and seen.name == reader.tool.name else None
            if isinstance(path, str) and not seen.is_error:
                found += [path]
    return tuple(reversed(dict.fromkeys(reversed([f for f in found if is_file(f) or "." in f or "/" in f]))))


def _serve(desk: Desk, needs: list[Need]) -> tuple[list[str], list[Planned], list[str], list[Need]]:
    """Answers of the needs that can be answered, and the calls that the others wait for."""
    done: list[str] = []
    calls: list[Planned] = []
    reasons: list[str] = []
    waiting: list[Need] = []
    for need in needs:
        try:
            done.append(_answer(desk, need))
        except Waiting as error:
            calls += error.calls
            reasons.append(error.because)
            waiting.append(need)
    return done, calls, reasons, waiting


def _answer(desk: Desk, need: Need) -> str:
    """Serve one need: by its plan, or by the tool that its words name."""
    topic = need.paths[0] if need.paths else ""
    named = None if need.kind in WITHOUT_TOOLS else tooluse.strong(desk, need.clause)
    if named is not None or need.kind not in PLANS:
        instead = talk.declined(desk) if need.kind == "writing" else talk.unknown(desk)
        return tooluse.use(desk, need.clause, topic, named) or instead
    try:
        return PLANS[need.kind](desk, need)
    except NoTool as lacking:
        taken = {fit.tool.name for fit in desk.roles.values()}
        other = tooluse.choose(desk, need.clause)
        if other is not None and other.name not in taken:
            return tooluse.use(desk, need.clause, topic, other) or talk.no_tool(str(lacking))
        return talk.no_tool(str(lacking))


def _distinct(calls: list[Planned]) -> tuple[Planned, ...]:
    return tuple({call.key: call for call in calls}.values())


def _preface(desk: Desk, reasons: list[str]) -> str:
    """A line where a call is made because another failed, else nothing; what is said next begins a new one."""
    said = " ".join(dict.fromkeys(reason for reason in reasons if reason))
    last = desk.history.current.observations[-1:]
    if said or not last or not last[0].is_error:
        return f"{said}\n" if said else ""
    error = next(iter(last[0].text.splitlines()), "no text")
    return f"`{last[0].name}` failed ({shorten(error, 120)}); I go on.\n"


def forced(history: History, tools: Sequence[ToolSpec]) -> Planned:
    """A call where one must be made: the tool that the text speaks of most, filled as well as can be."""
    clause = next(iter(clauses(history.current.text)), None) or clauses("go")[0]
    desk = Desk(history, tools)
    fitting = [tool for tool in desk.tools.values() if not fill(tool, clause)[1]]
    tool = tooluse.choose(desk, clause) or (fitting[0] if fitting else next(iter(desk.tools.values())))
    made, missing = fill(tool, clause)
    have, defs = properties(tool), definitions(tool)
    return Planned(tool.name, {**made, **{name: neutral(have.get(name), defs) for name in missing}})
