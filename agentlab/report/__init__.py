"""A report on session logs: one HTML page that stands for itself.

- `findings`: what is found out about each session, in any process
- `together`: all sessions as one
- `sentences`: the three sentences of the first screen
- `page`: the page
"""

from __future__ import annotations

from agentlab.report.findings import Found, Wanted, find, of_sessions
from agentlab.report.page import page
from agentlab.report.together import Together, together

__all__ = ["Found", "Together", "Wanted", "find", "of_sessions", "page", "together"]
