"""Anthropic's messages: request bodies and responses, or lists of messages with content blocks, as JSON or JSON lines.

Requests that repeat the one before them and go on are one conversation. A response (`"type": "message"`) is the next
message of what stands before it, and has the usage of its call. Text alone, which OpenAI's chat writes alike, is read
as that.

Source: Anthropic, Messages API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.blocks import Blocks, one_hour_of, usage_of
from agentlab.analysis.importers.claude_words import kind_of
from agentlab.analysis.importers.shape import plausible, tools_of
from agentlab.analysis.session import Call, Record, Session
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from agentlab.analysis.importers.peek import Peek

NAME = "anthropic"
EXPECTS = (
    'Anthropic\'s messages: {"system": ..., "messages": [...]} with content blocks, a list of them, or lines of either'
)

_LATEST = 50  # conversations that begin alike, among which a request's is looked for
_ROLES = ("user", "assistant", "system")
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use")


def recognises(peek: Peek) -> bool:
    """Whether there are messages in it that only Anthropic writes so."""
    if peek.is_folder:
        return False
    document = peek.document
    values = document if isinstance(document, list) else peek.first_values if document is None else [document]
    return any(_is_anthropic(value) for value in values)


def read(peek: Peek) -> list[Session]:
    """The conversations of a file."""
    talks = _Talks()
    for line, where, value in _items(peek):
        pair = isinstance(value, dict) and isinstance(value.get("request"), dict)
        for part in [value["request"], value.get("response")] if pair else [value]:
            if isinstance(part, dict) and isinstance(part.get("messages"), list):
                talks.of(part).take(part, line, where)
            elif _is_message(part):
                talks.current.add(part, line, where)
            elif not pair or part is not None:
                reason = "skipped: expected a message, or an object with a list 'messages'"
                _reporter(peek, line, where)(reason)
    name = peek.path.name.split(".")[0]
    return [
        _session(talk, peek, name if len(talks.all) == 1 else f"{name}#{number}")
        for number, talk in enumerate(talks.all, 1)
    ]


class _Talk:
    """A conversation on the way: the messages of its last request, and what responses said of them."""

    def __init__(self, holder: dict[str, Any]) -> None:
        self.holder = holder
        self.messages: list[tuple[Any, int, str]] = []

    def goes_on(self, request: dict[str, Any]) -> bool:
        """Whether a request begins with all that was said."""
        sent = request["messages"]
        known = [message for message, _, _ in self.messages]
        return len(sent) >= len(known) > 0 and all(map(_is_same, known, sent))

    def take(self, request: dict[str, Any], line: int, where: str) -> None:
        """Add what a request says beyond what is known."""
        self.holder = request
        known = len(self.messages)
        for index, message in enumerate(request["messages"][known:], known):
            self.add(message, line, f"{where}.messages[{index}]".lstrip("."))

    def add(self, message: Any, line: int, where: str) -> None:
        """Add a message or a response."""
        self.messages.append((message, line, where))


class _Talks:
    """The conversations of a file: requests of several may take turns."""

    def __init__(self) -> None:
        self.all: list[_Talk] = []
        self._current: _Talk | None = None
        self._begun: dict[str, list[_Talk]] = {}

    @property
    def current(self) -> _Talk:
        """The one that was added to last."""
        if self._current is None:
            self._current = _Talk({})
            self.all.append(self._current)
        return self._current

    def of(self, request: dict[str, Any]) -> _Talk:
        """The latest conversation that a request goes on with, else a new one."""
        first: Any = next(iter(request["messages"]), None)
        alike = self._begun.setdefault(repr(_said(first)) if _is_message(first) else "", [])
        current = [] if self._current is None else [self._current]
        talk = next((talk for talk in [*current, *alike[:-_LATEST:-1]] if talk.goes_on(request)), None)
        if talk is None:
            talk = _Talk(request)
            self.all.append(talk)
            alike.append(talk)
        self._current = talk
        return talk


class _Reading:
    """Records and calls of a conversation, message by message."""

    def __init__(self, model: str | None) -> None:
        self.records: list[Record] = []
        self.calls: list[Call] = []
        self.blocks = Blocks()
        self.model = model
        self._turn = self._iteration = 0

    def add(self, message: dict[str, Any], report: Callable[[str], None]) -> None:
        """Read a message."""
        role, content = message["role"], message.get("content")
        stop = len(self.records)
        if role == "assistant":
            self._iteration += 1
            if isinstance(message.get("model"), str):
                self.model = message["model"]
        for said in self.blocks.messages(role, content, report, self.model or ""):
            made = said.message
            if made["role"] == "user":
                if _is_typed(content):
                    self._turn, self._iteration = self._turn + 1, 0
                else:
                    made["origin"] = "loop"
            place = (self._turn, self._iteration)
            record = Record(made, *place, image_tokens=said.image_tokens, thinking=said.thinking)
            self.records.append(record)
        if role == "assistant" and self._turn:
            self.calls.append(self._call(message, stop, report))

    def _call(self, message: dict[str, Any], stop: int, report: Callable[[str], None]) -> Call:
        usage = plausible(usage_of(message.get("usage")), report)
        stopped = message.get("stop_reason")
        return Call(
            self._turn,
            self._iteration,
            0,
            stop,
            stop,
            usage,
            stopped if isinstance(stopped, str) else None,
            self.model,
            cache_write_1h_tokens=0 if usage is None else min(one_hour_of(message["usage"]), usage.cache_write_tokens),
        )


def _session(talk: _Talk, peek: Peek, identity: str) -> Session:
    model = talk.holder.get("model")
    reading = _Reading(model if isinstance(model, str) else None)
    for message, line, where in talk.messages:
        report = _reporter(peek, line, where)
        if _is_message(message):
            reading.add(message, report)
        else:
            report(f"skipped: expected a message with one of the roles {', '.join(_ROLES)}, found {message!r:.40}")
    system, _ = reading.blocks.text(talk.holder.get("system"), _reporter(peek, 1, "system"))
    return Session(
        id=identity,
        format=NAME,
        path=peek.path,
        records=tuple(reading.records),
        calls=tuple(reading.calls),
        provider="anthropic",
        model=reading.model,
        system=system,
        tools=_tools(talk.holder.get("tools")),
    )


def _items(peek: Peek) -> Iterator[tuple[int, str, Any]]:
    document = peek.document
    if isinstance(document, list):
        return ((1, f"[{index}]", item) for index, item in enumerate(document))
    if document is not None:
        return iter([(1, "", document)])
    return ((number, "", value) for number, value in peek.lines())


def _tools(raw: Any) -> tuple[dict[str, Any], ...]:
    """Tools; their schema is called `input_schema` there, and a tool of the provider's has none."""
    named: Iterable[Any] = raw if isinstance(raw, list) else ()
    return tools_of([{**each, "parameters": each.get("input_schema")} for each in named if isinstance(each, dict)])


