"""Source and messages, rendered to be looked at: in a notebook as HTML, in a terminal as plain text.

- `code`: the source of a function or class, with the file and the lines where it stands
- `table`: a conversation as a table, a row per message
- `columns`: texts side by side, such as one observation cut in several ways
- `look`: what their HTML has in common

Nothing here prints. What is returned shows itself as the last value of a cell; its `repr` is the plain form. Colours
come from the notebook's theme, so the light and the dark one both stay readable, and every text is escaped.
"""

from __future__ import annotations

from agentlab.show.code import Source, source
from agentlab.show.columns import SideBySide, side_by_side
from agentlab.show.table import MessageTable, messages

__all__ = ["MessageTable", "SideBySide", "Source", "messages", "side_by_side", "source"]
