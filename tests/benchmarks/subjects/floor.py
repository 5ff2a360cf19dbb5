"""The floor: what a loop cannot do without, in a few lines.

Messages are dicts, arguments are parsed, results cut at 16,000 characters, each message is sized once by its length
and appended to a JSONL file in one write.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.script import FINAL, FLOOR_LIMIT, SYSTEM, TASK
from benchmarks.subjects import Subject

if TYPE_CHECKING:
    from collections.abc import Callable


class Floor(Subject):
    """With the standard library's json."""

    def build(self) -> None:
        """Nothing but the tool."""
        self.tools: dict[str, Callable[..., str]] = {"echo": self.script.echo}

    def run(self, iterations: int) -> list[dict[str, Any]]:
        """One run of its own file."""
        self.start_session()
        self._loop(iterations + 1)
        self.end_session()
        return self.messages

    def start_session(self) -> None:
        """Open the file."""
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        self.sizes: list[int] = []
        self.file = (self.fresh_folder() / "messages.jsonl").open("wb", buffering=0)

    def turn(self) -> None:
        """One call and a final text."""
        self._loop(2)

    def end_session(self) -> None:
        """Close the file."""
        self.file.close()

    def encode(self, message: dict[str, Any]) -> bytes:
        """One line of JSON."""
        return (json.dumps(message, ensure_ascii=False) + "\n").encode()

    def _loop(self, limit: int) -> None:
        self._add({"role": "user", "content": TASK})
        for _ in range(limit):
            reply = self._model()
            self._add(reply)
            if "tool_calls" not in reply:
                return
            for call in reply["tool_calls"]:
                function = call["function"]
                text = self.tools[function["name"]](**json.loads(function["arguments"]))
                if len(text) > FLOOR_LIMIT:
                    half = FLOOR_LIMIT // 2
                    text = f"{text[:half]}\n[... {len(text) - FLOOR_LIMIT} characters left out ...]\n{text[-half:]}"
                self._add({"role": "tool", "tool_call_id": call["id"], "name": function["name"], "content": text})

    def _add(self, message: dict[str, Any]) -> None:
        self.sizes.append((len(message["content"]) + 3) // 4 + 4)
        self.messages.append(message)
        self.file.write(self.encode(message))

    def _model(self) -> dict[str, Any]:
        n = self.script.next_call()
        if n is None:
            return {"role": "assistant", "content": FINAL}
        function = {"name": "echo", "arguments": f'{{"n": {n}}}'}
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": f"call_{n}", "type": "function", "function": function}],
        }


class FloorOrjson(Floor):
    """With orjson, where it is installed."""

    def build(self) -> None:
        """Import it once."""
        super().build()
        from orjson import dumps

        self.dumps = dumps

    def encode(self, message: dict[str, Any]) -> bytes:
        """One line of JSON."""
        return self.dumps(message) + b"\n"
