"""mini-swe-agent's trajectories: each trap of the format on made-up runs, and recorded ones where they are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load
from agentlab.analysis.citations import citations
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/mini-swe-agent"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")

SYSTEM = {"role": "system", "content": "You can use a shell."}
TASK = {"role": "user", "content": "Please solve this issue: add() subtracts."}
FENCE = "mswea_bash_command"


def acts(command, fence=FENCE, **extra):
    said = {"role": "assistant", "content": f"THOUGHT: I act.\n\n```{fence}\n{command}\n```"}
    return said | ({"extra": extra} if extra else {})


def seen(text, code=0, **extra):
    said = {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>"}
    return said | ({"extra": extra} if extra else {})


def reply(number, prompt, output, cost=0.01):
    """What a current version keeps of a response, with its usage."""
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": {"cached_tokens": 100}}
    response = {"model": "claude-x", "usage": usage, "choices": [{"finish_reason": "stop"}]}
    return {"response": response, "cost": cost, "timestamp": 1_760_000_000 + number}


def current(messages, **info):
    stats = {"instance_cost": 0.03, "api_calls": 2}
    config = {"model": {"model_name": "anthropic/claude-x"}, "agent": {"step_limit": 0}}
    return {
        "info": {"model_stats": stats, "config": config, "mini_version": "2.0.0", "exit_status": "Submitted", **info},
        "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1",
    }


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_an_older_list_is_one_turn_whose_answers_are_observations(tmp_path):
    talk = [SYSTEM, TASK, acts("cat lib/add.py"), seen("a - b"), acts("sed -i s/-/+/ lib/add.py"), seen("")]
    (session,), problems = load(write(tmp_path / "fix.traj.json", talk))
    assert problems == []
    assert (session.format, session.id, session.system) == ("mini-swe-agent", "fix", SYSTEM["content"])
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [(c.turn, c.iteration, c.stop, c.reply) for c in session.calls] == [(1, 1, 1, 1), (1, 2, 3, 3)]
    assert list(curve(session)["turn"]) == [1]
    said = session.records[1].message
    assert said["content"] == "THOUGHT: I act."
    assert said["tool_calls"][0]["function"] == {"name": "bash", "arguments": '{"command":"cat lib/add.py"}'}
    assert session.records[2].message["tool_call_id"] == said["tool_calls"][0]["id"]
    assert [each.tool for each in session.observations()] == ["bash", "bash"]


def test_what_an_observation_named_is_cited_by_the_next_command(tmp_path):
    talk = [SYSTEM, TASK, acts("ls"), seen("lib/add.py"), acts("cat lib/add.py"), seen("a - b")]
    (session,), _ = load(write(tmp_path / "a.traj.json", talk))
    (cited,) = citations(session, session.observations())
    assert (cited.atom, cited.cited_at) == ("lib/add.py", 3)


def test_the_fence_of_the_first_versions_is_known(tmp_path):
    (session,), _ = load(write(tmp_path / "a.json", [SYSTEM, TASK, acts("ls", "bash"), seen("a.py")]))
    assert session.format == "mini-swe-agent"
    assert session.records[2].role == "tool"


def test_a_reply_without_one_command_is_answered_by_the_loop(tmp_path):
    error = {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks."}
    both = {"role": "assistant", "content": f"```{FENCE}\nls\n```\nor\n```{FENCE}\npwd\n```"}
    bare = {"role": "assistant", "content": "I am done."}
    talk = [SYSTEM, TASK, acts("ls"), seen("a.py"), both, error, bare, error, acts("ls"), seen("a.py")]
    (session,), problems = load(write(tmp_path / "a.traj.json", talk))
    assert problems == []
    origins = [(r.role, r.message.get("origin")) for r in session.records]
    assert [n for n, each in enumerate(origins) if each == ("user", "loop")] == [4, 6]
    assert session.records[3].text == both["content"]
    assert (len(session.calls), len(curve(session))) == (4, 1)


def test_a_current_run_has_usage_cost_and_times(tmp_path):
    talk = [
        SYSTEM,
        TASK,
        acts("ls", actions=[{"command": "ls"}], **reply(1, 900, 20)),
        seen("a.py", raw_output="a.py", returncode=0, timestamp=1_760_000_001.5),
        acts("submit", actions=[{"command": "submit"}], **reply(2, 950, 10, 0.02)),
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "diff"}},
    ]
    (session,), problems = load(write(tmp_path / "a.traj.json", current(talk)))
    assert problems == []
    assert (session.model, session.cost) == ("anthropic/claude-x", 0.03)
    assert session.labels == {"exit_status": "Submitted", "api_calls": 2, "version": "2.0.0"}
    assert [c.usage for c in session.calls] == [Usage(800, 20, 100), Usage(850, 10, 100)]
    assert [(c.cost, c.time, c.stop_reason, c.model) for c in session.calls] == [
        (0.01, 1_760_000_001.0, "stop", "claude-x"),
        (0.02, 1_760_000_002.0, "stop", "claude-x"),
    ]
    assert session.records[2].time == 1_760_000_001.5
    assert len(session.records) == 4
    assert list(calls_frame(session)["prompt_tokens"]) == [900, 950]


def test_tokens_that_were_written_to_the_cache_stand_inside_the_prompt(tmp_path):
    made = reply(1, 900, 20)
    made["response"]["usage"] |= {"cache_creation_input_tokens": 300, "cache_read_input_tokens": 100}
    (session,), _ = load(write(tmp_path / "a.traj.json", current([SYSTEM, TASK, acts("ls", **made)])))
    assert session.calls[0].usage == Usage(500, 20, 100, 300)


def test_tool_calls_of_current_versions_are_kept(tmp_path):
    made = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [made], "extra": {"actions": [{"command": "ls"}]}}
    looked = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
    (session,), problems = load(write(tmp_path / "a.json", current([SYSTEM, TASK, asks, looked, acts("x")])))
    assert problems == []
    assert session.records[1].tool_calls == [made]
    assert session.records[2].message["name"] == "bash"


def test_several_commands_of_one_reply_are_parallel_calls(tmp_path):
    text = f"```{FENCE}\nls\n```\n```{FENCE}\npwd\n```"
    asks = {"role": "assistant", "content": text, "extra": {"actions": [{"command": "ls"}, {"command": "pwd"}]}}
    (session,), _ = load(write(tmp_path / "a.json", current([SYSTEM, TASK, asks, seen("a.py"), seen("/p")])))
    calls = session.records[1].tool_calls
    assert [call["function"]["arguments"] for call in calls] == ['{"command":"ls"}', '{"command":"pwd"}']
    assert [r.message.get("tool_call_id") for r in session.records[2:]] == [call["id"] for call in calls]
    assert (session.records[1].text, len(session.calls)) == ("", 1)


def test_the_users_interruptions_are_turns_and_the_loops_are_not(tmp_path):
    stop = {"role": "user", "content": "Use pytest.", "extra": {"interrupt_type": "UserInterruption"}}
    wrong = {"role": "user", "content": "No action found.", "extra": {"interrupt_type": "FormatError"}}
    talk = [SYSTEM, TASK, acts("ls"), stop, acts("pytest"), wrong, acts("pytest"), seen("1 passed")]
    (session,), _ = load(write(tmp_path / "a.json", current(talk)))
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (2, 1), (2, 2)]
    assert [r.message.get("origin") for r in session.records if r.role == "user"] == [None, None, "loop"]


def test_replies_of_the_responses_api_are_read(tmp_path):
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    usage = {"input_tokens": 50, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 20}}
    asks = {"object": "response", "output": output, "usage": usage, "model": "gpt-x", "extra": {"cost": 0.5}}
    looked = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    (session,), problems = load(write(tmp_path / "a.json", current([SYSTEM, TASK, asks, looked])))
    assert [p.reason for p in problems] == ["info: 2 calls to the model, of which 1 are in the log"]
    assert (session.records[1].text, session.records[2].text) == ("I look.", "a.py")
    assert session.records[2].message["name"] == "bash"
    call = session.calls[0]
    assert (call.usage, call.cost, call.model) == (Usage(30, 9, 20), 0.5, "gpt-x")


def test_calls_that_were_paid_and_are_not_in_the_log_are_said(tmp_path):
    stats = {"instance_cost": 0, "api_calls": 3}
    (session,), problems = load(
        write(tmp_path / "a.json", current([SYSTEM, TASK, acts("ls"), seen("a")], model_stats=stats))
    )
    assert session.cost is None
    assert [p.reason for p in problems] == ["info: 3 calls to the model, of which 1 are in the log"]


def test_a_run_that_broke_before_its_first_reply_says_so(tmp_path):
    (session,), problems = load(write(tmp_path / "a.json", current([SYSTEM, TASK], model_stats={})))
    assert session.calls == ()
    assert [p.reason for p in problems] == ["there is no reply in it: nothing can be counted"]


def test_chats_of_others_are_not_taken(tmp_path):
    plain = [SYSTEM, TASK, {"role": "assistant", "content": "Run ```bash\nls\n```"}, {"role": "user", "content": "Ok."}]
    (session,), _ = load(write(tmp_path / "a.json", plain))
    assert (session.format, len(curve(session))) == ("chat", 1)
    (session,), _ = load(write(tmp_path / "a.json", {"messages": plain, "info": {"exit_status": "x"}}))
    assert session.format == "chat"


JUNK = st.sampled_from([None, 5, "x", [], {}, [{}], [5], {"role": "user"}, 1e400, -1, True])


@given(
    st.integers(0, 5),
    st.sampled_from(["", "role", "content", "extra", "tool_calls"]),
    st.sampled_from(["", "response", "actions", "cost", "timestamp", "interrupt_type"]),
    JUNK,
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_anywhere_never_ends_in_a_traceback(tmp_path, at, key, inner, junk):
    talk = [SYSTEM, TASK, acts("ls", **reply(1, 9, 9)), seen("a.py"), acts("pwd", **reply(2, 9, 9)), seen("/p")]
    if key == "extra" and inner:
        talk[at] = {**talk[at], "extra": {**talk[at].get("extra", {}), inner: junk}}
    else:
        talk[at] = {**talk[at], key: junk} if key else junk
    try:
        sessions, problems = load(write(tmp_path / "a.json", current(talk)))
    except InputError:
        return
    for session in sessions:
        curve(session)
    assert all(p.path.endswith("a.json") and p.line == 1 and p.reason for p in problems)


@given(st.integers(0, 2000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_list_cut_anywhere_is_read_up_to_there(tmp_path, cut):
    text = json.dumps([SYSTEM, TASK, acts("ls"), seen("a.py"), acts("pwd"), seen("/p")])
    path = write(tmp_path / "a.traj.json", text[: cut % len(text)])
    try:
        (session,), problems = load(path)
    except InputError:
        return
    assert "read up to here" in problems[0].reason
    curve(session)


@real
@pytest.mark.parametrize(("name", "calls"), [("github-issue", 10), ("local", 2)])
def test_recorded_runs(name, calls):
    path = REAL / f"{name}.traj.json"
    (session,), problems = load(path)
    raw = json.loads(path.read_text())
    assert problems == []
    assert len(session.calls) == sum(each["role"] == "assistant" for each in raw) == calls
    assert len(session.observations()) == sum(each["role"] == "user" for each in raw) - 1 == calls
    assert list(curve(session)["turn"]) == [1]
    assert all(len(r.tool_calls) == 1 for r in session.records if r.role == "assistant")
