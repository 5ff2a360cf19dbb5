"""Chat messages, one a line, as facts: what `chat.read` makes of them, and no session is built.

A file is decoded a block of lines at a time into structs of the fields that count. Where a line of a block does not fit
them, such as one that is torn, the lines of that block are taken one by one, and that line as `chat` takes it.
"""

from __future__ import annotations

from functools import partial
from io import SEEK_CUR, BytesIO
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from agentlab.analysis.importers.answers import Answers
from agentlab.analysis.importers.chat import holds_messages, session_named, unwrapped
from agentlab.analysis.importers.chat_messages import time_of
from agentlab.analysis.importers.peek import decode, unread_line
from agentlab.analysis.importers.shape import MOST_TOKENS, message_of, plausible, usage_of
from agentlab.analysis.importers.spoken import NamesMissingError, Spoken
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentlab.analysis.facts import Facts
    from agentlab.analysis.importers.peek import Peek

BLOCK = 1 << 18
"""Bytes that are decoded at once: the structs of more of them do not stay in the processor's cache."""

Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Part(msgspec.Struct, gc=False):
    """A part of a content."""

    text: Text


class Function(msgspec.Struct, gc=False):
    """What is called."""

    name: Text
    arguments: str


class ToolCall(msgspec.Struct, gc=False):
    """A call in an assistant message."""

    function: Function
    id: str | None = None


class Cached(msgspec.Struct, gc=False):
    """OpenAI's details of a prompt."""

    cached_tokens: Count = 0


class Counts(msgspec.Struct, gc=False):
    """A usage, as OpenAI names it or as `agentlab.messages.Usage` does."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    exact: bool = True
    prompt_tokens: Count | None = None
    completion_tokens: Count = 0
    prompt_tokens_details: Cached | None = None


class Line(msgspec.Struct, gc=False):
    """A message."""

    role: Literal["user", "assistant", "tool", "system", "developer"]
    content: str | list[Part] | None = None
    session: str = ""
    tool_calls: list[ToolCall] | None = None
    usage: Counts | None = None
    tool_call_id: str | None = None
    name: str | None = None
    model: str | None = None
    origin: str = ""
    is_error: bool = False
    ts: float | str | None = None
    time: float | str | None = None
    timestamp: float | str | None = None


class DeclinedError(Exception):
    """The file has another shape."""


def scan_lines(peek: Peek) -> Facts | None:
    """The facts of a file of messages, one a line; None where it has another shape."""
    start = peek.head.lstrip()
    if peek.is_folder or not start.startswith(b"{") or not peek.is_lines:
        return None
    for by_id in (False, True):  # ids take memory, and results that do not name their tool come early if at all
        problems: list[Problem] = []
        name = peek.path.name.split(".")[0]
        spoken, answers = Spoken(name, by_id=by_id), Answers()
        try:
            read_lines(peek, problems, spoken.add, partial(_follow, answers, name))
        except DeclinedError:
            return None
        except NamesMissingError:
            continue
        problems += [Problem(str(peek.path), number, reason) for number, reason in answers.end()]
        peek.problems += problems
        return spoken.facts(str(peek.path))
    return None


def _follow(answers: Answers, name: str, lines: Sequence[Line], numbers: Sequence[int]) -> None:
    """Follow which calls get their results; messages that name no session are of one."""
    for number, line in zip(numbers, lines, strict=True):
        if line.role == "tool":
            answers.answered(line.session or name, number, line.tool_call_id or "")
        elif line.tool_calls and line.role == "assistant":
            calls = [(call.id or "", call.function.name) for call in line.tool_calls]
            answers.asked(line.session or name, number, calls)
    for session, number in dict(zip([line.session for line in lines], numbers, strict=True)).items():
        answers.spoken(session or name, number)


def read_lines(
    peek: Peek,
    problems: list[Problem],
    take: Callable[[Sequence[Line]], None],
    follow: Callable[[Sequence[Line], Sequence[int]], None] | None = None,
    *,
    size: int = BLOCK,
) -> None:
    """Hand the lines of a file on, a block at a time.

    Args:
        peek: The file.
        problems: Takes what could not be read.
        take: Given the lines of each block.
        follow: Given them with their numbers.
        size: Of a block, in bytes.

    Raises:
        DeclinedError: There is a line in it that holds messages, or an image.
    """
    decode_lines = msgspec.json.Decoder(Line).decode_lines
    number = 0
    for data, end in _blocks(peek, size):
        count, is_plain = _ends(data, end)
        lines: list[Line] | None
        numbers: Sequence[int] = range(number + 1, number + count + 1)
        try:
            lines = decode_lines(memoryview(data)[:end])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            lines = None
        if lines is None or not is_plain or len(lines) != count:  # blank lines, or a line that does not fit
            located = list(_one_by_one(peek, data[:end], number, problems))
            numbers, lines = [at for at, _ in located], [line for _, line in located]
        if follow is not None:
            follow(lines, numbers)
        take(lines)
        del lines  # so that the next ones come to where these were: in the cache
        number += count


def _ends(data: bytes, end: int) -> tuple[int, bool]:
    """How many lines end in a block, and whether each ends as an object does: the decoder minds no line breaks."""
    import numpy as np

    characters = np.frombuffer(data, "uint8", end)
    ends = np.flatnonzero(characters == ord("\n"))
    before = characters[ends - 1]
    return len(ends), bool(((before == ord("}")) | (before == ord("\r"))).all())


def _blocks(peek: Peek, size: int) -> Iterator[tuple[bytes, int]]:
    """The file in blocks, and where the last whole line of each ends."""
    with peek.path.open("rb", buffering=0) as file:
        while data := file.read(size):
            end = data.rfind(b"\n") + 1
            if not end and len(data) == size:
                size *= 2  # a line is longer than that
                file.seek(-len(data), SEEK_CUR)
                continue
            if end:
                file.seek(end - len(data), SEEK_CUR)
            yield data, end or len(data)


def _one_by_one(peek: Peek, data: bytes, number: int, problems: list[Problem]) -> Iterator[tuple[int, Line]]:
    decode_line = msgspec.json.Decoder(Line).decode
    for at, text in enumerate(BytesIO(data), number + 1):
        if not text.strip():
            continue
        try:
            yield at, decode_line(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            try:
                value = decode(text)
            except ValueError as error:
                problems.append(unread_line(peek.path, at, text, error))
                continue
            if (line := _as_chat_takes_it(value, str(peek.path), at, problems)) is not None:
                yield at, line


def _as_chat_takes_it(value: Any, path: str, number: int, problems: list[Problem]) -> Line | None:
    """A message in the chapter's shape as a line; None where it is none."""

    def report(reason: str) -> None:
        problems.append(Problem(path, number, reason))

    def decline(_: dict[str, Any]) -> None:
        raise DeclinedError

    if holds_messages(value):
        raise DeclinedError
    value = unwrapped(value)
    message = message_of(value, report, {}, decline)
    if message is None:
        return None
    usage = None
    if message["role"] == "assistant":
        usage = plausible(usage_of(value.get("usage")), report)
    return Line(
        role=message["role"],
        content=message["content"],
        session=session_named(value) or "",
        tool_calls=[
            ToolCall(Function(call["function"]["name"], call["function"]["arguments"]), call["id"])
            for call in message.get("tool_calls", ())
        ],
        usage=None
        if usage is None
        else Counts(
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.exact
        ),
        tool_call_id=message.get("tool_call_id"),
        name=message.get("name"),
        model=value["model"] if isinstance(value.get("model"), str) else None,
        origin=message.get("origin", ""),
        is_error=message.get("is_error", False),
        ts=time_of(value),
    )
