"""Ctrl-C, a cancelled scope and a failure at every single step of a turn."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import agentlab
from agentlab.budgets import Scope
from agentlab.conversation import Conversation
from agentlab.errors import ProviderError
from agentlab.events import TurnFinished
from agentlab.loop import agent_step, run_turn
from agentlab.messages import Reply, ToolCall
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.testing import check_messages
from agentlab.tools import Tool
from agentlab.transcript import SessionWriter, read_session

PACKAGE = str(Path(agentlab.__file__).parent)
MODULES = ("loop", "turn", "scribe", "conversation", "view", "observe", "repair", "running", "scripted")
WATCHED = tuple(f"{module}.py" for module in MODULES)


class Interrupter:
    """Raises KeyboardInterrupt at the n-th line that runs in the package."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.fired = False
        self.finished: list[str] = []
        self.finished_before: list[str] = []

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        if self.fired or not name.startswith(PACKAGE) or not name.endswith(WATCHED):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.fired = True
                self.finished_before = list(self.finished)
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def script() -> ScriptedModel:
    return ScriptedModel(
        [
            Reply("Looking.", (ToolCall("a", "one", {}),)),
            Reply("", (ToolCall("b", "one", {}), ToolCall("c", "two", {}))),
            Reply("Found it.", ()),
        ]
    )


def run_interrupted_at(step: int, folder: Path | None) -> tuple[bool, list[Any], list[str], list[str]]:
    interrupter = Interrupter(step)
    finished = interrupter.finished

    def tool(name: str) -> Tool:
        return Tool(
            name, "A tool.", {"type": "object", "properties": {}}, lambda: finished.append(name) or f"result of {name}"
        )

    painted: list[str] = []
    messages: list[Any] = []
    sinks = [] if folder is None else [SessionWriter(folder)]
    before = sys.gettrace()
    try:
        sys.settrace(interrupter)
        try:
            agent_step("Go.", messages, script(), "", painted.append, tools=[tool("one"), tool("two")], sinks=sinks)
        finally:
            sys.settrace(before)
    except KeyboardInterrupt:
        pass
    for sink in sinks:
        sink.close()
    return interrupter.fired, messages, interrupter.finished_before, painted


@pytest.mark.parametrize("logged", [False, True])
def test_interrupting_at_every_line_leaves_valid_messages_that_keep_what_was_observed(
    tmp_path: Path, logged: bool
) -> None:
    step = 0
    fired = True
    while fired:
        step += 1
        folder = tmp_path / str(step) if logged else None
        fired, messages, finished, painted = run_interrupted_at(step, folder)
        if messages:
            check_messages(messages)
        assistant = "".join(m["content"] for m in messages if m["role"] == "assistant")
        assert all(piece in assistant for piece in painted), step
        if finished:  # the first tool runs inline: what it returned is kept from that moment on
            assert any(m["role"] == "tool" and m["content"] == "result of one" for m in messages), step
        if folder is not None and (folder / "messages.jsonl").exists():
            record, problems = read_session(folder)
            assert problems == []
            assert record.messages == messages, step
            assert len(record.turns) <= 1, step
        texts = [m["content"] for m in messages if m["role"] == "assistant"]
        assert assistant.count("Looking.") <= 1, (step, texts)
        assert assistant.count("Found it.") <= 1, (step, texts)
        reply = agent_step("Again.", messages, ScriptedModel(["Hello."]), "")
        assert reply == "Hello."
        check_messages(messages)
    assert step > 100


def observed(messages: list[Any]) -> list[str]:
    return [m["content"] for m in messages if m["role"] == "tool" and not m.get("is_error")]


@pytest.mark.parametrize("at", range(1, 8))
@pytest.mark.parametrize("how", ["interrupt", "cancel", "provider", "crash in a sink"])
def test_stopping_at_every_event_keeps_every_result_that_had_come(at: int, how: str) -> None:
    scope = Scope()
    kinds: list[str] = []
    done: list[str] = []

    def stop_here(event: Any) -> None:
        kinds.append(type(event).__name__)
        if len(kinds) == at * 3:
            if how == "interrupt":
                raise KeyboardInterrupt
            if how == "cancel":
                scope.cancel("enough")
            if how == "crash in a sink":
                raise RuntimeError("sink")

    def run(name: str) -> str:
        done.append(name)
        return f"result of {name}"

    tools = [Tool(n, "A tool.", {"type": "object", "properties": {}}, lambda n=n: run(n)) for n in ("one", "two")]
    conversation = Conversation()
    model: Any = script()
    if how == "provider":
        steps = [ToolCall("a", "one", {})] * (at - 1)
        model = ScriptedModel([*steps[:2], ProviderError("down")])
    sinks = [] if how == "provider" else [stop_here]
    result = run_turn(conversation, "Go.", model, tools=tools, sinks=sinks, scope=scope)
    check_messages(conversation.messages)
    assert result.status in ("complete", "failed", "cancelled")
    if how != "cancel":  # results that come after a cancellation are dropped
        assert sorted(observed(conversation.messages)) == sorted(f"result of {name}" for name in done)
    assert run_turn(conversation, "Again.", ScriptedModel(["Hello."])).text == "Hello."
    check_messages(conversation.messages)


def test_ctrl_c_while_a_tool_runs_propagates_and_keeps_the_parallel_result() -> None:
    release = threading.Event()
    one_done = threading.Event()

    def quick() -> str:
        one_done.set()
        return "quick result"

    def stuck() -> str:
        release.wait(10)
        return "late"

    def press() -> None:
        one_done.wait(5)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    tools = [Tool("quick", "Quick.", schema, quick), Tool("stuck", "Stuck.", schema, stuck)]
    messages: list[Any] = []
    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        agent_step(
            "Go.", messages, ScriptedModel([[call("quick", id="a"), call("stuck", id="b")], "x"]), "", tools=tools
        )
    release.set()
    check_messages(messages)
    assert messages[2]["content"] == "quick result"
    assert "interrupted" in messages[3]["content"]


def test_the_turn_line_says_cancelled() -> None:
    events: list[Any] = []
    model = ScriptedModel([KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        agent_step("Go.", [], model, "", sinks=[events.append])
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.status, last.reason) == ("cancelled", "interrupted")


def test_a_cancelled_task_stops_the_turn_and_is_no_observation() -> None:
    def cancelled() -> str:
        raise asyncio.CancelledError

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    model = ScriptedModel([call("fetch", id="a"), "x"], keep_requests=True)
    messages: list[Any] = []
    events: list[Any] = []
    tools = [Tool("fetch", "Fetches.", schema, cancelled)]
    with pytest.raises(asyncio.CancelledError):
        agent_step("Go.", messages, model, "", tools=tools, sinks=[events.append])
    check_messages(messages)
    assert len(model.requests) == 1
    assert (events[-1].status, events[-1].reason) == ("cancelled", "interrupted")
