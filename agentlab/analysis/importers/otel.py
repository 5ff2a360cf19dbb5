"""OpenTelemetry's spans of generative AI: OTLP JSON, or JSON lines of it or of single spans.

A span that asked a model is a call; those of one conversation (`gen_ai.conversation.id`, else the trace) are a session,
in the order in which they began. What an agent asked that another agent invoked is a session of its own: those calls
stand below two `invoke_agent` spans. A span has its whole prompt where its instrumentation recorded contents; without
them calls have their usage and no messages. `gen_ai.usage.input_tokens` holds the cached tokens.

Source: OpenTelemetry, semantic conventions for generative AI; attributes of their older versions are read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.fields import list_of, object_of
from agentlab.analysis.importers.prompts import Prompts, Sent, json_of, key_of
from agentlab.analysis.importers.shape import plausible, tools_of
from agentlab.analysis.session import Session
from agentlab.messages import Usage
from agentlab.tokens import valid_text
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentlab.analysis.importers.peek import Peek

NAME = "opentelemetry"
EXPECTS = 'OpenTelemetry\'s GenAI spans: {"resourceSpans": [...]}, or lines of such or of spans'

_ASKING = ("chat", "text_completion", "generate_content")
_ROLES = ("user", "assistant", "tool", "system", "developer")


class _Span(msgspec.Struct, frozen=True):
    """A span with its attributes as a plain object, and where it stands in the log."""

    line: int
    attributes: dict[str, Any]
    trace: str
    begun: int
    ended: float | None
    name: str
    parent: str


class _Conversation(msgspec.Struct, frozen=True):
    """Whose calls belong together: an agent's, or those of an agent that it invoked once."""

    id: str
    parent: str = ""


def recognises(peek: Peek) -> bool:
    """Whether there is a span with an attribute of generative AI in it."""
    if peek.is_folder:
        return False
    document = peek.document
    values = document if isinstance(document, list) else [document] if document is not None else peek.first_values
    return any(_is_asking(span) or _is_genai(span) for value in values[:50] for span in _spans_of(value))


def read(peek: Peek) -> list[Session]:
    """A session for each conversation."""
    document = peek.document
    if document is None:
        located = peek.lines()
    else:
        located = iter([(1, item) for item in (document if isinstance(document, list) else [document])])
    asking: list[_Span] = []
    above: dict[tuple[str, str], _Span] = {}
    for line, value in located:
        found = False
        for raw in _spans_of(value):
            found = True
            span = _span(line, raw)
            above[span.trace, span.name] = span
            if _is_asking(raw):
                asking.append(span)
        if not found:
            peek.problems.append(Problem(str(peek.path), line, "skipped: expected spans"))
    conversations: dict[_Conversation, list[_Span]] = {}
    for span in asking:
        conversations.setdefault(_conversation(span, above), []).append(span)
    return [_session(peek, conversation, spans) for conversation, spans in conversations.items()]


def _conversation(span: _Span, above: Mapping[tuple[str, str], _Span]) -> _Conversation:
    """Where a call belongs: to its conversation, or to the agent that another one invoked in it."""
    named = str(span.attributes.get("gen_ai.conversation.id") or span.trace)
    agents, seen = [], {span.name}
    while span.parent not in seen and (parent := above.get((span.trace, span.parent))) is not None:
        span = parent
        seen.add(span.name)
        if span.attributes.get("gen_ai.operation.name") == "invoke_agent":
            agents.append(span.name)
    return _Conversation(named) if len(agents) < 2 else _Conversation(f"{named}/{agents[0]}", named)


def _session(peek: Peek, conversation: _Conversation, spans: list[_Span]) -> Session:
    prompts = Prompts()
    spans.sort(key=lambda span: span.begun)
    first = spans[0].attributes
    system = ""
    names: dict[str, str] = {}
    for span in spans:

        def report(reason: str, line: int = span.line) -> None:
            peek.problems.append(Problem(str(peek.path), line, reason))

        attributes = span.attributes
        sent = list(_messages(attributes.get("gen_ai.input.messages"), report, names))
        instructions = [each.message["content"] for each in sent if each.message["role"] == "system"]
        instructions += [_text(part) for part in list_of(_decoded(attributes.get("gen_ai.system_instructions")))]
        system = system or "\n\n".join(filter(None, instructions))
        replies = list(_messages(attributes.get("gen_ai.output.messages"), report, names))
        finished = list_of(_decoded(attributes.get("gen_ai.response.finish_reasons")))
        prompts.call(
            [each for each in sent if each.message["role"] != "system"],
            replies[0] if replies else None,
            usage=plausible(_usage(attributes, report), report),
            stop_reason=str(finished[0]) if finished else None,
            model=_named(attributes, "gen_ai.response.model", "gen_ai.request.model"),
            time=span.ended,
        )
    records, calls, replaced = prompts.timeline.laid()
    labels = {"agent": _named(first, "gen_ai.agent.name"), "agent_id": _named(first, "gen_ai.agent.id")}
    return Session(
        id=conversation.id,
        parent=conversation.parent,
        format=NAME,
        path=peek.path,
        records=records,
        calls=calls,
        replaced=replaced,
        provider=_named(first, "gen_ai.provider.name", "gen_ai.system") or "",
        model=next((call.model for call in calls if call.model), None),
        system=system,
        tools=tools_of(_decoded(first.get("gen_ai.tool.definitions"))),
        labels={label: value for label, value in labels.items() if value},
    )


