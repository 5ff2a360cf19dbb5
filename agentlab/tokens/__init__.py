"""Tokens: what a text, a message, a conversation costs, counted once and never over the network.

The steps, from the file on disk to the running count of a conversation:

- `ranks`: the tokenizer's rank files, found and checked
- `encodings`: text to token ids, for any text
- `count`: `TokenCount`, which says exact or estimated
- `models`: windows, limits and prices of hosted models, as dated data

Importing this loads no tokenizer and reads no file; the first count does.
"""

from __future__ import annotations

from agentlab.tokens import models
from agentlab.tokens.count import TokenCount, count_text, estimate_text, join_methods
from agentlab.tokens.encodings import encode, encoding, valid_text

__all__ = [
    "TokenCount",
    "count_text",
    "encode",
    "encoding",
    "estimate_text",
    "join_methods",
    "models",
    "valid_text",
]
