"""A cut in tokens beside encoding all of the text, which a cut does not need."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentlab.messages import ToolCall
from agentlab.observe import observe
from agentlab.policy import Limit, Policy
from agentlab.store import Store
from agentlab.tokens import encode, encoding
from agentlab.tools import Tool, tool, toolbox
from agentlab.truncate import cut

from .script import log_lines

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_TOKENS = 4_000


class Seen:
    """A tokenizer that counts the characters that it is shown."""

    def __init__(self) -> None:
        self.characters = 0

    def encode(self, text: str) -> list[int]:
        """Ids of any text."""
        self.characters += len(text)
        return encode(text)

    def decode_bytes(self, ids: list[int]) -> bytes:
        """UTF-8 of ids."""
        return encoding().decode_bytes(ids)


def measure(characters: int, repeats: int) -> dict[str, float]:
    """CPU milliseconds of encoding all, of the bare cut, of the whole observation; characters that were encoded."""
    text = log_lines(characters)
    encode(text[:1000])
    seen = Seen()
    cut(text, LIMIT_TOKENS, unit="tokens", encoding=seen, name_lines=False)
    return {
        "encode_all": _best(lambda: encode(text), max(1, repeats // 4)),
        "bare": _best(lambda: cut(text, LIMIT_TOKENS, unit="tokens", name_lines=False), repeats),
        "observation": _observation(text, max(2, repeats // 2)),
        "seen_per_token": seen.characters / LIMIT_TOKENS,
    }


def _observation(text: str, repeats: int) -> float:
    """Cut, lines named, hashed, written to a store that does not know the text yet."""

    @tool
    def read_result() -> str:
        """Stand in for the tool that reads stored results back."""
        return text

    policy = Policy(default=Limit(LIMIT_TOKENS, "tokens"))
    call, box = ToolCall("call_1", "fetch", {}), toolbox([read_result, _fetch(text)])
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeats + 1):  # the first compiles the schema
            store = Store(Path(folder) / str(number))
            times.append(_timed(lambda store=store: observe(call, box, policy=policy, store=store)))  # type: ignore[misc]
            store.close()
    return min(times[1:])


def _fetch(text: str) -> Tool:
    """A tool that returns a text."""

    @tool
    def fetch() -> str:
        """Return a large log."""
        return text

    return fetch


def _best(function: Callable[[], object], repeats: int) -> float:
    return min(_timed(function) for _ in range(repeats))


def _timed(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return (time.process_time() - started) * 1e3
