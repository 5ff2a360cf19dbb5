"""One user turn: what the loop appends, what it says to its sinks, and how it ends.

Whatever ends a turn, its open calls are answered: with the results that had come, or with the note that they were
interrupted. So the messages can always be sent again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import Cancelled, ScopeEnded, SinkError
from agentlab.events import (
    EVENTS,
    CallFinished,
    CallStarted,
    MessageAppended,
    Repaired,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentlab.messages import Message, Reply, ToolCall, Usage
from agentlab.observe import Observation, Outcome, encodable, finish, run_call, run_side_by_side
from agentlab.repair import INTERRUPTED, open_calls, tool_message, unique_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.budgets import Budget, Scope
    from agentlab.conversation import Conversation
    from agentlab.events import Event, Sink
    from agentlab.messages import CallDict
    from agentlab.policy import Policy
    from agentlab.providers.base import Provider
    from agentlab.store import Store
    from agentlab.tools import Tool

TOLD_AT, STOPPED_AT = 3, 5

SENTENCES = {
    "max_turns": "I stopped after {iterations} model calls without a final reply. What I found so far is above.",
    "max_cost": "I stopped because the cost limit of this run was reached. What I found so far is above.",
    "token_budget": "I stopped because the token limit of this run was reached. What I found so far is above.",
    "output_limit": "I stopped because my reply was cut at the output limit twice.",
    "repeated_call": "I stopped because I made the same call {stopped_at} times with the same result.",
    "deadline": "I stopped because the time for this run was over. What I found so far is above.",
    "blank_reply": "The model gave an empty reply twice, so there is no answer.",
    "sink_error": "I stopped because this session could not be written: {error}",
    "interrupted": "I was stopped: {error}",
}
ASK_AGAIN = {
    "output_limit": "Your last reply was cut at the output limit. {calls}Go on from where it stopped, and be shorter.",
    "blank_reply": "Your last reply was empty. Answer the user's message, or say why you cannot.",
}
CALL_NOT_RUN = "A tool call in it was incomplete and was not run: make it again, with shorter arguments. "
NOT_RUN = Outcome("Error: not run: the limit of this run was reached.", is_error=True)
REPEATED = (
    "You have made the same call {count} times with the same arguments and the same result. Another one will not tell "
    "you more: use what you have, change the arguments, or answer."
)


class Ending(msgspec.Struct, frozen=True):
    """How a turn ended; see `TurnResult`."""

    status: str
    reason: str
    text: str | None = None
    error: BaseException | None = None


class TurnResult(msgspec.Struct, frozen=True):
    """What a turn gave.

    Attributes:
        text: The reply, or the sentence that was appended in its place.
        status: `complete`, `partial`, `failed` or `cancelled`.
        reason: `reply`; `max_turns`, `max_cost`, `token_budget`, `output_limit`, `repeated_call`; `provider_error`,
            `context_window`, `deadline`, `blank_reply`, `sink_error`; `interrupted`.
        iterations: Model calls made.
        usage: Summed over them.
        tool_calls: Name, size before and after the cut, and whether it failed, for each call in order.
        error: What was raised, where something was.
    """

    text: str
    status: str
    reason: str
    iterations: int
    usage: Usage
    tool_calls: list[dict[str, Any]]
    error: BaseException | None = None


def ending_of_scope(error: ScopeEnded) -> Ending:
    """Cancelled by somebody, or out of time."""
    if isinstance(error, Cancelled):
        return Ending("cancelled", "interrupted", error=error)
    return Ending("failed", "deadline", error=error)


class Turn:
    """The state of one turn; made by `run_turn`, which documents the arguments."""

    def __init__(
        self,
        conversation: Conversation,
        provider: Provider,
        toolbox: dict[str, Tool],
        *,
        policy: Policy,
        on_text_delta: Callable[[str], None] | None,
        scope: Scope | None,
        sinks: list[Sink],
        store: Store | None,
        budget: Budget | None,
        max_iterations: int,
    ) -> None:
        self.conversation = conversation
        self.provider = provider
        self.toolbox = toolbox
        self.tools = list(toolbox.values())
        self.policy = policy
        self.scope = scope
        self.listeners = listeners_of(sinks)
        self.store = store
        self.budget = budget
        self.max_iterations = max_iterations
        self.paint = on_text_delta
        self.iterations = 0
        self.usage = Usage()
        self.prompt = ""
        self.number = 0
        self.started_at = time.time()
        self.tool_calls: list[dict[str, Any]] = []
        self._pieces: list[str] = []  # of a reply that came in several because it was cut
        self._so_far: list[str] = []  # text of the model that is not in the messages yet
        self._asked: set[str] = set()
        self._calls: list[tuple[ToolCall, CallDict]] = []
        self._outcomes: list[Outcome | None] = []
        self._limit: str | None = None
        self._seen: dict[tuple[str, str], tuple[str, int]] = {}
        self._over = False
        self._sink_error: SinkError | None = None

    # -- the steps of the loop

    def begin(self, user_message: str) -> None:
        """Close what an earlier turn left open, and append the user's message."""
        closed = self.conversation.close()
        self.conversation.offer(self.tools)
        self.prompt = encodable(user_message) if user_message.strip() else "(empty message)"
        if self.listeners:
            self.number = self.conversation.turn + 1
            for message in closed:
                self.emit(Repaired(self.number, f"closed a call of {message['name']} that had no result"))
            self.emit(TurnStarted(self.number, self.prompt))
        self._append({"role": "user", "content": self.prompt})

    def call_model(self) -> Reply:
        """Make one model call and read its reply: ids made unique, calls without a name dropped."""
        if self.scope is not None:
            self.scope.check()
        self.iterations += 1
        if CallStarted in self.listeners:
            self.emit(CallStarted(self.number, self.iterations, self.conversation.count.total.n))
        started = time.perf_counter()
        reply = self._entered(
            self.provider.call(
                self.conversation.view(),
                system=self.conversation.system,
                tools=self.tools,
                on_text_delta=None if self.paint is None else self._on_text,
                scope=self.scope,
            )
        )
        self._so_far = [reply.text]
        usage = reply.usage or Usage()
        self.usage = self.usage + usage if self.iterations > 1 else usage
        if CallFinished in self.listeners:
            self.emit(CallFinished(self.number, self.iterations, reply, usage, time.perf_counter() - started))
        if self.budget is not None:
            self._limit = self.budget.spend(usage)
        return reply

    def fault_of(self, reply: Reply) -> str | None:
        """What keeps a reply from being taken as it is: it was cut, or it is blank."""
        if reply.stop_reason in ("max_tokens", "context_window"):
            return "output_limit"
        return "blank_reply" if not reply.tool_calls and not reply.text.strip() else None

    def ask_again(self, fault: str, reply: Reply) -> Ending | None:
        """Keep the text that came and ask once more; a call that was cut is never run. The second time it is over."""
        if fault in self._asked:
            return Ending("failed" if fault == "blank_reply" else "partial", fault)
        self._asked.add(fault)
        if reply.text.strip():
            self._pieces.append(reply.text)
            self._append({"role": "assistant", "content": reply.text}, reply)
        self._so_far = []
        if self._limit is not None:
            return Ending("partial", self._limit)
        self._say(ASK_AGAIN[fault].format(calls=CALL_NOT_RUN if reply.tool_calls else ""))
        return None

    def answer(self, reply: Reply) -> Ending:
        """Append the final reply."""
        self._append({"role": "assistant", "content": reply.text}, reply)
        self._so_far = []
        return Ending("complete", "reply", "".join([*self._pieces, reply.text]))

    def append_calls(self, reply: Reply) -> None:
        """Append the assistant message that makes the calls."""
        calls = [(call, _as_dict(call)) for call in reply.tool_calls]
        self._calls, self._outcomes = calls, [None] * len(calls)
        self._append({"role": "assistant", "content": reply.text, "tool_calls": [d for _, d in calls]}, reply)
        self._so_far = []

    def append_observations(self) -> Ending | None:
        """Run the calls, side by side where there are several, and append what the model sees of them."""
        calls = [call for call, _ in self._calls]
        if self._limit is not None:
            self._outcomes = [NOT_RUN] * len(calls)
        elif len(calls) == 1:
            self._say_started(calls)
            self._outcomes[0] = run_call(calls[0], self.toolbox, self.scope)
        else:
            self._say_started(calls)
            run_side_by_side(calls, self.toolbox, self.scope, self._outcomes)
        repeats = self._append_outcomes(self._calls, self._outcomes)
        self._calls, self._outcomes = [], []
        if self._limit is not None:
            return Ending("partial", self._limit)
        if repeats == TOLD_AT:
            self._say(REPEATED.format(count=TOLD_AT))
        return Ending("partial", "repeated_call") if repeats >= STOPPED_AT else None

    def end(self, ending: Ending) -> TurnResult:
        """Close what is open, append a sentence where there is no reply, and say that the turn is over."""
        self._over = True
        if ending.reason == "sink_error":
            self.store = None
        still_open = {call["id"] for call in open_calls(self.conversation.messages)}
        left = [pair for pair in zip(self._calls, self._outcomes, strict=True) if pair[0][1]["id"] in still_open]
        self._append_outcomes([calls for calls, _ in left], [outcome for _, outcome in left])
        text = ending.text
        if text is None:
            text = self._last_words(ending)
            self._so_far = []
            if text.strip():
                self._append({"role": "assistant", "content": text})
        if self._sink_error is not None and ending.error is None:
            ending = Ending("failed", "sink_error", error=self._sink_error)
        result = TurnResult(
            text, ending.status, ending.reason, self.iterations, self.usage, self.tool_calls, ending.error
        )
        if TurnFinished in self.listeners:
            self._emit_finished(result)
        return result

    # -- what they are made of

    def emit(self, event: Event) -> None:
        """Hand an event to every sink that hears it; one that fails hears no more.

        Raises:
            SinkError: A sink failed, and the turn is not over yet.
        """
        for sink in self.listeners.get(type(event), ()):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a sink is foreign code; its failure is an ending
                self.listeners = {kind: [s for s in known if s is not sink] for kind, known in self.listeners.items()}
                self._sink_error = SinkError(f"{type(error).__name__}: {error}")
                self._sink_error.__cause__ = error
        if self._sink_error is not None and not self._over:
            raise self._sink_error

    def _append(self, message: Message, reply: Reply | None = None, observation: Observation | None = None) -> None:
        usage = None if reply is None else reply.usage
        self.conversation.append(message, usage)
        if MessageAppended in self.listeners:
            self.emit(
                MessageAppended(
                    self.number,
                    self.iterations,
                    time.time(),
                    message,  # type: ignore[arg-type]  # a TypedDict is a dict
                    self.conversation.last_tokens,
                    usage is not None and usage.exact,
                    None if observation is None else observation.original_chars,
                    None if observation is None else observation.store_id,
                    usage,
                    None if reply is None else reply.stop_reason,
                    None if reply is None else reply.model,
                )
            )

    def _say(self, text: str) -> None:
        """What the loop itself says to the model in mid-turn."""
        self._append({"role": "user", "content": text, "origin": "loop"})

    def _on_text(self, piece: str) -> None:
        self._so_far.append(piece)
        if self.paint is not None:
            self.paint(piece)

    def _entered(self, reply: Reply) -> Reply:
        """The reply as it may stand in the messages, with its usage."""
        calls = reply.tool_calls
        if len(calls) > 1 or (calls and not (calls[0].id and calls[0].name)):
            used: set[str] = set()
            for call in calls:
                if not call.name:
                    self.emit(Repaired(self.number, "dropped a call without a name"))
            calls = tuple(ToolCall(unique_id(c.id, used), c.name, c.arguments) for c in calls if c.name)
        text = encodable(reply.text)
        if text is reply.text and calls is reply.tool_calls and reply.usage is not None:
            return reply
        usage = self.conversation.estimate_usage(reply) if reply.usage is None else reply.usage
        return Reply(text, calls, usage, reply.stop_reason, reply.model)

    def _say_started(self, calls: list[ToolCall]) -> None:
        if ToolStarted in self.listeners:
            for call in calls:
                self.emit(ToolStarted(self.number, self.iterations, call))

    def _append_outcomes(self, pairs: list[tuple[ToolCall, CallDict]], outcomes: list[Outcome | None]) -> int:
        """Append an observation for each call, in order; returns how often the most repeated of them has come.

        A call without an outcome was interrupted.
        """
        had = [outcome or Outcome(INTERRUPTED, is_error=True) for outcome in outcomes]
        observations = finish([call for call, _ in pairs], had, self.toolbox, policy=self.policy, store=self.store)
        repeats = 0
        for (call, call_dict), seen in zip(pairs, observations, strict=True):
            repeats = max(repeats, self._append_observation(call, call_dict, seen))
        return repeats

    def _append_observation(self, call: ToolCall, call_dict: CallDict, seen: Observation) -> int:
        shown = len(seen.text)
        self.tool_calls.append(
            {"name": call.name, "chars": seen.original_chars, "shown": shown, "is_error": seen.is_error}
        )
        self._append(tool_message(call.id, call.name, seen.text, is_error=seen.is_error), None, seen)
        if ToolFinished in self.listeners:
            self.emit(
                ToolFinished(
                    self.number, self.iterations, call, seen.original_chars, shown, seen.is_error, seen.store_id
                )
            )
        tool = self.toolbox.get(call.name)
        if tool is not None and tool.polling:
            return 0
        key = (call.name, call_dict["function"]["arguments"])
        text, count = self._seen.get(key, (None, 0))
        count = count + 1 if text == seen.text else 1
        self._seen[key] = (seen.text, count)
        return count

    def _last_words(self, ending: Ending) -> str:
        """What is appended where there is no reply: the text that had come, and a sentence on why there is no more."""
        so_far = "".join(self._so_far) or getattr(ending.error, "text", "")
        if isinstance(ending.error, KeyboardInterrupt):
            sentence = "[interrupted by the user]" if so_far.strip() else ""
        else:
            sentence = SENTENCES.get(ending.reason, "").format(
                iterations=self.iterations, stopped_at=STOPPED_AT, error=ending.error
            )
        return encodable("\n\n".join(part for part in (so_far, sentence) if part.strip()))

    def _emit_finished(self, result: TurnResult) -> None:
        self.emit(
            TurnFinished(
                self.number,
                self.prompt,
                result.text,
                result.status,
                result.reason,
                result.iterations,
                result.usage,
                result.tool_calls,
                iso(self.started_at),
                iso(time.time()),
            )
        )


def listeners_of(sinks: list[Sink]) -> dict[type[Event], list[Sink]]:
    """The sinks by the kind of event that they hear: those in their attribute `hears`, or all."""
    listeners: dict[type[Event], list[Sink]] = {}
    for sink in sinks:
        for kind in getattr(sink, "hears", EVENTS):
            listeners.setdefault(kind, []).append(sink)
    return listeners


def iso(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC, to the millisecond.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03d}Z"


def _as_dict(call: ToolCall) -> CallDict:
    """A call as it stands in the messages; arguments that did not parse stay as they came."""
    arguments: Any = call.arguments
    if not isinstance(arguments, str):
        try:
            arguments = msgspec.json.encode(arguments).decode()
        except UnicodeEncodeError:
            arguments = encodable(json_with_surrogates(arguments))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": encodable(arguments)}}


def json_with_surrogates(value: Any) -> str:
    """JSON text of a value whose strings cannot be encoded."""
    import json

    return json.dumps(value, ensure_ascii=False)
