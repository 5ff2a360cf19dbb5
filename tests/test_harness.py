"""The harness: budgets, delegation, the watchdog, activity, the observer."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentlab.budgets import Budget, Scope
from agentlab.errors import AgentEnded, InputError, ProviderError, ToolError, TransportError
from agentlab.events import CallRetried
from agentlab.harness.actors import ACTORS, COG, OBSERVER, RESEARCHER, Actor
from agentlab.harness.cycle import CURRENT
from agentlab.harness.delegation import EXHAUSTED, request_more_turns
from agentlab.harness.reading import cycles_of
from agentlab.harness.records import BudgetExtended, BudgetRefused, LlmResponse, LlmRetry, WatchdogFire
from agentlab.harness.session import Harness
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.notes import LAST_TURN, LAST_TURN_EXTENDABLE, TWO_TURNS_LEFT
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel, call, say
from agentlab.testing import Slow, check_messages, provider_server
from agentlab.tools import Tool, tool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EMPTY = {"type": "object", "properties": {}}
CUT = Reply("The first half of", (ToolCall("half", "look", {}),), stop_reason="max_tokens")
RUN = [call("wordcount", text=f"word {n}") for n in range(40)]


def spy(name: str = "look") -> tuple[Tool, list[int]]:
    ran: list[int] = []
    number = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def run(n: int = 0) -> str:
        ran.append(n)
        return f"saw {n}"

    return Tool(name, "Look at something.", number, run), ran


def looks(count: int, name: str = "look") -> list[Any]:
    return [call(name, n=n) for n in range(count)]


def small(**changes: Any) -> dict[str, Actor]:
    """The actors, with other budgets of the cog."""
    return {**ACTORS, "cog": msgspec.structs.replace(COG, **changes)}


def harness(
    cog: Sequence[Any] | Any, researcher: Sequence[Any] = (), observer: Sequence[Any] = (), **settings: Any
) -> Any:
    made = {
        "researcher": ScriptedModel(list(researcher), keep_requests=True),
        "observer": ScriptedModel(list(observer)),
    }
    model = cog if not isinstance(cog, list) else ScriptedModel(cog, keep_requests=True)
    return Harness(model, providers={**made, **settings.pop("providers", {})}, **settings)


def said(session: Harness, kind: type[Any]) -> list[Any]:
    return [record for record in session.activity.records if isinstance(record, kind)]


def results(session: Harness) -> list[str]:
    messages = session.runner.conversation.messages
    check_messages(messages)
    return [m["content"] for m in messages if m["role"] == "tool"]


# -- who has what


def test_each_actor_has_its_own_tools_and_only_the_cog_can_call_agents_or_ask_for_turns() -> None:
    session = harness(["Hello."])
    offered = {name: [each.name for each in tools] for name, tools in session._tools.items()}
    assert offered["cog"] == [
        "now",
        "wordcount",
        "read_file",
        "list_dir",
        "grep",
        "read_skill",
        "request_more_turns",
        "activity",
        "agent_researcher",
        "agent_observer",
    ]
    assert offered["researcher"] == ["read_file", "list_dir", "grep", "read_skill"]
    assert offered["observer"] == ["activity", "list_cycles", "read_cycle", "read_skill"]


def test_the_system_prompt_states_the_budget_and_the_skills() -> None:
    session = harness(["Hello."], actors=small(turns=5, ceiling=7))
    assert "5 turns" in session.system(session.actors["cog"])
    assert "up to 7 turns" in session.system(session.actors["cog"])
    assert "- harness-turns: " in session.system(RESEARCHER)
    assert "partial result; would need more turns to verify X" in session.system(RESEARCHER)


def test_an_actor_without_tools_and_a_harness_without_a_cog_are_refused() -> None:
    with pytest.raises(InputError, match="'helper' has no tools"):
        harness([], actors={**ACTORS, "helper": Actor(name="helper", turns=2, seconds=1.0)})
    with pytest.raises(InputError, match="no actor 'cog'"):
        harness([], actors={"observer": OBSERVER})


def test_an_agent_of_ones_own_works_like_those_that_are_shipped() -> None:
    look, ran = spy()
    helper = Actor(name="helper", turns=2, seconds=5.0, purpose="Helps.", system="Help.")
    cog = [call("agent_helper", instruction="Look."), "Done."]
    session = harness(
        cog,
        actors={**ACTORS, "helper": helper},
        tools={"helper": [look]},
        providers={"helper": ScriptedModel([*looks(1), "I saw."])},
    )
    assert session.send("Go.").text == "Done."
    assert (ran, results(session)) == ([0], ["I saw."])


# -- turns


def test_the_cog_ends_after_its_turns_and_its_work_is_kept() -> None:
    look, ran = spy()
    session = harness(looks(30), tools={"cog": [look]})
    result = session.send("Go.")
    assert (result.status, result.reason, result.turns, result.allowed) == ("partial", "max_turns", 10, 10)
    assert ran == list(range(9))  # the last turn runs nothing
    assert results(session)[:9] == [f"saw {n}" for n in range(9)]


def test_the_model_is_told_when_two_turns_remain_and_on_the_last() -> None:
    session = harness([*looks(3), "Done."], actors=small(turns=4, ceiling=4), tools={"cog": [spy()[0]]})
    assert session.send("Go.").status == "complete"
    notes = [m["content"] for m in session.runner.conversation.messages if m.get("origin") == "loop"]
    assert notes == [TWO_TURNS_LEFT, LAST_TURN]


def test_pitfall_40_a_request_on_the_last_turn_takes_effect() -> None:
    look, ran = spy()
    ask = call("request_more_turns", additional=2, reason="Two files are left.")
    session = harness([*looks(2), ask, *looks(1), "Done."], actors=small(turns=3, ceiling=6), tools={"cog": [look]})
    result = session.send("Go.")
    assert (result.status, result.turns, result.allowed, ran) == ("complete", 5, 5, [0, 1, 0])
    assert results(session)[2] == "2 turns were granted. 2 of 5 turns are left."
    assert LAST_TURN_EXTENDABLE.format(tool="request_more_turns") in [
        m["content"] for m in session.runner.conversation.messages
    ]


@pytest.mark.parametrize(
    ("arguments", "granted", "text"),
    [
        ({"additional": 3, "reason": "More files."}, 3, "3 turns were granted. 12 of 13 turns are left."),
        ({"additional": "5", "reason": "More files."}, 5, "5 turns were granted. 14 of 15 turns are left."),
        (
            {"additional": 999, "reason": "All."},
            10,
            "10 turns of the 999 asked for were granted. 19 of 20 turns are left",
        ),
        (
            {"additional": 0, "reason": "None."},
            0,
            "0 turns were granted: ask for at least 1 turn, and 0 is not. 9 of 10",
        ),
        ({"additional": -4, "reason": "Less."}, 0, "0 turns were granted: ask for at least 1 turn, and -4 is not."),
        ({"additional": 2, "reason": "  "}, 0, "0 turns were granted: say what the turns are for."),
        ({"additional": 2.5, "reason": "Half."}, 0, "expected an integer, got the number 2.5"),
        ({"additional": "five", "reason": "Five."}, 0, "expected an integer"),
        ({"additional": True, "reason": "Yes."}, 0, "expected an integer"),
        ({"additional": 2}, 0, "field 'reason' is missing"),
        ("{not json", 0, "not valid JSON"),
    ],
)
def test_pitfall_41_the_true_grant_is_stated_and_logged(arguments: Any, granted: int, text: str) -> None:
    session = harness([Reply("", (ToolCall("a", "request_more_turns", arguments),)), "Done."])
    result = session.send("Go.")
    assert text in results(session)[0]
    assert result.allowed == 10 + granted
    grants, refusals = said(session, BudgetExtended), said(session, BudgetRefused)
    assert (len(grants), len(refusals)) == ((1, 0) if granted else (0, 1))
    line = (grants + refusals)[0]
    assert (line.before, line.granted, line.after, line.ceiling) == (10, granted, 10 + granted, 20)
    asked = arguments.get("additional") if isinstance(arguments, dict) else arguments
    assert line.requested == (5 if asked == "5" else asked)
    assert bool(session.runner.conversation.messages[2].get("is_error")) is (granted == 0)
    if granted:
        assert line.in_part is (granted == 10)
        assert line.reason == arguments["reason"]


def test_pitfall_41_at_the_ceiling_a_request_is_refused_and_logged() -> None:
    ask = call("request_more_turns", additional=15, reason="A long chain.")
    session = harness([[ask, ask], ask, "Done."])
    assert session.send("Go.").allowed == 20
    assert "0 turns were granted: the ceiling of 20 turns is reached" in results(session)[2]
    assert [(r.before, r.granted, r.after) for r in said(session, BudgetExtended)] == [(10, 10, 20)]
    assert [r.why for r in said(session, BudgetRefused)] == ["the ceiling of 20 turns is reached"] * 2


def test_a_request_outside_of_a_cycle_is_an_error() -> None:
    with pytest.raises(ToolError, match="no cycle is running"):
        request_more_turns(additional=1, reason="Why not.")
    assert CURRENT.get() is None


def test_pitfall_42_the_last_turn_keeps_the_tools_and_runs_none() -> None:
    look, ran = spy()
    model = ScriptedModel(looks(9), keep_requests=True)
    session = harness(model, actors=small(turns=3, ceiling=3), tools={"cog": [look]})
    result = session.send("Go.")
    assert (result.status, result.reason, ran) == ("partial", "max_turns", [0, 1])
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]
    assert len({tuple(t.name for t in request.tools) for request in model.requests}) == 1
    assert results(session)[2] == "Error: not run: last turn. Its result could not be read any more."


def test_pitfall_42_below_its_ceiling_the_cog_keeps_auto_and_only_its_request_is_run() -> None:
    look, ran = spy()
    ask = call("request_more_turns", additional=1, reason="One more.")
    model = ScriptedModel([*looks(1), [call("look", n=7), ask], "Done."], keep_requests=True)
    session = harness(model, actors=small(turns=2, ceiling=3), tools={"cog": [look]})
    assert session.send("Go.").status == "complete"
    assert ran == [0]
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]
    assert "not run: last turn" in results(session)[1]
    runs = [(r.name, r.run) for r in session.activity.records if type(r).__name__ == "ToolCalled"]
    assert runs == [("look", True), ("request_more_turns", True), ("look", False)]


def test_the_plain_rule_runs_the_tools_of_the_last_turn() -> None:
    look, ran = spy()
    session = harness(looks(9), actors=small(turns=3, ceiling=3), tools={"cog": [look]}, last_turn="plain")
    assert session.send("Go.").reason == "max_turns"
    assert ran == [0, 1, 2]


def test_a_blank_reply_on_the_last_turn_is_max_turns() -> None:
    session = harness([*looks(1), " "], actors=small(turns=2, ceiling=2), tools={"cog": [spy()[0]]})
    assert session.send("Go.").reason == "max_turns"


def test_pitfall_43_exhausted_turns_lose_nothing() -> None:
    look, _ = spy()
    script = [say(f"Step {n}.", call("look", n=n)) for n in range(9)]
    usage = Usage(10, 1)
    session = harness(
        [msgspec.structs.replace(step, usage=usage) for step in script],
        actors=small(turns=3, ceiling=3),
        tools={"cog": [look]},
    )
    result = session.send("Go.").result
    assert (result.status, result.reason) == ("partial", "max_turns")
    assert [c["name"] for c in result.tool_calls] == ["look"] * 3
    assert result.usage == Usage(30, 3)
    texts = [m["content"] for m in session.runner.conversation.messages if m["role"] == "assistant"]
    assert texts[:3] == ["Step 0.", "Step 1.", "Step 2."]


def test_pitfall_44_a_call_that_gives_the_same_again_and_again_ends_the_cycle_polling_does_not() -> None:
    look, _ = spy()
    session = harness([call("look")] * 9, tools={"cog": [look]})
    result = session.send("Go.")
    assert (result.status, result.reason, result.turns) == ("partial", "repeated_call", 5)
    assert sum("same call 3 times" in m["content"] for m in session.runner.conversation.messages) == 1
    polling = harness([*[call("activity", last=1)] * 9, "Done."])
    assert polling.send("Go.").status == "complete"


# -- agents


def test_an_agent_works_with_fresh_messages_and_its_own_budgets() -> None:
    cog = [say("I ask.", call("agent_researcher", instruction="Look.", context="The file is long.")), "Done."]
    session = harness(cog, [call("list_dir"), "Nothing."])
    assert session.send("A secret of the user.").text == "Done."
    first = session._providers["researcher"]._retry.provider.requests[0]
    assert [m["content"] for m in first.messages] == ["Look.\n\nContext:\nThe file is long."]
    assert "8 turns" in first.system
    assert "request_more_turns" not in [t.name for t in first.tools]
    assert results(session) == ["Nothing."]
    cog_cycle, agent = cycles_of(session.activity.records)
    assert (agent.parent, agent.turns, agent.allowed) == (cog_cycle.id, 2, 8)
    assert cog_cycle.turns == 2


def test_pitfall_43_an_exhausted_agent_is_an_informational_error_with_what_it_had() -> None:
    steps = [say(f"Note {n}.", call("read_file", path=f"{n}.txt")) for n in range(8)]
    session = harness([call("agent_researcher", instruction="Read everything."), "It found a part."], steps)
    assert session.send("Go.").status == "complete"
    (text,) = results(session)
    assert text.startswith(
        f"Error: AgentEnded: {EXHAUSTED}. The researcher used 8 of 8 turns; tools: read_file 8 (8 failed)"
    )
    assert "Note 0." in text
    assert "Note 7." in text
    assert "narrower brief" in text
    assert "I stopped after" not in text
    assert session.runner.conversation.messages[2]["is_error"] is True


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        (looks(3), "max_turns exhausted without final reply"),
        ([*looks(2), CUT], "partial (output_limit) without final reply"),
    ],
)
def test_pitfall_22_what_an_agent_said_up_to_the_output_limit_in_its_last_turn_is_no_final_reply(
    script: list[Any], ending: str
) -> None:
    look, ran = spy()
    session = harness(
        [call("agent_researcher", instruction="Look."), "Done."],
        [*script, CUT],
        actors={**ACTORS, "researcher": msgspec.structs.replace(RESEARCHER, turns=4)},
        tools={"researcher": [look]},
    )
    assert session.send("Go.").status == "complete"
    assert len(ran) == len(script) - script.count(CUT)  # the call in a cut reply was not run
    (text,) = results(session)
    assert f"{ending}. The researcher used 4 of 4 turns" in text
    assert "The first half of" in text


def test_an_exhausted_agent_without_text_hands_over_what_it_saw_last(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The answer is 42.\n")
    steps = [call("read_file", path="a.txt", start_line=1, end_line=n + 1) for n in range(3)]
    actors = {**ACTORS, "researcher": msgspec.structs.replace(RESEARCHER, turns=4, errors=3)}
    session = harness(
        [call("agent_researcher", instruction="Read."), "Ok."], [*steps, steps[0]], actors=actors, workspace=tmp_path
    )
    session.send("Go.")
    assert "The answer is 42." in results(session)[0]


def test_three_failed_model_calls_end_an_agent_with_the_cause_and_tool_errors_do_not() -> None:
    down = ScriptedModel([TransportError("first"), TransportError("second"), TransportError("it is down")])
    session = harness(
        [call("agent_researcher", instruction="Look."), "Ok."], providers={"researcher": Retry(down, attempts=1)}
    )
    session.send("Go.")
    assert "its model calls failed: it is down" in results(session)[0]
    assert "an outage of the provider, a refused key or a broken network" in results(session)[0]
    assert "narrower" not in results(session)[0]
    failures = [r for r in said(session, LlmResponse) if r.is_error]
    assert [(r.actor, r.in_a_row) for r in failures] == [("researcher", n) for n in (1, 2, 3)]
    wrong = [call("read_file", path=f"{n}") for n in range(5)]
    again = harness([call("agent_researcher", instruction="Look."), "Ok."], [*wrong, "Nothing there."])
    again.send("Go.")
    assert results(again) == ["Nothing there."]


def test_a_model_error_that_survives_retry_ends_the_cogs_cycle() -> None:
    model = ScriptedModel([TransportError("one"), TransportError("two"), "Never."])
    session = harness(Retry(model, attempts=2, base=0.0))
    result = session.send("Go.")
    assert (result.status, result.reason, str(result.result.error)) == ("failed", "provider_error", "two")
    end = cycles_of(session.activity.records)[0].end
    assert end is not None
    assert end.error == "two"
    assert session.send("Again.").text == "Never."


def test_every_retry_is_logged_and_told_to_the_sinks() -> None:
    heard: list[CallRetried] = []

    class Ear:
        hears = (CallRetried,)

        def __call__(self, event: Any) -> None:
            heard.append(event)

    model = ScriptedModel([TransportError("one"), "Here.", TransportError("two"), "There."])
    session = harness(Retry(model, base=0.0), sinks=[Ear()])
    assert session.send("Go.").text == "Here."
    assert session.send("Go.").text == "There."
    assert [r.reason for r in said(session, LlmRetry)] == ["one", "two"]
    assert [event.reason for event in heard] == ["one", "two"]


def test_depth_is_one_and_enforced() -> None:
    """An agent has no agent tool; handed one all the same, it is refused."""
    session = harness([call("agent_researcher", instruction="Look."), "Ok."])
    smuggled = next(t for t in session._tools["cog"] if t.name == "agent_observer")
    session._tools["researcher"].append(smuggled)
    session._providers["researcher"]._retry.provider._steps = tuple(
        ScriptedModel([call("agent_observer", instruction="Watch."), lambda m: f"It said: {m[-1]['content']}"])._steps
    )
    session.send("Go.")
    (text,) = results(session)
    assert text.startswith("It said: Error: ToolError: an agent does not call agents: do the work with your own tools")
    assert [view.actor for view in cycles_of(session.activity.records)] == ["cog", "researcher"]


def test_an_empty_instruction_starts_no_agent() -> None:
    session = harness([call("agent_researcher", instruction="  "), "Ok."])
    session.send("Go.")
    assert "the instruction is empty" in results(session)[0]
    assert len(cycles_of(session.activity.records)) == 1


def test_two_agents_side_by_side_have_a_cycle_each(tmp_path: Path) -> None:
    both = [call("agent_researcher", instruction="One."), call("agent_researcher", instruction="Two.")]
    model = ScriptedModel(lambda messages: call("list_dir") if len(messages) < 3 else messages[0]["content"])
    with harness(
        [both, "Ok."], providers={"researcher": model}, folder=tmp_path / "run", workspace=tmp_path
    ) as session:
        session.send("Go.")
        assert results(session) == ["One.", "Two."]
        cycles = cycles_of(session.activity.records)
    assert [view.actor for view in cycles] == ["cog", "researcher", "researcher"]
    assert [view.status for view in cycles] == ["complete"] * 3
    assert sorted(f.name for f in (tmp_path / "run" / "agents").iterdir()) == sorted(v.id for v in cycles[1:])


def test_agents_spend_from_the_same_money() -> None:
    budget = Budget(max_tokens=150)
    spent = Reply("", (call("agent_researcher", instruction="Look."),), Usage(60, 0))
    session = harness([spent, "Never."], [Reply("Found.", (), Usage(100, 0))], budget=budget)
    result = session.send("Go.")
    assert budget.tokens == 160
    assert (result.status, result.reason) == ("partial", "token_budget")


# -- the watchdog


def test_pitfall_34_the_deadline_reaches_a_slow_stream() -> None:
    from agentlab.providers.openai import OpenAIProvider

    with provider_server(["Loaded.", Slow("word " * 200, seconds=0.1)]) as server:
        model = OpenAIProvider("m", base_url=f"{server.url}/v1", key="not-a-real-key")
        assert harness(model).send("Load the SDK, which takes longer than the deadline below.").text == "Loaded."
        session = harness(model, actors=small(seconds=0.6))
        pieces: list[str] = []
        began = time.monotonic()
        result = session.send("Go.", pieces.append)
        took = time.monotonic() - began
        assert (result.status, result.reason) == ("failed", "deadline")
        assert took < 1.4
        assert result.text.startswith("word ")
        assert "time for this run was over" in result.text
        (fired,) = said(session, WatchdogFire)
        assert [(w.kind, w.stopped) for w in fired.running] == [("model", True)]
        assert fired.all_stopped is True
        heard = len(pieces)
        time.sleep(0.5)
        assert len(pieces) == heard


def test_pitfall_34_a_tool_that_cannot_be_stopped_is_named_and_its_late_result_is_dropped() -> None:
    done = threading.Event()

    def run() -> str:
        time.sleep(0.8)
        done.set()
        return "late"

    session = harness(
        [call("sleep"), "Second cycle."],
        actors=small(seconds=0.3),
        tools={"cog": [Tool("sleep", "Sleep.", EMPTY, run)]},
    )
    result = session.send("Go.")
    assert (result.status, result.reason) == ("failed", "deadline")
    (fired,) = said(session, WatchdogFire)
    assert [(w.kind, w.name, w.stopped) for w in fired.running] == [("tool", "sleep", False)]
    assert 0.3 <= fired.running[0].seconds < 0.8
    assert (fired.all_stopped, fired.limit) == (False, 0.3)
    before = list(session.runner.conversation.messages)
    assert session.send("On.").text == "Second cycle."
    assert done.wait(2.0)
    time.sleep(0.05)
    messages = session.runner.conversation.messages
    assert messages[: len(before)] == before
    assert len(messages) == len(before) + 2
    assert not any(m["content"] == "late" for m in messages)
    check_messages(messages)


def test_pitfall_34_a_tool_that_hangs_does_not_hold_the_exit_of_the_process() -> None:
    program = """
