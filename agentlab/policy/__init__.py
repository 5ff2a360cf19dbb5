"""What is cut, kept and forgotten, and how: one frozen value that a turn, a comparison and a what-if all take.

>>> Policy(limits={"lorem": Limit(8_000)}).limit_for("lorem", own=4_000).value
8000
>>> CHAPTER.limit_for("wordcount", own=50)
Limit(value=50, unit='characters', strategy='middle_snip', ratio=0.5)
"""

from __future__ import annotations

from agentlab.policy.limits import Limit, own_limit
from agentlab.policy.presets import load_policy, preset_names
from agentlab.policy.specs import Batched, ClearAt, Compaction, Consolidate, OnPressure, Room, Sliding
from agentlab.policy.values import CHAPTER, Policy

__all__ = [
    "CHAPTER",
    "Batched",
    "ClearAt",
    "Compaction",
    "Consolidate",
    "Limit",
    "OnPressure",
    "Policy",
    "Room",
    "Sliding",
    "load_policy",
    "own_limit",
    "preset_names",
]
