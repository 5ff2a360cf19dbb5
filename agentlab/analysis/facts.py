"""What logs say, as flat columns: a row per session, message and call, whatever the log was.

Every frame at a grain is made of these. They come from sessions, or from a reader that never builds any: both give the
same. A text counts here as its characters; no tokenizer is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.sums import Sums
from agentlab.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from agentlab.analysis.session import Call, Record, Session

ROLES = ("system", "user", "assistant", "tool")
KINDS = ("system", "user", "assistant", "call", "result", "summary", "loop")

METHOD = "characters / 4"

MESSAGE_FACTS = {
    "session": "int32",
    "turn": "int32",
    "iteration": "int32",
    "role": "int8",
    "kind": "int8",
    "tool": "int32",  # a place in `Facts.names`, -1 for none; so are model, stop_reason, status and reason
    "chars": "int64",
    "call_chars": "int64",
    "tool_calls": "int32",
    "thinking_chars": "int64",
    "original_chars": "int64",  # -1: not known
    "image_tokens": "int64",
    "is_error": "bool",
    "carried": "int32",
    "time": "float64",
}
CALL_FACTS = {
    "session": "int32",
    "turn": "int32",
    "iteration": "int32",
    "messages": "int32",
    "tool_calls": "int32",
    "prompt_tokens": "int64",
    "output_tokens": "int64",
    "cache_read_tokens": "int64",
    "cache_write_tokens": "int64",
    "cache_write_1h_tokens": "int64",
    "prompt_measured": "bool",
    "output_measured": "bool",
    "model": "int32",
    "stop_reason": "int32",
    "cost": "float64",
    "time": "float64",
}
TURN_FACTS = {"session": "int32", "turn": "int32", "status": "int32", "reason": "int32"}


class SessionFacts(msgspec.Struct, frozen=True):
    """A session as a whole; attributes as in `Session`, `labels` as JSON, the usage of `aside` summed."""

    id: str
    format: str
    path: str
    provider: str = ""
    model: str | None = None
    parent: str = ""
    labels: str = ""
    aside_prompt_tokens: int = 0
    aside_output_tokens: int = 0
    usage: Usage | None = None
    cost: float | None = None


class Facts(msgspec.Struct, frozen=True):
    """Columns, as arrays of the types above.

    Attributes:
        sessions: A row each; `session` elsewhere is a place in it.
        messages: Columns of `MESSAGE_FACTS`, in the order of the sessions.
        calls: Columns of `CALL_FACTS`.
        turns: Columns of `TURN_FACTS`, for turns whose end the log tells.
        names: Texts that columns name by their place.
    """

    sessions: list[SessionFacts]
    messages: dict[str, Any]
    calls: dict[str, Any]
    turns: dict[str, Any]
    names: list[str]


class Names:
    """Texts by number: each is kept once.

    >>> names = Names()
    >>> names.place("read"), names.place(None), names.place("read")
    (0, -1, 0)
    """

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """The number of a text; -1 for none."""
        return -1 if not text else self.places.setdefault(text, len(self.places))


def estimated(characters: int) -> int:
    """Tokens of so many characters, rounded up: `METHOD`.

    >>> estimated(0), estimated(9)
    (0, 3)
    """
    return -(-characters // 4)


def facts_of(sessions: Iterable[Session]) -> Facts:
    """The facts of sessions."""
    names = Names()
    heads: list[SessionFacts] = []
    messages: list[tuple[Any, ...]] = []
    calls: list[tuple[Any, ...]] = []
    turns: list[tuple[int, int, int, int]] = []
    for number, session in enumerate(sessions):
        heads.append(head_of(session))
        carried = session.carried()
        messages += [(number, *_message(record, n, names)) for record, n in zip(session.records, carried, strict=True)]
        calls += [(number, *row) for row in _calls(session, names)]
        turns += [(number, t.turn, names.place(t.status), names.place(t.reason)) for t in session.turns]
    return Facts(
        heads,
        columns(messages, MESSAGE_FACTS),
        columns(calls, CALL_FACTS),
        columns(turns, TURN_FACTS),
        list(names.places),
    )


def head_of(session: Session) -> SessionFacts:
    """What stands once for a session."""
    labels = msgspec.json.encode(session.labels, enc_hook=str).decode() if session.labels else ""
    return SessionFacts(
        session.id,
        session.format,
        str(session.path),
        session.provider,
        session.model,
        session.parent,
        labels,
        sum(usage.prompt_tokens for usage in session.aside),
        sum(usage.output_tokens for usage in session.aside),
        session.usage,
        session.cost,
    )


def columns(rows: Sequence[tuple[Any, ...]], types: dict[str, str]) -> dict[str, np.ndarray]:
    """Rows as typed columns."""
    import numpy as np

    values = zip(*rows, strict=True) if rows else ([] for _ in types)
    return {name: np.array(column, dtype) for (name, dtype), column in zip(types.items(), values, strict=True)}


def joined(parts: Sequence[Facts]) -> Facts:
    """The facts of several logs as one, in their order."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    names = Names()
    heads: list[SessionFacts] = []
    tables: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
    for part in parts:
        places = np.array([*map(names.place, part.names), -1], "int32")
        tables.append(tuple(_moved(t, len(heads), places) for t in (part.messages, part.calls, part.turns)))  # type: ignore[arg-type]
        heads += part.sessions
    messages, calls, turns = (
        {name: np.concatenate([np.empty(0, types[name]), *(t[at][name] for t in tables)]) for name in types}
        for at, types in enumerate((MESSAGE_FACTS, CALL_FACTS, TURN_FACTS))
    )
    return Facts(heads, messages, calls, turns, list(names.places))


