"""How large a request is, and how much of it a provider's prompt cache already holds.

A prompt is a list of segments in the order in which the APIs cache them: tools, system, messages. Sizes come from a
counter of the caller's choice. The caches are deterministic: entries never expire.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Counter = Callable[[str], int]

MESSAGE_TOKENS = 3
"""What a message costs on top of its text."""

_LOOK_BACK = 20
_OPENAI_MINIMUM = 1_024
_OPENAI_STEP = 128


class Segment(msgspec.Struct, frozen=True):
    """One block of a prompt.

    `context` is everything but the text that makes it another prompt (role, type). `extra` tokens come on top of the
    text's. `marked` is True at a `cache_control` breakpoint.
    """

    text: str
    context: str
    extra: int = 0
    marked: bool = False


def estimate_tokens(text: str) -> int:
    """Estimate tokens from the length: one for every four characters begun.

    >>> estimate_tokens("Hello."), estimate_tokens("")
    (2, 0)
    """
    return -(-len(text) // 4)


def plain(value: Any) -> str:
    """Text of a content: strings as they are, text blocks joined, all else as JSON without its cache marks.

    >>> plain([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    'ab'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(plain(item) for item in value)
    if isinstance(value, dict):
        if value.get("type") == "text":
            return str(value["text"])
        value = {key: inner for key, inner in value.items() if key not in ("cache_control", "type")}
    return "" if value is None else json.dumps(value, sort_keys=True)


def anthropic_segments(body: dict[str, Any]) -> list[Segment]:
    """Segments of a Messages request.

    Changing `tool_choice` or `thinking` leaves tools and system cached and the messages not, as with the real cache.

    >>> body = {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}
    >>> [part.text for part in anthropic_segments(body)]
    ['Be brief.', 'Hi']
    """
    found = [_anthropic_segment(tool, "tool") for tool in body.get("tools") or []]
    system = body.get("system") or []
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    found += [_anthropic_segment(block, "system") for block in blocks]
    mode = json.dumps([body.get("tool_choice") or {"type": "auto"}, body.get("thinking")], sort_keys=True)
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for place, block in enumerate(parts):
            extra = MESSAGE_TOKENS if place == 0 else 0
            found.append(_anthropic_segment(block, f"{mode}{message['role']}", extra))
    if body.get("cache_control") and found:
        found[-1] = msgspec.structs.replace(found[-1], marked=True)
    return found


def _anthropic_segment(block: dict[str, Any], context: str, extra: int = 0) -> Segment:
    inner = block.get("content")
    marks = [block, *(inner if isinstance(inner, list) else [])]
    text = plain(inner) if block.get("type") == "tool_result" else plain(block)
    label = f"{context}:{block.get('type')}:{block.get('tool_use_id', '')}:{block.get('is_error', False)}"
    return Segment(text, label, extra, marked=any(item.get("cache_control") for item in marks))


def openai_segments(body: dict[str, Any]) -> list[Segment]:
    """Segments of a Chat Completions request.

    >>> [part.text for part in openai_segments({"messages": [{"role": "user", "content": "Hi"}]})]
    ['Hi']
    """
    found = [Segment(plain(tool["function"]), "tool") for tool in body.get("tools") or []]
    for message in body["messages"]:
        calls = message.get("tool_calls") or []
        text = plain(message.get("content")) + "".join(plain(call["function"]) for call in calls)
        found.append(Segment(text, f"{message['role']}:{message.get('tool_call_id', '')}", MESSAGE_TOKENS))
    return found


def count_tokens(segments: list[Segment], counter: Counter) -> int:
    """Tokens of a prompt.

    >>> count_tokens([Segment("Hello.", "user", extra=3)], estimate_tokens)
    5
    """
    return sum(counter(segment.text) + segment.extra for segment in segments)


class PromptCache:
    """What a provider has cached, by model.

    Args:
        counter: Counts the tokens of a text.
        minimum: Tokens below which Anthropic caches nothing; 1,024 for most models.
    """

    def __init__(self, counter: Counter, *, minimum: int = 1_024) -> None:
        self._counter = counter
        self._minimum = minimum
        self._entries: set[bytes] = set()

    def anthropic_usage(self, model: str, segments: list[Segment]) -> Usage:
        """Usage of a Messages request, and remember what it caches.

        A prefix is written at each breakpoint, and read where an entry lies at a breakpoint or at most 20 blocks
        before it.

        Args:
            model: Model of the request; each has a cache of its own.
            segments: The prompt.

        Returns:
            Usage with the input side filled in.
        """
        prefixes = list(self._prefixes(f"anthropic {model}", segments))
        total = prefixes[-1][1] if prefixes else 0
        marks = [at for at, part in enumerate(segments) if part.marked and prefixes[at][1] >= self._minimum]
        read = 0
        for mark in marks:
            for digest, tokens in prefixes[max(0, mark - _LOOK_BACK) : mark + 1]:
                if digest in self._entries:
                    read = max(read, tokens)
        written = max((prefixes[mark][1] for mark in marks), default=0)
        self._entries.update(prefixes[mark][0] for mark in marks)
        cached = max(read, written)
        return Usage(total - cached, cache_read_tokens=read, cache_write_tokens=cached - read)

    def openai_usage(self, model: str, segments: list[Segment]) -> Usage:
        """Usage of a Chat Completions request, and remember its prompt.

        The longest run of whole messages seen before counts as cached, in steps of 128 tokens from 1,024.

        Args:
            model: Model of the request.
            segments: The prompt.

        Returns:
            Usage with the input side filled in; `input_tokens` without the cached part, as everywhere in agentlab.
        """
        prefixes = list(self._prefixes(f"openai {model}", segments))
        total = prefixes[-1][1] if prefixes else 0
        shared = max((tokens for digest, tokens in prefixes if digest in self._entries), default=0)
        self._entries.update(digest for digest, _ in prefixes)
        cached = shared // _OPENAI_STEP * _OPENAI_STEP if shared >= _OPENAI_MINIMUM else 0
        return Usage(total - cached, cache_read_tokens=cached)

    def _prefixes(self, owner: str, segments: list[Segment]) -> Iterator[tuple[bytes, int]]:
        """Digest and size of every prefix that ends with a whole segment."""
        import hashlib

        digest, tokens = hashlib.sha256(owner.encode()).digest(), 0
        for part in segments:
            step = f"{len(part.context)} {part.context} {part.text}".encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(digest + step).digest()
            tokens += self._counter(part.text) + part.extra
            yield digest, tokens
