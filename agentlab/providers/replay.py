"""Sessions of model calls, recorded to a file and answered from it again without a model.

`Recorder` wraps a provider and writes a cassette; `Replay` is a provider that answers from one. A request is answered
only by a call that was recorded with the same system prompt, tools, messages and tool choice. What changes from run to
run, the time for one, has to be named: `Replay(path, ignore=without_times)`.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import CassetteMiss, InputError, ProviderError, SinkError
from agentlab.providers.cassette import ROOT, SCHEMA, VERSION, Asked, Failure, Header, read_cassette
from agentlab.providers.digests import Digests, chain, clean
from agentlab.providers.wrapper import Wrapper
from agentlab.store import open_for_append, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, Reply, ToolChoice, ToolSpec
    from agentlab.providers.cassette import Recorded, Response

_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)


def without_times(text: str) -> str:
    """Take dates and times of day in ISO form out of a text, to be given as `ignore`.

    >>> without_times("It is 2026-03-01T09:30:00+00:00 (09:30:00).")
    'It is <time> (<time>).'
    """
    return _TIMES.sub("<time>", text)


class Recorder(Wrapper):
    """A provider that writes down every call of another: the request, and the reply or the `ProviderError`.

    A call that ends otherwise, by its scope or Ctrl-C, is not written. Each line is one append, so several recorders,
    and a session that goes on later, may share a file.

    Args:
        provider: Any provider.
        path: The cassette. One that is there already is continued.

    Raises:
        InputError: The file is something else, is of another provider or model, or cannot be written.
    """

    def __init__(self, provider: Any, path: str | Path) -> None:
        super().__init__(provider)
        self.path = Path(path)
        self._lock = threading.Lock()
        self._digest = Digests()
        self._known: set[str] = {ROOT}
        header = Header(schema=SCHEMA, version=VERSION, provider=self.name, model=self.model, window=self.window)
        if self.path.exists():
            cassette = read_cassette(self.path)
            self._known = cassette.known
            if cassette.header is not None:
                _check_same(cassette.header, header, self.path)
                return
        try:
            self._append(msgspec.json.encode(header))
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error}); name another file", path=path) from error

    def call(
        self,
        messages: Sequence[Message],
        *,
        system: str,
        tools: Sequence[ToolSpec],
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Make one model call and write it down; see `Provider.call`.

        Raises:
            SinkError: The call could not be written; the cause is chained.
        """
        deltas: list[str] = []

        def hear(piece: str) -> None:
            deltas.append(piece)
            if on_text_delta is not None:
                on_text_delta(piece)

        def write(response: dict[str, Any]) -> None:
            response["deltas"] = _pieces(deltas)
            self._write(messages, system, tools, (tool_choice, max_output_tokens), response)

        try:
            reply = self.provider.call(
                messages,
                system=system,
                tools=tools,
                on_text_delta=None if on_text_delta is None else hear,
                scope=scope,
                tool_choice=tool_choice,
                max_output_tokens=max_output_tokens,
            )
        except ProviderError as error:
            write({"error": clean(msgspec.to_builtins(Failure.of(error)))})
            raise
        write({"reply": clean(msgspec.to_builtins(reply))})
        return reply

    def _write(
        self,
        messages: Sequence[Message],
        system: str,
        tools: Sequence[ToolSpec],
        options: tuple[ToolChoice, int | None],
        response: dict[str, Any],
    ) -> None:
        """Append the line of one call; what it adds to the file is known only once it is there."""
        lists = [ROOT]
        digests = [self._digest(message) for message in messages]
        for key in digests:
            lists.append(chain(lists[-1], key))
        specs = as_specs(tools)
        with self._lock:
            new: set[str] = set(lists)
            shared = max(i for i, key in enumerate(lists) if key in self._known)
            request = {
                "after": lists[shared],
                "messages": [
                    self._once(message, key, new)
                    for message, key in zip(messages[shared:], digests[shared:], strict=True)
                ],
                "system": self._once(system, self._digest(system), new),
                "tools": self._once(specs, self._digest(specs), new),
                "tool_choice": options[0],
                "max_output_tokens": options[1],
            }
            try:
                self._append(msgspec.json.encode({"request": request, "response": response}))
            except OSError as error:
                problem = f"the call could not be written to {self.path} ({error.strerror or error})"
                raise SinkError(problem) from error
            self._known |= new

    def _once(self, value: Any, key: str, new: set[str]) -> Any:
        """A value where the file does not hold it yet, else its name."""
        if key in self._known or key in new:
            return {"ref": key}
        new.add(key)
        return clean(value)

    def _append(self, line: bytes) -> None:
        descriptor = open_for_append(self.path)
        try:
            write_all(descriptor, line + b"\n")
        finally:
            os.close(descriptor)