def _spans_of(value: Any) -> Iterator[dict[str, Any]]:
    """The spans of OTLP JSON, of a list of spans, or the one that a value is."""
    if not isinstance(value, dict):
        return
    if "resourceSpans" in value:
        for resource in list_of(value["resourceSpans"]):
            for scope in list_of(object_of(resource).get("scopeSpans")):
                for span in list_of(object_of(scope).get("spans")):
                    yield object_of(span)
    elif isinstance(value.get("attributes"), dict | list):
        yield value


def _span(line: int, raw: dict[str, Any]) -> _Span:
    context = object_of(raw.get("context"))
    trace = raw.get("traceId") or context.get("trace_id") or raw.get("trace_id") or "spans"
    name = raw.get("spanId") or context.get("span_id") or raw.get("span_id") or ""
    parent = raw.get("parentSpanId") or raw.get("parent_id") or raw.get("parent_span_id") or ""
    begun = _nanoseconds(raw.get("startTimeUnixNano") or raw.get("start_time"))
    ended = _nanoseconds(raw.get("endTimeUnixNano") or raw.get("end_time"))
    time = None if ended is None else ended / 1e9
    return _Span(line, _attributes(raw), str(trace), begun or 0, time, str(name), str(parent))


def _attributes(raw: dict[str, Any]) -> dict[str, Any]:
    """Attributes as a plain object; OTLP has a list of keys with typed values."""
    attributes = raw.get("attributes")
    if isinstance(attributes, dict):
        return attributes
    pairs = (object_of(each) for each in list_of(attributes))
    return {str(pair.get("key")): _value(pair.get("value")) for pair in pairs}


def _value(value: Any) -> Any:
    """A typed value of OTLP: a text, a number (64-bit ones are texts), a list or an object."""
    if not isinstance(value, dict):
        return value
    if "intValue" in value:
        text = str(value["intValue"])
        return int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else None
    if "arrayValue" in value:
        return [_value(each) for each in list_of(object_of(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return _attributes({"attributes": object_of(value["kvlistValue"]).get("values")})
    return next(iter(value.values()), None)


def _is_asking(raw: dict[str, Any]) -> bool:
    """Whether a span asked a model; older instrumentations did not name the operation."""
    attributes = _attributes(raw)
    operation = attributes.get("gen_ai.operation.name")
    if operation is None:
        return "gen_ai.request.model" in attributes or "gen_ai.usage.prompt_tokens" in attributes
    return operation in _ASKING


def _is_genai(raw: dict[str, Any]) -> bool:
    return any(key.startswith("gen_ai.") for key in _attributes(raw))


def _messages(raw: Any, report: Any, names: dict[str, str]) -> Iterator[Sent]:
    """Messages in the chapter's shape; one with several tool results becomes one for each."""
    for each in list_of(_decoded(raw)):
        message = object_of(each)
        role = str(message.get("role"))
        if role not in _ROLES:
            report(f"skipped: expected a message with one of the roles {', '.join(_ROLES)}, found {role!r}")
            continue
        parts = [object_of(part) for part in list_of(message.get("parts"))]
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        for part in results:
            answer = part.get("response", part.get("result"))
            text = valid_text(answer) if isinstance(answer, str) else json_of(answer)
            call = str(part.get("id") or "")
            yield _sent({"role": "tool", "tool_call_id": call, "name": names.get(call, ""), "content": text})
        if results and len(results) == len(parts):
            continue
        said = "\n".join(filter(None, (_text(part) for part in parts if part.get("type") == "text")))
        made: dict[str, Any] = {"role": "system" if role == "developer" else role, "content": said}
        calls = [_call(part) for part in parts if part.get("type") == "tool_call"]
        thinking = "\n".join(_text(part) for part in parts if part.get("type") == "reasoning")
        if calls and role == "assistant":
            made["tool_calls"] = calls
            names.update((call["id"], call["function"]["name"]) for call in calls)
        if role == "tool":
            made |= {"tool_call_id": "", "name": ""}
        yield _sent(made, **({"thinking": thinking} if thinking else {}))


def _sent(message: dict[str, Any], **about: Any) -> Sent:
    return Sent(key_of(message), message, about)


def _call(part: dict[str, Any]) -> dict[str, Any]:
    arguments = part.get("arguments")
    text = valid_text(arguments) if isinstance(arguments, str) else json_of({} if arguments is None else arguments)
    function = {"name": str(part.get("name") or ""), "arguments": text}
    return {"id": str(part.get("id") or ""), "type": "function", "function": function}


def _text(part: Any) -> str:
    content = part if isinstance(part, str) else object_of(part).get("content")
    return valid_text(content) if isinstance(content, str) else ""


def _usage(attributes: dict[str, Any], report: Any) -> Usage | None:
    """What a call used; cached tokens are inside the input, unless there are more of them."""

    def count(*names: str) -> int | None:
        found = next((attributes[name] for name in names if name in attributes), None)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    prompt = count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    if prompt is None or prompt <= 0:
        return None
    read = max(0, count("gen_ai.usage.cache_read.input_tokens") or 0)
    written = max(0, count("gen_ai.usage.cache_creation.input_tokens") or 0)
    if read + written > prompt:
        report("usage: more tokens are cached than put in: they are taken as beside the input, against the convention")
        prompt += read + written
    output = count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens") or 0
    return Usage(prompt - read - written, output, read, written)


def _named(attributes: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := attributes.get(name), str) and value), None)


def _decoded(value: Any) -> Any:
    """A value that may stand there as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def _nanoseconds(value: Any) -> int | None:
    """Nanoseconds since 1970, also as text, or of a date."""
    from datetime import UTC, datetime

    if isinstance(value, str) and not value.isdecimal():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6) * 1000
    if isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) < 20:
        return int(value)
    return None
