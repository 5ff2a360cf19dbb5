"""What a request holds, in tokens: every message is counted once, however often it is sent again."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError, MissingRanksError
from agentlab.providers.offline.schemas import as_json
from agentlab.tokens.chat import PER_REPLY, count_tools, message_counter
from agentlab.tokens.count import LENGTH, count_text
from agentlab.tokens.running import estimate_base, estimate_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentlab.messages import Message, ToolCall, ToolSpec

COUNTERS = ("o200k_base", LENGTH)


class PromptCounter:
    """Counts prompts that grow: what it counted in the last call is not counted again.

    Args:
        counter: `"o200k_base"` or `"characters/4"`.

    Attributes:
        method: The counter in use: `"characters/4"` also where the rank files of o200k_base are missing.

    Raises:
        InputError: There is no such counter.

    >>> PromptCounter("characters/4").prompt([{"role": "user", "content": "hi"}], "Be brief.", ())
    12
    """

    def __init__(self, counter: str = COUNTERS[0]) -> None:
        if counter not in COUNTERS:
            raise InputError(f"expected one of {', '.join(COUNTERS)}, found {counter!r}", field="counter")
        self.method = counter
        self._lock = threading.Lock()
        self._counted: list[tuple[Message, Any, int]] = []
        self._sums: list[int] = [0]
        self._base: tuple[tuple[Any, ...], int] = ((), 0)
        self._one: Callable[[Mapping[str, Any]], int] | None = None

    @property
    def exact(self) -> bool:
        """Whether a tokenizer counts, and not an estimate."""
        return self.method != LENGTH

    def prompt(self, messages: Sequence[Message], system: str, tools: Sequence[ToolSpec]) -> int:
        """Tokens of a request."""
        with self._lock:
            try:
                return self._prompt(messages, system, tools)
            except MissingRanksError:
                self.method = LENGTH
                self._counted, self._sums, self._base, self._one = [], [0], ((), 0), None
                return self._prompt(messages, system, tools)

    def text(self, text: str) -> int:
        """Tokens of a text that the model writes."""
        return (len(text) + 3) // 4 if self.method == LENGTH else count_text(text, self.method).n

    def reply(self, text: str, calls: Sequence[ToolCall]) -> int:
        """Tokens of a reply with its calls."""
        written = [as_json(call.arguments) for call in calls]
        return sum(self.text(part) for part in [text, *(c.name for c in calls), *written] if part)

    def _prompt(self, messages: Sequence[Message], system: str, tools: Sequence[ToolSpec]) -> int:
        if self._one is None:
            self._one = _length if self.method == LENGTH else _counter(self.method)
        same = 0
        for message, (known, content, calls) in zip(messages, self._counted, strict=False):
            if (
                message is not known
                or message.get("content") is not content
                or len(message.get("tool_calls") or ()) != calls
            ):
                break
            same += 1
        del self._counted[same:], self._sums[same + 1 :]
        for message in messages[same:]:
            self._counted.append((message, message.get("content"), len(message.get("tool_calls") or ())))
            self._sums.append(self._sums[-1] + self._one(message))
        return self._sums[-1] + self._fixed(system, tools)

    def _fixed(self, system: str, tools: Sequence[ToolSpec]) -> int:
        """System prompt and tools; counted again only where one of them is another object."""
        key = (system, *tools)
        known, n = self._base
        if len(known) != len(key) or any(a is not b for a, b in zip(known, key, strict=True)):
            if self.method == LENGTH:
                n = estimate_base(system, tools)
            else:
                n = PER_REPLY + (_counter(self.method)({"role": "system", "content": system}) if system else 0)
                n += count_tools(tools, self.method).n
            self._base = key, n
        return n


def _length(message: Mapping[str, Any]) -> int:
    return estimate_message(message)


def _counter(encoding: str) -> Callable[[Mapping[str, Any]], int]:
    count = message_counter(encoding)
    return lambda message: count(message).n
