"""Inspect's messages in the chapter's shape, and its usage.

Source: UK AISI, `inspect_ai`, logs of versions 2 and 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.fields import list_of, object_of, text_at
from agentlab.analysis.importers.images import Images
from agentlab.analysis.importers.prompts import Sent, json_of, key_of
from agentlab.analysis.importers.shape import plausible_size
from agentlab.messages import Usage
from agentlab.tokens import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Report = Callable[[str], None]

ATTACHMENT = "attachment://"
ROLES = ("system", "user", "assistant", "tool")


class Messages:
    """Reads the messages of one sample.

    Args:
        attachments: Long texts by their hash.
        sizes: Of tool results before they were cut, by the id of the message or of the call.
        report: Told what could not be taken as it is.
        is_openai: Whose rule counts images: OpenAI's, else Anthropic's.

    >>> messages = Messages({"a1": "A long text."}, {}, print)
    >>> messages.read({"role": "user", "content": "attachment://a1", "source": "input"}).message
    {'role': 'user', 'content': 'A long text.'}
    """

    def __init__(
        self, attachments: Mapping[str, Any], sizes: Mapping[str, int], report: Report, *, is_openai: bool = True
    ) -> None:
        self._attachments = attachments
        self._sizes = sizes
        self._is_openai = is_openai
        self._report = report
        self._images = Images()
        self._known: dict[str, tuple[Any, Sent]] = {}
        self._told: set[str] = set()

    def read(self, raw: Any) -> Sent | None:
        """A message of a prompt; None where it is none."""
        if not isinstance(raw, dict) or raw.get("role") not in ROLES:
            self._once(f"skipped: expected a message with one of the roles {', '.join(ROLES)}")
            return None
        name = text_at(raw, "id")
        known = self._known.get(name)
        if known is not None and (known[0] is raw or known[0] == raw):
            return known[1]
        sent = self._read(raw, name)
        if name:
            self._known[name] = (raw, sent)
        return sent

    def text(self, value: Any) -> str:
        """A text, taken from the attachments where it is one."""
        if not isinstance(value, str):
            return ""
        if value.startswith(ATTACHMENT):
            found = self._attachments.get(value.removeprefix(ATTACHMENT))
            if isinstance(found, str):
                return valid_text(found)
            self._once("an attachment is not in the log: what refers to it counts as its address")
        return valid_text(value)

    def value(self, value: Any) -> Any:
        """A value with its attachments in their places."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(each) for key, each in value.items()}
        return [self.value(each) for each in value] if isinstance(value, list) else value

    def _read(self, raw: dict[str, Any], name: str) -> Sent:
        role = raw["role"]
        text, thinking, images = self._content(raw.get("content"))
        message: dict[str, Any] = {"role": role, "content": text}
        about: dict[str, Any] = {"image_tokens": images}
        if role == "assistant":
            about["thinking"] = "\n".join(filter(None, [self.text(raw.get("reasoning")), thinking]))
            calls = [call for each in list_of(raw.get("tool_calls")) if (call := self._call(each)) is not None]
            if calls:
                message["tool_calls"] = calls
        elif role == "tool":
            call_id = text_at(raw, "tool_call_id")
            message |= {"tool_call_id": call_id, "name": text_at(raw, "function")}
            error = object_of(raw.get("error"))
            if error:
                message["is_error"] = True
                message["content"] = text or self.text(error.get("message"))
            size = self._sizes.get(name) or self._sizes.get(call_id)
            about["original_chars"] = plausible_size(size if size and size > len(text) else None, self._report)
        elif role == "user" and raw.get("source") != "input":
            message["origin"] = "loop"
        return Sent(name or key_of(message), message, about)

    def _content(self, content: Any) -> tuple[str, str, int]:
        """Text, thinking and the tokens of images."""
        if isinstance(content, str):
            return self.text(content), "", 0
        texts, thinking, images = [], [], 0
        for part in map(object_of, list_of(content)):
            kind = part.get("type")
            if kind == "text":
                texts.append(self.text(part.get("text")))
            elif kind == "reasoning":
                thinking.append(self.text(part.get("reasoning")))
            elif kind == "image":
                images += self._image(part)
            elif kind == "tool_use":  # one that the provider ran
                texts += [self.text(part.get(key)) for key in ("name", "arguments", "result", "error")]
            elif kind == "data":
                texts.append(json_of(self.value(part.get("data"))))
            else:
                self._once(f"content: a part of type {kind!r} has no text and counts nothing")
        return "\n".join(filter(None, texts)), "\n".join(thinking), images

    def _image(self, part: dict[str, Any]) -> int:
        url = self.text(part.get("image"))
        if self._is_openai:
            return self._images.openai({"image_url": url, "detail": part.get("detail")}, self._report)
        data = url.partition(",")[2] if url.startswith("data:") else None
        return self._images.anthropic({"source": {"data": data}}, self._report)

    def _call(self, raw: Any) -> dict[str, Any] | None:
        raw = object_of(raw)
        name, given = text_at(raw, "function"), self.value(raw.get("arguments"))
        if not name:
            self._once("tool_calls: a call without the name of a function is left out")
            return None
        arguments = given if isinstance(given, str) else "{}" if given is None else json_of(given)
        function = {"name": name, "arguments": valid_text(arguments)}
        return {"id": text_at(raw, "id"), "type": "function", "function": function}

    def _once(self, reason: str) -> None:
        if reason not in self._told:
            self._told.add(reason)
            self._report(reason)


def usage_of(raw: Any) -> Usage | None:
    """A usage: the cached parts stand beside `input_tokens`; where `total_tokens` has no room for them, inside.

    Logs until version 0.3.9x have OpenAI's counts as they are, and later ones take the cached part out.

    >>> usage_of({"input_tokens": 5915, "output_tokens": 207, "total_tokens": 6122, "input_tokens_cache_read": 3840})
    Usage(input_tokens=2075, output_tokens=207, cache_read_tokens=3840, cache_write_tokens=0, exact=True)
    >>> usage_of({"input_tokens": 4, "output_tokens": 7, "total_tokens": 911, "input_tokens_cache_read": 900})
    Usage(input_tokens=4, output_tokens=7, cache_read_tokens=900, cache_write_tokens=0, exact=True)
    """
    raw = object_of(raw)
    names = ("input_tokens", "output_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "total_tokens")
    sent, output, read, written, total = (_count(raw.get(name)) for name in names)
    if read + written and total == sent + output and read + written <= sent:
        sent -= read + written
    usage = Usage(sent, output, read, written)
    return usage if usage.prompt_tokens or usage.output_tokens else None


def cost_of(raw: Any) -> float | None:
    """What a usage cost in US dollars, where it says so."""
    cost = object_of(raw).get("total_cost")
    if not isinstance(cost, int | float) or isinstance(cost, bool):
        return None
    return float(cost) if 0 <= cost < float("inf") else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
