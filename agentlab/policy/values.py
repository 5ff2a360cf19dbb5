"""A policy: what is cut, kept and forgotten, as one frozen value."""

from __future__ import annotations

from typing import Annotated

import msgspec

from agentlab.policy.limits import Limit, own_limit
from agentlab.policy.specs import Compaction


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How observations are cut and kept.

    Attributes:
        name: What plots and tables call it.
        limits: By tool name; they come before everything else.
        default: For tools that `limits` does not name; None leaves each tool its own `max_observation_chars`.
        errors: For error observations.
        per_iteration: For all results of one iteration together, or None.
        store_over: Results of more characters are kept in full even when nothing is cut, and shown by `preview`; None
            keeps what was cut.
        preview: For a result over `store_over` of a tool that `limits` does not name.
        compaction: What is no longer sent later on; None sends all of it for ever.
        source: Where the numbers are from.
        date: The day that they held, as ISO 8601.
        omits: Rules of the source that a policy cannot express.
    """

    name: str = "custom"
    limits: dict[str, Limit] = {}
    default: Limit | None = None
    errors: Limit = Limit(2_000)
    per_iteration: Limit | None = None
    store_over: Annotated[int, msgspec.Meta(ge=0)] | None = None
    preview: Limit | None = None
    compaction: Compaction | None = None
    source: str = ""
    date: str = ""
    omits: list[str] = []

    def limit_for(self, tool: str, own: int, strategy: str = "middle_snip") -> Limit:
        """The limit of a tool's result: by name, else the default, else the tool's own (characters and strategy)."""
        limit = self.limits.get(tool)
        if limit is None:
            limit = self.default
        return own_limit(own, strategy) if limit is None else limit


CHAPTER = Policy(name="chapter", source="Observation and Continuation: 4,000 characters per tool, middle snip")
