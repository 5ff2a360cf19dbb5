"""Anthropic's content blocks in the chapter's shape, and Anthropic's usage.

A message of blocks becomes one or more messages: each `tool_result` a tool message, the text between them a user
message; an assistant's text, calls and thinking stay together. A tool that the provider ran itself stands in one reply
with its result: its result follows as a tool message all the same.

Source: Anthropic, Messages API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.images import Images
from agentlab.messages import Usage
from agentlab.tokens import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[[str], None]

_SILENT = ("redacted_thinking", "fallback", "container_upload")  # nothing in them can be read or counted


class Said(msgspec.Struct, frozen=True):
    """A message in the chapter's shape, and what has no place in it; see `agentlab.analysis.session.Record`."""

    message: dict[str, Any]
    thinking: str = ""
    image_tokens: int = 0


class _Gathered:
    """Text and images of one message, on the way."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thinking: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.images = 0

    def said(self, role: str) -> Said:
        message: dict[str, Any] = {"role": role, "content": "\n".join(self.texts)}
        if self.calls:
            message["tool_calls"] = self.calls
        return Said(message, "\n".join(self.thinking), self.images)

    @property
    def is_empty(self) -> bool:
        return not (self.texts or self.thinking or self.calls or self.images)


class Blocks:
    """Reads the messages of one log: it knows the names of the calls, and says of each unknown block type once.

    >>> reader = Blocks()
    >>> call = {"type": "tool_use", "id": "a", "name": "now", "input": {}}
    >>> [said.message["role"] for said in reader.messages("assistant", [call], print)]
    ['assistant']
    >>> result = {"type": "tool_result", "tool_use_id": "a", "content": "15:40"}
    >>> reader.messages("user", [result, {"type": "text", "text": "And?"}], print)[0].message
    {'role': 'tool', 'content': '15:40', 'tool_call_id': 'a', 'name': 'now'}
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.images = Images()
        self._reported: set[str] = set()

    def messages(self, role: str, content: Any, report: Report, model: str = "") -> list[Said]:
        """The messages that a content makes, in its order.

        Args:
            role: user, assistant or system.
            content: A text, or a list of blocks.
            report: Told what could not be taken as it is.
            model: Whose rule counts images.

        Returns:
            At least one message for an assistant or system; for a user none where there is nothing in it.
        """
        own, results = _Gathered(), list[Said]()
        said: list[Said] = []
        for block in self._list(content, report):
            kind = str(block.get("type"))
            if kind.endswith("tool_result"):
                if role == "user" and not own.is_empty:
                    said.append(own.said(role))
                    own = _Gathered()
                (said if role == "user" else results).append(self._result(block, report, model))
            elif kind.endswith("tool_use"):
                self._call(block, own, report)
            else:
                self._gather(block, own, report, model)
        if role != "user" or not own.is_empty:
            said.append(own.said(role))
        return said + results

    def text(self, content: Any, report: Report, model: str = "") -> tuple[str, int]:
        """The text of a content and the tokens of the images in it."""
        gathered = _Gathered()
        self._gather(content, gathered, report, model)
        return "\n".join(gathered.texts), gathered.images

    def _list(self, content: Any, report: Report) -> list[dict[str, Any]]:
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        if content is None:
            return []
        if isinstance(content, dict):
            content = [content]
        if not isinstance(content, list):
            report(f"content: expected a text or a list of blocks, found {content!r:.40}; it counts as empty")
            return []
        blocks = []
        for block in content:
            if isinstance(block, dict):
                blocks.append(block)
            elif isinstance(block, str):
                blocks.append({"type": "text", "text": block})
            else:
                report(f"content: expected a block, found {block!r:.40}; it counts nothing")
        return blocks

    def _call(self, block: dict[str, Any], own: _Gathered, report: Report) -> None:
        name, given = block.get("name"), block.get("input")
        if not isinstance(name, str) or not name:
            report("tool_use: a call without a name is left out")
            return
        arguments = "{}" if given is None else given if isinstance(given, str) else _json(given)
        call_id = str(block.get("id") or "")
        self.names[call_id] = name
        function = {"name": name, "arguments": valid_text(arguments)}
        own.calls.append({"id": call_id, "type": "function", "function": function})

    def _result(self, block: dict[str, Any], report: Report, model: str) -> Said:
        call_id = str(block.get("tool_use_id") or "")
        text, images = self.text(block.get("content"), report, model)
        name = self.names.get(call_id, "")
        message: dict[str, Any] = {"role": "tool", "content": text, "tool_call_id": call_id, "name": name}
        if block.get("is_error") is True:
            message["is_error"] = True
        return Said(message, "", images)

    def _gather(self, content: Any, own: _Gathered, report: Report, model: str) -> None:
        """Add what blocks say, and those within them, to what is gathered."""
        waiting = self._list(content, report)[::-1]
        while waiting:
            waiting += self._list(self._take(waiting.pop(), own, report, model), report)[::-1]

    def _take(self, block: dict[str, Any], own: _Gathered, report: Report, model: str) -> Any:
        """Add what a block itself says; returns the content within it."""
        kind = str(block.get("type"))
        if kind in {"text", "compaction"}:
            own.texts += _texts(block, "text", "content")
        elif kind == "thinking":
            own.thinking += _texts(block, "thinking")
        elif kind == "image":
            own.images += self.images.anthropic(block, report, model)
        elif kind == "document":
            own.texts += _texts(block, "title", "context")
            return self._document(block.get("source"), report)
        elif kind == "tool_reference":
            own.texts += _texts(block, "tool_name")
        elif kind.endswith(("_result", "_error")):
            own.texts += _texts(block, "title", "source", "url", "page_age", "stdout", "stderr", "error_code")
            return block.get("content")
        elif kind not in _SILENT:
            self._once(kind, f"content: a block of type {kind!r} is not known; such blocks count nothing", report)
        return None

    def _document(self, source: Any, report: Report) -> Any:
        """The readable content of a document's source."""
        source = source if isinstance(source, dict) else {}
        if source.get("type") == "text":
            return source.get("data")
        if source.get("type") == "content":
            return source.get("content")
        kind = source.get("media_type") or "a file"
        reason = f"content: the pages of a document ({kind!s:.40}) are not in the text; they count nothing"
        self._once("document", reason, report)
        return None

    def _once(self, kind: str, reason: str, report: Report) -> None:
        if kind not in self._reported:
            self._reported.add(kind)
            report(reason)