def _moved(table: dict[str, Any], sessions: int, places: np.ndarray) -> dict[str, Any]:
    named = ("tool", "model", "stop_reason", "status", "reason")
    moved = {name: places[column] if name in named else column for name, column in table.items()}
    return {**moved, "session": table["session"] + sessions}


def _message(record: Record, carried: int, names: Names) -> tuple[Any, ...]:
    calls = [call["function"] for call in record.tool_calls]
    role = record.role
    tool = ", ".join(call["name"] for call in calls) if role == "assistant" else record.message.get("name")
    return (
        record.turn,
        record.iteration,
        ROLES.index(role),
        KINDS.index(kind_of(role, calls=bool(calls), loop="origin" in record.message, summary=record.is_summary)),
        names.place(tool if role in ("assistant", "tool") else None),
        len(record.text),
        sum(len(call["name"]) + len(call["arguments"]) for call in calls),
        len(calls),
        len(record.thinking),
        -1 if record.original_chars is None else record.original_chars,
        record.image_tokens,
        bool(record.message.get("is_error")),
        carried,
        _number(record.time),
    )


def kind_of(role: str, *, calls: bool = False, loop: bool = False, summary: bool = False) -> str:
    """What a message is, one of `KINDS`: a role says who speaks, and not what for.

    >>> kind_of("assistant", calls=True), kind_of("tool"), kind_of("user", loop=True)
    ('call', 'result', 'loop')
    """
    if summary:
        return "summary"
    if role == "user":
        return "loop" if loop else "user"
    if role == "assistant":
        return "call" if calls else "assistant"
    return "result" if role == "tool" else "system"


def _calls(session: Session, names: Names) -> Iterable[tuple[Any, ...]]:
    sizes = [_size(record) for record in session.records]
    tools = msgspec.json.encode(session.tools).decode() if session.tools else ""
    base = estimated(len(session.system) + len(tools))
    sums = Sums(sizes)
    changes = list(session.replaced)[::-1]
    for number, call in enumerate(session.calls):
        while changes and changes[-1].call <= number:
            changed = changes.pop()
            record = session.records[changed.index]
            sums.change(changed.index, 0 if changed.text is None else _size(record, changed.text))
        reply = None if call.reply is None else session.records[call.reply]
        yield (
            call.turn,
            call.iteration,
            call.stop - call.start,
            0 if reply is None else len(reply.tool_calls),
            *_tokens(call, base + sums.between(call.start, call.stop), reply),
            names.place(call.model or session.model),
            names.place(call.stop_reason),
            _number(call.cost),
            _number(call.time),
        )


def _tokens(call: Call, prompt: int, reply: Record | None) -> tuple[int, int, int, int, int, bool, bool]:
    """Tokens of a call: as reported where that is measured, else as estimated; and which of both."""
    output = 0 if reply is None else estimated(len(reply.thinking)) + _size(reply)
    usage = call.usage
    if usage is None or not call.measured:
        return prompt, output, 0, 0, 0, False, False
    return (
        usage.prompt_tokens,
        usage.output_tokens if call.output_measured else max(output, usage.output_tokens),
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        call.cache_write_1h_tokens,
        True,
        call.output_measured,
    )


def _size(record: Record, text: str | None = None) -> int:
    """Estimated tokens of a message: its text, the calls in it, its images."""
    called = sum(len(call["function"]["name"]) + len(call["function"]["arguments"]) for call in record.tool_calls)
    return estimated(len(record.text if text is None else text) + called) + record.image_tokens


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
