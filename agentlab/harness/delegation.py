"""What the cog can ask of its harness: more turns, what happened so far, and the work of an agent."""

# The docstrings of tools are read by models, which know nothing of `scope`.
# ruff: noqa: D417

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agentlab.budgets import Scope  # noqa: TC001 - `tool` reads the annotations
from agentlab.endings import Ending, last_words
from agentlab.errors import AgentEnded, ToolError
from agentlab.harness.actors import EXTEND
from agentlab.harness.cycle import CURRENT, Cycle
from agentlab.tools import Tool, tool
from agentlab.truncate import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.conversation import Conversation
    from agentlab.harness.actors import Actor
    from agentlab.harness.cycle import CycleResult
    from agentlab.messages import Message

    Delegate = Callable[[Actor, Cycle, str, str, Scope], tuple[CycleResult, Conversation]]

EXHAUSTED = "max_turns exhausted without final reply"
NARROWER = "tell the user what is known, or call it again with a narrower brief."
LIKELY = (
    "likely causes are an outage of the provider, a refused key or a broken network, which no other brief changes. "
    "Tell the user."
)
PARTIAL_CHARS = 1_000
"""How much of an agent's text stands in the error that tells of its end."""


def current_cycle() -> Cycle:
    """The cycle that runs here.

    Raises:
        ToolError: None does, or it is over: this is a thread that it left behind.
    """
    cycle = CURRENT.get()
    if cycle is None or cycle.writer.ended:
        raise ToolError("no cycle is running: this works inside of one")
    return cycle


@tool(name=EXTEND)
def request_more_turns(additional: int, reason: str) -> str:
    """Ask for more turns in this cycle. The answer says how many were granted, which can be fewer.

    Only for work that truly needs them: a diagnosis across several agents, a long chain of delegations, a check before
    acting. Ordinary work fits into the turns of the start.

    Args:
        additional: How many more, from 1.
        reason: What they are for; it is logged.
    """
    cycle = current_cycle()
    extension = cycle.extend(additional, reason)
    left = f"{cycle.turns.left} of {extension.after} turns are left"
    if not extension.granted:
        raise ToolError(f"0 turns were granted: {extension.refused}. {left}: answer with what you have in time.")
    granted = f"{extension.granted} turns"
    granted += "" if extension.granted == additional else f" of the {additional} asked for"
    end = "" if cycle.turns.extendable else f" The ceiling of {extension.ceiling} is reached: there will be no more."
    return f"{granted} were granted. {left}.{end}"


def agent_tool(actor: Actor, delegate: Delegate) -> Tool:
    """The tool `agent_NAME`, by which the cog hands work to an agent.

    Args:
        actor: The agent.
        delegate: Runs the agent's cycle; returns how it ended and its conversation.
    """

    @tool(name=f"agent_{actor.name}")
    def agent(instruction: str, context: str = "", scope: Scope | None = None) -> str:
        """Hand a part of the work to an agent.

        Args:
            instruction: What to find out or do, complete in itself.
            context: What it needs to know besides: paths, ids, what was tried before.
        """
        caller = current_cycle()
        if caller.depth:
            raise ToolError("an agent does not call agents: do the work with your own tools, or report what is missing")
        if not instruction.strip():
            raise ToolError("the instruction is empty: say what the agent is to do")
        result, conversation = delegate(actor, caller, instruction, context, scope or caller.scope)
        caller.scope.check()  # the caller's own end is no result of the agent
        if result.status != "complete":
            raise AgentEnded(ended_text(actor, result, conversation.messages))
        return result.text

    agent.description = (
        f"{actor.purpose} It starts without this conversation and has {actor.turns} turns and {actor.seconds:g} s; you "
        "get its final reply."
    )
    return agent


def ended_text(actor: Actor, result: CycleResult, messages: Sequence[Message]) -> str:
    """What the caller reads of an agent that ended without a final reply: why, what it spent, what it had by then."""
    ended = result.result
    why = {
        "max_turns": EXHAUSTED,
        "deadline": f"time was over after {result.seconds:.1f} s without final reply",
        "provider_error": f"its model calls failed: {ended.error}",
        "context_window": f"its context was full: {ended.error}",
    }.get(ended.reason, f"{ended.status} ({ended.reason}) without final reply")
    used = Counter(call["name"] for call in ended.tool_calls)
    failed = sum(bool(call["is_error"]) for call in ended.tool_calls)
    tools = ", ".join(f"{name} {count}" for name, count in used.most_common()) or "none"
    text = partial_text(result, messages)
    had = f"Its text so far: {text}" if text else "It had written no text."
    return (
        f"{why}. The {actor.name} used {result.turns} of {result.allowed} turns; tools: {tools}"
        f"{f' ({failed} failed)' if failed else ''}; cycle {result.cycle}.\n{had}\n"
        "This is information about the agent, not a fault of your call: "
        f"{LIKELY if ended.reason == 'provider_error' else NARROWER}"
    )


def partial_text(result: CycleResult, messages: Sequence[Message]) -> str:
    """What an agent had written when it ended, cut in the middle; without text, the last result that it saw."""
    ended = result.result
    sentence = last_words(Ending(ended.status, ended.reason, error=ended.error), "", ended.iterations)
    said = [m["content"].removesuffix(sentence).strip() for m in messages if m["role"] == "assistant"]
    text = "\n".join(part for part in said if part)
    if not text:
        seen = [m for m in messages if m["role"] == "tool" and not m.get("is_error")]
        text = f"(none; the last result that it saw, of {seen[-1].get('name')}) {seen[-1]['content']}" if seen else ""
    return cut(text, PARTIAL_CHARS, "middle_snip").text
