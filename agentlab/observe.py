"""From a call to an observation: the text that the model sees of what its tool did.

Success, an error, a timeout and an unknown tool all become text. A result is cut once, here; the full text goes to
the store, and the note in the cut says how to read it back.
"""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.arguments import read_arguments
from agentlab.budgets import LONGEST_WAIT, Scope, run_in_thread
from agentlab.errors import ScopeEnded, SinkError, UnknownToolError, is_stop
from agentlab.policy import CHAPTER, Limit, Policy, own_limit
from agentlab.providers.masking import mask
from agentlab.repair import encodable
from agentlab.truncate import cut, drop_fields, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentlab.messages import ToolCall
    from agentlab.store import Store
    from agentlab.tools import Tool

READ_BACK = "read_result"
MOST_ITEMS = 10_000


class Outcome(msgspec.Struct, frozen=True):
    """What a call gave, before any cut: what the tool returned, or the text of an error."""

    result: Any
    is_error: bool = False


class Observation(msgspec.Struct, frozen=True):
    """What the model sees of a call: `original_chars` before the cut; `store_id` where the full text is kept."""

    text: str
    is_error: bool
    original_chars: int
    store_id: str | None = None


def observe(
    call: ToolCall,
    toolbox: Mapping[str, Tool],
    *,
    policy: Policy = CHAPTER,
    store: Store | None = None,
    scope: Scope | None = None,
) -> Observation:
    """Run one call and return what the model sees of it.

    Args:
        call: What the model asked for.
        toolbox: Tools by name.
        policy: Limits.
        store: Keeps full texts, where there is one.
        scope: Ends the call early.

    Raises:
        ScopeEnded: The scope ended before the tool did.

    >>> from agentlab.messages import ToolCall
    >>> observe(ToolCall("1", "nwo", {}), {"now": None}).text
    "Error: UnknownToolError: there is no tool 'nwo'. Did you mean 'now'?"
    """
    return finish([call], [run_call(call, toolbox, scope)], toolbox, policy=policy, store=store)[0]


def run_call(call: ToolCall, toolbox: Mapping[str, Tool], scope: Scope | None = None) -> Outcome:
    """Run one call; whatever the tool raises becomes an error outcome.

    Raises:
        ScopeEnded: The scope ended before the tool did.
        KeyboardInterrupt: Ctrl-C; likewise `asyncio.CancelledError`.
    """
    try:
        tool = toolbox.get(call.name)
        if tool is None:
            raise UnknownToolError(_unknown_tool(call.name, toolbox))
        return Outcome(_run(tool, read_arguments(tool, call.arguments), scope))
    except BaseException as error:
        if is_stop(error) or (isinstance(error, ScopeEnded) and scope is not None and scope.ended()):
            raise
        return Outcome(error_text(error), is_error=True)


def run_side_by_side(
    calls: Sequence[ToolCall],
    toolbox: Mapping[str, Tool],
    scope: Scope | None,
    outcomes: list[Outcome | None],
) -> None:
    """Run several calls on daemon threads and fill `outcomes`, in call order, as they finish.

    Raises:
        ScopeEnded: The scope ended first; what had finished stands in `outcomes`.
        KeyboardInterrupt: Ctrl-C; likewise.
    """
    scope = scope or Scope()
    all_done = threading.Semaphore(0)
    failures: list[BaseException] = []

    def work(index: int) -> None:
        try:
            outcome = run_call(calls[index], toolbox, scope)
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it again
            failures.append(error)
        else:
            outcomes[index] = outcome
        all_done.release()

    for index in range(len(calls)):
        threading.Thread(target=copy_context().run, args=(work, index), daemon=True).start()
    undo = scope.on_cancel(lambda: all_done.release(len(calls)))
    try:
        missing = len(calls)
        while missing:
            missing -= all_done.acquire(timeout=min(scope.remaining(), LONGEST_WAIT))
            if failures and not isinstance(failures[0], ScopeEnded):
                raise failures[0]
            scope.check()
    finally:
        undo()


