"""SWE-agent's trajectories: each trap of the format on made-up runs, and recorded ones where they are there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import curve, load
from agentlab.analysis.citations import citations
from agentlab.analysis.importers.sent import Sent
from agentlab.analysis.session import Replaced
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/swe-agent"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")

SYSTEM = {
    "role": "system",
    "content": "SETTING: You work in a shell.",
    "agent": "main",
    "message_type": "system_prompt",
}


def seen(text, **more):
    return {"role": "user", "content": text, "agent": "main", "message_type": "observation", **more}


def acts(action, thought="I act."):
    text = f"{thought}\n```\n{action}\n```"
    said = {"role": "assistant", "content": text, "thought": thought, "action": action + "\n"}
    return {**said, "agent": "main", "message_type": "action"}


def step(action, observation, **more):
    text = f"I act.\n```\n{action}\n```"
    return {"action": action + "\n", "observation": observation, "response": text, "thought": "I act.", **more}


def a_run(n=3, **more):
    """A run in which nothing is shortened, and the inputs are not recorded."""
    names = [f"lib/part_{k}.py" for k in range(n)]
    turns = [part for name in names for part in (acts(f"open {name}"), seen(f"[File: {name}]\n1:x = 1"))]
    steps = [step(f"open {name}", f"[File: {name}]\n1:x = 1") for name in names] + [step("submit", "diff --git a b")]
    return {
        "environment": "main",
        "history": [SYSTEM, seen("Fix the issue."), *turns, acts("submit")],
        "trajectory": steps,
        "info": {"exit_status": "submitted", "model_stats": {"instance_cost": 0, "tokens_sent": 0, "api_calls": 0}},
        **more,
    }


def with_inputs(n=3, keep=2):
    """The same run with the exact input of each call, in which all but the last observations were shortened."""
    run = a_run(n)
    history = run["history"]
    for number, made in enumerate(run["trajectory"]):
        made["query"] = shortened(history[: 2 + 2 * number], keep)
    return run


def shortened(history, keep):
    at = [n for n, raw in enumerate(history) if raw["role"] == "user"][1:]
    old = at[: max(0, len(at) - keep)]
    return [
        {**raw, "content": f"Old environment output: ({len(raw['content'].splitlines())} lines omitted)"}
        if n in old
        else raw
        for n, raw in enumerate(history)
    ]


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def sent(session, number):
    """Role and text of what a call was sent."""
    call, shown = session.calls[number], {}
    for each in session.replaced:
        if each.call <= number:
            shown[each.index] = each.text
    records = session.records[call.start : call.stop]
    texts = [(r.role, shown.get(call.start + n, r.text)) for n, r in enumerate(records)]
    return [(role, text) for role, text in texts if text is not None]


def test_a_history_is_one_turn_of_calls_and_what_they_observed(tmp_path):
    (session,), problems = load(write(tmp_path / "django-1.traj", a_run()))
    assert problems == []
    assert (session.format, session.id, session.system) == ("swe-agent", "django-1", SYSTEM["content"])
    assert [r.role for r in session.records] == ["user", *["assistant", "tool"] * 4]
    assert [(c.turn, c.iteration, c.start, c.stop, c.reply) for c in session.calls] == [
        (1, n + 1, 0, 1 + 2 * n, 1 + 2 * n) for n in range(4)
    ]
    assert session.labels == {"environment": "main", "exit_status": "submitted", "api_calls": 0}
    assert len(curve(session)) == 1


def test_a_command_in_a_text_is_a_call_and_counts_once(tmp_path):
    (session,), _ = load(write(tmp_path / "a.traj", a_run()))
    said = session.records[1].message
    assert said["content"] == "I act."
    assert said["tool_calls"][0]["function"] == {"name": "open", "arguments": '{"command":"open lib/part_0.py"}'}
    observed = session.records[2].message
    assert (observed["name"], observed["tool_call_id"]) == ("open", said["tool_calls"][0]["id"])
    assert session.observations()[0].text == "[File: lib/part_0.py]\n1:x = 1"


def test_what_is_no_command_of_its_own_runs_in_the_shell(tmp_path):
    run = a_run(0)
    run["history"][2:] = [acts("grep -rn total lib"), seen("lib/sums.py:3"), acts("python lib/sums.py")]
    (session,), _ = load(write(tmp_path / "a.traj", run))
    assert [each.tool for each in session.observations()] == ["bash", "bash"]
    (cited,) = citations(session, session.observations())
    assert (cited.atom, cited.cited_at) == ("lib/sums.py", 3)


def test_the_last_observation_is_read_though_nothing_was_sent_after_it(tmp_path):
    (session,), _ = load(write(tmp_path / "a.traj", a_run()))
    last = session.observations()[-1]
    assert (last.tool, last.text, last.carried) == ("submit", "diff --git a b", 0)


def test_demonstrations_are_sent_with_every_call_and_are_no_turn(tmp_path):
    demo = seen("Here is a demonstration: " + "word " * 400, is_demo=True)
    run = a_run()
    plain = curve(load(write(tmp_path / "plain.traj", run))[0][0])
    run["history"].insert(1, demo)
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert problems == []
    frame = curve(session)
    assert list(frame["turn"]) == [1]
    assert session.records[0].text == demo["content"]
    assert not session.records[0].opens_turn
    assert all((c.start, c.stop) == (0, 2 + 2 * n) for n, c in enumerate(session.calls))
    extra = int(frame["turn_tokens"].iloc[0] - plain["turn_tokens"].iloc[0])
    assert extra % 4 == 0
    assert 400 < extra / 4 < 420
    assert frame["turn_tokens_without"].iloc[0] == frame["turn_tokens"].iloc[0]  # one turn: nothing is left out


def test_a_demonstration_of_several_messages_makes_no_calls(tmp_path):
    run = a_run(1)
    run["history"][1:1] = [{**seen("Task"), "is_demo": True}, {**acts("ls"), "is_demo": True}]
    (session,), _ = load(write(tmp_path / "a.traj", run))
    assert [c.stop for c in session.calls] == [3, 5]
    assert session.records[1].tool_calls == []


def test_a_history_of_tool_calls_keeps_them(tmp_path):
    made = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    asks = {**acts("ls"), "content": "I look.", "tool_calls": [made]}
    looked = {"role": "tool", "content": "a.py", "tool_call_ids": ["call_1"], "agent": "main"}
    run = {"history": [SYSTEM, seen("Fix it."), asks, looked, acts("submit")]}
    (session,), problems = load(write(tmp_path / "simple.traj", run))
    assert problems == []
    assert session.records[1].tool_calls == [made]
    assert session.records[2].message == {
        "role": "tool",
        "content": "a.py",
        "tool_call_id": "call_1",
        "name": "bash",
    }
    assert len(session.calls) == 2


def test_inputs_say_what_was_shortened_from_which_call_on(tmp_path):
    run = with_inputs(n=4, keep=2)
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert problems == []
    old = "Old environment output: (2 lines omitted)"
    assert session.replaced == (Replaced(3, 2, old), Replaced(4, 4, old))
    for number, made in enumerate(run["trajectory"]):
        texts = [raw["content"] for raw in made["query"] if raw["role"] == "user"]
        assert [text for role, text in sent(session, number) if role != "assistant"] == texts
    assert [each.text.startswith("[File") for each in session.observations()[:-1]] == [True] * 4
    assert session.carried()[2] == 2


@given(st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_call_is_sent_what_its_input_says(tmp_path, n, keep):
    run = with_inputs(n, keep)
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert (problems, len(session.calls)) == ([], n + 1)
    for number, made in enumerate(run["trajectory"]):
        now = sent(session, number)
        assert len(now) == len(made["query"]) - 1
        texts = [raw["content"] for raw in made["query"] if raw["role"] == "user"]
        assert [text for role, text in now if role != "assistant"] == texts


def test_inputs_and_history_alone_give_the_same_where_nothing_was_shortened(tmp_path):
    (exact,), _ = load(write(tmp_path / "a.traj", with_inputs(n=3, keep=9)))
    (told,), _ = load(write(tmp_path / "a.traj", a_run()))
    assert exact == told


def test_before_1_1_0_a_step_holds_the_input_of_the_next_call(tmp_path):
    run = with_inputs(n=3, keep=2)
    steps = run["trajectory"]
    later = [made.pop("query") for made in steps][1:]
    for made, messages in zip(steps, [*later, run["history"]], strict=True):
        made["messages"] = messages
    (old,), problems = load(write(tmp_path / "a.traj", run))
    (new,), _ = load(write(tmp_path / "a.traj", with_inputs(n=3, keep=2)))
    assert problems == []
    assert old == new


def test_a_reply_that_was_asked_for_again_is_a_call_that_is_not_sent_on(tmp_path):
    run = with_inputs(n=2, keep=9)
    wrong = "I forgot the command."
    error = {"role": "user", "content": "Your output was not formatted correctly.", "message_type": "user"}
    again = {"role": "assistant", "content": wrong, "message_type": "assistant"}
    first = run["trajectory"][1]
    failed = {"action": "", "observation": "", "response": wrong, "query": first["query"]}
    first["query"] = [*first["query"], again, error]
    run["trajectory"].insert(1, failed)
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert problems == []
    assert len(session.calls) == 4
    roles = [(r.role, r.message.get("origin")) for r in session.records]
    assert roles[3:5] == [("assistant", None), ("user", "loop")]
    assert session.replaced == (Replaced(3, 3, None), Replaced(3, 4, None))
    assert [len(sent(session, number)) for number in range(4)] == [1, 3, 5, 5]
    assert len({r.turn for r in session.records if r.opens_turn}) == 1


def test_a_reply_that_the_next_input_does_not_hold_is_kept(tmp_path):
    run = with_inputs(n=1, keep=9)
    blocked = {"action": "", "observation": "", "response": "Blocked.", "query": run["trajectory"][0]["query"]}
    run["trajectory"].insert(0, blocked)
    (session,), _ = load(write(tmp_path / "a.traj", run))
    assert [c.reply for c in session.calls] == [1, 2, 4]
    assert session.records[1].text == "Blocked."
    assert [len(sent(session, number)) for number in range(3)] == [1, 1, 3]


def test_a_step_that_called_no_model_is_no_call(tmp_path):
    run = with_inputs(n=2)
    run["trajectory"].append({"action": "exit_cost", "observation": "Exited", "response": "", "query": [{}]})
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert (len(session.calls), problems) == (3, [])


def test_marks_for_the_cache_change_nothing(tmp_path):
    run = with_inputs(n=3, keep=9)
    for made in run["trajectory"]:
        last = made["query"][-1]
        marked = [{"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}]
        made["query"] = [*made["query"][:-1], {**last, "content": marked}]
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert (session.replaced, problems) == ((), [])


def test_totals_are_the_sessions_and_zeros_say_nothing(tmp_path):
    stats = {"instance_cost": 0.25, "tokens_sent": 900, "tokens_received": 40, "api_calls": 4}
    (session,), problems = load(write(tmp_path / "a.traj", a_run(info={"model_stats": stats})))
    assert (session.usage, session.cost, problems) == (Usage(900, 40), 0.25, [])
    zero = dict.fromkeys(stats, 0)
    (session,), _ = load(write(tmp_path / "a.traj", a_run(info={"model_stats": zero})))
    assert (session.usage, session.cost) == (None, None)


def test_calls_that_were_paid_and_are_not_in_the_log_are_said(tmp_path):
    _, problems = load(write(tmp_path / "a.traj", a_run(info={"model_stats": {"api_calls": 6}})))
    assert [p.reason for p in problems] == ["info: 6 calls to the model, of which 4 are in the log"]


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("plural", [False, True])
def test_a_processor_that_shortens_is_said_where_the_inputs_are_missing(tmp_path, as_text, plural):
    processor = {"type": "last_n_observations", "n": 5}
    named = {"history_processors": [processor, {"type": "cache_control"}]}
    agent = (named if plural else {"history_processor": processor}) | {"model": {"name": "gpt-4o"}}
    config = {"agent": agent, "problem_statement": {"id": "django__django-1"}}
    run = a_run(replay_config=json.dumps(config) if as_text else config)
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert (session.model, session.labels["instance"]) == ("gpt-4o", "django__django-1")
    assert [p.reason.split(":")[0] for p in problems] == [
        "the history processor 'last_n_observations' shortened what was sent, and the inputs are not in the log"
    ]
    _, none = load(write(tmp_path / "a.traj", with_inputs() | {"replay_config": run["replay_config"]}))
    assert none == []


def test_attempts_and_agents_are_sessions_of_their_own(tmp_path):
    helper = {"role": "user", "content": "Find the file.", "agent": "helper"}
    found = {"role": "assistant", "content": "It is a.py.", "agent": "helper"}
    run = a_run(1)
    run["history"] += [helper, found]
    sessions, problems = load(write(tmp_path / "a.traj", {"attempts": [run, 5, a_run(2)], "trajectory": []}))
    assert [(s.id, s.parent, len(s.calls)) for s in sessions] == [
        ("a#1", "", 2),
        ("a#1/helper", "a#1", 1),
        ("a#3", "", 3),
    ]
    assert [p.reason for p in problems] == ["attempts[1]: skipped: there is neither a history nor a step in it"]


def test_steps_without_a_history_are_read_and_said(tmp_path):
    run = a_run(1)
    del run["history"]
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert "no task" in problems[0].reason
    assert session.records[0].role == "assistant"
    assert session.calls == ()


def test_what_is_no_message_is_said_with_its_place(tmp_path):
    run = a_run(1)
    run["history"][3:3] = [5, {"role": "robot", "content": "x", "agent": "main"}]
    run["trajectory"].append("x")
    (session,), problems = load(write(tmp_path / "a.traj", run))
    assert [p.reason.split(":")[0] for p in problems] == ["history[3]", "history[4]", "trajectory[2]"]
    assert {p.line for p in problems} == {1}
    assert len(session.calls) == 2


def test_a_folder_walk_takes_trajectories(tmp_path):
    write(tmp_path / "b.traj", a_run(1))
    write(tmp_path / "a.traj", "no trajectory")
    sessions, problems = load(tmp_path)
    assert [s.id for s in sessions] == ["b"]
    assert [p.path for p in problems] == [str(tmp_path / "a.traj")]


def test_other_histories_are_not_taken(tmp_path):
    with pytest.raises(InputError, match="no known format"):
        load(write(tmp_path / "a.json", {"history": [{"role": "user", "content": "Hi"}]}))
    with pytest.raises(InputError, match="not of the format 'swe-agent'"):
        load(write(tmp_path / "a.json", {"messages": [seen("Hi")]}), format="swe-agent")


JUNK = st.sampled_from([None, 5, "x", [], {}, [{}], {"role": "user"}, {"role": 3}, {"agent": []}, 1e400, -1, True])


@given(
    st.sampled_from(["history", "trajectory"]),
    st.integers(0, 8),
    st.sampled_from(["", "role", "content", "action", "query", "messages", "response", "tool_calls", "agent"]),
    JUNK,
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_anywhere_never_ends_in_a_traceback(tmp_path, part, at, key, junk):
    run = with_inputs()
    at %= len(run[part])
    if key:
        run[part][at] = {**run[part][at], key: junk}
    else:
        run[part][at] = junk
    sessions, problems = load(write(tmp_path / "a.traj", run))
    for session in sessions:
        curve(session)
        session.carried()
        stops = [call.stop for call in session.calls]
        assert stops == sorted(stops)
        assert all(0 <= c.reply < len(session.records) for c in session.calls)
    assert all(p.path.endswith("a.traj") and p.line >= 1 and p.reason for p in problems)


@given(st.sampled_from(["info", "replay_config", "environment", "history", "trajectory", "attempts"]), JUNK)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_a_field_never_ends_in_a_traceback(tmp_path, key, junk):
    try:
        sessions, _ = load(write(tmp_path / "a.traj", with_inputs() | {key: junk}))
    except InputError:
        return
    for session in sessions:
        curve(session)


@given(st.integers(0, 6000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_is_an_error_of_one_line(tmp_path, cut):
    text = json.dumps(with_inputs())
    path = write(tmp_path / "a.traj", text[: cut % len(text)])
    with pytest.raises(InputError, match=r"a\.traj"):
        load(path)


def test_reading_takes_time_in_proportion_to_the_file(tmp_path):
    def seconds(n):
        text = "x" * 40
        history = [SYSTEM, seen("Fix it."), *[m for k in range(n) for m in (acts(f"ls {k}"), seen(f"{k} {text}"))]]
        steps = [step(f"ls {k}", f"{k} {text}", query=shortened(history[: 2 + 2 * k], 5)) for k in range(n)]
        path = write(tmp_path / f"{n}.traj", {"history": history, "trajectory": steps})
        before = time.process_time()
        load(path)
        return (time.process_time() - before) / path.stat().st_size

    small, large = min(seconds(60) for _ in range(3)), min(seconds(240) for _ in range(2))
    assert large < 3 * small


def test_inputs_that_share_nothing_start_anew():
    seen_items = []
    inputs = Sent(lambda item: seen_items.append(item) or len(seen_items) - 1)
    assert inputs.take(0, [("user", "a", None), ("assistant", "b", None)]) == [0, 1]
    assert inputs.take(1, [("user", "a", None), ("assistant", "c", None)]) == [2]
    assert inputs.replaced == [Replaced(1, 1, None)]
    assert inputs.take(2, [("user", "a", None)]) == []
    assert inputs.replaced[-1] == Replaced(2, 2, None)


@real
@pytest.mark.parametrize(
    ("name", "calls", "observations", "problems"),
    [
        ("ctf-web", 21, 21, 0),
        ("humanevalfix", 5, 5, 0),
        ("marshmallow-1867-function-calling", 11, 11, 1),
        ("marshmallow-1867-window100", 11, 11, 1),
        ("pydicom-1458", 12, 12, 0),
    ],
)
def test_recorded_runs(name, calls, observations, problems):
    path = REAL / f"{name}.traj"
    (session,), found = load(path)
    steps = json.loads(path.read_text())["trajectory"]
    assert (len(session.calls), len(session.observations()), len(found)) == (calls, observations, problems)
    assert len(steps) == calls
    assert list(curve(session)["turn"]) == [1]
    commands = [json.loads(r.tool_calls[0]["function"]["arguments"]) for r in session.records if r.tool_calls]
    if "function" not in name:
        assert [each["command"] for each in commands] == [step["action"].strip() for step in steps]


@real
def test_the_count_of_a_recorded_run_is_near_what_was_paid_for():
    (session,), _ = load(REAL / "pydicom-1458.traj")
    assert session.usage == Usage(122_612, 1_369)
    assert session.cost == 1.26719
    assert session.labels["api_calls"] == len(session.calls) == 12
    counted = int(curve(session)["turn_tokens"].sum())
    assert abs(counted / session.usage.prompt_tokens - 1) < 0.02  # with the demonstration in every call
