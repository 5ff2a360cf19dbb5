"""Messages of pi's sessions in the chapter's shape, and its usage.

Source: pi-mono, session files of versions 1 to 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.fields import list_of, object_of, text_at
from agentlab.analysis.importers.images import Images
from agentlab.analysis.importers.prompts import json_of
from agentlab.analysis.importers.shape import plausible_size
from agentlab.messages import Usage
from agentlab.tokens import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[[str], None]

ROLES = (
    *("user", "assistant", "toolResult", "bashExecution"),
    *("custom", "hookMessage", "branchSummary", "compactionSummary"),
)


class Spoken(msgspec.Struct, frozen=True):
    """A message in the chapter's shape, and further fields of its `Record`."""

    message: dict[str, Any]
    about: dict[str, Any]


class Messages:
    """Reads the messages of one session.

    >>> Messages().read({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, print).message
    {'role': 'user', 'content': 'Hi'}
    """

    def __init__(self) -> None:
        self._images = Images()
        self._model = ""

    def read(self, raw: dict[str, Any], report: Report) -> Spoken | None:
        """A message; None where nothing of it is sent."""
        role = raw.get("role")
        if role == "assistant":
            return self._assistant(raw, report)
        if role == "toolResult":
            return self._result(raw, report)
        if role == "bashExecution":
            return _command(raw)
        if role in ("branchSummary", "compactionSummary"):
            return summary_of(text_at(raw, "summary"))
        text, _, images = self._content(raw.get("content"), report)
        message: dict[str, Any] = {"role": "user", "content": text}
        if role != "user":
            message["origin"] = "loop"  # an extension added it
        return Spoken(message, {"image_tokens": images})

    def _assistant(self, raw: dict[str, Any], report: Report) -> Spoken:
        self._model = text_at(raw, "model") or self._model
        text, thinking, _ = self._content(raw.get("content"), report)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        calls = []
        for block in map(object_of, list_of(raw.get("content"))):
            if block.get("type") != "toolCall":
                continue
            if not text_at(block, "name"):
                report("toolCall: a call without a name is left out")
                continue
            given = block.get("arguments")
            arguments = given if isinstance(given, str) else "{}" if given is None else json_of(given)
            function = {"name": block["name"], "arguments": valid_text(arguments)}
            calls.append({"id": text_at(block, "id"), "type": "function", "function": function})
        if calls:
            message["tool_calls"] = calls
        return Spoken(message, {"thinking": thinking})

    def _result(self, raw: dict[str, Any], report: Report) -> Spoken:
        text, _, images = self._content(raw.get("content"), report)
        message: dict[str, Any] = {"role": "tool", "content": text, "tool_call_id": text_at(raw, "toolCallId")}
        message["name"] = text_at(raw, "toolName")
        if raw.get("isError") is True:
            message["is_error"] = True
        cut = object_of(object_of(raw.get("details")).get("truncation"))
        size = cut.get("totalBytes") if cut.get("truncated") is True else None
        known = size if isinstance(size, int) and not isinstance(size, bool) and size > len(text) else None
        return Spoken(message, {"image_tokens": images, "original_chars": plausible_size(known, report)})

    def _content(self, content: Any, report: Report) -> tuple[str, str, int]:
        """Text, thinking and the tokens of images."""
        if isinstance(content, str):
            return valid_text(content), "", 0
        texts, thinking, images = [], [], 0
        for block in map(object_of, list_of(content)):
            kind = block.get("type")
            if kind == "thinking":
                thinking.append(valid_text(text_at(block, "thinking")))
            elif kind == "image":
                images += self._image(block, report)
            elif kind != "toolCall":
                texts.append(valid_text(text_at(block, "text")))
        return "\n".join(texts), "\n".join(thinking), images

    def _image(self, block: dict[str, Any], report: Report) -> int:
        data = block.get("data")
        if self._model.startswith(("gpt", "o1", "o3", "o4")):
            return self._images.openai({"image_url": f"data:,{data}"}, report, self._model)
        return self._images.anthropic({"source": {"data": data}}, report, self._model)


def summary_of(text: str) -> Spoken:
    """What stands for messages that are not sent any more."""
    message = {"role": "user", "content": valid_text(text), "origin": "loop"}
    return Spoken(message, {"is_summary": True})


def usage_of(raw: Any) -> Usage | None:
    """The usage of a call; its parts stand beside each other. None where it counts nothing.

    >>> usage_of({"input": 3, "output": 191, "cacheRead": 900, "cacheWrite": 20}).prompt_tokens
    923
    """
    raw = object_of(raw)
    sent, output, read, written = (_count(raw.get(key)) for key in ("input", "output", "cacheRead", "cacheWrite"))
    usage = Usage(sent, output, read, written)
    return usage if usage.prompt_tokens or usage.output_tokens else None


def cost_of(raw: Any) -> float | None:
    """What a call cost in US dollars, where its usage says so.

    >>> cost_of({"cost": {"input": 0.25, "total": 0.75}})
    0.75
    """
    cost = object_of(object_of(raw).get("cost")).get("total")
    if not isinstance(cost, int | float) or isinstance(cost, bool):
        return None
    return float(cost) if 0 <= cost < float("inf") else None


def _command(raw: dict[str, Any]) -> Spoken | None:
    """A shell command of the user, which the model sees with the next message unless it was kept from it."""
    if raw.get("excludeFromContext") is True:
        return None
    text = f"Ran `{text_at(raw, 'command')}`\n```\n{text_at(raw, 'output')}\n```"
    return Spoken({"role": "user", "content": valid_text(text), "origin": "loop"}, {})


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