def usage_of(raw: Any) -> Usage | None:
    """Anthropic's usage of a call; the cached parts stand beside `input_tokens`. None where it counts nothing.

    >>> usage_of({"input_tokens": 4, "cache_read_input_tokens": 900, "output_tokens": 7}).prompt_tokens
    904
    """
    if not isinstance(raw, dict):
        return None
    written = _count(raw.get("cache_creation_input_tokens")) or sum(_lifetimes(raw).values())
    sent, output = _count(raw.get("input_tokens")), _count(raw.get("output_tokens"))
    usage = Usage(sent, output, _count(raw.get("cache_read_input_tokens")), written)
    return usage if usage.prompt_tokens or usage.output_tokens else None


def one_hour_of(raw: Any) -> int:
    """Of the tokens that a call wrote to the cache, those that are kept for an hour.

    >>> one_hour_of({"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 800}})
    800
    """
    return _lifetimes(raw)["1h"] if isinstance(raw, dict) else 0


def _json(value: Any) -> str:
    """JSON text, also of what only Python's reader takes: NaN, lone surrogates, large numbers."""
    try:
        return msgspec.json.encode(value).decode()
    except (ValueError, OverflowError, RecursionError):
        import json

        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except RecursionError:
            return "{}"


def _lifetimes(raw: dict[str, Any]) -> dict[str, int]:
    split = raw.get("cache_creation")
    split = split if isinstance(split, dict) else {}
    return {key: _count(split.get(f"ephemeral_{key}_input_tokens")) for key in ("5m", "1h")}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _texts(block: dict[str, Any], *keys: str) -> list[str]:
    return [valid_text(text) for key in keys if isinstance(text := block.get(key), str) and text]
