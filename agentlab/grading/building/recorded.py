"""Recorded sessions, run again through a student's own loop under some decision: what each call is then sent.

The agent is frozen: it says and calls what it did, and each call returns what it returned then, in full. So the loop is
real and so are the sizes; what an agent would have done with less in sight is not known.
"""

from __future__ import annotations

from collections import deque
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis import load
from agentlab.grading.building.decisions import DECISIONS, IDLE_MINUTES, middle
from agentlab.grading.building.probe import as_message, data, only
from agentlab.messages import Reply, ToolCall
from agentlab.tokens import count_messages, count_tools, message_counter
from agentlab.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.analysis.session import Session

SHORTEST_LINE = 12
"""Shorter lines, such as `]`, say too little to be looked for."""
NO_REPLY = "(The session ends here: its window was full.)"


class Turn(msgspec.Struct, frozen=True):
    """A user turn as it was recorded.

    Attributes:
        question: What the user said.
        replies: Of the model, in order; the last one calls no tool.
        results: What the calls returned, in full and in order.
        rested: Nobody had used the session for `IDLE_MINUTES` before it.
    """

    question: str
    replies: tuple[Reply, ...]
    results: tuple[str, ...]
    rested: bool = False


class Recorded(msgspec.Struct, frozen=True, eq=False):
    """A recorded session: system prompt, tools, turns. It equals none but itself, so that it can be remembered."""

    system: str
    tools: tuple[dict[str, Any], ...]
    turns: tuple[Turn, ...]

    @property
    def lines(self) -> list[str]:
        """The different lines of all its results, of at least `SHORTEST_LINE` characters."""
        return list(dict.fromkeys(line for turn in self.turns for text in turn.results for line in _lines(text)))

    def __repr__(self) -> str:
        """Its sizes."""
        results = [text for turn in self.turns for text in turn.results]
        sizes = (
            f"{len(self.turns)} turns, {sum(len(turn.replies) for turn in self.turns)} calls, {len(results)} results"
        )
        return f"<{sizes} of up to {max(map(len, results), default=0):,} characters>"


class Sent(msgspec.Struct, frozen=True):
    """A request: the messages that a call was sent, and the tokens of what goes with them."""

    messages: tuple[Any, ...]
    base: int

    @property
    def tokens(self) -> int:
        """Prompt tokens, counted by o200k_base: an estimate for any other model."""
        return self.base + sum(_size(*_content(each)) for each in self.messages)

    def __repr__(self) -> str:
        """Its sizes."""
        return f"<request: {len(self.messages)} messages, {self.tokens:,} tokens>"


Turns = list[list[Sent]]
"""What was sent: a list of requests for each user turn."""


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if len(line) >= SHORTEST_LINE]


def _content(message: Any) -> tuple[str, str, str, str]:
    calls = message.get("tool_calls") or ()
    listed = msgspec.json.encode(calls).decode() if calls else ""
    return message["role"], message.get("content") or "", message.get("name") or "", listed


@lru_cache(maxsize=50_000)
def _size(role: str, content: str, name: str, calls: str) -> int:
    message: dict[str, Any] = {"role": role, "content": content}
    if name:
        message["name"] = name
    if calls:
        message["tool_calls"] = msgspec.json.decode(calls)
    return int(_counter()(message).n)


@cache
def _counter() -> Callable[[Any], Any]:
    return message_counter("o200k_base")


@cache
def recorded(name: str) -> Recorded:
    """A session of `data/sessions`, as `short`.

    Raises:
        FileNotFoundError: It is not part of this installation.

    >>> recorded("short")
    <6 turns, 13 calls, 7 results of up to 7,355 characters>
    """
    sessions, _ = load(data(f"sessions/{name}"))
    return of_session(sessions[0])


def of_session(session: Session) -> Recorded:
    """A session that was read from a log."""
    turns: list[Turn] = []
    last = None
    full = {seen.index: seen.text for seen in session.observations()}
    for index, record in enumerate(session.records):
        message = record.message
        if record.opens_turn:
            rested = None not in (last, record.time) and (record.time or 0) - (last or 0) >= 60 * IDLE_MINUTES
            turns.append(Turn(message["content"], (), (), rested))
        elif record.role == "assistant":
            turns[-1] = msgspec.structs.replace(turns[-1], replies=(*turns[-1].replies, _reply(message)))
        elif record.role == "tool":
            turns[-1] = msgspec.structs.replace(turns[-1], results=(*turns[-1].results, full[index]))
        last = record.time
    return Recorded(session.system, session.tools, tuple(_ended(turn) for turn in turns))


def _reply(message: Any) -> Reply:
    calls = [
        ToolCall(each["id"], each["function"]["name"], msgspec.json.decode(each["function"]["arguments"]))
        for each in message.get("tool_calls") or ()
    ]
    return Reply(message["content"], tuple(calls))


