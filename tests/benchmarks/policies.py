"""The policies that are timed while they forget."""

from __future__ import annotations

from typing import Any, Final

from agentlab.policy import (
    Batched,
    ClearAt,
    Compaction,
    Consolidate,
    Limit,
    OnPressure,
    Policy,
    Room,
    Sliding,
    load_policy,
    preset_names,
)

WINDOW = 65_536
SMALL = Room(window=24_000, reserve=2_000, margin=1_000)
FORGETTING = "forgetting:"
"""Before the name of a policy: the subject that forgets by it."""


def _policy(name: str, **compaction: Any) -> Policy:
    return Policy(name=name, default=Limit(16_000), compaction=Compaction(**compaction))


POLICIES: Final = {
    "sliding": _policy("sliding", results=Sliding()),
    "batched": _policy("batched", results=Batched()),
    "clear_at 20,000": _policy("clear_at 20,000", results=ClearAt(threshold=20_000)),
    "on_pressure, window of 65,536": _policy("on_pressure", results=OnPressure(), room=Room(window=WINDOW)),
    "consolidate at 21,000": _policy("consolidate", consolidate=Consolidate(), room=SMALL),
    "consolidate at 21,000 into the system prompt": _policy(
        "consolidate, system", consolidate=Consolidate(place="system"), room=SMALL
    ),
    **{name: preset for name in preset_names() if (preset := load_policy(name)).compaction is not None},
}
"""Each rule with its defaults, where they are not in the name, and every preset that compacts."""
