"""Session logs to read: a file of messages, one a line, of many sessions; made anew, always the same.

A line has about 540 characters. Where asked for, the content of one message in twenty is a list of parts and the line
has a key that no other line has.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = (
    "value",
    "of",
    "the list",
    "in file",
    "returns",
    "error",
    "None",
    "def",
    "self",
    "import",
    "0.5",
    "test",
    "path",
)
TOOLS = ("run", "read_file", "search")


def write_log(path: Path, messages: int, *, mixed: bool = False, turns: int = 60) -> None:
    """Write so many messages.

    Args:
        path: The file.
        messages: How many.
        mixed: Whether some contents are lists.
        turns: The most of a session.
    """
    chance = random.Random(7)
    text = " ".join(chance.choices(WORDS, k=100_000))
    with path.open("w", encoding="utf-8") as file:
        for number, message in zip(range(messages), _messages(chance, text, turns), strict=False):
            if mixed and number % 20 == 7:
                message["content"] = [{"type": "text", "text": message["content"]}]
                message["extra"] = {"number": number}
            file.write(json.dumps(message) + "\n")


def _messages(chance: random.Random, text: str, most_turns: int) -> Iterator[dict[str, Any]]:
    session, time, number = 0, 1_790_000_000.0, 0

    def message(role: str, size: int, **more: Any) -> dict[str, Any]:
        nonlocal time, number
        time, number = time + chance.random() * 3, number + 1
        start = chance.randrange(len(text) - size)
        base = {"id": f"m{number:08d}", "session": f"session-{session:06d}", "ts": round(time, 3), "role": role}
        return {**base, "content": text[start : start + size], **more}

    while True:
        session += 1
        context = 900
        for _ in range(chance.randint(min(5, most_turns), most_turns)):
            yield message("user", chance.randint(20, 300))
            for step in range(min(8, int(chance.expovariate(0.6)))):
                context += 150
                called = {
                    "name": TOOLS[step % 3],
                    "arguments": json.dumps({"path": f"src/{number}.py", "code": text[:60]}),
                }
                calls = [{"id": f"call_{number}", "type": "function", "function": called}]
                usage = {"input_tokens": context, "output_tokens": 40, "cache_read_tokens": context // 2}
                yield message("assistant", chance.choice((0, 40, 120)), model="m-1", usage=usage, tool_calls=calls)
                size = min(3_000, int(chance.lognormvariate(5.9, 0.9)))
                yield message("tool", size, tool_call_id=f"call_{number - 1}", name=called["name"], duration_ms=12.5)
            context += 250
            usage = {"input_tokens": context, "output_tokens": 120, "cache_read_tokens": context // 2}
            yield message("assistant", chance.randint(80, 900), model="m-1", usage=usage, tool_calls=[])