class Replay:
    """A provider that answers from a cassette.

    Args:
        path: The cassette.
        ignore: Takes each text of a request, recorded or asked, and returns it without what should not count. By
            default everything counts.

    Attributes:
        problems: What was skipped in the file, one sentence each.

    Raises:
        InputError: There is no such file, it is no cassette, or a line of it is damaged.
    """

    native = True
    name = "replay"

    def __init__(self, path: str | Path, *, ignore: Callable[[str], str] | None = None) -> None:
        self.path = Path(path)
        cassette = read_cassette(self.path)
        if cassette.header is None:
            raise InputError("holds no cassette; record one first", path=path)
        self.model = cassette.header.model
        self.window = cassette.header.window
        self.problems = tuple(cassette.problems)
        self.calls = tuple(cassette.calls)
        self._ignore = ignore
        self._digest = Digests(ignore)
        self._lock = threading.Lock()
        self._served: dict[tuple[str, ...], int] = {}
        self._answers: dict[tuple[str, ...], list[Recorded]] = {}
        self._lists: dict[str, str] = {ROOT: ROOT}  # lists of the file: their key there, and as they count here
        for recorded in self.calls:
            key = self._key(self._list_key(recorded), recorded.system, recorded.tools, recorded.tool_choice)
            self._answers.setdefault(key, []).append(recorded)

    def rewind(self) -> None:
        """Start over: every recorded call can be served again."""
        with self._lock:
            self._served.clear()

    def call(
        self,
        messages: Sequence[Message],
        *,
        system: str,
        tools: Sequence[ToolSpec],
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,  # noqa: ARG002 - recorded, but no part of what is matched
    ) -> Reply:
        """Answer as recorded, streaming the recorded pieces; calls with the same request are served in their order.

        Raises:
            CassetteMiss: No recorded call has this request, or all that have it were served.
            ProviderError: The recorded call failed so.
        """
        if scope is not None:
            scope.check()
        specs = as_specs(tools)
        lists = [ROOT]
        for message in messages:
            lists.append(chain(lists[-1], self._digest(message)))
        key = self._key(lists[-1], system, specs, tool_choice)
        if key not in self._answers:
            raise self._miss(Asked([dict(m) for m in messages], system, specs, tool_choice), lists)
        response = self._next(key)
        if on_text_delta is not None:
            text = response.reply.text if response.reply is not None else ""
            for piece in response.deltas or ([text] if text else []):
                if scope is not None:
                    scope.check()
                on_text_delta(piece)
        if response.reply is not None:
            return response.reply
        raise response.error.error() if response.error is not None else ProviderError("the recorded call has no reply")

    def _next(self, key: tuple[str, ...]) -> Response:
        """The next response to a request that was recorded."""
        answers = self._answers[key]
        with self._lock:
            index = self._served.get(key, 0)
            if index < len(answers):
                self._served[key] = index + 1
                return answers[index].response
        times = "once" if index == 1 else f"{index} times"
        where = ", ".join(str(recorded.line) for recorded in answers)
        raise CassetteMiss(
            f"{self.path}: this request was recorded {times} (line {where}) and is asked once more: "
            "make a new Replay or call rewind() to start over, or record the longer session"
        )

    def _miss(self, asked: Asked, lists: list[str]) -> CassetteMiss:
        """What to say about a request that was not recorded; `lists` are the keys of its beginnings."""
        from agentlab.providers.nearest import nearest_difference

        lengths = {key: length for length, key in enumerate(lists)}
        agreeing = [
            next(lengths[key] for node in recorded.node.upwards() if (key := self._lists[node.key]) in lengths)
            for recorded in self.calls
        ]
        return CassetteMiss(f"{self.path}: {nearest_difference(asked, self.calls, agreeing, self._ignore)}")

    def _list_key(self, recorded: Recorded) -> str:
        """Key of a recorded list of messages as it counts here; each shared beginning is read once."""
        pending = []
        for node in recorded.node.upwards():
            if node.key in self._lists:
                break
            pending.append(node)
        for node in reversed(pending):
            before = ROOT if node.parent is None else self._lists[node.parent.key]
            self._lists[node.key] = chain(before, self._digest(node.message))
        return self._lists[recorded.node.key]

    def _key(self, listed: str, system: str, specs: list[dict[str, Any]], choice: str) -> tuple[str, ...]:
        return listed, self._digest(system), self._digest(specs), choice


def as_specs(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Tools as data: all that a model is told of them."""
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


def _pieces(deltas: list[str]) -> list[str]:
    """Pieces of a streamed text as they may be written: a secret may be spread over several."""
    text = "".join(deltas)
    cleaned = clean(text)
    return deltas if cleaned == text else [cleaned]


def _check_same(found: Header, own: Header, path: Path) -> None:
    """Refuse to mix the replies of two models in one file."""
    if (found.provider, found.model) != (own.provider, own.model):
        problem = (
            f"holds calls of {found.provider} {found.model or ''}".rstrip()
            + f", expected {own.provider} {own.model or ''}".rstrip()
            + "; record to another file"
        )
        raise InputError(problem, path=path)
