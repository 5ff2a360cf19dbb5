"""The loop: call the model, run the tools that it asks for, show it what they gave, until it answers.

Read `_iterate` first: it is the whole loop. Its steps are methods of `agentlab.turn.Turn`:

- `call_model` sends all messages to the provider and returns its reply
- `append_calls` appends the assistant message that asks for tools
- `append_observations` runs them, cuts what they gave to its limit, and appends it as tool messages
- `answer` appends the final reply

`run_turn` puts an ending around it, whatever happens; `agent_step` is the chapter's form of it, over a plain list. A
*scope* is a deadline that can also be cancelled; a *sink* is a function that is told of every event, such as the one
that writes the session folder. What the loop says to the model stands in `agentlab.notes`, how a turn can end in
`agentlab.endings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.budgets import TurnBudget
from agentlab.builtin_tools import TOOLS
from agentlab.conversation import Conversation
from agentlab.endings import Ending, TurnResult, ending_of
from agentlab.errors import ProviderError, ScopeEnded, SinkError
from agentlab.policy import CHAPTER, Policy
from agentlab.providers.base import adapt
from agentlab.tools import toolbox
from agentlab.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentlab.budgets import Budget, Scope
    from agentlab.events import Sink
    from agentlab.messages import Message
    from agentlab.store import Store
    from agentlab.tools import Tool

__all__ = ["MAX_ITERATIONS", "TOOLS", "TurnResult", "agent_step", "run_turn"]

MAX_ITERATIONS = 10


def agent_step(
    user_message: str,
    messages: list[Message],
    provider: Any,
    system: str,
    on_text_delta: Callable[[str], None] | None = None,
    **settings: Any,
) -> str:
    """Run one user turn over a plain list, which is mutated in place, and return the reply.

    Args:
        user_message: What the user says.
        messages: The history: this turn's messages are appended, the final reply just before it is returned.
        provider: Anything with `call(messages, system=, tools=)`.
        system: The system prompt.
        on_text_delta: Called with each piece of the reply's text as it arrives.
        settings: What `run_turn` takes besides.

    Raises:
        ProviderError: The model call failed; `ContextWindowError` where the prompt was too large.
        KeyboardInterrupt: Ctrl-C. In each case `messages` can be sent again and holds all that was observed.

    Source: the chapter's loop, with continuation.

    >>> from agentlab.providers.scripted import ScriptedModel, call
    >>> messages = []
    >>> agent_step("How many words?", messages, ScriptedModel([call("wordcount", text="a b c"), "Three."]), "Be brief.")
    'Three.'
    >>> [message["role"] for message in messages]
    ['user', 'assistant', 'tool', 'assistant']
    """
    conversation = Conversation(messages, system=system)
    result = run_turn(conversation, user_message, provider, on_text_delta=on_text_delta, **settings)
    if isinstance(result.error, ProviderError | KeyboardInterrupt):
        raise result.error
    return result.text


def run_turn(
    conversation: Conversation,
    user_message: str,
    provider: Any,
    *,
    tools: Iterable[Tool] | None = None,
    policy: Policy = CHAPTER,
    on_text_delta: Callable[[str], None] | None = None,
    scope: Scope | None = None,
    sinks: Iterable[Sink] = (),
    store: Store | None = None,
    budget: Budget | None = None,
    max_iterations: int | None = None,
    turns: TurnBudget | None = None,
    summariser: Any = None,
) -> TurnResult:
    """Run one user turn and return how it ended; what went wrong stands in `TurnResult.error`.

    Only a bug in a provider or a callback is raised, and `asyncio.CancelledError`; the messages are valid then too.

    Args:
        conversation: What it appends to.
        user_message: What the user says.
        provider: Anything with `call(messages, system=, tools=)`.
        tools: What the model may call; None takes `TOOLS` as it is now.
        policy: How observations are cut, and what is no longer sent later on.
        on_text_delta: Called with each piece of text as it arrives.
        scope: Ends the turn early, by time or by `cancel`.
        sinks: Are given every event, in order.
        store: Keeps in full what was cut.
        budget: Tokens and dollars that may be spent.
        max_iterations: Cap of model calls; None takes `MAX_ITERATIONS` as it is now.
        turns: A budget of model calls instead, which may be extended while the turn runs.
        summariser: The provider that summarises old turns where the policy says so; None takes `provider`.
    """
    turn = Turn(
        conversation,
        adapt(provider),
        toolbox(TOOLS if tools is None else tools),
        policy=policy,
        on_text_delta=on_text_delta,
        scope=scope,
        sinks=list(sinks),
        store=store,
        budget=budget,
        turns=turns or TurnBudget(MAX_ITERATIONS if max_iterations is None else max_iterations),
        summariser=summariser,
    )
    try:
        ending = _iterate(turn, user_message)
    except (KeyboardInterrupt, ScopeEnded, ProviderError, SinkError) as error:
        ending = ending_of(error)
    except BaseException as error:  # a bug, or a cancelled task: it goes on its way once the messages are valid
        turn.end(ending_of(error))
        raise
    try:
        return turn.end(ending)
    except KeyboardInterrupt as error:  # pressed while the end was being written: what is open is closed all the same
        return turn.end(ending_of(error))


def _iterate(turn: Turn, user_message: str) -> Ending:
    """The loop itself."""
    turn.begin(user_message)
    while (limit := turn.limit_reached()) is None:
        reply = turn.call_model()

        if (fault := turn.fault_of(reply)) is not None:  # blank, or cut at the output limit
            if (ending := turn.ask_again(fault, reply)) is not None:
                return ending
            continue

        if not reply.tool_calls:
            return turn.answer(reply)

        turn.append_calls(reply)
        if (ending := turn.append_observations()) is not None:  # a limit was reached, or the model runs in circles
            return ending
    return Ending("partial", limit)
