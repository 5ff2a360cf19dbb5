"""What is cut and how: one frozen value that a turn, a comparison and a what-if all take.

>>> Policy(limits={"lorem": Limit(8_000)}).limit_for("lorem", own=4_000).value
8000
>>> CHAPTER.limit_for("wordcount", own=50)
Limit(value=50, unit='characters', strategy='middle_snip', ratio=0.5)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

import msgspec

from agentlab.errors import InputError
from agentlab.truncate import STRATEGIES
from agentlab.truncate.units import Unit

if TYPE_CHECKING:
    from pathlib import Path


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
        preview: For a result over `store_over`.
        compaction: None: nothing is taken out of the history later.
        source: Where the numbers are from.
        date: The day they were read, as ISO 8601.
        omits: Rules of the source that a policy cannot express.
    """

    name: str = "custom"
    limits: dict[str, Limit] = {}
    default: Limit | None = None
    errors: Limit = Limit(2_000)
    per_iteration: Limit | None = None
    store_over: Annotated[int, msgspec.Meta(ge=0)] | None = None
    preview: Limit | None = None
    compaction: None = None
    source: str = ""
    date: str = ""
    omits: list[str] = []

    def limit_for(self, tool: str, own: int, strategy: str = "middle_snip") -> Limit:
        """The limit of a tool's result: by name, else the default, else the tool's own (characters and strategy)."""
        limit = self.limits.get(tool)
        if limit is None:
            limit = self.default
        return own_limit(own, strategy) if limit is None else limit


@lru_cache(maxsize=256)
def own_limit(value: int, strategy: str) -> Limit:
    """A tool's own limit, in characters."""
    return Limit(value, "characters", strategy)


CHAPTER = Policy(name="chapter", source="Observation and Continuation: 4,000 characters per tool, middle snip")


def load_policy(path: str | Path) -> Policy:
    """Read a policy from a JSON file.

    Raises:
        InputError: It cannot be read; the text names file and field.
    """
    from pathlib import Path

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): name a JSON file that holds a policy", path=path
        ) from None
    try:
        return msgspec.json.decode(data, type=Policy)
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at ")
        raise InputError(problem, path=path, field=field.strip("`$. ") or None) from None
    except msgspec.DecodeError as error:
        expected = 'expected an object such as {"default": {"value": 4000}}'
        raise InputError(f"not JSON ({error}): {expected}", path=path) from None
