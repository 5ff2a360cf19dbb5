"""OpenHands' runs: a line of an evaluation's `output.jsonl` each, or the list of events that its interface saves.

A call is a model response: the actions that came of it hold it in `tool_call_metadata`, and are one message. An
observation answers the action that its `cause` names. Usage is that of `metrics.token_usages` with the response's id,
else the response's own; what is left over there was used beside the conversation, as by a condenser. From a
condensation on, events that it names are not sent, and its summary is. Knowledge of the workspace, which the
interface recalls at the start, evaluations leave out unless their configuration says otherwise.

Source: OpenHands, events and `metrics` of its versions 0.20 to 0.60.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.fields import dollars_of, labels_of, list_of, object_of, text_of
from agentlab.analysis.importers.openhands_events import Reading, is_event
from agentlab.analysis.importers.openhands_usage import Used
from agentlab.analysis.importers.shape import reporter, tools_of
from agentlab.analysis.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.importers.peek import Peek

NAME = "openhands"
EXPECTS = (
    'OpenHands\' output.jsonl: {"instance_id": ..., "history": [...], "metrics": {...}} a line, or a list of events'
)


def recognises(peek: Peek) -> bool:
    """Whether there is a run in it."""
    if peek.is_folder:
        return False
    document = peek.document
    if document is None:
        return any(_is_run(value) for value in peek.first_values)
    return _is_run(document) or any(_is_run(item) or is_event(item) for item in list_of(document))


def read(peek: Peek) -> list[Session]:
    """A session for each run."""
    document = peek.document
    if any(is_event(item) for item in list_of(document)):
        return [_session({"history": document}, peek, peek.path.name.split(".")[0], 1, "")]
    sessions: list[Session] = []
    known: set[str] = set()
    for line, where, run in _runs(peek):
        if not _is_run(run):
            reporter(peek, where, line)("skipped: there is no list 'history' of events in it")
            continue
        identity = text_of(run.get("instance_id")) or f"{peek.path.name.split('.')[0]}#{len(sessions) + 1}"
        if identity in known:
            identity = f"{identity}#{len(sessions) + 1}"
        known.add(identity)
        sessions.append(_session(run, peek, identity, line, where))
    return sessions


def _session(run: dict[str, Any], peek: Peek, identity: str, line: int, where: str) -> Session:
    metrics, details = object_of(run.get("metrics")), object_of(run.get("metadata"))
    place = f"{where}.history".lstrip(".")
    extended = object_of(details.get("agent_config")).get("enable_prompt_extensions", not details)
    reading = Reading(recalls=extended is True)
    for number, event in enumerate(_events(run["history"])):
        reading.add(event, reporter(peek, f"{place}[{number}]", line))
    report = reporter(peek, where, line)
    if reading.records and not reading.calls:
        report("there is no reply of the model in it: nothing can be counted")
    used = Used(metrics, reading.responses, report)
    model = text_of(object_of(details.get("llm_config")).get("model")) or used.model
    calls = [
        msgspec.structs.replace(call, usage=used.usages[n], cost=used.costs[n], model=call.model or model)
        for n, call in enumerate(reading.calls)
    ]
    return Session(
        id=identity,
        format=NAME,
        path=peek.path,
        records=tuple(reading.records),
        calls=tuple(calls),
        model=model,
        system=reading.system,
        tools=tools_of(reading.tools),
        labels=labels_of(
            instance=run.get("instance_id"),
            agent=details.get("agent_class"),
            error=run.get("error"),
            resolved=object_of(run.get("report")).get("resolved"),
        ),
        replaced=tuple(each for each in reading.replaced if each.call < len(calls)),
        aside=used.aside,
        usage=used.total if calls and not any(call.usage for call in calls) else None,
        cost=dollars_of(metrics.get("accumulated_cost")),
    )


def _runs(peek: Peek) -> Iterator[tuple[int, str, Any]]:
    document = peek.document
    if document is None:
        yield from ((line, "", value) for line, value in peek.lines())
    elif isinstance(document, list):
        yield from ((1, f"[{number}]", value) for number, value in enumerate(document))
    else:
        yield 1, "", document


def _events(history: list[Any]) -> Iterator[Any]:
    """The events of a history; versions before 0.9 put an action and its observation into a list of two."""
    for item in history:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def _is_run(value: Any) -> bool:
    history = value.get("history") if isinstance(value, dict) else None
    return isinstance(history, list) and any(is_event(event) for event in _events(history))