import time
from msgspec.structs import replace
from agentlab.harness.actors import ACTORS
from agentlab.harness.session import Harness
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tools import tool

@tool
def hang() -> str:
    "Hang."
    time.sleep(60)

actors = {**ACTORS, "cog": replace(ACTORS["cog"], seconds=0.2)}
with Harness(ScriptedModel([call("hang"), "On."]), actors=actors, tools={"cog": [hang]}) as session:
    print(session.send("Go.").reason, session.send("Again.").text)
"""
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (0, ["deadline", "On."], "")
    assert time.monotonic() - began < 40


def test_pitfall_34_a_tool_that_heeds_its_scope_is_stopped() -> None:
    @tool
    def nap(scope: Scope | None = None) -> str:
        """Sleep until told to stop."""
        assert scope is not None
        scope.wait(30.0)
        return "rested"

    session = harness([call("nap")], actors=small(seconds=0.2), tools={"cog": [nap]})
    assert session.send("Go.").reason == "deadline"
    (fired,) = said(session, WatchdogFire)
    assert [(w.name, w.stopped) for w in fired.running] == [("nap", True)]


def test_pitfall_34_the_callers_deadline_reaches_an_agent_and_its_work() -> None:
    def slow(messages: Any, scope: Scope) -> str:
        scope.wait(30.0)
        return "never"

    session = harness(
        [call("agent_researcher", instruction="Look.")],
        providers={"researcher": ScriptedModel(slow)},
        actors=small(seconds=0.3),
    )
    began = time.monotonic()
    assert session.send("Go.").reason == "deadline"
    assert time.monotonic() - began < 1.0
    cog, agent = cycles_of(session.activity.records)
    assert (cog.reason, agent.reason) == ("deadline", "deadline")
    fired = {r.actor: r for r in said(session, WatchdogFire)}
    assert [(w.kind, w.stopped) for w in fired["researcher"].running] == [("model", True)]
    assert [(w.kind, w.name, w.stopped) for w in fired["cog"].running] == [("agent", "agent_researcher", True)]


def test_an_agents_own_deadline_is_an_error_for_the_cog_who_goes_on() -> None:
    def slow(messages: Any, scope: Scope) -> str:
        scope.wait(30.0)
        return "never"

    actors = {**ACTORS, "researcher": msgspec.structs.replace(RESEARCHER, seconds=0.2)}
    session = harness(
        [call("agent_researcher", instruction="Look."), "It took too long."],
        providers={"researcher": ScriptedModel(slow)},
        actors=actors,
    )
    assert session.send("Go.").text == "It took too long."
    assert "AgentEnded: time was over after" in results(session)[0]


def test_an_agent_has_the_smaller_of_its_own_time_and_what_its_caller_has_left() -> None:
    now = [0.0]
    seen: list[float] = []

    def look(messages: Any, scope: Scope) -> str:
        seen.append(scope.remaining())
        return "Seen."

    def advance(seconds: float) -> Any:
        def step(messages: Any) -> Any:
            now[0] += seconds
            return call("agent_researcher", instruction="Look.")

        return step

    session = harness(
        [advance(10.0), advance(250.0), "Done."], providers={"researcher": ScriptedModel(look)}, clock=lambda: now[0]
    )
    assert session.send("Go.").status == "complete"
    assert seen == [90.0, 40.0]


def test_a_readers_own_provider_that_knows_no_scope_is_given_up_too() -> None:
    class Book:
        def call(self, messages: Any, system: str, tools: Any, on_text_delta: Any = None) -> Any:
            time.sleep(0.7)
            on_text_delta("late")
            return Reply("Late.")

    session = harness(Book(), actors=small(seconds=0.2))
    pieces: list[str] = []
    began = time.monotonic()
    result = session.send("Go.", pieces.append)
    assert time.monotonic() - began < 0.65
    assert result.reason == "deadline"
    assert [(w.kind, w.stopped) for w in said(session, WatchdogFire)[0].running] == [("model", False)]
    time.sleep(0.6)
    assert pieces == []


def test_pitfall_35_time_that_is_over_for_one_cycle_is_not_for_the_next() -> None:
    now = [0.0]

    def late(messages: Any) -> str:
        now[0] += 301.0
        return "Too late, but here."

    def slow(messages: Any) -> Any:
        now[0] += 301.0
        return call("wordcount", text="a")

    session = harness([slow, "Fresh.", late, "Fresh again."], clock=lambda: now[0])
    assert session.send("Go.").reason == "deadline"
    assert session.send("Go.").text == "Fresh."
    session.send("Go.")
    now[0] += 1_000.0
    assert session.send("Go.").text == "Fresh again."


def test_pitfall_35_a_thread_that_was_left_behind_cannot_touch_the_next_cycle() -> None:
    release, asked = threading.Event(), threading.Event()
    outcome: list[str] = []

    def run() -> str:
        release.wait(5.0)
        try:
            request_more_turns(additional=5, reason="I am late.")
        except ToolError as error:
            outcome.append(str(error))
        asked.set()
        return "late"

    def second(messages: Any) -> str:
        release.set()
        asked.wait(5.0)
        return "Second."

    session = harness(
        [call("stuck"), second], actors=small(seconds=0.3), tools={"cog": [Tool("stuck", "Stick.", EMPTY, run)]}
    )
    assert session.send("Go.").reason == "deadline"
    result = session.send("On.")
    assert (result.text, result.allowed, result.extensions) == ("Second.", 10, [])
    assert outcome == ["no cycle is running: this works inside of one"]


def test_pitfall_39_cancelling_ends_at_once_and_is_no_error() -> None:
    scope = Scope()

    def stop(messages: Any) -> str:
        scope.cancel("stop button")
        scope.check()
        return ""

    session = harness([stop])
    result = session.send("Go.", scope=scope)
    assert (result.status, result.reason) == ("cancelled", "interrupted")
    assert [r for r in said(session, LlmResponse) if r.is_error] == []
    assert said(session, WatchdogFire) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a thread cannot be sent a signal")
def test_ctrl_c_ends_an_agent_that_was_left_behind() -> None:

    ended = threading.Event()

    def slow(messages: Any, scope: Scope) -> str:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            scope.wait(30.0)
        finally:
            ended.set()
        return "never"

    session = harness([call("agent_researcher", instruction="Look.")], providers={"researcher": ScriptedModel(slow)})
    result = session.send("Go.")
    assert (result.status, result.reason) == ("cancelled", "interrupted")
    assert ended.wait(2.0)
    check_messages(session.runner.conversation.messages)


def test_a_bug_in_a_provider_goes_on_its_way_and_the_cycle_has_its_end() -> None:
    def bug(messages: Any) -> str:
        raise ZeroDivisionError("a bug")

    session = harness([bug, "Fine."])
    with pytest.raises(ZeroDivisionError):
        session.send("Go.")
    assert CURRENT.get() is None
    assert cycles_of(session.activity.records)[0].status == "failed"
    assert session.send("On.").text == "Fine."


# -- activity and the observer


def test_activity_is_the_last_events_of_the_running_cycle_and_a_callback() -> None:
    lines: list[str] = []
    script = ["First.", call("wordcount", text="a b"), call("activity", last=3), call("activity", last=0), "Done."]
    session = harness(script, on_activity=lines.append)
    session.send("One.")
    session.send("Two.")
    shown = results(session)[1].splitlines()
    assert len(shown) == 3
    assert shown[0].startswith("turn 2/10 cog llm_request: ")
    assert shown[2].startswith("turn 2/10 cog tool_call: call activity")
    assert "expected 1 to 200" in results(session)[2]
    assert lines[0] == 'turn 0/10 cog cycle_start: "One."'
    assert lines[-1].startswith("turn 4/10 cog cycle_complete: complete (reply) after 4 turns, 6 of 10 left")
    assert len(lines) == len(session.activity.records)


def test_activity_shows_the_cap_of_the_moment() -> None:
    ask = call("request_more_turns", additional=4, reason="More.")
    session = harness([ask, call("activity", last=1), "Done."])
    session.send("Go.")
    assert results(session)[1].startswith("turn 2/14 cog ")


def test_the_observer_answers_why_a_cycle_ended_how_many_turns_were_left_and_where_the_tokens_went(
    tmp_path: Path,
) -> None:
    observer = [
        call("list_cycles"),
        call("read_cycle"),
        call("read_cycle", view="tokens"),
        call("read_cycle", cycle="nope"),
        lambda messages: "\n".join(m["content"] for m in messages if m["role"] == "tool"),
    ]
    cog = [call("read_file", path="none.txt"), "Done.", call("agent_observer", instruction="What happened?"), "Told."]
    with harness(cog, observer=observer, folder=tmp_path / "run", workspace=tmp_path) as session:
        first = session.send("Go.")
        session.send("Explain.")
        told = results(session)[-1]
    assert f'{first.cycle} cog "Go." complete (reply) after 2 turns, 8 of 10 left' in told
    assert "turn 1: result of read_file" in told
    assert "results of read_file: about" in told
    assert "there is no cycle 'nope'" in told
    assert '"Explain." still runs' in told
    assert "abandoned" not in told


def test_a_person_can_ask_the_observer_without_the_cog() -> None:
    session = harness(["Hello."], observer=[call("read_cycle"), lambda messages: messages[-1]["content"]])
    first = session.send("Go.")
    assert first.cycle in session.ask("observer", "What happened?").text
    with pytest.raises(InputError, match="the agents are researcher, observer"):
        session.ask("cog", "Hi.")


def test_late_errors_of_agents_are_errors_of_tools() -> None:
    assert issubclass(AgentEnded, ToolError)
    assert not issubclass(AgentEnded, ProviderError)
