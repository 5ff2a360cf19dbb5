"""Recorded calls of OpenAI's Chat Completions: each with its request and its response, as JSON lines or a list.

Every request holds its whole prompt, so that a file says exactly what was sent; requests that go on with a
conversation are of one session. A call without a response, as one that failed, is left out and said.

Source: OpenAI, Chat Completions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.chat_messages import MOST_SECONDS
from agentlab.analysis.importers.fields import list_of, object_of, text_of
from agentlab.analysis.importers.images import Images
from agentlab.analysis.importers.prompts import Sent, Talks, key_of
from agentlab.analysis.importers.shape import message_of, plausible, reporter, tools_of, usage_of
from agentlab.analysis.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.importers.prompts import Prompts
    from agentlab.analysis.importers.shape import Report

NAME = "completions"
EXPECTS = 'calls of Chat Completions: {"request": {"messages": [...]}, "response": {"choices": [...]}} a line'


def recognises(peek: Peek) -> bool:
    """Whether there is a request with its response in it."""
    if peek.is_folder:
        return False
    document = peek.document
    if document is None:
        return any(map(_is_call, peek.first_values))
    return _is_call(document) or any(map(_is_call, list_of(document)))


def read(peek: Peek) -> list[Session]:
    """A session for each conversation."""
    talks, requests = Talks(), dict[int, dict[str, Any]]()
    images, names = Images(), dict[str, str]()
    for line, where, value in _items(peek):
        report = reporter(peek, where, line)
        if not _is_call(value):
            report("skipped: expected an object with a request and its response")
            continue
        request, response = value["request"], value["response"]
        model = text_of(response.get("model")) or text_of(request.get("model"))
        sent = [
            made for raw in request["messages"] if (made := _sent(raw, report, names, images, model or "")) is not None
        ]
        talk = talks.of([each for each in sent if each.message["role"] != "system"])
        requests.setdefault(id(talk), request | {"prompts": [s.message["content"] for s in _front(sent)]})
        _add(talk, sent[len(_front(sent)) :], response, model, report)
    name = peek.path.name.split(".")[0]
    return [
        _session(talk, requests[id(talk)], peek, name if len(talks.all) == 1 else f"{name}#{number}")
        for number, talk in enumerate(talks.all, 1)
    ]


def _add(talk: Prompts, sent: list[Sent], response: dict[str, Any], model: str | None, report: Report) -> None:
    choice = object_of(response["choices"][0])
    reply = _sent({"role": "assistant", **object_of(choice.get("message"))}, report, {}, Images(), "")
    created = response.get("created")
    talk.call(
        sent,
        reply,
        usage=plausible(usage_of(response.get("usage")), report),
        stop_reason=text_of(choice.get("finish_reason")),
        model=model,
        time=float(created) if isinstance(created, int | float) and 0 < created < MOST_SECONDS else None,
    )


def _sent(raw: Any, report: Report, names: dict[str, str], images: Images, model: str) -> Sent | None:
    tokens: list[int] = []
    message = message_of(raw, report, names, lambda part: tokens.append(images.openai(part, report, model)))
    if message is None:
        return None
    if message["role"] == "developer":
        message["role"] = "system"
    return Sent(key_of(message), message, {"image_tokens": sum(tokens)})


def _front(sent: list[Sent]) -> list[Sent]:
    """The system prompt in front."""
    count = next((n for n, each in enumerate(sent) if each.message["role"] != "system"), len(sent))
    return sent[:count]


def _session(talk: Prompts, request: dict[str, Any], peek: Peek, identity: str) -> Session:
    records, calls, replaced = talk.timeline.laid()
    return Session(
        id=identity,
        format=NAME,
        path=peek.path,
        records=records,
        calls=calls,
        model=next((call.model for call in calls if call.model), None),
        system="\n\n".join(request["prompts"]),
        tools=tools_of(request.get("tools")),
        replaced=replaced,
    )


def _items(peek: Peek) -> Iterator[tuple[int, str, Any]]:
    document = peek.document
    if document is None:
        yield from ((line, "", value) for line, value in peek.lines())
    elif isinstance(document, list):
        yield from ((1, f"[{number}]", value) for number, value in enumerate(document))
    else:
        yield 1, "", document


def _is_call(value: Any) -> bool:
    request, response = (object_of(object_of(value).get(name)) for name in ("request", "response"))
    choices = list_of(response.get("choices"))
    return isinstance(request.get("messages"), list) and bool(choices) and isinstance(choices[0], dict)
