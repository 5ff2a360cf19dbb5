"""SWE-agent's trajectories: what the agent said and saw in `history`, step by step in `trajectory`.

The task is the one user turn; what the environment answers is an observation, whichever role it was sent in, and a
command that stands in a reply is a call (`commands`). Demonstrations are sent with every call and are no turn. Where
the steps hold the exact inputs of their calls (`query`; before version 1.1.0 `messages`, the input of the next call),
those say what was sent: also replies that were asked for again, and observations that were shortened.

Source: SWE-agent, "Trajectories" (documentation of versions 0.7 and 1.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.fields import dollars_of, labels_of, list_of, object_of, text_of
from agentlab.analysis.importers.peek import decode
from agentlab.analysis.importers.shape import ROLES, plausible, reporter
from agentlab.analysis.importers.swe_agent_history import (
    Reading,
    inputs_of,
    read_history,
    read_inputs,
    role_of,
    system_of,
    told_by,
)
from agentlab.analysis.session import Replaced, Session
from agentlab.messages import Usage
from agentlab.printable import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.importers.shape import Report

NAME = "swe-agent"
EXPECTS = 'SWE-agent\'s trajectory: {"trajectory": [...], "history": [...], "info": {...}}'

SHORTENING = ("last_n_observations", "closed_window", "remove_regex")
"""History processors that take text out of what is sent."""


def recognises(peek: Peek) -> bool:
    """Whether it is a trajectory, or the history of one."""
    document = None if peek.is_folder else peek.document
    return isinstance(document, dict) and any(_is_run(run) for _, run in _runs(document))


def read(peek: Peek) -> list[Session]:
    """A session for each attempt, and for each agent in it."""
    runs = [(where, run) for where, run in _runs(peek.document)]
    name = peek.path.name.split(".")[0]
    sessions: list[Session] = []
    for number, (where, run) in enumerate(runs, 1):
        if _is_run(run):
            sessions += _sessions(run, name if len(runs) == 1 else f"{name}#{number}", peek, where)
        else:
            reporter(peek, where)("skipped: there is neither a history nor a step in it")
    return sessions


def _sessions(run: dict[str, Any], identity: str, peek: Peek, where: str) -> Iterator[Session]:
    config, report = _config(run.get("replay_config")), reporter(peek, where)
    history, steps = _dicts(run, "history", report), _dicts(run, "trajectory", report)
    agents = list(dict.fromkeys(str(raw.get("agent") or "") for raw in history)) or [""]
    for agent in agents:
        own = [raw for raw in history if str(raw.get("agent") or "") == agent]
        is_first = agent == agents[0]
        inputs = inputs_of(steps, own) if is_first else []
        reading, replaced = Reading(report), tuple[Replaced, ...]()
        if inputs:
            replaced = read_inputs(reading, inputs, own)
        else:
            read_history(reading, own or told_by(steps))
        if is_first:
            reading.close(steps)
            _warn(run, reading, config, is_exact=bool(inputs))
        usage, cost = _totals(run, report) if is_first else (None, None)
        yield Session(
            id=identity if is_first else f"{identity}/{agent}",
            format=NAME,
            path=peek.path,
            records=tuple(reading.records),
            calls=tuple(msgspec.structs.replace(call, model=_model(config)) for call in reading.calls),
            model=_model(config),
            system=system_of(inputs[0][0] if inputs else own, report),
            labels=_labels(run, config),
            replaced=replaced,
            parent="" if is_first else identity,
            usage=usage,
            cost=cost,
        )


def _dicts(run: dict[str, Any], name: str, report: Report) -> list[dict[str, Any]]:
    """The objects of a list; what else is in it is reported."""
    items = run.get(name, [])
    if not isinstance(items, list):
        report(f"{name}: expected a list; it counts as empty")
        return []
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            report(f"{name}[{number}]: skipped: expected an object")
        elif name == "history" and role_of(item) not in ROLES:
            report(f"{name}[{number}]: skipped: expected a message with one of the roles {', '.join(ROLES)}")
    return [item for item in items if isinstance(item, dict)]


def _warn(run: dict[str, Any], reading: Reading, config: dict[str, Any], *, is_exact: bool) -> None:
    """Report what the count of prompts leaves out."""
    agent = object_of(config.get("agent"))
    processors = agent.get("history_processors", agent.get("history_processor"))
    kinds = [object_of(each).get("type") for each in list_of(processors) or [processors]]
    short = [kind for kind in kinds if kind in SHORTENING]
    if short and not is_exact:
        reason = f"the history processor {short[0]!r} shortened what was sent, and the inputs are not in the log"
        reading.report(f"{reason}: prompts count as if nothing was left out")
    paid = _stats(run).get("api_calls")
    if type(paid) is int and paid > len(reading.calls):
        reading.report(f"info: {counted(paid, 'call')} to the model, of which {len(reading.calls):,} are in the log")


def _totals(run: dict[str, Any], report: Report) -> tuple[Usage | None, float | None]:
    """Tokens and dollars of all calls; zeros are what SWE-agent writes where it does not know."""
    stats = _stats(run)
    sent, received = (stats.get(name) for name in ("tokens_sent", "tokens_received"))
    usage = None
    if type(sent) is int and type(received) is int and (sent or received):
        usage = plausible(Usage(sent, received), report)
    return usage, dollars_of(stats.get("instance_cost"))


def _labels(run: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    return labels_of(
        instance=object_of(config.get("problem_statement")).get("id"),
        environment=run.get("environment"),
        exit_status=object_of(run.get("info")).get("exit_status"),
        api_calls=_stats(run).get("api_calls"),
    )


def _config(raw: Any) -> dict[str, Any]:
    """The configuration of the run; some versions hold it as JSON text."""
    try:
        config = decode(raw.encode()) if isinstance(raw, str) else raw
    except ValueError:
        config = None
    return config if isinstance(config, dict) else {}


def _model(config: dict[str, Any]) -> str | None:
    return text_of(object_of(object_of(config.get("agent")).get("model")).get("name"))


def _stats(run: dict[str, Any]) -> dict[str, Any]:
    return object_of(object_of(run.get("info")).get("model_stats"))


def _runs(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The attempts at a task: usually one."""
    attempts = document.get("attempts")
    if isinstance(attempts, list) and attempts:
        yield from ((f"attempts[{number}]", run) for number, run in enumerate(attempts))
    else:
        yield "", document


def _is_run(run: Any) -> bool:
    """Whether there is a history as SWE-agent writes it, or steps."""
    if not isinstance(run, dict):
        return False
    history, steps = run.get("history"), run.get("trajectory")
    if isinstance(steps, list) and any(isinstance(s, dict) and {"action", "observation"} <= s.keys() for s in steps):
        return True
    told = [raw for raw in list_of(history) if isinstance(raw, dict) and "role" in raw]
    return any("agent" in raw or "message_type" in raw or isinstance(steps, list) for raw in told)