def finish(
    calls: Sequence[ToolCall],
    outcomes: Sequence[Outcome],
    toolbox: Mapping[str, Tool],
    *,
    policy: Policy = CHAPTER,
    store: Store | None = None,
) -> list[Observation]:
    """Cut the outcomes of one iteration: each to its own limit, then all together to the iteration's."""
    can_read_back = store is not None and READ_BACK in toolbox
    said, limits, stores = [], [], []
    for call, outcome in zip(calls, outcomes, strict=True):
        said.append(each := _said(call, outcome, toolbox))
        limits.append(_limit(call, each, toolbox, policy))
        stores.append(store if store is not None and _keeps(call, toolbox) else None)
    if policy.per_iteration is not None:
        limits = _share(policy.per_iteration, said, limits)
    return [
        _observation(each, limit, policy, place, can_read_back=can_read_back)
        for each, limit, place in zip(said, limits, stores, strict=True)
    ]


def _share(together: Limit, said: Sequence[_Said], limits: list[Limit]) -> list[Limit]:
    """Lower the largest until all fit into the limit of the iteration: small results stay whole."""
    sizes = [measure(_cut(each.text, limit, None), together.unit) for each, limit in zip(said, limits, strict=True)]
    if sum(sizes) <= together.value:
        return limits
    left, level = together.value, 0
    for rank, size in enumerate(sorted(sizes)):
        level = left // (len(sizes) - rank)
        if size > level:
            break
        left -= size
    return [
        Limit(level, together.unit, limit.strategy, limit.ratio) if size > level else limit
        for size, limit in zip(sizes, limits, strict=True)
    ]


def _cut(text: str, limit: Limit, key: Callable[[], str] | None) -> str:
    """The text within a limit; the same object where it fits."""
    if limit.unit == "characters" and len(text) <= limit.value:
        return text
    return cut(text, limit.value, limit.strategy, unit=limit.unit, ratio=limit.ratio, ref=key).text


def error_text(error: BaseException) -> str:
    """The error as the model reads it: class and message, no stack.

    >>> error_text(KeyError("path"))
    "Error: KeyError: 'path'"
    """
    from traceback import format_exception_only

    kind = type(error)
    try:
        lines = "".join(format_exception_only(error)).strip().splitlines()
    except Exception:  # noqa: BLE001 - an error may fail to say what it is
        return f"Error: {kind.__name__}"
    # The class may come with its module and the function that made it, and after the place in a file.
    said = [line.removeprefix(f"{kind.__module__}.") for line in lines]
    start = next((number for number, line in enumerate(said) if line.startswith(kind.__qualname__)), 0)
    said[start] = said[start].replace(kind.__qualname__, kind.__name__, 1)
    return "Error: " + "\n".join(said[start:])


def _unknown_tool(name: str, toolbox: Mapping[str, Tool]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, toolbox, n=1)
    if close:
        return f"there is no tool {name!r}. Did you mean {close[0]!r}?"
    if not toolbox:
        return f"there is no tool {name!r}, and no other: answer without tools."
    return f"there is no tool {name!r}. The tools are: {', '.join(sorted(toolbox))}."


def _run(tool: Tool, arguments: dict[str, Any], scope: Scope | None) -> Any:
    """Run the tool: inline where nothing could end it early, else on a daemon thread."""
    if tool.timeout is None and scope is None:
        return tool.run(**arguments, scope=None) if tool.takes_scope else tool.run(**arguments)
    own = scope
    if own is None or tool.timeout is not None or tool.takes_scope:
        own = (scope or Scope()).child(tool.timeout)
    if tool.takes_scope:
        arguments = {**arguments, "scope": own}
    try:
        return run_in_thread(partial(tool.run, **arguments), own)
    except ScopeEnded:
        if not own.ended() or (scope is not None and scope.ended()):
            raise  # the tool's own, or everybody's
        raise TimeoutError(
            f"{tool.name} had no result after {tool.timeout:g} s and was given up; it may still be running. "
            "Ask for less, or go on without it."
        ) from None


