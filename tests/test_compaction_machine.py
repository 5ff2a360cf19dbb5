"""Turns, interrupts, compactions, reloads and consolidations in any order: nothing is lost, all of it can be sent."""

from __future__ import annotations

import copy
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentlab.builtin_tools.results import read_result_tool
from agentlab.compaction.auto import Consolidator
from agentlab.compaction.compactor import pinned_tools
from agentlab.conversation import Conversation
from agentlab.errors import ProviderError
from agentlab.events import Audience, CallStarted, CompactionDecided, MessageAppended, ToolStarted, TurnStarted
from agentlab.loop import run_turn
from agentlab.messages import Reply, ToolCall, Usage, begins_turn
from agentlab.policy import Batched, ClearAt, Compaction, Consolidate, OnPressure, Policy, Room, Sliding
from agentlab.providers.anthropic import to_anthropic
from agentlab.scribe import Scribe
from agentlab.testing import check_anthropic, check_messages
from agentlab.tools import Tool, tool
from agentlab.transcript import SessionWriter

ROOM = Room(window=6_000, reserve=500, margin=500)
RULES = st.sampled_from(
    [Sliding(keep=2), None, Batched(keep=1, every=3), ClearAt(threshold=2_500, keep=1), OnPressure(target=0.6)]
)
SPECS = st.sampled_from([None, Consolidate(keep_turns=1), Consolidate(keep_messages=5, place="system")])
STEPS = st.sampled_from(["look", "skill", "both", "two", "note"])
PHASES = [Phase.explicit, Phase.generate]
STOPS = st.sampled_from([TurnStarted, CallStarted, ToolStarted, MessageAppended, CompactionDecided])


@tool(max_observation_chars=100_000, polling=True)
def look() -> str:
    """Look."""
    return "seen " * 500


@tool(name="read_skill", max_observation_chars=100_000, polling=True)
def read_skill(name: str) -> str:
    """Read a skill."""
    return f"SKILL {name}: " + "do this. " * 80


class Model:
    """Plays steps, then answers; summarises where it is sent no tools. Keeps what it was sent."""

    name = "model"
    window = None

    def __init__(self, talk: Conversation, steps: list[Any]) -> None:
        self.talk = talk
        self.steps = list(steps)
        self.sent: list[tuple[int, str, list[Any]]] = []

    def call(self, messages: Any, *, system: str, tools: Any, **options: Any) -> Reply:
        if not tools:
            return Reply("A summary.", usage=Usage(50, 5))
        self.sent.append((len(self.talk.decisions), system, copy.deepcopy(list(messages))))
        check_request(messages, system, tools)
        step = self.steps.pop(0) if self.steps else "answer"
        if isinstance(step, BaseException):
            raise step
        calls = {
            "look": (ToolCall("a", "look", {}),),
            "skill": (ToolCall("a", "read_skill", {"name": f"s{len(messages) % 3}"}),),
            "both": (ToolCall("a", "look", {}), ToolCall("b", "read_skill", {"name": "both"})),
            "two": (ToolCall("a", "look", {}), ToolCall("a", "look", {})),
            "note": (ToolCall("a", "nothing", {}),),
        }
        return Reply("", calls[step]) if step in calls else Reply("Done. " + "r" * 200)


def check_request(messages: Any, system: str, tools: list[Tool]) -> None:
    """What would be sent is taken by the strict rules."""
    check_messages(list(messages))
    definitions = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in tools]
    body = {"model": "m", "max_tokens": 9, "system": system, "messages": to_anthropic(messages), "tools": definitions}
    check_anthropic(body, prefill=True)


