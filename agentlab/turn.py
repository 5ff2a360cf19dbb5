"""One user turn: what the loop appends, what it says to its sinks, and how it ends.

Whatever ends a turn, its open calls are answered: with the results that had come, or with the note that they were
interrupted. So the messages can always be sent again.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentlab.endings import STOPPED_AT, Ending, TurnResult, ending_of, last_words
from agentlab.events import (
    Audience,
    CallFinished,
    CallStarted,
    Repaired,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentlab.messages import Message, Reply, ToolCall, Usage
from agentlab.notes import (
    ASK_AGAIN,
    CALL_NOT_RUN,
    LAST_TURN,
    LAST_TURN_EXTENDABLE,
    NOT_RUN,
    NOT_RUN_LAST,
    REPEATED,
    TOLD_AT,
    TWO_TURNS_LEFT,
)
from agentlab.observe import Observation, Outcome, finish, run_call, run_side_by_side
from agentlab.policy import CHAPTER
from agentlab.providers.masking import mask
from agentlab.repair import INTERRUPTED, call_dict, encodable, open_calls, tool_message, unique_id
from agentlab.scribe import Scribe

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentlab.budgets import Budget, Scope, TurnBudget
    from agentlab.compaction.compactor import Compactor
    from agentlab.conversation import Conversation
    from agentlab.events import Sink
    from agentlab.messages import CallDict
    from agentlab.policy import Compaction, Policy
    from agentlab.providers.base import Provider
    from agentlab.store import Store
    from agentlab.tools import Tool


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
        turns: TurnBudget,
        summariser: Any = None,
    ) -> None:
        self.conversation = conversation
        self.provider = provider
        self.toolbox = toolbox
        self.tools = list(toolbox.values())
        self.policy = policy
        self.scope = scope
        self.audience = Audience(sinks)
        self.scribe = Scribe(conversation, self.audience)
        self.store = store
        self.budget = budget
        self.turns = turns
        self.compactor = None if policy.compaction is None else self._compactor(policy.compaction, summariser)
        self.paint = on_text_delta
        self.usage = Usage()
        self.prompt = ""
        self.started_at = time.time()
        self.tool_calls: list[dict[str, Any]] = []
        self._pieces: list[str] = []  # of a reply that came in several because it was cut
        self._so_far: list[str] = []  # what the running call has said
        self._saying: Message | None = None  # the message that says it
        self._finished = False
        self._asked: set[str] = set()
        self._calls: list[tuple[ToolCall, CallDict]] = []
        self._outcomes: list[Outcome | None] = []
        self._seen: dict[tuple[str, str], tuple[str, int]] = {}

    # -- the steps of the loop

    def begin(self, user_message: str) -> None:
        """Close what an earlier turn left open, and append the user's message."""
        closed = self.conversation.close()
        self.conversation.offer(self.tools)
        self.prompt = mask(encodable(user_message)) if user_message.strip() else "(empty message)"
        if self.audience:
            self.scribe.turn = self.conversation.turn + 1
            for message in closed:
                self.audience.tell(Repaired(self.scribe.turn, f"closed a call of {message['name']} that had no result"))
            self.audience.tell(TurnStarted(self.scribe.turn, self.prompt))
        self.scribe.append({"role": "user", "content": self.prompt})

    def limit_reached(self) -> str | None:
        """Why no other iteration may begin, or None."""
        return self._spent() or (None if self.turns.left > 0 else "max_turns")

    def call_model(self) -> Reply:
        """Make one model call and read its reply: ids made unique, calls without a name dropped."""
        if self.scope is not None:
            self.scope.check()
        self.scribe.iteration += 1
        self.turns.used += 1
        if self.turns.last_turn == "answer":
            self._say_turns_left()
        if self.compactor is not None:
            self.compactor.before_call()
        if CallStarted in self.audience:
            self.audience.tell(CallStarted(*self.scribe.place, int(self.conversation.count)))
        self._so_far, self._saying = [], None
        started = time.perf_counter()
        reply = self._entered(
            self.provider.call(
                self.conversation.view(),
                system=self.conversation.system_view(),
                tools=self.tools,
                on_text_delta=None if self.paint is None else self._on_text,
                scope=self.scope,
                tool_choice="none" if self._is_last() and not self.turns.extendable else "auto",
            )
        )
        self._so_far = [reply.text]
        usage = reply.usage or Usage()
        self.usage = self.usage + usage if self.scribe.iteration > 1 else usage
        if CallFinished in self.audience:
            self.audience.tell(CallFinished(*self.scribe.place, reply, usage, time.perf_counter() - started))
        if self.budget is not None:
            self.budget.spend(usage)
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
            self._append_reply({"role": "assistant", "content": reply.text}, reply)
        if (spent := self._spent()) is not None:
            return Ending("partial", spent)
        self.scribe.say(ASK_AGAIN[fault].format(calls=CALL_NOT_RUN if reply.tool_calls else ""))
        return None

    def answer(self, reply: Reply) -> Ending:
        """Append the final reply."""
        self._append_reply({"role": "assistant", "content": reply.text}, reply)
        return Ending("complete", "reply", "".join([*self._pieces, reply.text]))

    def append_calls(self, reply: Reply) -> None:
        """Append the assistant message that makes the calls."""
        calls = [(call, call_dict(call)) for call in reply.tool_calls]
        self._calls, self._outcomes = calls, [None] * len(calls)
        self._append_reply({"role": "assistant", "content": reply.text, "tool_calls": [d for _, d in calls]}, reply)

    def append_observations(self) -> Ending | None:
        """Run the calls, side by side where there are several, and append what the model sees of them."""
        calls = [call for call, _ in self._calls]
        spent = self._spent()
        if spent is not None:
            self._outcomes = [Outcome(NOT_RUN, is_error=True)] * len(calls)
        elif self._is_last():
            self._run_last(calls)
        elif len(calls) == 1:
            self._say_started(calls)
            self._outcomes[0] = run_call(calls[0], self.toolbox, self.scope)
        else:
            self._say_started(calls)
            run_side_by_side(calls, self.toolbox, self.scope, self._outcomes)
        repeats = self._append_outcomes(self._calls, self._outcomes, self.policy, self.store)
        self._calls, self._outcomes = [], []
        if spent is not None:
            return Ending("partial", spent)
        if repeats == TOLD_AT:
            self.scribe.say(REPEATED.format(count=TOLD_AT))
        return Ending("partial", "repeated_call") if repeats >= STOPPED_AT else None

    def end(self, ending: Ending) -> TurnResult:
        """Close what is open, append a sentence where there is no reply, and say that the turn is over."""
        self.audience.raises = False
        if ending.reason == "sink_error":
            self.store = None
        self.scribe.catch_up()
        self.scribe.tell_decisions()
        self._close()
        text = self._text_of(ending)
        if self.audience.error is not None and ending.error is None:
            ending = ending_of(self.audience.error)
        result = TurnResult(
            text, ending.status, ending.reason, self.scribe.iteration, self.usage, self.tool_calls, ending.error
        )
        if TurnFinished in self.audience and not self._finished:
            self._finished = True
            self._tell_finished(result)
            if self.audience.error is not None and result.error is None:
                return replace(result, status="failed", reason="sink_error", error=self.audience.error)
        return result

    # -- what they are made of

    def _spent(self) -> str | None:
        """The limit of the budget that is reached, if one is."""
        return None if self.budget is None else self.budget.reached()

    def _compactor(self, compaction: Compaction, summariser: Any) -> Compactor:
        from agentlab.compaction.compactor import Compactor

        spend = None if self.budget is None else self.budget.spend
        return Compactor(
            compaction,
            self.scribe,
            self.provider,
            self.toolbox,
            self.store,
            summariser=summariser,
            scope=self.scope,
            spend=spend,
        )

    def _close(self) -> None:
        """Answer the calls that are open: with what had come, and where that cannot be cut, with less."""
        if not open_calls(self.conversation.messages):
            return
        for policy, store in ((self.policy, self.store), (CHAPTER, None)):
            still_open = {call["id"] for call in open_calls(self.conversation.messages)}
            left = [pair for pair in zip(self._calls, self._outcomes, strict=True) if pair[0][1]["id"] in still_open]
            try:
                self._append_outcomes([calls for calls, _ in left], [outcome for _, outcome in left], policy, store)
            except Exception:  # noqa: BLE001, S112 - whatever kept a result from being cut, its call gets an answer
                continue
            break
        self.conversation.close()
        self.scribe.catch_up()

    def _text_of(self, ending: Ending) -> str:
        """The reply; where there is none, the words that are appended in its place."""
        if ending.text is not None:
            return ending.text
        messages = self.conversation.messages
        so_far = "".join(self._so_far)
        if self._saying is not None and any(message is self._saying for message in messages[-len(self._calls) - 3 :]):
            if messages[-1] is self._saying:  # the turn was over, but for saying so
                return "".join([*self._pieces, so_far])
            so_far = ""
        self._so_far = []
        text = encodable(last_words(ending, so_far, self.scribe.iteration))
        if text.strip():
            self.scribe.append({"role": "assistant", "content": text})
        return text

    def _append_reply(self, message: Message, reply: Reply) -> None:
        self._saying = message
        self.scribe.append(message, reply)

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
                    self.audience.tell(Repaired(self.scribe.turn, "dropped a call without a name"))
            calls = tuple(ToolCall(unique_id(c.id, used), c.name, c.arguments) for c in calls if c.name)
        text = encodable(reply.text)
        if text is reply.text and calls is reply.tool_calls and reply.usage is not None:
            return reply
        usage = self.conversation.estimate_usage(reply) if reply.usage is None else reply.usage
        return Reply(text, calls, usage, reply.stop_reason, reply.model)

    def _is_last(self) -> bool:
        """Whether this is the last iteration and the model was told so."""
        return self.turns.left <= 0 and self.turns.last_turn == "answer"

    def _say_turns_left(self) -> None:
        if self._is_last():
            self.scribe.say(
                LAST_TURN_EXTENDABLE.format(tool=self.turns.extend_by) if self.turns.extendable else LAST_TURN
            )
        elif self.turns.left == 1:
            self.scribe.say(TWO_TURNS_LEFT)

    def _run_last(self, calls: list[ToolCall]) -> None:
        """In the last iteration only the call for more turns is run: nobody would read what another one gives."""
        asks = self.turns.extendable and self.turns.extend_by in self.toolbox
        for index, call in enumerate(calls):
            if asks and call.name == self.turns.extend_by:
                self._say_started([call])
                self._outcomes[index] = run_call(call, self.toolbox, self.scope)
            else:
                self._outcomes[index] = Outcome(NOT_RUN_LAST, is_error=True)

    def _say_started(self, calls: list[ToolCall]) -> None:
        if ToolStarted in self.audience:
            for call in calls:
                self.audience.tell(ToolStarted(*self.scribe.place, call))

    def _append_outcomes(
        self,
        pairs: list[tuple[ToolCall, CallDict]],
        outcomes: list[Outcome | None],
        policy: Policy,
        store: Store | None,
    ) -> int:
        """Append an observation for each call, in order; returns how often the most repeated of them has come.

        A call without an outcome was interrupted.
        """
        had = [outcome or Outcome(INTERRUPTED, is_error=True) for outcome in outcomes]
        calls = [call for call, _ in pairs]
        observations = finish(calls, had, self.toolbox, policy=policy, store=store)
        for call, seen in zip(calls, observations, strict=True):
            self._append_observation(call, seen)
        return self._repeats(pairs, observations)

    def _append_observation(self, call: ToolCall, seen: Observation) -> None:
        shown = len(seen.text)
        self.tool_calls.append(
            {"name": call.name, "chars": seen.original_chars, "shown": shown, "is_error": seen.is_error}
        )
        self.scribe.append(tool_message(call.id, call.name, seen.text, is_error=seen.is_error), None, seen)
        if ToolFinished in self.audience:
            self.audience.tell(
                ToolFinished(
                    *self.scribe.place, call, seen.original_chars, shown, seen.is_error, seen.store_id, seen.text
                )
            )

    def _repeats(self, pairs: list[tuple[ToolCall, CallDict]], observations: list[Observation]) -> int:
        """In how many iterations in a row the most repeated of these calls has given the same result."""
        most = 0
        done = set()
        for (call, as_dict), seen in zip(pairs, observations, strict=True):
            key = (call.name, as_dict["function"]["arguments"])
            tool = self.toolbox.get(call.name)
            if key in done or (tool is not None and tool.polling):
                continue
            done.add(key)
            before, count = self._seen.get(key, (None, 0))
            count = count + 1 if before == seen.text else 1
            self._seen[key] = (seen.text, count)
            most = max(most, count)
        return most

    def _tell_finished(self, result: TurnResult) -> None:
        self.audience.tell(
            TurnFinished(
                self.scribe.turn,
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


def iso(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC, to the millisecond.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    whole, rest = divmod(int(seconds * 1000), 1000)
    return f"{_to_the_second(whole)}.{rest:03d}Z"


@lru_cache(maxsize=4)  # many events fall into one second
def _to_the_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
