"""tau2-bench's simulations: each trap of the format on made-up ones, and recorded voice runs where they are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/tau2-bench"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")

STAMP = "2026-06-30T11:40:{:02}"
INFO = {
    "agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1", "llm_args": {"temperature": 0.0}},
    "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1-mini"},
    "environment_info": {
        "domain_name": "telecom",
        "policy": "# Telecom policy",
        "tool_defs": {
            "get_line": {"name": "get_line", "doc": "Look a line up.", "params": {"type": "object", "properties": {}}}
        },
    },
}


def says(text, **more):
    return {"role": "assistant", "content": text, "tool_calls": None, **more}


def user(text, **more):
    return {"role": "user", "content": text, "tool_calls": None, **more}


def asks(call_id, name, *, requestor="assistant", **arguments):
    call = {"id": call_id, "name": name, "arguments": arguments, "requestor": requestor}
    return {"role": requestor, "content": None, "tool_calls": [call]}


def gives(call_id, text, *, requestor="assistant", error=False):
    return {"role": "tool", "id": call_id, "content": text, "requestor": requestor, "error": error}


TALK = [
    says("Hi! How can I help you today?"),
    user("My phone has no signal.", cost=0.5, usage={"prompt_tokens": 7_000, "completion_tokens": 5}),
    {
        **asks("a", "get_line", number="555"),
        "cost": 0.01,
        "usage": {"prompt_tokens": 900, "completion_tokens": 20},
        "timestamp": STAMP.format(30),
    },
    gives("a", '{"line": "L1"}'),
    says("Please restart it.", cost=0.02, usage={"prompt_tokens": 950, "completion_tokens": 9}),
    asks("u", "toggle_airplane_mode", requestor="user"),
    gives("u", "Airplane mode is off.", requestor="user"),
    user("I have restarted it."),
    says("Good bye.", usage={"prompt_tokens": 1_000, "completion_tokens": 3}),
]


def simulation(messages=TALK, **more):
    return {
        "id": "x",
        "task_id": "7",
        "trial": 1,
        "termination_reason": "user_stop",
        "agent_cost": 0.03,
        "user_cost": 0.5,
        "reward_info": {"reward": 1.0},
        "messages": messages,
        "ticks": None,
        **more,
    }


def results(*simulations, **more):
    return {"timestamp": STAMP.format(0), "info": INFO, "tasks": [], "simulations": list(simulations), **more}


def tick(number, *, agent="", user="", **more):
    """A tick in which somebody says a word or two."""
    chunks = {
        "agent_chunk": {"role": "assistant", "content": agent or None, "contains_speech": bool(agent)},
        "user_chunk": {"role": "user", "content": user or None, "contains_speech": bool(user)},
    }
    return {"tick_id": number, "timestamp": STAMP.format(number), **chunks, **more}


def voice(*said, **more):
    ticks = [tick(number, **each) for number, each in enumerate(said)]
    return simulation([], ticks=ticks, mode="full_duplex", **more)


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_run_has_the_agents_turns_calls_usage_and_cost(tmp_path):
    (session,), problems = load(write(tmp_path / "results.json", results(simulation())))
    assert problems == []
    assert (session.format, session.id, session.model) == ("tau2-bench", "task-7-trial-1", "gpt-4.1")
    assert (session.system, [tool["name"] for tool in session.tools]) == ("# Telecom policy", ["get_line"])
    assert session.labels == {
        "task_id": "7",
        "trial": 1,
        "reward": 1.0,
        "ended": "user_stop",
        "domain": "telecom",
    }
    assert [(c.turn, c.iteration, c.stop) for c in session.calls] == [(1, 1, 2), (1, 2, 4), (2, 1, 6)]
    assert [c.usage for c in session.calls] == [Usage(900, 20), Usage(950, 9), Usage(1_000, 3)]
    assert [c.cost for c in session.calls] == [0.01, 0.02, None]
    assert session.cost == 0.03
    assert session.calls[0].time == 1_782_819_630.0
    assert list(curve(session)["turn_tokens"]) == [1_850, 1_000]


def test_calls_of_the_users_tools_are_not_the_agents(tmp_path):
    (session,), problems = load(write(tmp_path / "a.json", results(simulation())))
    assert problems == []
    assert [r.role for r in session.records] == [
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert [each.tool for each in session.observations()] == ["get_line"]
    assert all("irplane" not in json.dumps(message) for message in session.messages)


def test_the_usage_and_cost_of_the_simulated_user_are_not_the_agents(tmp_path):
    (session,), _ = load(write(tmp_path / "a.json", results(simulation())))
    assert sum(c.usage.prompt_tokens for c in session.calls) == 2_850
    assert sum(c.cost or 0 for c in session.calls) == pytest.approx(0.03)


def test_the_greeting_is_no_call(tmp_path):
    (session,), _ = load(write(tmp_path / "a.json", results(simulation(TALK[:2]))))
    assert (session.calls, len(session.records)) == ((), 2)


def test_arguments_become_json_text_and_errors_are_kept(tmp_path):
    talk = [user("Hi"), asks("a", "get_line", number="555", deep={"n": [1]}), gives("a", "Error: none", error=True)]
    (session,), _ = load(write(tmp_path / "a.json", results(simulation(talk))))
    function = session.records[1].tool_calls[0]["function"]
    assert json.loads(function["arguments"]) == {"number": "555", "deep": {"n": [1]}}
    (seen,) = session.observations()
    assert (seen.tool, seen.is_error) == ("get_line", True)


def test_results_that_came_together_are_one_each(tmp_path):
    both = asks("a", "get_line", number="1")
    both["tool_calls"].append({"id": "b", "name": "get_line", "arguments": {}, "requestor": "assistant"})
    together = {"role": "tool", "tool_messages": [gives("a", "A"), gives("b", "B")]}
    (session,), problems = load(write(tmp_path / "a.json", results(simulation([user("Hi"), both, together]))))
    assert problems == []
    assert [(r.text, r.message["tool_call_id"]) for r in session.records[2:]] == [("A", "a"), ("B", "b")]


def test_a_simulation_alone_and_trials_of_one_task(tmp_path):
    (alone,), _ = load(write(tmp_path / "sim.json", simulation()))
    assert (alone.id, alone.system, len(alone.calls)) == ("sim", "", 3)
    path = write(tmp_path / "a.json", results(simulation(), simulation(trial=2), simulation(), 5, {"task_id": "8"}))
    sessions, problems = load(path)
    assert [s.id for s in sessions] == ["task-7-trial-1", "task-7-trial-2", "task-7-trial-1#3"]
    assert [p.reason.split(":")[0] for p in problems] == ["simulations[3]", "simulations[4]"]


def test_a_voice_run_without_text_says_why_nothing_can_be_counted(tmp_path):
    silent = voice({}, {})
    for each in silent["ticks"]:
        each["agent_chunk"]["contains_speech"] = True
    (session,), problems = load(write(tmp_path / "a.json", silent))
    assert (session.records, session.calls, session.labels["mode"]) == ((), (), "full_duplex")
    assert [p.reason for p in problems] == [
        "a voice run whose 2 ticks hold neither text nor tool calls: nothing can be counted"
    ]
    assert curve(session).empty


def test_a_voice_run_with_text_is_read_as_what_was_said(tmp_path):
    call = {"id": "a", "name": "get_line", "arguments": {}, "requestor": "assistant"}
    mine = {"id": "u", "name": "toggle", "arguments": {}, "requestor": "user"}
    run = voice(
        {"agent": "Hello. "},
        {"agent": "How can I help?"},
        {},
        {"user": "No "},
        {"user": "signal.", "user_tool_calls": [mine], "user_tool_results": [gives("u", "x", requestor="user")]},
        {"agent": "One moment."},
        {"agent_tool_calls": [call], "agent_tool_results": [gives("a", "L1")]},
        {"agent": "It is blocked.", "user": "Hm."},
    )
    (session,), problems = load(write(tmp_path / "a.json", results(run)))
    assert [p.reason for p in problems] == [
        "simulations[0]: a voice run: its transcript is counted as text, tokens of audio are not in the log"
    ]
    assert [(r.role, r.text) for r in session.records] == [
        ("assistant", "Hello. How can I help?"),
        ("user", "No signal."),
        ("assistant", "One moment."),
        ("tool", "L1"),
        ("user", "Hm."),
        ("assistant", "It is blocked."),
    ]
    assert [call["function"]["name"] for call in session.records[2].tool_calls] == ["get_line"]
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (2, 1)]
    assert not calls_frame(session)["measured"].any()


def test_what_the_agent_heard_is_what_the_user_said(tmp_path):
    run = voice({"user": "No signal.", "user_transcript": "No sequel."}, {"agent": "Pardon?"})
    (session,), _ = load(write(tmp_path / "a.json", run))
    assert session.records[0].text == "No sequel."


def test_data_of_audio_are_no_text(tmp_path):
    run = voice({"user": "QUJD" * 2_000}, {"agent": "Pardon?"})
    (session,), _ = load(write(tmp_path / "a.json", run))
    assert [r.text for r in session.records] == ["Pardon?"]


def test_a_run_without_messages_and_ticks_says_so(tmp_path):
    (session,), problems = load(write(tmp_path / "a.json", results(simulation([]))))
    assert session.records == ()
    assert [p.reason for p in problems] == ["simulations[0]: there is no message in it: nothing can be counted"]


def test_other_objects_with_messages_are_not_taken(tmp_path):
    (session,), _ = load(write(tmp_path / "a.json", {"task_id": 1, "messages": [user("Hi"), says("Hello.")]}))
    assert session.format == "chat"
    with pytest.raises(InputError, match="not of the format 'tau2-bench'"):
        load(write(tmp_path / "a.json", {"info": {}, "simulations": []}), format="tau2-bench")


JUNK = st.sampled_from([None, 5, "x", [], {}, [{}], [5], {"role": "user"}, 1e400, -1, True])


@given(
    st.integers(0, 8),
    st.sampled_from(["", "role", "content", "tool_calls", "usage", "cost", "id", "requestor", "timestamp"]),
    JUNK,
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_messages_never_ends_in_a_traceback(tmp_path, at, key, junk):
    talk = list(TALK)
    talk[at] = {**talk[at], key: junk} if key else junk
    sessions, problems = load(write(tmp_path / "a.json", results(simulation(talk))))
    for session in sessions:
        curve(session)
    assert all(p.path.endswith("a.json") and p.line == 1 and p.reason for p in problems)


@given(
    st.integers(0, 2),
    st.sampled_from(["", "agent_chunk", "user_chunk", "agent_tool_calls", "agent_tool_results", "user_transcript"]),
    JUNK,
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_ticks_never_ends_in_a_traceback(tmp_path, at, key, junk):
    run = voice({"user": "Hi"}, {"agent": "Hello."}, {"user": "Bye"})
    run["ticks"][at] = {**run["ticks"][at], key: junk} if key else junk
    for session in load(write(tmp_path / "a.json", run))[0]:
        curve(session)


@given(
    st.sampled_from(["info", "simulations", "tasks"]),
    st.sampled_from(["", "agent_info", "environment_info", "task_id", "reward_info", "agent_cost", "ticks"]),
    JUNK,
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_a_field_never_ends_in_a_traceback(tmp_path, key, inner, junk):
    whole = results(simulation())
    if key == "simulations" and inner:
        whole["simulations"][0][inner] = junk
    else:
        whole[key] = {**INFO, inner: junk} if key == "info" and inner else junk
    try:
        sessions, _ = load(write(tmp_path / "a.json", whole))
    except InputError:
        return
    for session in sessions:
        curve(session)


@real
@pytest.mark.parametrize(("name", "ticks"), [("simulation-1", "973"), ("simulation-2", "1,340")])
def test_recorded_voice_runs(name, ticks):
    (session,), (problem,) = load(REAL / f"{name}.json")
    assert (session.records, session.calls) == ((), ())
    assert problem.reason.startswith(f"a voice run whose {ticks} ticks hold neither text nor tool calls")
