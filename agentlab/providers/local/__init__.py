"""A model file (GGUF) on this computer's CPU: no key, no network, real weights.

Small models write tool calls badly when they are free to: they print a code block, or a name that does not exist. Here
each reply is JSON that a grammar holds in shape, either `{"tool": ..., "arguments": ...}` or `{"answer": ...}`.

The modules are the steps of a call: `schema` (what a reply may look like), `prompt` (what the model reads), `runtime`
(the weights), `reading` (the reply while it is written) and `model` (the provider).
"""

from __future__ import annotations

from agentlab.providers.local.model import LocalProvider

__all__ = ["LocalProvider"]
