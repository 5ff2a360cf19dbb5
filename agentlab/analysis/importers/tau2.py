"""tau2-bench's simulations: those of a results file, or one alone.

Only what the agent took part in is read: calls of the simulated user's tools, and what they gave, it never saw. A voice
run has no messages: what was said is read from its ticks where they hold transcripts. Tokens of audio are in neither.

Source: sierra-research/tau2-bench, `data_model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.chat import session_of
from agentlab.analysis.importers.fields import dollars_of, labels_of, list_of, object_of, text_of
from agentlab.analysis.importers.shape import reporter
from agentlab.analysis.importers.tau2_ticks import call_of, result_of, spoken_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.importers.shape import Report
    from agentlab.analysis.session import Session

    Placed = tuple[str, dict[str, Any]]  # where a message stands, and the message

NAME = "tau2-bench"
EXPECTS = 'tau2-bench\'s results: {"info": {...}, "tasks": [...], "simulations": [...]}, or one simulation'


def recognises(peek: Peek) -> bool:
    """Whether it is a results file or a simulation."""
    document = None if peek.is_folder else peek.document
    if not isinstance(document, dict):
        return False
    return _is_simulation(document) or any(map(_is_simulation, list_of(document.get("simulations"))))


def read(peek: Peek) -> list[Session]:
    """A session for each simulation."""
    document = peek.document
    if _is_simulation(document):
        return [_session(document, {}, peek, peek.path.name.split(".")[0], "")]
    info, sessions = object_of(document.get("info")), []
    known: set[str] = set()
    for number, simulation in enumerate(document["simulations"]):
        where = f"simulations[{number}]"
        if not _is_simulation(simulation):
            reporter(peek, where)("skipped: there are neither messages nor ticks in it")
            continue
        identity = f"task-{simulation.get('task_id', number)}-trial-{simulation.get('trial', 0)}"
        identity = f"{identity}#{number + 1}" if identity in known else identity
        known.add(identity)
        sessions.append(_session(simulation, info, peek, identity, where))
    return sessions


def _session(run: dict[str, Any], info: dict[str, Any], peek: Peek, identity: str, where: str) -> Session:
    report = reporter(peek, where)
    agent, domain = object_of(info.get("agent_info")), object_of(info.get("environment_info"))
    messages = list(_of_agent(run, where, report))
    holder = {"system": domain.get("policy"), "tools": _tools(domain.get("tool_defs")), "model": agent.get("llm")}
    labels = labels_of(
        task_id=run.get("task_id"),
        trial=run.get("trial"),
        reward=object_of(run.get("reward_info")).get("reward"),
        ended=run.get("termination_reason"),
        mode=run.get("mode"),
        domain=domain.get("domain_name"),
    )
    located = [(1, place, message) for place, message in messages]
    session = session_of(
        located, peek.path, peek.problems, identity=identity, format=NAME, holder=holder, labels=labels
    )
    costs = [message.get("cost") for _, message in messages]
    calls = [
        msgspec.structs.replace(call, cost=None if call.reply is None else dollars_of(costs[call.reply]))
        for call in session.calls
    ]
    return msgspec.structs.replace(session, calls=tuple(calls), cost=dollars_of(run.get("agent_cost")))


def _of_agent(run: dict[str, Any], where: str, report: Report) -> Iterator[Placed]:
    """What the agent said and saw, in the shape of OpenAI's chat."""
    said = list_of(run.get("messages"))
    if said:
        yield from _from_messages(said, where, report)
        return
    ticks = list_of(run.get("ticks"))
    told = spoken_in(ticks)
    if told:
        report("a voice run: its transcript is counted as text, tokens of audio are not in the log")
    elif ticks:
        report(f"a voice run whose {len(ticks):,} ticks hold neither text nor tool calls: nothing can be counted")
    else:
        report("there is no message in it: nothing can be counted")
    for number, message in told:
        yield f"{where}.ticks[{number}]".lstrip("."), message


def _from_messages(said: Iterable[Any], where: str, report: Report) -> Iterator[Placed]:
    for number, raw in enumerate(said):
        place = f"messages[{number}]"
        several = raw.get("tool_messages") if isinstance(raw, dict) else None
        for each in several if isinstance(several, list) else [raw]:
            message = chat_message(each)
            if message is not None:
                yield f"{where}.{place}".lstrip("."), message
            elif not isinstance(each, dict) or each.get("role") not in ("user", "tool"):
                report(f"{place}: skipped: expected a message of the agent, the user or a tool")


def chat_message(raw: Any) -> dict[str, Any] | None:
    """A message as the agent's model has it; None for one that it never saw, and for what is none.

    >>> chat_message({"role": "tool", "id": "a", "content": "ok", "requestor": "user"})
    """
    role = raw.get("role") if isinstance(raw, dict) else None
    common = {"role": role, "content": raw.get("content"), "timestamp": raw.get("timestamp")} if role else {}
    if role == "assistant":
        calls = [call_of(call) for call in list_of(raw.get("tool_calls"))]
        return {**common, "tool_calls": calls, "usage": raw.get("usage"), "cost": raw.get("cost")}
    if role == "tool" and raw.get("requestor") != "user":
        return result_of(raw)
    if role == "user" and (text_of(raw.get("content")) or not raw.get("tool_calls")):
        return common
    return None


def _tools(raw: Any) -> list[Any]:
    """The agent's tools, by their signatures."""
    return [
        {
            "name": tool.get("name", name),
            "description": tool.get("doc") or tool.get("description"),
            "parameters": tool.get("params") or tool.get("parameters"),
        }
        for name, tool in object_of(raw).items()
        if isinstance(tool, dict)
    ]


def _is_simulation(value: Any) -> bool:
    """Whether it is a simulation: it has a task, and messages or ticks."""
    if not isinstance(value, dict) or not {"task_id", "termination_reason"} <= value.keys():
        return False
    return isinstance(value.get("messages"), list) or isinstance(value.get("ticks"), list)