class Sessions(RuleBasedStateMachine):
    """One session that many things happen to."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.talk = Conversation(system="Be brief.")
        self.writer = SessionWriter(self.folder, system="Be brief.")
        self.policy = Policy()
        self.known: list[Any] = []
        self.lines = b""
        self.last: tuple[int, str, list[Any]] | None = None

    def teardown(self) -> None:
        self.writer.close()
        shutil.rmtree(self.folder)

    @property
    def tools(self) -> list[Tool]:
        return [look, read_skill, read_result_tool(self.writer.store)]

    @initialize(results=RULES, spec=SPECS)
    def first_policy(self, results: Any, spec: Any) -> None:
        self.another_policy(results, spec)

    @rule(results=RULES, spec=SPECS)
    def another_policy(self, results: Any, spec: Any) -> None:
        self.policy = Policy(compaction=Compaction(results=results, consolidate=spec, room=ROOM))

    def run(self, steps: list[Any], sink: Any = None) -> None:
        model = Model(self.talk, steps)
        sinks = [self.writer, *([] if sink is None else [sink])]
        run_turn(self.talk, "Go on.", model, tools=self.tools, policy=self.policy, sinks=sinks, store=self.writer.store)
        for request in model.sent:
            self.compare(request)

    def compare(self, request: tuple[int, str, list[Any]]) -> None:
        """Between two decisions a request begins with the one before it."""
        if self.last is not None and self.last[0] == request[0]:
            assert request[1] == self.last[1]
            assert request[2][: len(self.last[2])] == self.last[2]
        self.last = request

    @rule(steps=st.lists(STEPS, max_size=6))
    def turn(self, steps: list[str]) -> None:
        self.run(steps)

    @rule(steps=st.lists(STEPS, max_size=3), error=st.sampled_from([KeyboardInterrupt(), ProviderError("down")]))
    def turn_whose_model_call_fails(self, steps: list[str], error: BaseException) -> None:
        self.run([*steps, error])

    @rule(steps=st.lists(STEPS, min_size=1, max_size=4), kind=STOPS, count=st.integers(1, 6))
    def turn_that_is_interrupted(self, steps: list[str], kind: Any, count: int) -> None:
        heard = 0

        def press(event: Any) -> None:
            nonlocal heard
            heard += isinstance(event, kind)
            if heard == count:
                heard += 1
                raise KeyboardInterrupt

        press.hears = (kind,)  # type: ignore[attr-defined]
        self.run(steps, press)

    @rule(
        spec=st.sampled_from([Consolidate(keep_turns=1), Consolidate(keep_turns=3, place="system")]),
        works=st.booleans(),
    )
    def consolidate(self, spec: Consolidate, works: bool) -> None:
        class Down(Model):
            def call(self, messages: Any, **options: Any) -> Reply:
                raise ProviderError("down")

        model = (Model if works else Down)(self.talk, [])
        pinned = pinned_tools({each.name: each for each in self.tools})
        consolidator = Consolidator(spec, self.talk, [model], pinned_tools=pinned)
        selection = consolidator.select()
        if selection is not None:
            before = len(self.talk.decisions)
            scribe = Scribe(self.talk, Audience([self.writer]))
            assert consolidator.settle(consolidator.summarise(selection), scribe) is works
            assert len(self.talk.decisions) == before + works

    @rule()
    def reload(self) -> None:
        self.writer.close()
        if not (self.folder / "messages.jsonl").exists():
            return
        loaded = Conversation.load(self.folder)
        assert loaded.notes == []
        assert loaded.messages == self.talk.messages
        assert loaded.view() == self.talk.view()
        assert loaded.system_view() == self.talk.system_view()
        assert loaded.decisions == self.talk.decisions
        self.talk, self.writer = loaded, SessionWriter(self.folder)

    @invariant()
    def messages_and_transcript_only_grow(self) -> None:
        assert self.talk.messages[: len(self.known)] == self.known
        self.known = copy.deepcopy(self.talk.messages)
        path = self.folder / "transcript.jsonl"
        lines = path.read_bytes() if path.exists() else b""
        assert lines.startswith(self.lines)
        self.lines = lines

    @invariant()
    def what_is_sent_is_taken(self) -> None:
        if self.talk.messages:
            check_request(self.talk.view(), self.talk.system_view(), self.tools)

    @invariant()
    def nothing_pinned_is_lost(self) -> None:
        sent = "\n".join([self.talk.system_view(), *(m["content"] for m in self.talk.view())])
        for message in self.talk.messages:
            if message["role"] == "tool" and message["name"] == "read_skill" and not message.get("is_error"):
                assert message["content"] in sent

    @invariant()
    def the_newest_exchange_is_sent_with_its_replies(self) -> None:
        messages = self.talk.messages
        starts = [index for index, message in enumerate(messages) if begins_turn(message)]
        if starts:
            newest = [m for m in messages[starts[-1] :] if m["role"] != "tool"]
            assert [m for m in self.talk.view() if m["role"] != "tool"][-len(newest) :] == newest

    @invariant()
    def what_was_cleared_can_be_read_back(self) -> None:
        for index in self.talk.cleared:
            if index >= self.talk.cursor and index < len(self.talk.messages):
                text = self.talk.view()[index - len(self.talk.messages)]["content"]
                if self.talk.messages[index]["name"] != "read_result":
                    key = text.split('read_result("')[1].split('"')[0]
                    assert self.writer.store.get(key) == self.talk.messages[index]["content"]


Sessions.TestCase.settings = settings(max_examples=25, stateful_step_count=12, deadline=None, phases=PHASES)
TestSessions = Sessions.TestCase


@pytest.mark.parametrize("kind", [CompactionDecided, CallStarted])
def test_an_interrupt_right_after_a_decision_keeps_it(tmp_path: Path, kind: Any) -> None:
    talk, writer = Conversation(), SessionWriter(tmp_path)
    policy = Policy(compaction=Compaction(results=Sliding(keep=0)))

    pressed: list[Any] = []

    def press(event: Any) -> None:
        if isinstance(event, kind) and talk.decisions and not pressed:
            pressed.append(event)
            raise KeyboardInterrupt

    model = Model(talk, ["look", "look", "look"])
    result = run_turn(talk, "Go.", model, tools=[look], policy=policy, sinks=[press, writer])
    writer.close()
    assert result.status == "cancelled"
    assert len(talk.decisions) == 1
    loaded = Conversation.load(tmp_path)
    assert loaded.decisions == talk.decisions
    assert loaded.view() == talk.view()
