"""A reply while it is written: the text of the answer comes out of its JSON as soon as it is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import ProviderError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.tokens import valid_text

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENING = re.compile(r'\s*\{\s*"answer"\s*:\s*"')
WHOLE = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?=[^\\]|\\[^u])|\\u(?![dD][89abAB])[0-9a-fA-F]{4})*"
)
BEGUN_CALL = re.compile(
    r'\s*\{\s*"tool"\s*:\s*"(?P<name>(?:[^"\\]|\\.)*)"\s*,\s*"arguments"\s*:\s*(?P<arguments>.*)', re.DOTALL
)

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens"}


class AnswerText:
    r"""Takes the text out of `{"answer": "..."}` piece by piece; an escape that is not whole yet waits for its rest.

    >>> text = AnswerText()
    >>> [text.take(piece) for piece in ('{"ans', 'wer": "a\\', 'nb', '"}')]
    ['', 'a', '\nb', '']
    """

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False

    def take(self, piece: str) -> str:
        """Take a piece of the JSON; returns the text that it adds."""
        self._pending += piece
        if not self._inside:
            opening = OPENING.match(self._pending)
            if opening is None:
                return ""
            self._inside = True
            self._pending = self._pending[opening.end() :]
        whole = WHOLE.match(self._pending)
        raw = whole[0] if whole else ""
        self._pending = self._pending[len(raw) :]
        return _text(raw)


class Assembly:
    """Puts the chunks of one reply together.

    Args:
        model: Name of the model.
        structured: The reply is JSON; else it is plain text.
        next_call: Number in the id of its call.
    """

    def __init__(self, model: str, *, structured: bool, next_call: int = 1) -> None:
        self.stop_reason: str | None = None
        self.model = model
        self.next_call = next_call
        self._answer = AnswerText() if structured else None
        self._raw: list[str] = []
        self._text: list[str] = []
        self._usage: Usage | None = None

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    def take(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk of the runtime; returns the text that it adds to the answer."""
        self._usage = _usage(chunk.get("usage")) or self._usage
        added = ""
        for choice in chunk.get("choices") or ():
            reason = choice.get("finish_reason")
            if reason:
                self.stop_reason = STOP_REASONS.get(reason, reason)
            piece = (choice.get("delta") or {}).get("content") or ""
            self._raw.append(piece)
            added += piece if self._answer is None else self._answer.take(piece)
        if added:
            self._text.append(added)
        return added

    def reply(self) -> Reply:
        """The reply, whole or as far as the limit of its tokens let it come.

        Raises:
            ProviderError: What was written is neither a call nor an answer.
        """
        raw = "".join(self._raw)
        call = None if self._answer is None else self._call(raw)
        if call is not None:
            reason = "tool_use" if self.stop_reason == "end_turn" else self.stop_reason
            return Reply("", (call,), self._usage, reason, self.model)
        if self._answer is not None and self.stop_reason != "max_tokens" and OPENING.match(raw) is None:
            raise ProviderError(f"{self.model} wrote neither a call nor an answer: {raw[:200]!r}")
        return Reply(self.text, (), self._usage, self.stop_reason, self.model)

    def _call(self, raw: str) -> ToolCall | None:
        """The call that was written; arguments that broke off stay text, as from any model."""
        begun = BEGUN_CALL.match(raw)
        if begun is None:
            return None
        identity, name = f"call_{self.next_call}", _text(begun["name"])
        try:
            arguments = msgspec.json.decode(raw)["arguments"]
        except (ValueError, RecursionError):
            return ToolCall(identity, name, begun["arguments"])
        return ToolCall(identity, name, arguments if isinstance(arguments, dict) else begun["arguments"])


def _text(raw: str) -> str:
    """The text of the inside of a JSON string."""
    from json import loads

    return valid_text(loads(f'"{raw}"', strict=False))


def _usage(reported: Any) -> Usage | None:
    """What the runtime measured, with the part of the prompt that it still knew taken out."""
    if not reported:
        return None
    prompt: int = reported.get("prompt_tokens") or 0
    cached: int = min(prompt, (reported.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    return Usage(prompt - cached, reported.get("completion_tokens") or 0, cache_read_tokens=cached)
