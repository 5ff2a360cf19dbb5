"""What was said and done in the ticks of a voice run: both may speak at once, a few words a tick.

Words of one speaker that follow each other without a pause are one message; it stands where it began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.fields import list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_WORD = 200  # characters: a longer one is data of audio


def spoken_in(ticks: Sequence[Any]) -> list[tuple[int, dict[str, Any]]]:
    """The messages of ticks, each with the number of the tick in which it began.

    >>> chunks = ["Hello, ", "who is this?"]
    >>> spoken_in([{"user_chunk": {"content": text, "contains_speech": True}} for text in chunks])
    [(0, {'role': 'user', 'content': 'Hello, who is this?', 'timestamp': None})]
    """
    found: list[tuple[int, int, dict[str, Any]]] = []
    heard = any(text_of(object_of(tick).get("user_transcript")) for tick in ticks)
    for rank, role in ((0, "user"), (1, "assistant")):
        found += [(start, rank, message) for start, message in _utterances(ticks, role, heard=heard)]
    for number, tick in enumerate(ticks):
        done = object_of(tick)
        calls = [call_of(call) for call in list_of(done.get("agent_tool_calls"))]
        if calls:
            asked = {"role": "assistant", "content": None, "tool_calls": calls, "timestamp": done.get("timestamp")}
            found.append((number, 2, asked))
        found += [(number, 3, result_of(result)) for result in list_of(done.get("agent_tool_results"))]
    found.sort(key=lambda each: each[:2])
    return _joined([(number, message) for number, _, message in found])


def _utterances(ticks: Sequence[Any], role: str, *, heard: bool) -> list[tuple[int, dict[str, Any]]]:
    """What one of the two said, without a pause each."""
    said: list[tuple[int, dict[str, Any]]] = []
    is_open = False
    for number, tick in enumerate(ticks):
        chunk = object_of(object_of(tick).get("user_chunk" if role == "user" else "agent_chunk"))
        text = text_of(object_of(tick).get("user_transcript")) if heard and role == "user" else _words(chunk)
        if text and is_open:
            said[-1][1]["content"] += text
        elif text:
            stamp = object_of(tick).get("timestamp")
            said.append((number, {"role": role, "content": text, "timestamp": stamp}))
            is_open = True
        elif not chunk.get("contains_speech"):
            is_open = False
    return said


def _words(chunk: dict[str, Any]) -> str | None:
    """The text of a chunk; None where it has none, or data of audio in its place."""
    text = text_of(chunk.get("content"))
    is_data = text is not None and max(map(len, text.split()), default=0) > _LONGEST_WORD
    return None if is_data else text


def _joined(messages: Sequence[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Neighbours of one speaker as one message."""
    kept: list[tuple[int, dict[str, Any]]] = []
    for number, message in messages:
        last = kept[-1][1] if kept else {}
        if message["role"] == last.get("role") != "tool" and "tool_calls" not in last:
            texts = [text for text in (last["content"], message["content"]) if text]
            kept[-1] = kept[-1][0], {**message, "content": " ".join(texts), "timestamp": last["timestamp"]}
        else:
            kept.append((number, message))
    return kept


def call_of(raw: Any) -> dict[str, Any]:
    """A call in the shape of OpenAI's chat."""
    call = object_of(raw)
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("arguments")}}


def result_of(raw: Any) -> dict[str, Any]:
    """What a tool gave, in the shape of OpenAI's chat."""
    result = object_of(raw)
    return {
        "role": "tool",
        "content": result.get("content"),
        "tool_call_id": result.get("id"),
        "is_error": result.get("error") is True,
        "timestamp": result.get("timestamp"),
    }
