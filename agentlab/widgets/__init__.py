"""Widgets for a notebook: cut a text, price a run, explore a session, talk to an agent.

- `CutExplorer` cuts a text at a limit that a slider sets
- `BudgetLab` describes a run in sliders; its curve and its bill follow
- `SessionExplorer` shows the curve of a session, its jumps, and what other policies would have cost
- `ChatLab` is a conversation with tools, a token meter and a stop button

Each shows itself as the last value of a cell. Where no front end runs, as on GitHub and in print, the same state shows
as HTML or text. What they show is made by plain functions: `cut_view`, `budget_model`,
`session_view`, `chat_run`.
ipywidgets is imported when a widget is made.
"""

from __future__ import annotations

from agentlab.widgets.budget_lab import BudgetLab
from agentlab.widgets.budget_model import Setting
from agentlab.widgets.chat_lab import ChatLab
from agentlab.widgets.cut_explorer import CutExplorer
from agentlab.widgets.session_explorer import SessionExplorer

__all__ = ["BudgetLab", "ChatLab", "CutExplorer", "SessionExplorer", "Setting"]
