"""Readers of session logs: one module per format, one entry in `registry.IMPORTERS` each.

- `peek`: looks at the beginning of a file, so that the formats can say whether it is theirs
- `shape`: brings foreign messages into the chapter's shape
- `own`: agentlab's session folder
- `taubench`: tau-bench's runs
- `chat`: OpenAI's chat messages, as a list, an object or JSON lines
- `registry`: which format it is, and `load`
"""

from __future__ import annotations

from agentlab.analysis.importers.chat import read_messages
from agentlab.analysis.importers.registry import IMPORTERS, load

__all__ = ["IMPORTERS", "load", "read_messages"]
