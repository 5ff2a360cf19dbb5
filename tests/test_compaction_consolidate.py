"""Letting a summary stand for old turns: what goes, what stays, and what happens when the summariser does not do it."""

from __future__ import annotations

import copy
import os
import re
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.budgets import Budget, Scope
from agentlab.compaction.auto import Consolidator, Idle, setbacks_of
from agentlab.compaction.consolidate import keep_from
from agentlab.compaction.record import lines_of, pieces
from agentlab.compaction.summariser import SHORTEST, Summariser
from agentlab.conversation import Conversation
from agentlab.errors import ContextWindowError, ProviderError, ScopeEnded, TransportError
from agentlab.events import Audience, CompactionDecided, CompactionFailed
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.policy import Compaction, Consolidate, Policy, Room, Sliding
from agentlab.providers.offline import OfflineModel
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.runner import Runner
from agentlab.scribe import Scribe
from agentlab.testing import check_messages
from agentlab.tools import Tool
from agentlab.transcript import read_session

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def talk_of(turns: int, *, size: int = 400, tool: str = "look") -> Conversation:
    """Turns with a call each; what every message says names its turn."""
    talk = Conversation(system="Be brief.")
    for n in range(turns):
        made = {"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        for message in (
            {"role": "user", "content": f"user-{n} " + "u" * size},
            {"role": "assistant", "content": "", "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "c", "name": tool, "content": f"seen-{n} " + "s" * size},
            {"role": "assistant", "content": f"reply-{n} " + "r" * size},
        ):
            talk.append(message)  # type: ignore[arg-type]
    return talk


class Quoting:
    """A summariser that repeats the marks which it read; keeps what it was asked."""

    name = "quoting"

    def __init__(self, window: int | None = None, problems: list[Any] | None = None) -> None:
        self.window = window
        self.problems = list(problems or [])
        self.asked: list[dict[str, Any]] = []

    def call(self, messages: Any, **options: Any) -> Reply:
        self.asked.append({"text": messages[0]["content"], **options})
        problem = self.problems.pop(0) if self.problems else None
        if isinstance(problem, BaseException):
            raise problem
        if problem is not None:
            return problem  # type: ignore[no-any-return]
        if self.window is not None and len(messages[0]["content"]) > 4 * self.window:
            raise ContextWindowError("too large")
        marks = re.findall(r"(?:user|seen|reply|fact)-\w+", messages[0]["content"])
        return Reply("Marks: " + " ".join(marks), usage=Usage(100, 10))


def consolidator(talk: Conversation, *models: Any, **spec: Any) -> Consolidator:
    return Consolidator(Consolidate(**spec), talk, models)


def consolidate(talk: Conversation, *models: Any, events: list[Any] | None = None, **spec: Any) -> bool:
    """One consolidation of all that may go."""
    made = consolidator(talk, *models, **spec)
    selection = made.select()
    if selection is None:
        return False
    scribe = Scribe(talk, Audience([] if events is None else [events.append]))
    return made.settle(made.summarise(selection), scribe)


def text_of(messages: list[Any]) -> str:
    return "\n".join(message["content"] for message in messages)


def test_old_turns_become_a_summary_and_the_newest_stay() -> None:
    talk, model = talk_of(5), Quoting()
    before = copy.deepcopy(talk.messages)
    assert consolidate(talk, model, keep_turns=2)
    assert talk.messages == before
    assert talk.cursor == 12
    view = talk.view()
    assert view[1:] == before[12:]
    for n in range(3):
        for mark in (f"user-{n}", f"seen-{n}", f"reply-{n}"):
            assert mark in view[0]["content"]
    check_messages(view)
    assert model.asked[0]["tools"] == []


def test_the_next_consolidation_goes_on_from_the_cursor_and_keeps_the_first_summary() -> None:
    talk, model = talk_of(4), Quoting()
    consolidate(talk, model, keep_turns=1)
    for message in talk_of(6).messages[16:]:
        talk.append(message)
    assert consolidate(talk, model, keep_turns=1)
    assert "user-0" not in model.asked[1]["text"]
    assert all(f"seen-{n}" in talk.view()[0]["content"] for n in range(5))
    assert len(talk.view()) == 1 + 4


def test_summaries_that_grow_too_long_are_merged_into_one() -> None:
    talk = talk_of(4)
    consolidate(talk, Quoting(problems=[Reply("fact-old " + "x" * 900)]), keep_turns=1)
    for message in talk_of(6).messages[16:]:
        talk.append(message)
    model = Quoting()
    assert consolidate(talk, model, keep_turns=1, summary_tokens=200)
    assert len(model.asked) == 2
    assert "fact-old" in model.asked[1]["text"]
    assert talk.summary.startswith("Marks: fact-old seen") or "fact-old" in talk.summary
    assert "x" * 900 not in talk.summary


def test_a_merge_that_fails_keeps_both_summaries() -> None:
    talk = talk_of(4)
    consolidate(talk, Quoting(problems=[Reply("fact-old " + "x" * 900)]), keep_turns=1)
    for message in talk_of(6).messages[16:]:
        talk.append(message)
    assert consolidate(talk, Quoting(problems=[None, ProviderError("down")]), keep_turns=1, summary_tokens=200)
    assert "fact-old" in talk.summary
    assert "seen-4" in talk.summary


def test_the_summary_may_stand_in_the_system_prompt_of_the_request() -> None:
    talk = talk_of(4)
    consolidate(talk, Quoting(), keep_turns=1, place="system")
    assert "seen-2" in talk.system_view()
    assert talk.view() == talk.messages[12:]


FAILING = [
    ProviderError("down"),
    Reply(""),
    Reply("  \n"),
    Reply("Let me look.", (ToolCall("a", "look", {}),)),
    Reply("The user want", stop_reason="max_tokens"),
    ContextWindowError("too large"),
]


@pytest.mark.parametrize("problem", FAILING)
def test_pitfall_28_a_summariser_that_does_not_do_it_changes_nothing_and_is_asked_again_later(problem: Any) -> None:
    talk, events = talk_of(4, size=20), []
    model = Quoting(problems=[problem] * 30)
    assert not consolidate(talk, model, events=events)
    assert talk.view() is talk.messages
    assert talk.decisions == []
    assert [type(event) for event in events] == [CompactionFailed]
    asked = len(model.asked)
    assert not consolidate(talk, model)  # the same turn: not again
    talk.append({"role": "user", "content": "Next."})
    talk.append({"role": "assistant", "content": "Yes."})
    assert not consolidate(talk, model)  # nor in the pause
    assert len(model.asked) == asked
    talk.append({"role": "user", "content": "Next."})
    talk.append({"role": "assistant", "content": "Yes."})
    model.problems = []
    assert consolidate(talk, model)
    assert "seen-0" in talk.summary


def test_pitfall_28_after_some_failures_in_a_row_it_is_given_up() -> None:
    talk, model = talk_of(4), Quoting(problems=[ProviderError("down")] * 50)
    for _ in range(12):
        consolidate(talk, model, attempts=3)
        talk.append({"role": "user", "content": "Next."})
        talk.append({"role": "assistant", "content": "Yes."})
    assert len(model.asked) == 3
    assert talk.view() is talk.messages


def test_another_model_is_asked_where_the_first_fails() -> None:
    talk, first, second = talk_of(4), Quoting(problems=[Reply("")]), Quoting()
    assert consolidate(talk, first, second)
    assert (len(first.asked), len(second.asked)) == (1, 1)


def test_a_failure_that_may_pass_is_retried_at_once() -> None:
    talk, model = talk_of(4), Quoting(problems=[TransportError("reset")])
    made = Summariser([Retry(model, base=0, jitter=lambda: 0)], max_tokens=100)
    assert "seen-1" in made.summary(lines_of(talk.messages))
    assert len(model.asked) == 2


@pytest.mark.parametrize("window", [400, 1_000, 3_000])
def test_pitfall_29_what_is_larger_than_the_summarisers_window_is_split_and_none_of_it_is_lost(window: int) -> None:
    talk = talk_of(12, size=900)
    talk.messages[2]["content"] = " ".join(f"fact-{n:04d}" for n in range(2_000))  # alone larger than any window
    model = Quoting(window=window)
    assert consolidate(talk, model, keep_turns=1)
    assert talk.cursor == 44
    assert all(len(each["text"]) <= 4 * window + SHORTEST for each in model.asked)
    for n in range(11):
        for mark in (f"user-{n}", f"reply-{n}"):
            assert mark in talk.summary
    records = [each["text"] for each in model.asked if "this record" in each["text"]]
    read = "".join(text.split("\n\n", 1)[1] for text in records)
    missing = [n for n in range(2_000) if f"fact-{n:04d}" not in read]
    assert missing == []


def test_pitfall_29_a_prompt_that_turns_out_too_large_is_halved() -> None:
    class Small(Quoting):
        """Says nothing of its window."""

        def call(self, messages: Any, **options: Any) -> Reply:
            if len(messages[0]["content"]) > 3_000:
                self.asked.append({"text": ""})
                raise ContextWindowError("too large")
            return super().call(messages, **options)

    talk, model = talk_of(8), Small()
    assert consolidate(talk, model, keep_turns=1)
    assert all(f"user-{n}" in talk.summary for n in range(7))


def test_pitfall_29_a_later_chunk_that_fails_stays_and_the_cursor_stands_before_it() -> None:
    talk = talk_of(12, size=900)
    model = Quoting(window=3_000, problems=[None, ProviderError("down")])
    assert consolidate(talk, model, keep_turns=1)
    assert 0 < talk.cursor < 44
    assert talk.messages[talk.cursor]["role"] == "user"
    assert talk.view()[1:] == talk.messages[talk.cursor :]
    for n in range(talk.cursor // 4):
        assert f"reply-{n}" in talk.summary


@given(st.lists(st.text(alphabet="ab\n", max_size=30), max_size=8), st.integers(1, 20))
def test_pieces_hold_all_of_the_text_and_are_never_too_large(lines: list[str], size: int) -> None:
    made = pieces(lines, size)
    assert all(0 < len(piece) <= size for piece in made)
    assert "".join(made).replace("\n", "") == "".join(lines).replace("\n", "")


def test_pitfall_31_option_2_still_has_its_options() -> None:
    talk = talk_of(4)
    talk.append({"role": "user", "content": "What can I do?"})
    talk.append({"role": "assistant", "content": "Option 1: wait. Option 2: delete it."})
    talk.append({"role": "user", "content": "Option 2."})
    assert consolidate(talk, Quoting(), keep_turns=1)
    assert [m["content"] for m in talk.view()[1:]] == [
        "What can I do?",
        "Option 1: wait. Option 2: delete it.",
        "Option 2.",
    ]


@given(st.integers(0, 7), st.booleans(), st.integers(1, 4), st.none() | st.integers(1, 30))
def test_the_last_finished_exchange_always_stays(turns: int, running: bool, keep: int, messages: int | None) -> None:
    talk = talk_of(turns, size=1)
    if running:
        talk.append({"role": "user", "content": "Now."})
    spec = Consolidate(keep_turns=keep, keep_messages=messages)
    start = keep_from(talk.messages, spec)
    assert start % 4 == 0
    assert start <= max(0, 4 * (turns - 1))
    if messages is None:
        assert start == max(0, 4 * (turns - keep))
    else:
        assert len(talk.messages) - start >= min(messages, len(talk.messages))


def test_pitfall_33_a_skill_that_was_read_in_an_old_turn_stays_in_full() -> None:
    talk = talk_of(4, tool="read_skill")
    talk.messages[6]["content"] = talk.messages[2]["content"]  # read twice
    made = Consolidator(Consolidate(keep_turns=1), talk, [model := Quoting()], pinned_tools=frozenset({"read_skill"}))
    selection = made.select()
    assert selection is not None
    made.settle(made.summarise(selection), Scribe(talk, Audience()))
    view = text_of(talk.view())
    for index in (2, 10):
        assert talk.messages[index]["content"] in view
    assert view.count(talk.messages[2]["content"]) == 1
    assert "s" * 400 not in model.asked[0]["text"]
    for message in talk_of(7, tool="look").messages[16:]:
        talk.append(message)
    assert consolidate(talk, Quoting(), keep_turns=1)  # the tool is not offered any more
    assert talk.messages[2]["content"] in text_of(talk.view())


def test_errors_of_a_pinned_tool_are_no_skill() -> None:
    talk = talk_of(3, tool="read_skill")
    talk.messages[2]["is_error"] = True
    made = Consolidator(Consolidate(keep_turns=1), talk, [Quoting()], pinned_tools=frozenset({"read_skill"}))
    selection = made.select()
    assert selection is not None
    assert selection.pinned == (6,)


# -- approach of the window


def echo(size: int) -> Tool:
    return Tool("look", "Look.", SCHEMA, lambda: "s" * size, max_observation_chars=100_000, polling=True)


def small(**spec: Any) -> Policy:
    room = Room(window=4_000, reserve=500, margin=500)
    return Policy(compaction=Compaction(consolidate=Consolidate(**{"keep_turns": 1, **spec}), room=room))


def test_near_the_window_the_oldest_turns_go_until_half_of_the_room_is_free(tmp_path: Path) -> None:
    events: list[Any] = []
    model = ScriptedModel([step for _ in range(12) for step in (call("look"), "Done.")], keep_requests=True)
    with Runner(
        model, folder=tmp_path, tools=[echo(1_600)], policy=small(), summariser=Quoting(), sinks=[events.append]
    ) as session:
        for n in range(12):
            assert session.send(f"user-{n}").status == "complete"
    decisions = [event for event in events if isinstance(event, CompactionDecided)]
    assert len(decisions) in (2, 3)
    assert decisions[0].usage == Usage(100, 10)
    sizes = [sum(len(m["content"]) for m in request.messages) // 4 for request in model.requests]
    assert max(sizes) <= 3_000
    first = decisions[0]
    assert first.cursor is not None
    assert 3_000 > sizes[2 * first.turn - 1] > 1_000
    record, problems = read_session(tmp_path)
    assert problems == []
    assert record.decisions == decisions
    loaded = Conversation.load(tmp_path)
    assert loaded.view() == session.conversation.view()
    assert [turn.prompt for turn in record.turns] == [f"user-{n}" for n in range(12)]


def test_results_are_cleared_before_turns_are_summarised() -> None:
    room = Room(window=4_000, reserve=500, margin=500)
    policy = Policy(compaction=Compaction(results=Sliding(keep=1), consolidate=Consolidate(keep_turns=1), room=room))
    summariser = Quoting()
    model = ScriptedModel([step for _ in range(12) for step in (call("look"), "Done.")])
    with Runner(model, tools=[echo(2_000)], policy=policy, summariser=summariser) as session:
        for n in range(12):
            session.send(f"user-{n}")
    assert session.conversation.cleared
    assert summariser.asked == []


def test_a_window_that_nothing_can_be_taken_from_is_looked_at_once_per_turn() -> None:
    summariser = Quoting()
    model = ScriptedModel([*[call("look")] * 8, "Done."])
    with Runner(model, tools=[echo(2_400)], policy=small(), summariser=summariser) as session:
        assert session.send("user-0").status == "complete"
    assert summariser.asked == []
    assert not setbacks_of(session.conversation).may_try(Consolidate(), 1, 0)


def test_what_a_summary_costs_is_spent() -> None:
    budget = Budget(max_tokens=100_000)
    model = ScriptedModel([Reply("Done.", usage=Usage(0, 1))] * 3)
    with Runner(model, summariser=Quoting(), budget=budget) as session:
        for n in range(3):
            session.send(f"user-{n}")
        before = budget.tokens
        assert session.consolidate()
    assert budget.tokens == before + 110


def test_a_scope_that_ends_while_a_summary_is_made_changes_nothing() -> None:
    scope = Scope()

    class Cancelling(Quoting):
        def call(self, messages: Any, **options: Any) -> Reply:
            scope.cancel("enough")
            options["scope"].check()
            raise AssertionError

    talk = talk_of(4)
    made = Consolidator(Consolidate(), talk, [Cancelling()], scope=scope)
    selection = made.select()
    assert selection is not None
    with pytest.raises(ScopeEnded):
        made.summarise(selection)
    assert talk.view() is talk.messages


# -- idle


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def replying(turns: int, **settings: Any) -> Runner:
    session = Runner(ScriptedModel(lambda messages: "Done."), summariser=Quoting(), **settings)
    for n in range(turns):
        session.send(f"user-{n}")
    return session


def test_idle_sessions_are_consolidated_once_and_others_are_not(tmp_path: Path) -> None:
    clock = Clock()
    session, other = replying(6, clock=clock, folder=tmp_path), replying(6, clock=clock)
    idle = Idle(30, clock=clock)
    idle.watch("a", session)
    clock.now = 29 * 60
    other.send("user-6")
    idle.watch("b", other)
    assert idle.check() == []
    clock.now = 31 * 60
    assert idle.check() == ["a"]
    assert session.conversation.cursor == 8
    assert idle.check() == []
    session.close()
    assert Conversation.load(tmp_path).view() == session.conversation.view()
    for _ in range(3):
        session.send("more")
    clock.now += 31 * 60
    assert idle.check() == ["a", "b"]


def test_idle_is_off_by_default() -> None:
    clock = Clock()
    session = replying(6, clock=clock, policy=Policy(compaction=Compaction()))
    clock.now = 1e9
    session.send("user-6")
    assert session.conversation.decisions == []
    idle = Idle(Compaction().idle_minutes, clock=clock)
    idle.watch("a", session)
    assert idle.check() == []


def test_a_session_that_is_taken_up_again_after_a_pause_is_consolidated_first() -> None:
    clock = Clock()
    session = replying(6, clock=clock, policy=Policy(compaction=Compaction(idle_minutes=30)))
    clock.now = 31 * 60
    session.send("user-6")
    assert session.conversation.cursor == 8
    assert session.conversation.messages[-2]["content"] == "user-6"


def test_a_session_that_lay_in_its_folder_is_consolidated_when_it_goes_on(tmp_path: Path) -> None:
    policy = Policy(compaction=Compaction(idle_minutes=30))
    replying(6, folder=tmp_path).close()
    with Runner(ScriptedModel(["Done."]), folder=tmp_path, policy=policy, summariser=Quoting()) as session:
        session.send("user-6")
        assert session.conversation.cursor == 0
    long_ago = (tmp_path / "messages.jsonl").stat().st_mtime - 31 * 60
    os.utime(tmp_path / "messages.jsonl", (long_ago, long_ago))
    with Runner(ScriptedModel(["Done."]), folder=tmp_path, policy=policy, summariser=Quoting()) as session:
        session.send("user-7")
        assert session.conversation.cursor == 10
    assert Conversation.load(tmp_path).cursor == 10
    assert len(read_session(tmp_path)[0].turns) == 8


def test_pitfall_30_a_session_whose_turn_runs_is_skipped() -> None:
    clock, inside, release = Clock(), threading.Event(), threading.Event()

    def reply(messages: Any) -> str:
        if messages[-1]["content"] == "user-5":
            inside.set()
            release.wait(10)
        return "Done."

    summariser = Quoting()
    session = Runner(ScriptedModel(reply), summariser=summariser, clock=clock)
    for n in range(5):
        session.send(f"user-{n}")
    idle = Idle(1, clock=clock)
    idle.watch("a", session)
    thread = threading.Thread(target=session.send, args=("user-5",))
    thread.start()
    assert inside.wait(10)
    clock.now = 1e9
    assert idle.check() == []
    assert not session.consolidate()
    release.set()
    thread.join(10)
    assert summariser.asked == []
    assert len(session.conversation.messages) == 12


def test_pitfall_30_a_message_that_arrives_while_the_summary_is_made_gets_its_turn_and_stays() -> None:
    session = Runner(ScriptedModel(lambda messages: "Done."))

    class Slow(Quoting):
        """While it works, the user writes."""

        def call(self, messages: Any, **options: Any) -> Reply:
            assert session.send("user-late").status == "complete"
            return super().call(messages, **options)

    session.summariser = Slow()
    for n in range(6):
        session.send(f"user-{n}")
    assert session.consolidate()
    talk = session.conversation
    assert talk.cursor == 8
    assert [m["content"] for m in talk.view()[-2:]] == ["user-late", "Done."]
    assert all(f"user-{n}" in talk.view()[0]["content"] for n in range(4))
    check_messages(talk.view())


def test_pitfall_30_of_two_consolidations_at_once_one_holds() -> None:
    talk, model = talk_of(6), Quoting()
    one, two = (consolidator(talk, model) for _ in range(2))
    first, second = one.select(), two.select()
    assert first is not None
    assert second is not None
    scribe = Scribe(talk, Audience())
    assert one.settle(one.summarise(first), scribe)
    assert not two.settle(two.summarise(second), scribe)
    assert len(talk.decisions) == 1


# -- the offline model


def test_the_offline_model_summarises_its_own_session_and_still_knows_what_it_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "deploy.txt").write_text(
        "service: billing\nticket OPS-4471 opened by Dana Whitfield\nport 8443\n"
    )
    (tmp_path / "src" / "notes.txt").write_text("The rollback id is rb_77aa12.\n" + "filler line\n" * 50)
    with Runner(OfflineModel(), folder=tmp_path / "run", workspace=tmp_path / "src") as session:
        for prompt in ("Read deploy.txt.", "Read notes.txt.", "What time is it?", "Thanks.", "List the files."):
            session.send(prompt)
        assert session.consolidate()
        view = session.conversation.view()
        check_messages(view)
        said = view[0]["content"]
        for fact in ("OPS-4471", "Dana Whitfield", "8443", "rb_77aa12", "deploy.txt", "notes.txt"):
            assert fact in said
        assert session.send("Which files did you read?").status == "complete"


def test_a_turn_goes_on_when_no_summary_can_be_had() -> None:
    events: list[Any] = []

    def reply(messages: Any, tools: Any) -> Any:
        if not tools:
            raise ProviderError("down")
        return "Done." if messages[-1]["role"] == "tool" else call("look", id="c")

    with Runner(ScriptedModel(reply), tools=[echo(1_600)], policy=small(), sinks=[events.append]) as session:
        statuses = [session.send(f"user-{n}").status for n in range(20)]
    assert statuses == ["complete"] * 20
    failed = [event for event in events if isinstance(event, CompactionFailed)]
    assert [event.reason for event in failed] == ["down"] * 3
    assert [b.turn - a.turn for a, b in pairwise(failed)] == [2, 2]
    assert session.conversation.view() is session.conversation.messages
