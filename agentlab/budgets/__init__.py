"""What a run may spend: time (`Scope`), iterations (`TurnBudget`), tokens and dollars (`Budget`)."""

from __future__ import annotations

from agentlab.budgets.limits import Budget, Extension, TurnBudget
from agentlab.budgets.scope import LONGEST_WAIT, Scope
from agentlab.budgets.threads import run_in_thread, stream_in_thread

__all__ = ["LONGEST_WAIT", "Budget", "Extension", "Scope", "TurnBudget", "run_in_thread", "stream_in_thread"]
