"""The size allowed to a text."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import msgspec

from agentlab.truncate import STRATEGIES
from agentlab.truncate.units import Unit


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The size allowed to a text.

    Attributes:
        value: At least 0, in `unit`.
        unit: `characters`, `tokens` (o200k), `lines` or `bytes` (UTF-8).
        strategy: A name of `agentlab.truncate.STRATEGIES`.
        ratio: Share of the head, for `head_tail`.
    """

    value: Annotated[int, msgspec.Meta(ge=0)]
    unit: Unit = "characters"
    strategy: str = "middle_snip"
    ratio: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError(f"a limit is at least 0, and {self.value} is not")
        if self.strategy not in STRATEGIES:
            raise ValueError(f"unknown strategy {self.strategy!r}: one of {', '.join(STRATEGIES)}")


@lru_cache(maxsize=256)
def own_limit(value: int, strategy: str) -> Limit:
    """A tool's own limit, in characters."""
    return Limit(value, "characters", strategy)