def _is_typed(content: Any) -> bool:
    """Whether the user wrote a part of a message, and not only the loop."""
    blocks = content if isinstance(content, list) else [content]
    own = [each for each in blocks if not (isinstance(each, dict) and each.get("type") == "tool_result")]
    return kind_of({"message": {"content": own}}) != "loop"


def _is_same(known: Any, sent: Any) -> bool:
    """Whether two messages say the same; marks for the cache move from request to request."""
    return _is_message(known) and _is_message(sent) and known["role"] == sent["role"] and _said(known) == _said(sent)


def _said(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [
        {key: value for key, value in block.items() if key != "cache_control" and value is not None}
        if isinstance(block, dict)
        else block
        for block in blocks
    ]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") in _ROLES and "content" in value and "tool_calls" not in value


def _is_anthropic(value: Any) -> bool:
    """Whether a value can be nothing else: a response, a request to Claude, or a message with blocks of its types."""
    if not isinstance(value, dict):
        return False
    value = value["request"] if isinstance(value.get("request"), dict) else value
    messages = value.get("messages")
    if not isinstance(messages, list):
        return _has_blocks(value) or (value.get("type") == "message" and value.get("role") == "assistant")
    if any(_is_openai(message) for message in messages):
        return False
    to_claude = isinstance(value.get("system"), list) or str(value.get("model", "")).startswith("claude")
    return to_claude or _has_schemas(value.get("tools")) or any(map(_has_blocks, messages))


def _has_schemas(tools: Any) -> bool:
    return isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)


def _is_openai(message: Any) -> bool:
    return isinstance(message, dict) and (message.get("role") in ("tool", "developer") or "tool_calls" in message)


def _has_blocks(message: Any) -> bool:
    content = message.get("content") if _is_message(message) else None
    return isinstance(content, list) and any(isinstance(block, dict) and _is_block(block) for block in content)


def _is_block(block: dict[str, Any]) -> bool:
    return block.get("type") in _BLOCKS or (block.get("type") == "image" and "source" in block)


def _reporter(peek: Peek, line: int, where: str) -> Callable[[str], None]:
    path: Path = peek.path
    return lambda why: peek.problems.append(Problem(str(path), line, f"{where}: {why}" if where else why))
