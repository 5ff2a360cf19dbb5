"""Codex's response items in the chapter's shape, and its counts of tokens.

Source: the rollouts of Codex CLI 0.2 to 0.98; OpenAI, Responses API.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.fields import list_of, object_of, text_at
from agentlab.analysis.importers.images import Images
from agentlab.analysis.importers.prompts import json_of
from agentlab.messages import Usage
from agentlab.tokens import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[[str], None]

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")
RESULTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
SUMMARIES = ("compaction", "context_compaction", "compaction_summary")
SILENT = ("ghost_snapshot", "compaction_trigger", "additional_tools", "other")
"""Items of which nothing is sent that could be counted."""

ITEMS = ("message", "reasoning", "image_generation_call", "agent_message", *CALLS, *RESULTS, *SUMMARIES)

_LOOP = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<model_switch>",
)
_CUT = re.compile(r"…(\d+) (chars|tokens) truncated…")
CHARS_PER_TOKEN = 4
"""Codex's own rule, by which it says how many tokens it has cut."""


class Reply:
    """What one model call returned, item by item."""

    def __init__(self, time: float | None, model: str, *, is_copy: bool = False) -> None:
        self.time = time
        self.model = model
        self.is_copy = is_copy
        self.texts: list[str] = []
        self.thinking: list[str] = []
        self.calls: list[dict[str, Any]] = []

    @property
    def message(self) -> dict[str, Any] | None:
        """In the chapter's shape; None where there is nothing in it."""
        if not (self.texts or self.calls or self.thinking):
            return None
        message: dict[str, Any] = {"role": "assistant", "content": "\n".join(self.texts)}
        if self.calls:
            message["tool_calls"] = self.calls
        return message


class Items:
    """Reads the items of one rollout: it knows the names of the calls.

    >>> items, reply = Items(), Reply(None, "gpt-5")
    >>> items.add({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"}, reply, print)
    >>> items.result({"type": "function_call_output", "call_id": "a", "output": "done"}, print)[0]
    {'role': 'tool', 'content': 'done', 'tool_call_id': 'a', 'name': 'shell'}
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.images = Images()

    def message(self, item: dict[str, Any], report: Report, model: str) -> tuple[dict[str, Any], int]:
        """A message of somebody else than the model, and the tokens of its images."""
        text, images = self.content(item.get("content"), report, model)
        if item.get("role") != "user":
            return {"role": "system", "content": text}, images
        message = {"role": "user", "content": text}
        if not is_typed(text) and (text or not images):
            message["origin"] = "loop"
        return message, images

    def add(self, item: dict[str, Any], reply: Reply, report: Report) -> None:
        """Add an item that the model returned to its reply."""
        kind = item.get("type")
        if kind == "reasoning":
            parts = list_of(item.get("summary")) + list_of(item.get("content"))
            reply.thinking += [valid_text(text_at(each, "text")) for each in parts if isinstance(each, dict)]
        elif kind in CALLS:
            self._call(item, reply, report)
        elif kind == "message":
            text, _ = self.content(item.get("content"), report, "")
            reply.texts += [text] if text else []

    def result(self, item: dict[str, Any], report: Report, model: str = "") -> tuple[dict[str, Any], int]:
        """What a tool returned, and the tokens of the images in it."""
        output = item.get("output", item.get("tools"))
        failed = isinstance(output, dict) and output.get("success") is False
        if isinstance(output, dict):
            output = output.get("content", output)
        if isinstance(output, dict):
            output = json_of(output)
        text, images = self.content(output, report, model)
        call_id = text_at(item, "call_id")
        message: dict[str, Any] = {"role": "tool", "content": text, "tool_call_id": call_id}
        message["name"] = self.names.get(call_id, "")
        if failed:
            message["is_error"] = True
        return message, images

    def content(self, content: Any, report: Report, model: str) -> tuple[str, int]:
        """The text of a content and the tokens of the images in it."""
        if isinstance(content, str):
            return valid_text(content), 0
        texts, images = [], 0
        for part in map(object_of, list_of(content)):
            kind, text = part.get("type"), part.get("text")
            if kind == "input_image":
                images += self.images.openai(part, report, model)
            elif isinstance(text, str):
                texts.append(valid_text(text))
            elif kind is not None:
                texts.append(json_of(part))
        return "\n".join(texts), images

    def _call(self, item: dict[str, Any], reply: Reply, report: Report) -> None:
        kind = str(item.get("type"))
        name = text_at(item, "name") or kind.removesuffix("_call")
        arguments = item.get("arguments", item.get("input", item.get("action")))
        if not isinstance(arguments, str):
            arguments = "{}" if arguments is None else json_of(arguments)
        if kind in ("function_call", "custom_tool_call") and not text_at(item, "name"):
            report(f"{kind}: a call without a name is left out")
            return
        call_id = text_at(item, "call_id") or text_at(item, "id")
        self.names[call_id] = name
        function = {"name": name, "arguments": valid_text(arguments)}
        reply.calls.append({"id": call_id, "type": "function", "function": function})


def is_typed(text: str) -> bool:
    """Whether the user wrote it, and not Codex in the user's name.

    >>> is_typed("Fix it."), is_typed("<environment_context><cwd>/p</cwd></environment_context>")
    (True, False)
    """
    return bool(text.strip()) and not text.lstrip().startswith(_LOOP)


def original_chars(text: str) -> int | None:
    """The size of a tool result before Codex cut it, by what its mark says; None where it did not.

    >>> original_chars("ab…10 tokens truncated…yz"), original_chars("abc")
    (65, None)
    """
    cut = [int(match[1][:9]) * (CHARS_PER_TOKEN if match[2] == "tokens" else 1) for match in _CUT.finditer(text)]
    return len(text) + sum(cut) if cut else None


def usage_of(counts: Any) -> Usage | None:
    """Tokens of a call: the cached ones stand inside `input_tokens`, reasoning inside `output_tokens`.

    >>> usage_of({"input_tokens": 1000, "cached_input_tokens": 250, "output_tokens": 125})
    Usage(input_tokens=750, output_tokens=125, cache_read_tokens=250, cache_write_tokens=0, exact=True)
    """
    counts = object_of(counts)
    sent, cached, output = (_count(counts.get(key)) for key in ("input_tokens", "cached_input_tokens", "output_tokens"))
    cached = min(cached, sent)
    return Usage(sent - cached, output, cached) if sent or output else None


def totals_of(counts: Any) -> tuple[int, ...]:
    """The counts of a usage: input, cached, output, reasoning and all."""
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    return tuple(_count(object_of(counts).get(name)) for name in names)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
