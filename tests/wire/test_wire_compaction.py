"""Whatever is compacted, both SDKs send it and the strict server takes it, after an interrupt and a reload too.

The server counts the prompt itself and reports it, so that thresholds are reached as they would be with a provider.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from conftest import connect
from msgspec.structs import replace

from agentlab.conversation import Conversation
from agentlab.events import CompactionDecided, ToolStarted
from agentlab.policy import (
    Batched,
    ClearAt,
    Compaction,
    Consolidate,
    OnPressure,
    Policy,
    Room,
    Sliding,
    load_policy,
    preset_names,
)
from agentlab.runner import Runner
from agentlab.testing import Reply, ToolCall, provider_server
from agentlab.tools import Tool, tool
from agentlab.view import HEADING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentlab.testing.server import ProviderServer

KEY = "sk-test-0123456789abcdef"
ROOM = Room(window=9_000, reserve=500, margin=500)
PAUSE = 3_600.0
SUMMARY = "What was found so far, in one line."
KINDS = {
    "sliding": Compaction(results=Sliding(keep=2)),
    "batched": Compaction(results=Batched(keep=1, every=3)),
    "clear_at": Compaction(results=ClearAt(threshold=3_000, keep=1)),
    "on_pressure": Compaction(results=OnPressure(target=0.6), room=ROOM),
    "consolidate in a message": Compaction(consolidate=Consolidate(keep_turns=1), room=ROOM),
    "consolidate in the system prompt": Compaction(consolidate=Consolidate(keep_turns=1, place="system"), room=ROOM),
    "idle": Compaction(consolidate=Consolidate(keep_turns=1), idle_minutes=PAUSE / 60),
}


def small(preset: str) -> Compaction | None:
    """The rules of a preset with a threshold and a window that a test reaches."""
    rules = load_policy(preset).compaction
    if rules is not None and isinstance(rules.results, ClearAt):
        rules = replace(rules, results=replace(rules.results, threshold=3_000))
    return None if rules is None else replace(rules, room=ROOM)


KINDS |= {name: rules for name in preset_names() if (rules := small(name)) is not None}


@tool(name="read_file", max_observation_chars=100_000, polling=True)
def read_file(path: str) -> str:
    """Read a file."""
    return f"{path}: " + "a line of it. " * 100


@tool(name="read_skill", polling=True)
def read_skill(name: str) -> str:
    """Read a skill."""
    return f"{name}: do this, then that."


def reader(body: dict[str, Any]) -> Reply | str:
    """Reads three times in a turn, two files side by side at the second, a skill in the first; then answers."""
    if not body.get("tools"):
        return SUMMARY
    messages = [m for m in body["messages"] if m["role"] != "system"]
    last_ask = max(n for n, m in enumerate(messages) if m["role"] == "user" and "Turn" in str(m["content"])[:60])
    step = sum(m["role"] == "assistant" for m in messages[last_ask:])
    place = f"{len(messages)}-{step}"
    call = ToolCall(f"call_{place}", "read_file", {"path": f"{place}.txt"})
    skill = ToolCall(f"skill_{place}", "read_skill", {"name": "steps"})
    calls = [(call, skill), (call, ToolCall(f"more_{place}", "read_file", {"path": "more.txt"})), (call,)]
    return Reply("Reading.", calls[step]) if step < len(calls) else "Read it all."


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class CtrlC:
    """A sink that presses Ctrl-C once, as a tool starts; and keeps what was decided."""

    hears = (ToolStarted, CompactionDecided)

    def __init__(self) -> None:
        self.due = False
        self.decisions: list[CompactionDecided] = []

    def __call__(self, event: Any) -> None:
        if isinstance(event, CompactionDecided):
            self.decisions.append(event)
        elif self.due:
            self.due = False
            raise KeyboardInterrupt


class Session:
    """A session folder that is left and opened again."""

    def __init__(self, folder: Path, provider: Any, rules: Compaction) -> None:
        self.folder, self.provider, self.policy = folder, provider, Policy(compaction=rules)
        self.clock, self.keys = Clock(), CtrlC()
        self.turns = 0
        self.runner = self.opened()

    def opened(self) -> Runner:
        tools: list[Tool] = [read_file, read_skill]
        return Runner(
            self.provider,
            folder=self.folder,
            tools=tools,
            policy=self.policy,
            sinks=[self.keys],
            clock=self.clock,
        )

    def turn(self) -> str:
        self.turns += 1
        self.clock.seconds += PAUSE + 1
        return self.runner.send(f"Turn {self.turns}: go on.").status

    def reload(self) -> None:
        before = self.runner.conversation
        self.runner.close()
        self.runner = self.opened()
        after = self.runner.conversation
        assert after.notes == []
        assert (after.messages, after.view(), after.system_view()) == (
            before.messages,
            before.view(),
            before.system_view(),
        )


@pytest.fixture(scope="module")
def shared() -> Iterator[dict[str, tuple[ProviderServer, Any]]]:
    """A server, and a provider for each API."""
    with contextlib.ExitStack() as opened:
        made = {}
        for wire in ("anthropic", "openai"):
            server = opened.enter_context(provider_server(reader))
            provider = connect(wire, server.url, f"{server.url}/v1", key=KEY)
            opened.callback(provider.close)
            made[wire] = server, provider
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_every_request_of_a_compacted_session_is_accepted(tmp_path: Path, wire: str, shared: Any, kind: str) -> None:
    server, provider = shared[wire]
    server.requests.clear()
    server.rejected.clear()
    session = Session(tmp_path, provider, KINDS[kind])
    assert [session.turn() for _ in range(4)] == ["complete"] * 4
    session.keys.due = True
    assert session.turn() == "cancelled"
    assert session.turn() == "complete"
    session.reload()
    assert session.turn() == "complete"
    session.keys.due = True
    assert session.turn() == "cancelled"
    session.reload()
    assert [session.turn() for _ in range(2)] == ["complete"] * 2
    session.runner.close()
    assert server.rejected == []
    decisions = session.keys.decisions
    assert decisions
    last = [request.body for request in server.requests if request.body.get("tools")][-1]
    if any(decision.cursor for decision in decisions):
        assert HEADING.partition("{")[0] in str(last)
        assert SUMMARY in str(last)
        assert "Turn 1: go on." not in str(last)
    if any(decision.cleared for decision in decisions):
        assert "To make room for newer messages" in str(last)
    assert Conversation.load(tmp_path).decisions == session.runner.conversation.decisions


def test_the_server_would_refuse_a_view_that_begins_inside_of_an_exchange(wire: str) -> None:
    messages = [
        {"role": "user", "content": "Turn 1: go on."},
        {"role": "tool", "tool_call_id": "a", "name": "read_file", "content": "text"},
    ]
    with provider_server("Hello.") as server:
        provider = connect(wire, server.url, f"{server.url}/v1", key=KEY)
        with pytest.raises(Exception, match="tool"):
            provider.call(messages, system="", tools=[read_file])
        provider.close()
        assert len(server.rejected) == 1
