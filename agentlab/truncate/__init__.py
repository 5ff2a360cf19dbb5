"""Cuts: how a text that is too long becomes an observation that fits, and says what it lacks.

The steps, from where a cut may fall to the function that makes one:

- `boundaries`: where a text may be cut
- `units`: a text in characters, bytes or lines
- `tokens`: a text in tokens, seen through a window
- `marker`: the note in place of what is missing
- `cutting`: head, marker, tail, never over the limit
- `strategies`: the cuts by name, and the chapter's `truncate_observation`
- `fields`: JSON fields dropped before anything is cut
"""

from __future__ import annotations

from agentlab.truncate.cutting import HEAD_SHARES, UNITS, Cut, cut, measure
from agentlab.truncate.fields import drop_fields
from agentlab.truncate.marker import MARKER, MarkerInfo, carries_marker, find_marker
from agentlab.truncate.strategies import (
    MAX_OBSERVATION_CHARS,
    STRATEGIES,
    Strategy,
    head_cut,
    head_tail,
    middle_snip,
    tail_cut,
    truncate_observation,
)

__all__ = [
    "HEAD_SHARES",
    "MARKER",
    "MAX_OBSERVATION_CHARS",
    "STRATEGIES",
    "UNITS",
    "Cut",
    "MarkerInfo",
    "Strategy",
    "carries_marker",
    "cut",
    "drop_fields",
    "find_marker",
    "head_cut",
    "head_tail",
    "measure",
    "middle_snip",
    "tail_cut",
    "truncate_observation",
]