def _ended(turn: Turn) -> Turn:
    """The turn with a last reply, where it failed before there was one."""
    if turn.replies and not turn.replies[-1].tool_calls:
        return turn
    return msgspec.structs.replace(turn, replies=(*turn.replies, Reply(NO_REPLY)))


class _Again:
    """A provider that gives the recorded replies, and keeps what it was sent."""

    name = "recorded"

    def __init__(self, session: Recorded) -> None:
        self.base = (
            count_messages([], "o200k_base", system=session.system).n + count_tools(session.tools, "o200k_base").n
        )
        self.turns: Turns = []
        self.replies: deque[Reply] = deque()
        self.results: deque[str] = deque()

    def begin(self, turn: Turn) -> None:
        self.turns.append([])
        self.replies, self.results = deque(turn.replies), deque(turn.results)

    def keep(self, messages: Sequence[Any]) -> None:
        self.turns[-1].append(Sent(tuple(messages), self.base))

    def call(self, messages: Sequence[Any], **_: Any) -> Reply:
        """Give the next reply.

        Raises:
            AssertionError: There was none.
        """
        if not self.replies:
            raise AssertionError(
                f"the recorded turn {len(self.turns)} has no reply left: look at the loop, which ends a turn with the "
                "first reply that calls no tool"
            )
        self.keep(messages)
        return self.replies.popleft()

    def result(self, **_: Any) -> str:
        """What the next call returned."""
        return self.results.popleft()


def replayed(session: Recorded, step: Callable[..., Any], tools: list[Any], rules: Any, decision: str) -> Turns:
    """Run a recorded session through a loop, under a decision.

    Args:
        session: As `recorded` gives it.
        step: `step(user_message, messages, provider, system)`.
        tools: The list in which it looks its tools up.
        rules: Where it finds `shorten(text)` and `view(messages)`.
        decision: A name of `DECISIONS`.

    Returns:
        What was sent, turn by turn. Where a summary was written, the first request of the turn is that for it.

    Raises:
        ValueError: There is no such decision.

    >>> rules = SimpleNamespace(shorten=middle, view=list)
    >>> turns = replayed(recorded("short"), _course_loop(rules), [], rules, "chapter")
    >>> [len(turn) for turn in turns], turns[0][0]
    ([2, 2, 3, 2, 2, 2], <request: 1 messages, 511 tokens>)
    """
    if decision not in DECISIONS:
        raise ValueError(f"there is no decision {decision!r}: one of {', '.join(map(repr, DECISIONS))}")
    changes = dict(DECISIONS[decision])
    rest = changes.pop("rest", None)
    before = {name: getattr(rules, name) for name in changes}
    model = _Again(session)
    messages: list[Any] = []
    box = [Tool(each["name"], each["description"], each["parameters"], model.result) for each in session.tools]
    try:
        for name, function in changes.items():
            setattr(rules, name, function)
        with only(tools, *box):
            for turn in session.turns:
                model.begin(turn)
                if turn.rested and rest is not None:
                    model.keep(messages)
                    messages[:] = rest(messages)
                step(turn.question, messages, model, session.system)
    finally:
        for name, function in before.items():
            setattr(rules, name, function)
    return model.turns


def measure(session: Recorded, decision: str) -> dict[str, int]:
    """Prompt tokens of a session under a decision, and the lines of its results that the last call still shows.

    >>> measure(recorded("short"), "chapter")
    {'tokens': 23870, 'lines': 106}
    """
    tokens, lines = _measured(session, decision)
    return {"tokens": tokens, "lines": lines}


@lru_cache(maxsize=100)
def _measured(session: Recorded, decision: str) -> tuple[int, int]:
    rules = SimpleNamespace(shorten=middle, view=list)
    turns = replayed(session, _course_loop(rules), [], rules, decision)
    return sum(sent.tokens for turn in turns for sent in turn), _lines_left(session, turns)


def _lines_left(session: Recorded, turns: Turns) -> int:
    shown = [each["content"] for each in turns[-1][-1].messages if each["role"] == "tool"]
    return sum(any(line in text for text in shown) for line in session.lines)


def _course_loop(rules: Any) -> Callable[..., str]:
    """The course's own loop, which asks `rules` where it shortens and where it sends."""

    def step(question: str, messages: list[Any], provider: Any, system: str) -> str:
        messages.append({"role": "user", "content": question})
        while True:
            reply: Reply = provider.call(rules.view(messages), system=system, tools=())
            messages.append(as_message(reply))
            if not reply.tool_calls:
                return reply.text
            for each in reply.tool_calls:
                text = rules.shorten(provider.result())
                messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": text})

    return step