class _Said(msgspec.Struct, frozen=True):
    """An outcome in words, not cut yet."""

    text: str
    is_error: bool


def _said(call: ToolCall, outcome: Outcome, toolbox: Mapping[str, Tool]) -> _Said:
    """An outcome in words that are never empty and can be encoded."""
    if outcome.is_error:
        return _Said(mask(encodable(str(outcome.result))), is_error=True)
    tool = toolbox[call.name]
    try:
        text = mask(encodable(_as_text(outcome.result)))
    except Exception as error:  # noqa: BLE001 - what a tool returned may fail to say what it is
        return _Said(mask(encodable(error_text(error))), is_error=True)
    if tool.keep_fields is not None:
        text = drop_fields(text, tool.keep_fields)
    return _Said(text if text and not text.isspace() else f"({tool.name} returned nothing)", is_error=False)


def _as_text(result: Any) -> str:
    """A result as text: JSON for what JSON has."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    if isinstance(result, bytes | bytearray):
        return bytes(result).decode(errors="replace")
    if isinstance(result, dict | list | tuple | bool | int | float):
        return _as_json(result)
    if hasattr(result, "__next__"):
        items = list(islice(result, MOST_ITEMS))
        return "".join(items) if all(isinstance(item, str) for item in items) else _as_json(items)
    return str(result)


def _as_json(value: Any) -> str:
    """JSON of a value; what JSON has not becomes a list where it can, else text."""
    try:
        return msgspec.json.encode(value, enc_hook=lambda other: getattr(other, "tolist", other.__str__)()).decode()
    except UnicodeEncodeError:
        from json import dumps

        return dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return repr(value)


def _limit(call: ToolCall, said: _Said, toolbox: Mapping[str, Tool], policy: Policy) -> Limit:
    """The limit of one outcome."""
    if said.is_error:
        return policy.errors
    tool = toolbox[call.name]
    if tool.name in policy.limits:
        return policy.limits[tool.name]
    over = policy.store_over is not None and tool.stored and len(said.text) > policy.store_over
    if over and policy.preview is not None:
        return policy.preview
    if not tool.stored:  # it pages by itself, within its own limit
        return own_limit(tool.max_observation_chars, tool.strategy)
    return policy.limit_for(tool.name, tool.max_observation_chars, tool.strategy)


def _keeps(call: ToolCall, toolbox: Mapping[str, Tool]) -> bool:
    """Whether the full text of this call may be stored: not what was read back from the store."""
    tool = toolbox.get(call.name)
    return tool is None or tool.stored


def _observation(said: _Said, limit: Limit, policy: Policy, store: Store | None, *, can_read_back: bool) -> Observation:
    text = said.text
    if store is None:
        return Observation(_visible(_cut(text, limit, None), limit), said.is_error, len(text))
    key: str | None = None

    def keep() -> str:
        nonlocal key
        key = _stored(store, text)
        return key

    shown = _cut(text, limit, keep if can_read_back else None)
    if key is None and (shown is not text or (policy.store_over is not None and len(text) > policy.store_over)):
        keep()
    return Observation(_visible(shown, limit), said.is_error, len(text), key)


def _visible(shown: str, limit: Limit) -> str:
    """What is shown; a limit that leaves nothing is said, since a provider takes no empty text."""
    return shown if shown and not shown.isspace() else f"(nothing shown: the limit is {limit.value} {limit.unit})"


def _stored(store: Store, text: str) -> str:
    """Keep a text.

    Raises:
        SinkError: The disk refused.
    """
    try:
        return store.put(text)
    except OSError as error:
        raise SinkError(f"a result could not be stored: {error}") from error
