"""A conversation: its messages, what is known of them, and how they are kept valid.

A message list is valid when a provider takes it: every tool call is answered directly after the message that made it,
every tool message answers a call, no text is empty. The loop is the one writer; it appends, or closes an open tail.
Compaction changes none of it: its decisions are kept beside the messages, and a request sends the view that they make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentlab.errors import InputError
from agentlab.events import moved
from agentlab.messages import Usage, begins_turn
from agentlab.repair import INTERRUPTED, open_calls, repaired, tool_message
from agentlab.tokens.running import RunningCount
from agentlab.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agentlab.compaction.auto import Setbacks
    from agentlab.compaction.ledger import Ledger
    from agentlab.events import CompactionDecided
    from agentlab.messages import Message, Reply, ToolSpec


class Conversation:
    """The messages of a session, in the chapter's shape, and what is known of them.

    Args:
        messages: The caller's own list, which is used as it is and mutated in place; None starts a new one.
        system: The system prompt.
        count: The running count, where it is not the default by lengths.

    Attributes:
        notes: What was put right when messages came in from outside.
        decisions: What compaction decided, in order; `decide` adds to it.
        ledger: The results that a rule of compaction may still clear, kept by `agentlab.compaction`; `setbacks` say
            what keeps it from summarising.
        last_tokens: The running count's figure for the message that was counted last.

    >>> talk = Conversation(system="Be brief.")
    >>> talk.append({"role": "user", "content": "Hello"})
    >>> len(talk.messages), talk.turn
    (1, 1)
    """

    def __init__(
        self, messages: list[Message] | None = None, *, system: str = "", count: RunningCount | None = None
    ) -> None:
        self.messages: list[Message] = [] if messages is None else messages
        self.system = system
        self.notes: list[str] = []
        self.decisions: list[CompactionDecided] = []
        self.ledger: Ledger | None = None
        self.setbacks: Setbacks | None = None
        self._view: tuple[int, View | None] = (0, None)  # how many decisions it holds, and the view that they make
        self._count = RunningCount() if count is None else count
        self.last_tokens = 0
        self._tools: Sequence[ToolSpec] = ()
        self._base: tuple[str, Sequence[ToolSpec]] | None = None
        self._counted = 0
        self._turn = 0

    @classmethod
    def load(cls, source: str | Path | Sequence[Any], *, system: str | None = None) -> Conversation:
        """Read a session folder, its `messages.jsonl`, or a plain list of messages.

        Whatever would make a provider reject the list is put right, and said in `notes`.

        Raises:
            InputError: There is nothing there that can be read.
        """
        if isinstance(source, list | tuple):
            found, notes, prompt = list(source), [], ""
            decisions: list[CompactionDecided] = []
            if found and isinstance(found[0], dict) and found[0].get("role") in ("system", "developer"):
                prompt = str(found.pop(0).get("content") or "")
        else:
            from agentlab.transcript import read_session

            record, problems = read_session(source)  # type: ignore[arg-type]  # a path, by the test above
            found, notes, prompt = record.messages, [str(problem) for problem in problems], record.header.system
            decisions = record.decisions
        places: dict[int, int] = {}
        messages, repairs = repaired(found, places)
        conversation = cls(messages, system=prompt if system is None else system)
        conversation.notes = notes + repairs
        conversation._restore(decisions, places)
        return conversation

    @property
    def turn(self) -> int:
        """How many user turns there are."""
        self._catch_up()
        return self._turn

    @property
    def count(self) -> RunningCount:
        """The running count of the next request, brought up to date; a message is never counted twice."""
        system = self.system_view() if self.decisions else self.system
        if self._base is None or self._base[0] != system or self._base[1] is not self._tools:
            self._base = (system, self._tools)
            self._count.set_base(*self._base)
        self._catch_up()
        return self._count

    def offer(self, tools: Sequence[ToolSpec]) -> None:
        """Take note of the tools that the next requests carry: they are part of the prompt."""
        if len(tools) != len(self._tools) or any(a is not b for a, b in zip(tools, self._tools, strict=True)):
            self._tools = tools

    def append(self, message: Message, usage: Usage | None = None) -> None:
        """Append a message and count it. Only the loop calls this.

        Args:
            message: What is appended.
            usage: For an assistant message, the usage of the call that made it.
        """
        self.messages.append(message)
        if self._counted == len(self.messages) - 1:
            self._take(message, usage)

    def view(self) -> list[Message]:
        """What the next request sends. A provider never changes it.

        Without decisions it is the list of messages itself.
        """
        view = self._decided()
        return self.messages if view is None else view.messages()

    def system_view(self) -> str:
        """The system prompt of the next request: with the summary of earlier messages where it stands there."""
        view = self._decided()
        if view is None or not view.system_part:
            return self.system
        return f"{self.system}\n\n{view.system_part}" if self.system else view.system_part

    @property
    def cursor(self) -> int:
        """Messages before it are not sent any more: a summary stands for them."""
        view = self._decided()
        return 0 if view is None else view.cursor

    @property
    def summary(self) -> str:
        """What stands for the messages before the cursor; empty where nothing does."""
        view = self._decided()
        return "" if view is None else view.summary

    @property
    def pinned(self) -> tuple[int, ...]:
        """Places of the results before the cursor that are sent in full, behind the summary."""
        view = self._decided()
        return () if view is None else view.pinned

    @property
    def cleared(self) -> frozenset[int] | set[int]:
        """Places of the tool results whose text is not sent any more."""
        view = self._decided()
        return frozenset() if view is None else view.cleared

    def decide(self, decision: CompactionDecided) -> CompactionDecided:
        """Let less be sent from the next request on; the messages stay as they are.

        Returns:
            The decision as it is kept, with the tokens that it saves, an estimate.

        Raises:
            InputError: It does not fit these messages.
        """
        view = self._decided() or View(self.messages)
        view.check(decision)
        saved, before, count = view.saving(decision), len(self.system_view()), self.count
        kept = replace(decision, tokens_saved=saved)
        self.decisions.append(kept)  # from here on it holds, whatever interrupts
        count.adjust(-saved)
        longer = len(self.system_view()) - before
        if longer:
            kept = self.decisions[-1] = replace(decision, tokens_saved=saved - longer // 4)
        return kept

    def estimate_usage(self, reply: Reply) -> Usage:
        """Usage of a call whose provider reports none."""
        text = len(reply.text) + sum(len(str(call.arguments)) + len(call.name) for call in reply.tool_calls)
        return Usage(input_tokens=self.count.total.n, output_tokens=(text + 3) // 4, exact=False)

    def close(self) -> list[Message]:
        """Answer the calls that the last assistant message left open; returns the messages that were appended."""
        added = [
            tool_message(call["id"], call["function"]["name"], INTERRUPTED, is_error=True)
            for call in open_calls(self.messages)
        ]
        for message in added:
            self.append(message)
        return added

    def _decided(self) -> View | None:
        """The view with every decision carried out; None where there is none."""
        held, view = self._view
        if held == len(self.decisions):
            return view
        self._view = (0, None)  # an interrupt in the middle of it starts anew
        view = view or View(self.messages)
        for decision in self.decisions[held:]:
            view.apply(decision)
        self._view = (len(self.decisions), view)
        return view

    def _restore(self, decisions: Sequence[CompactionDecided], places: dict[int, int]) -> None:
        """Carry out the decisions of a saved session, whose messages may have moved when they were put right."""
        for decision in decisions:
            try:
                self.decide(moved(decision, places, len(self.messages)))
            except InputError as problem:
                self.notes.append(f"a decision of {decision.policy} was passed over: {problem}")

    def _catch_up(self) -> None:
        """Count what was put into the list from outside."""
        while self._counted < len(self.messages):
            self._take(self.messages[self._counted], None)

    def _take(self, message: Message, usage: Usage | None) -> None:
        if usage is not None:
            self._count.report(usage)
        self.last_tokens = self._count.add(message)
        self._counted, self._turn = self._counted + 1, self._turn + begins_turn(message)


def recent(messages: Sequence[Message], keep: int) -> list[Message]:
    """The newest messages, at most `keep`, from a user message on: a window never begins inside a tool exchange.

    >>> recent([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], 1)
    []
    """
    start = max(0, len(messages) - max(0, keep))
    while start < len(messages) and not begins_turn(messages[start]):
        start += 1
    return list(messages[start:])


def without_scratchpad(messages: Sequence[Message]) -> list[Message]:
    """The loop before continuation: each turn reduced to the user's text and the final reply.

    >>> call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    >>> turn = [
    ...     {"role": "user", "content": "Time?"},
    ...     {"role": "assistant", "content": "", "tool_calls": [call]},
    ...     {"role": "tool", "tool_call_id": "a", "name": "now", "content": "15:40"},
    ...     {"role": "assistant", "content": "15:40."},
    ... ]
    >>> [m["content"] for m in without_scratchpad(turn)]
    ['Time?', '15:40.']
    """
    kept: list[Message] = []
    for message in messages:
        if begins_turn(message):
            kept.append(message)
        elif message["role"] == "assistant" and not message.get("tool_calls"):
            if kept and kept[-1]["role"] == "assistant":
                kept.pop()
            kept.append(message)
    return kept
