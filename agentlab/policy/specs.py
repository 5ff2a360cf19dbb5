"""What a run forgets, as data; `agentlab.compaction` does it.

Each rule is a value with a `kind`, so that a policy file says `{"kind": "clear_at", "threshold": 100000}`. A rule on
results takes the texts of old tool results out of the requests; `Consolidate` lets a summary stand for old turns.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Room(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How large a prompt may be: the window less what the answer and the errors of the count need.

    Attributes:
        window: Tokens; None takes the model's.
        reserve: Tokens kept free for the output.
        margin: Tokens kept free because the count is an estimate.
    """

    window: Positive | None = None
    reserve: Count = 8_192
    margin: Count = 1_024


class Sliding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="sliding"):
    """Keep the newest results and clear every older one as soon as another comes: the chapter's nanobot.

    Half the tokens, and a prompt cache that is lost at every call: see `Batched`.

    Attributes:
        keep: Newest results that stay.
        min_chars: Shorter ones are not worth it and stay too.
        tools: Names of the tools whose results count; None for all.
    """

    keep: Count = 10
    min_chars: Count = 500
    tools: tuple[str, ...] | None = None


class Batched(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="batched"):
    """Like `Sliding`, but nothing is cleared until `every` results wait for it: the cache is lost once per batch."""

    keep: Count = 10
    every: Positive = 10
    min_chars: Count = 500
    tools: tuple[str, ...] | None = None


class ClearAt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="clear_at"):
    """Once the prompt is larger than a threshold, clear all results but the newest: Anthropic's context editing.

    Attributes:
        threshold: Tokens of the prompt.
        keep: Newest results that stay.
        clear_at_least: Tokens that a batch has to free, else it waits; None for any.
        tools: Names of the tools whose results count; None for all.
        exclude: Names of tools whose results always stay.
    """

    threshold: Count = 100_000
    keep: Count = 3
    clear_at_least: Count | None = None
    tools: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


class OnPressure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="on_pressure"):
    """Only when the request would overflow: clear the oldest results until the prompt is at a share of its room.

    Attributes:
        target: Share of the room.
        min_chars: Shorter results stay.
        tools: Names of the tools whose results count; None for all.
    """

    target: Share = 0.85
    min_chars: Count = 500
    tools: tuple[str, ...] | None = None


ResultRule = Sliding | Batched | ClearAt | OnPressure


class Consolidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Let a summary stand for the oldest turns, so that the prompt shrinks to a share of its room.

    Attributes:
        trigger: Share of the room from which it happens; without a known window it never does by itself.
        target: Share of the room to come down to.
        keep_turns: Newest user turns that stay as they are, from 1.
        keep_messages: Instead of turns: the newest messages that stay, extended to the beginning of a turn.
        place: Where the summary stands: in a message of its own, or in the system prompt.
        summary_tokens: Longest answer of the summariser.
        attempts: Failures in a row after which it is given up for the session.
        pause: User turns to wait after a failure.
    """

    trigger: Share = 1.0
    target: Share = 0.5
    keep_turns: Positive = 2
    keep_messages: Positive | None = None
    place: Literal["message", "system"] = "message"
    summary_tokens: Positive = 4_000
    attempts: Positive = 3
    pause: Count = 1


class Compaction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a run forgets.

    Attributes:
        results: What happens to old tool results, or None.
        consolidate: What happens to old turns, or None.
        idle_minutes: A session that nobody used for so long is consolidated; None never does.
        room: How large a prompt may be.
    """

    results: ResultRule | None = None
    consolidate: Consolidate | None = None
    idle_minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    room: Room = Room()
