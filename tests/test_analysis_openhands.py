"""OpenHands' runs: each trap of the format on made-up ones, and recorded ones where they are there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import curve, load
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/openhands/multi-swe-bench.jsonl"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")

TOOLS = [{"type": "function", "function": {"name": "execute_bash", "description": "Run.", "parameters": {}}}]


class Run:
    """A made-up run."""

    def __init__(self, task="Fix the crash."):
        self.history = []
        self.usages = []
        self.add(source="agent", action="system", args={"content": "You are OpenHands.", "tools": TOOLS})
        if task:
            self.user(task)

    def add(self, **event):
        number = len(self.history)
        self.history.append({"id": number, "timestamp": f"2025-04-30T16:32:{number:02}.500000", **event})
        return number

    def user(self, text):
        return self.add(source="user", action="message", args={"content": text, "wait_for_response": False})

    def response(self, name, *calls, text="I act.", prompt=100, output=9):
        made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
        message = {"role": "assistant", "content": text, "tool_calls": made or None}
        usage = {"prompt_tokens": prompt, "completion_tokens": output, "response_id": name, "model": "m-1"}
        self.usages.append({**usage, "cache_read_tokens": 0, "cache_write_tokens": 0})
        return {
            "id": name,
            "model": "m-1",
            "choices": [{"finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": output},
        }

    def act(self, response, call_id, command="ls", action="run", **more):
        known = {"function_name": "execute_bash", "tool_call_id": call_id, "model_response": response}
        known["total_calls_in_response"] = len(response["choices"][0]["message"]["tool_calls"])
        args = {"command": command, "thought": "I act.", "blocking": False}
        return self.add(source="agent", action=action, args=args, tool_call_metadata=known, **more)

    def see(self, cause, text, observation="run", **more):
        return self.add(source="agent", observation=observation, cause=cause, content=text, extras={}, **more)

    def step(self, number, text="a.c", prompt=None, **more):
        """A call, its action and what was observed; returns the ids of the two events."""
        asks = (f"t{number}", "execute_bash", json.dumps({"command": f"ls {number}"}))
        response = self.response(f"r{number}", asks, prompt=prompt or 100 * number)
        done = self.act(response, f"t{number}", f"ls {number}", **more)
        return done, self.see(done, text)

    def line(self, **more):
        metrics = {"accumulated_cost": 0.0, "costs": [], "token_usages": self.usages}
        return {
            "instance_id": "pony-1",
            "instruction": "Fix the crash.",
            "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "openai/m-1"}},
            "history": self.history,
            "metrics": metrics | more.pop("metrics", {}),
            "error": None,
            **more,
        }


def write(path, *lines):
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def sent(session, number):
    """The texts that a call was sent."""
    call, shown = session.calls[number], {}
    for each in session.replaced:
        if each.call <= number:
            shown[each.index] = each.text
    texts = [shown.get(n, session.records[n].text) for n in range(call.start, call.stop)]
    return [text for text in texts if text is not None]


def test_a_run_is_one_turn_of_calls_with_their_usage(tmp_path):
    run = Run()
    run.step(1, prompt=150)
    run.step(2, prompt=250)
    (session,), problems = load(write(tmp_path / "output.jsonl", run.line()))
    assert problems == []
    assert (session.format, session.id, session.model) == ("openhands", "pony-1", "openai/m-1")
    assert (session.system, [tool["name"] for tool in session.tools]) == ("You are OpenHands.", ["execute_bash"])
    assert session.labels == {"instance": "pony-1", "agent": "CodeActAgent"}
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [(c.turn, c.iteration, c.stop, c.reply) for c in session.calls] == [(1, 1, 1, 1), (1, 2, 3, 3)]
    assert [c.usage for c in session.calls] == [Usage(150, 9), Usage(250, 9)]
    assert [(c.model, c.stop_reason) for c in session.calls] == [("m-1", "tool_calls")] * 2
    assert session.calls[1].time - session.calls[0].time == 2.0
    assert (session.aside, session.cost) == ((), None)
    assert session.records[1].tool_calls[0]["function"]["arguments"] == '{"command": "ls 1"}'
    assert session.records[2].message["tool_call_id"] == "t1"
    assert list(curve(session)["turn_tokens"]) == [400]


def test_actions_of_one_response_are_one_call(tmp_path):
    run = Run()
    response = run.response("r1", ("a", "execute_bash", "{}"), ("b", "execute_bash", "{}"))
    first, second = run.act(response, "a"), run.act(response, "b")
    run.see(first, "A")
    run.see(second, "B")
    run.step(2)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert (problems, len(session.calls)) == ([], 2)
    assert [call["id"] for call in session.records[1].tool_calls] == ["a", "b"]
    assert [(r.text, r.message["tool_call_id"]) for r in session.records[2:4]] == [("A", "a"), ("B", "b")]


def test_usage_is_matched_by_the_responses_id_and_the_rest_was_used_aside(tmp_path):
    run = Run()
    run.step(1)
    run.step(2)
    condensed = {"prompt_tokens": 7_000, "completion_tokens": 300, "response_id": "condenser"}
    run.usages.insert(0, condensed)
    run.usages.reverse()
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert [c.usage.prompt_tokens for c in session.calls] == [100, 200]
    assert session.aside == (Usage(7_000, 300),)


def test_without_metrics_the_response_says_what_it_used(tmp_path):
    run = Run()
    run.step(1, prompt=123)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line(metrics={"token_usages": None})))
    assert (session.calls[0].usage, problems) == (Usage(123, 9), [])


def test_cached_tokens_stand_inside_the_prompt(tmp_path):
    run = Run()
    run.step(1, prompt=1_000)
    run.usages[0] |= {"cache_read_tokens": 600, "cache_write_tokens": 300}
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert session.calls[0].usage == Usage(100, 9, 600, 300)


def test_costs_stand_beside_usages_in_the_same_order(tmp_path):
    run = Run()
    run.step(1)
    run.step(2)
    costs = [{"model": "m-1", "cost": 0.25, "timestamp": 1.0}, {"model": "m-1", "cost": 0.5, "timestamp": 2.0}]
    line = run.line(metrics={"accumulated_cost": 0.75, "costs": costs})
    (session,), _ = load(write(tmp_path / "a.jsonl", line))
    assert ([c.cost for c in session.calls], session.cost) == ([0.25, 0.5], 0.75)
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line(metrics={"costs": costs[:1]})))
    assert [c.cost for c in session.calls] == [None, None]  # which call it was is not known


def test_a_reply_without_calls_takes_the_usage_between_its_neighbours(tmp_path):
    run = Run()
    run.step(1)
    run.add(source="agent", action="message", args={"content": "Which file?", "wait_for_response": True})
    run.usages.append({"prompt_tokens": 150, "completion_tokens": 3, "response_id": "lost"})
    run.user("a.c")
    run.step(3)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert problems == []
    assert [(c.turn, c.iteration, c.usage.prompt_tokens) for c in session.calls] == [
        (1, 1, 100),
        (1, 2, 150),
        (2, 1, 300),
    ]
    assert session.aside == ()
    assert session.records[3].text == "Which file?"


def test_what_the_model_never_saw_is_no_message(tmp_path):
    run = Run()
    recall = run.add(source="user", action="recall", args={"query": "Fix", "recall_type": "workspace_context"})
    run.add(source="environment", observation="recall", cause=recall, content="Added workspace context", extras={})
    run.add(source="environment", action="change_agent_state", args={"agent_state": "running"})
    run.add(source="environment", observation="agent_state_changed", content="", extras={"agent_state": "running"})
    run.add(source="agent", action="null", args={})
    run.add(source="environment", observation="null", content="", extras={})
    run.step(1)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert problems == []
    assert [r.text for r in session.records] == ["Fix the crash.", "I act.", "a.c"]


def test_knowledge_of_the_workspace_is_sent_where_the_configuration_says_so(tmp_path):
    run = Run()
    extras = {"repo_instructions": "Use make.", "microagent_knowledge": [{"name": "git", "content": "Never force."}]}
    run.add(source="environment", observation="recall", cause=9, content="Added workspace context", extras=extras)
    run.step(1)
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert len(session.records) == 3  # an evaluation leaves it out
    config = {"agent_config": {"enable_prompt_extensions": True}}
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line(metadata=config)))
    assert session.records[1].message == {"role": "user", "content": "Use make.\n\nNever force.", "origin": "loop"}
    (session,), _ = load(write(tmp_path / "a.json", json.dumps(run.history)))
    assert len(session.records) == 4  # the interface puts it in


def test_an_error_that_no_action_led_to_is_the_loops(tmp_path):
    run = Run()
    done, _ = run.step(1)
    run.add(source="agent", observation="error", content="Parameter 'command' is missing.", extras={"error_id": ""})
    run.step(2)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert (problems, done) == ([], 2)
    assert session.records[3].message["origin"] == "loop"
    assert list(curve(session)["turn"]) == [1]


def test_an_error_of_an_action_is_its_observation(tmp_path):
    run = Run()
    response = run.response("r1", ("a", "execute_bash", "{}"))
    run.see(run.act(response, "a"), "No such file.", observation="error")
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert session.observations()[0].is_error
    assert session.observations()[0].tool == "execute_bash"


def test_actions_of_versions_without_responses_are_calls_of_what_they_say(tmp_path):
    run = Run()
    args = {"command": "ls", "thought": "I look.", "blocking": True, "hidden": False}
    done = run.add(source="agent", action="run", args=args)
    run.see(done, "a.c")
    pairs = [run.history[0:2], run.history[2:4]]
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line() | {"history": pairs}))
    assert problems == []
    said = session.records[1].message
    assert (said["content"], said["tool_calls"][0]["function"]) == (
        "I look.",
        {"name": "run", "arguments": '{"command":"ls"}'},
    )
    assert session.records[2].message["tool_call_id"] == said["tool_calls"][0]["id"]


@pytest.mark.parametrize("by_range", [False, True])
def test_from_a_condensation_on_what_it_forgot_is_not_sent_and_its_summary_is(tmp_path, by_range):
    run = Run()
    events = [each for n in (1, 2, 3) for each in run.step(n, f"seen {n}")]
    forgotten = {"forgotten_events_start_id": events[0], "forgotten_events_end_id": events[3]}
    args = forgotten if by_range else {"forgotten_event_ids": events[:4]}
    run.add(source="agent", action="condensation", args={**args, "summary": "Looked twice.", "summary_offset": 1})
    run.step(4)
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert problems == []
    assert sent(session, 2) == ["Fix the crash.", "I act.", "seen 1", "I act.", "seen 2"]
    assert sent(session, 3) == ["Fix the crash.", "I act.", "seen 3", "Looked twice."]
    assert [r.text for r in session.records if r.is_summary] == ["Looked twice."]
    assert list(curve(session)["turn"]) == [1]
    assert [each.carried for each in session.observations()] == [2, 1, 1, 0]


def test_a_later_summary_takes_the_place_of_the_one_before(tmp_path):
    run = Run()
    first = run.step(1, "seen 1")
    run.add(source="agent", action="condensation", args={"forgotten_event_ids": list(first), "summary": "One."})
    second = run.step(2, "seen 2")
    args = {"forgotten_event_ids": [*first, *second], "summary": "Two."}
    run.add(source="agent", action="condensation", args=args)
    run.step(3)
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert sent(session, 1) == ["Fix the crash.", "One."]
    assert sent(session, 2) == ["Fix the crash.", "Two."]


def test_a_condensation_that_nothing_follows_changes_no_call(tmp_path):
    run = Run()
    first = run.step(1)
    run.add(source="agent", action="condensation", args={"forgotten_event_ids": list(first)})
    (session,), _ = load(write(tmp_path / "a.jsonl", run.line()))
    assert (session.replaced, len(session.calls)) == ((), 1)


def test_lines_that_are_no_run_are_said_and_ids_are_made_different(tmp_path):
    run = Run()
    run.step(1)
    path = write(tmp_path / "a.jsonl", run.line(), {"instance_id": "x"}, run.line(), '{"instance_id": "torn", "his')
    sessions, problems = load(path)
    assert [s.id for s in sessions] == ["pony-1", "pony-1#2"]
    assert [(p.line, p.reason.split(":")[0]) for p in problems] == [
        (2, "skipped"),
        (4, "the line is torn, as after a crash"),
    ]


def test_a_single_line_and_a_list_of_runs_are_read_too(tmp_path):
    run = Run()
    run.step(1)
    (one,), _ = load(write(tmp_path / "a.json", json.dumps(run.line(), indent=1)))
    (two,), _ = load(write(tmp_path / "a.json", json.dumps([run.line()])))
    assert one == two
    assert len(one.calls) == 1


def test_a_run_that_broke_before_its_first_reply_says_so(tmp_path):
    (session,), problems = load(write(tmp_path / "a.jsonl", Run().line(error="RuntimeError: down")))
    assert session.labels["error"] == "RuntimeError: down"
    assert [p.reason for p in problems] == ["there is no reply of the model in it: nothing can be counted"]


def test_events_that_are_none_are_said_with_their_place(tmp_path):
    run = Run()
    run.step(1)
    run.history[2:2] = [5, {"id": 7}]
    (session,), problems = load(write(tmp_path / "a.jsonl", run.line()))
    assert [p.reason.split(":")[0] for p in problems] == ["history[2]", "history[3]"]
    assert len(session.calls) == 1


JUNK = st.sampled_from([None, 5, "x", [], {}, [{}], [5], {"id": []}, 1e400, -1, True])


@given(
    st.integers(0, 6),
    st.sampled_from(["", "id", "action", "observation", "args", "content", "cause", "tool_call_metadata", "timestamp"]),
    JUNK,
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_events_never_ends_in_a_traceback(tmp_path, at, key, junk):
    run = Run()
    run.step(1)
    run.add(source="agent", action="condensation", args={"forgotten_event_ids": [2, 3], "summary": "One."})
    run.step(2)
    run.history[at] = {**run.history[at], key: junk} if key else junk
    sessions, problems = load(write(tmp_path / "a.jsonl", run.line()))
    for session in sessions:
        curve(session)
    assert all(p.path.endswith("a.jsonl") and p.line == 1 and p.reason for p in problems)


@given(
    st.sampled_from(["metadata", "metrics", "history", "instance_id", "report", "error"]),
    st.sampled_from(["", "token_usages", "costs", "accumulated_cost", "llm_config"]),
    JUNK,
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_a_run_never_ends_in_a_traceback(tmp_path, key, inner, junk):
    run = Run()
    run.step(1)
    line = run.line()
    line[key] = {**line.get(key), inner: junk} if inner and isinstance(line.get(key), dict) else junk
    try:
        sessions, _ = load(write(tmp_path / "a.jsonl", line))
    except InputError:
        return
    for session in sessions:
        curve(session)


@given(st.integers(0, 20_000))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_gives_its_whole_lines(tmp_path, cut):
    run = Run()
    run.step(1)
    text = (json.dumps(run.line()) + "\n") * 3
    path = tmp_path / "a.jsonl"
    path.write_text(text[: cut % len(text)])
    try:
        sessions, problems = load(path)
    except InputError:
        assert "\n" not in text[: cut % len(text)]
        return
    lines = text[: cut % len(text)].count("\n")
    assert len(sessions) in (lines, lines + 1)
    assert len(problems) <= 1


def test_reading_takes_time_in_proportion_to_the_events(tmp_path):
    def seconds(n):
        run = Run()
        for number in range(1, n):
            run.step(number)
            args = {"forgotten_events_start_id": len(run.history) - 2, "forgotten_events_end_id": len(run.history) - 1}
            run.add(source="agent", action="condensation", args={**args, "summary": f"{number} so far."})
        path = write(tmp_path / f"{n}.jsonl", run.line())
        before = time.process_time()
        load(path)
        return (time.process_time() - before) / n

    small, large = min(seconds(300) for _ in range(3)), min(seconds(2_400) for _ in range(2))
    assert large < 3 * small


@real
def test_recorded_runs():
    sessions, problems = load(REAL)
    assert problems == []
    lines = [json.loads(line) for line in REAL.read_text().splitlines()]
    assert [s.id for s in sessions] == [line["instance_id"] for line in lines]
    assert [len(s.calls) for s in sessions] == [len(line["metrics"]["token_usages"]) for line in lines] == [23, 33, 49]
    for session, line in zip(sessions, lines, strict=True):
        total = line["metrics"]["accumulated_token_usage"]
        frame = curve(session)
        assert list(frame["turn"]) == [1]
        assert frame["measured"].all()
        assert frame["turn_tokens"].sum() == total["prompt_tokens"]
        assert frame["output_tokens"].sum() == total["completion_tokens"]
        assert (session.aside, session.cost) == ((), None)
        observed = [e for e in line["history"] if e.get("observation") not in (None, "recall", "error")]
        assert len(session.observations()) == len(observed)
        assert all(each.tool for each in session.observations())
