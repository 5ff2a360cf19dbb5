"""The lines of the cycle log: one frozen type per event, read back as what was written.

Whether something is so is always an explicit true or false; a count that does not apply is 0, a text is empty.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentlab.messages import Usage

SCHEMA = 1
_NAMES = {"before": "from", "after": "to"}  # which are words of Python


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What every line says.

    Attributes:
        schema: Version of the log's form.
        seq: Place in its cycle, from 1.
        cycle: Id of the cycle.
        parent: Id of the cycle that it works for, or None.
        actor: Who acts in it.
        turn: The cycle's turn (one model call with its tools), from 1; 0 before the first.
        timestamp: ISO 8601, UTC, to the millisecond.
    """

    schema: int = SCHEMA
    seq: int
    cycle: str
    parent: str | None
    actor: str
    turn: int
    timestamp: str


class CycleStart(Record, frozen=True, kw_only=True, tag="cycle_start"):
    """A cycle begins: with what (clipped), by which model, with which budgets.

    `ceiling` equals `turns` where there is no extension; `errors` is how many failed model calls in a row end it.
    """

    prompt: str
    prompt_chars: int
    provider: str
    model: str | None
    turns: int
    ceiling: int
    errors: int
    seconds: float
    extendable: bool


class AgentCycleStart(CycleStart, frozen=True, kw_only=True, tag="agent_cycle_start"):
    """A cycle begins that works for another: in the turn `parent_turn` of it."""

    parent_turn: int
    with_context: bool


class LlmRequest(Record, frozen=True, kw_only=True, tag="llm_request"):
    """A model call is about to be made; `prompt_tokens` is estimated, `left` counts the turns after this one."""

    prompt_tokens: int
    left: int
    allowed: int
    last: bool


class LlmResponse(Record, frozen=True, kw_only=True, tag="llm_response"):
    """A model call returned, or failed for good after its retries: then `error` says why, `in_a_row` how often now."""

    is_error: bool
    usage: Usage
    seconds: float
    stop_reason: str | None
    text_chars: int
    calls: int
    error: str
    in_a_row: int


class LlmRetry(Record, frozen=True, kw_only=True, tag="llm_retry"):
    """A model call is made again after `wait` seconds; `attempt` is which retry it is."""

    attempt: int
    wait: float
    reason: str


class ToolCalled(Record, frozen=True, kw_only=True, tag="tool_call"):
    """A tool is called; `digest` tells arguments apart that look alike once they are clipped."""

    call_id: str
    name: str
    arguments: str
    digest: str
    run: bool


class ToolResult(Record, frozen=True, kw_only=True, tag="tool_result"):
    """A tool call has its observation: sizes in characters before and after the cut, the error's text clipped.

    A call that was not run, as on the last turn, has an error for an observation too: then `run` is false.
    """

    call_id: str
    name: str
    run: bool
    original_chars: int
    chars: int
    cut: bool
    is_error: bool
    error: str
    seconds: float
    store_id: str | None


class BudgetExtended(Record, frozen=True, kw_only=True, tag="budget_extended", rename=_NAMES):
    """More turns were granted, all that were asked for or a part."""

    requested: Any
    granted: int
    before: int
    after: int
    ceiling: int
    reason: str
    in_part: bool


class BudgetRefused(Record, frozen=True, kw_only=True, tag="budget_refused", rename=_NAMES):
    """More turns were asked for and none were granted; `why` says why."""

    requested: Any
    granted: int
    before: int
    after: int
    ceiling: int
    reason: str
    why: str


class InFlight(msgspec.Struct, frozen=True):
    """Work that ran when time was over: `kind` is model, tool or agent; not `stopped` means that it may still run."""

    kind: str
    name: str
    seconds: float
    stopped: bool


class WatchdogFire(Record, frozen=True, kw_only=True, tag="watchdog_fire"):
    """The time of the cycle was over: what was running, for how long, and whether all of it could be stopped."""

    limit: float
    seconds: float
    running: list[InFlight]
    all_stopped: bool


class Compaction(Record, frozen=True, kw_only=True, tag="compaction"):
    """What is sent of the history became less: by which rule, how many messages, and how many tokens were saved."""

    rule: str
    messages: int
    tokens_saved: int
    exact: bool


class CycleComplete(Record, frozen=True, kw_only=True, tag="cycle_complete"):
    """A cycle is over; `status` and `reason` as in `agentlab.endings.TurnResult`."""

    status: str
    reason: str
    turns: int
    allowed: int
    left: int
    ceiling: int
    extended: bool
    watchdog: bool
    usage: Usage
    seconds: float
    reply_chars: int
    tool_calls: int
    tool_errors: int
    error: str


class AgentCycleComplete(CycleComplete, frozen=True, kw_only=True, tag="agent_cycle_complete"):
    """A cycle that worked for another is over."""


AnyRecord = (
    CycleStart
    | AgentCycleStart
    | LlmRequest
    | LlmResponse
    | LlmRetry
    | ToolCalled
    | ToolResult
    | BudgetExtended
    | BudgetRefused
    | WatchdogFire
    | Compaction
    | CycleComplete
    | AgentCycleComplete
)
TYPES: tuple[type[Record], ...] = AnyRecord.__args__
TERMINAL = frozenset((CycleComplete, AgentCycleComplete))


def type_of(record: Record) -> str:
    """The type of a line, as it stands in it.

    >>> [type_name for kind in TYPES if (type_name := kind.__struct_config__.tag).startswith("agent")]
    ['agent_cycle_start', 'agent_cycle_complete']
    """
    return str(record.__struct_config__.tag)


def clip(text: str, size: int) -> str:
    r"""The text on one line, at most so long.

    >>> clip("one\ntwo three", 9)
    'one tw...'
    """
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size and len(text) <= 4 * size else line[: size - 3] + "..."
