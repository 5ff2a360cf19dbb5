"""A model without weights: rules that read the user's text, the tools' schemas and what was observed.

The modules are the steps of a reply: `history` (what the request holds), `reading` and `questions` (what the text
needs), `roles` and `filling` (which tool, with which arguments), `desk` (what is at hand and what must be called), the
plans (`files`, `gist`, `values`, `folders`, `finding`, `defining`, `comparing`, `recalling`, `clock`, `tooluse` and
`talk`), `planner` (calls or an answer) and `model` (the provider).
"""

from __future__ import annotations

from agentlab.providers.offline.model import OfflineModel

__all__ = ["OfflineModel"]
