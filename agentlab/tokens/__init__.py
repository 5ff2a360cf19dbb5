"""Tokens: what a text, a message, a conversation costs, counted once and never over the network.

The steps, from the file on disk to the running count of a conversation:

- `ranks`: the tokenizer's rank files, found and checked
- `encodings`: text to token ids, for any text
- `count`: `TokenCount`, which says exact or estimated
- `models`: windows, limits and prices of hosted models, as dated data
- `chat`: what messages and tools add around their texts
- `running`: the count that a conversation keeps

Importing this loads no tokenizer and reads no file; the first count does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentlab.tokens import models
    from agentlab.tokens.chat import count_messages, count_tools, message_counter
    from agentlab.tokens.count import TokenCount, count_text, estimate_text, join_methods
    from agentlab.tokens.encodings import encode, encoding, valid_text
    from agentlab.tokens.running import RunningCount, estimate_message

_WHERE = {
    "chat": ("count_messages", "count_tools", "message_counter"),
    "count": ("TokenCount", "count_text", "estimate_text", "join_methods"),
    "encodings": ("encode", "encoding", "valid_text"),
    "models": ("models",),
    "running": ("RunningCount", "estimate_message"),
}

__all__ = [
    "RunningCount",
    "TokenCount",
    "count_messages",
    "count_text",
    "count_tools",
    "encode",
    "encoding",
    "estimate_message",
    "estimate_text",
    "join_methods",
    "message_counter",
    "models",
    "valid_text",
]


def __getattr__(name: str) -> Any:
    """Import a part when it is first asked for: the loop needs the running count alone."""
    for part, names in _WHERE.items():
        if name in names:
            module = import_module(f"agentlab.tokens.{part}")
            value = globals()[name] = module if name == part else getattr(module, name)
            return value
    raise AttributeError(f"module 'agentlab.tokens' has no attribute {name!r}")
