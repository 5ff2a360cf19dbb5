"""Codex's rollouts: each trap of the format on made-up lines, and the recorded file where it is there."""

from __future__ import annotations

import json
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/codex"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")


class Rollout:
    """A made-up rollout, written as the present version does; all of it is synthetic."""

    def __init__(self, session="s1", begin=1_750_000_000.0, **meta):
        self.lines = []
        self.begin, self.total = begin, [0] * 5
        base = {"text": "You are Codex."}
        self.line("session_meta", id=session, cwd="/p", cli_version="0.98.0", base_instructions=base, **meta)
        self.line("turn_context", model="gpt-5.2-codex", effort="high")

    def line(self, kind, *, at=None, **payload):
        moment = datetime.fromtimestamp(self.begin + 10 * len(self.lines) if at is None else at, UTC)
        self.lines.append({"timestamp": moment.isoformat(), "type": kind, "payload": payload})
        return self

    def item(self, kind, **payload):
        return self.line("response_item", type=kind, **payload)

    def says(self, role, text):
        part = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": part, "text": text}])

    def user(self, text):
        self.says("user", text)
        return self.line("event_msg", type="user_message", message=text)  # the same once more, for the terminal

    def calls(self, call_id, name="shell", arguments='{"command":["ls"]}'):
        return self.item("function_call", name=name, arguments=arguments, call_id=call_id)

    def result(self, call_id, output):
        return self.item("function_call_output", call_id=call_id, output=output)

    def count(self, sent, output, cached=0, reasoning=0, times=2):
        last = [sent, cached, output, reasoning, sent + output]
        self.total = [a + b for a, b in zip(self.total, last, strict=True)]
        for _ in range(times):
            self.line("event_msg", type="token_count", info=info(self.total, last))
        return self

    def write(self, path):
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path

    def load(self, folder):
        return load(self.write(folder / "rollout-2026-01-01T00-00-00-x.jsonl"))


def info(total, last):
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    whole, part = dict(zip(names, total, strict=True)), dict(zip(names, last, strict=True))
    return {"total_token_usage": whole, "last_token_usage": part, "model_context_window": 272000}


def places(session):
    return [(c.turn, c.iteration, c.start, c.stop, c.reply) for c in session.calls]


def talk():
    """Two turns; the first call asks for two tools at once."""
    rollout = Rollout().says("developer", "Sandbox: read-only.")
    rollout.says("user", "<environment_context>\n<cwd>/p</cwd>\n</environment_context>")
    rollout.user("List the files.")
    rollout.item("reasoning", summary=[{"type": "summary_text", "text": "Two calls."}], encrypted_content="gAAA")
    rollout.says("assistant", "Looking.").calls("a").calls("b", arguments='{"command":["pwd"]}')
    rollout.count(5000, 80, cached=2000, reasoning=30).result("a", "x.py").result("b", "/p")
    rollout.says("assistant", "One file.").count(5200, 12, cached=5000)
    return rollout.user("Thanks.").says("assistant", "Welcome.").count(5300, 5, cached=5120)


def test_items_of_one_call_are_one_call_and_counts_that_repeat_are_taken_once(tmp_path):
    (session,), problems = talk().load(tmp_path)
    assert problems == []
    assert (session.format, session.id, session.provider) == ("codex", "s1", "openai")
    assert (session.model, session.system) == ("gpt-5.2-codex", "You are Codex.")
    assert session.labels == {"session": "s1", "project": "/p", "version": "0.98.0"}
    roles = ["system", "user", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [r.role for r in session.records] == roles
    assert places(session) == [(1, 1, 0, 3, 3), (1, 2, 0, 6, 6), (2, 1, 0, 8, 8)]
    reply = session.records[3]
    assert (reply.text, reply.thinking, len(reply.tool_calls)) == ("Looking.", "Two calls.", 2)
    assert [r.message["name"] for r in session.records[4:6]] == ["shell", "shell"]
    assert [c.usage for c in session.calls] == [Usage(3000, 80, 2000), Usage(200, 12, 5000), Usage(180, 5, 5120)]
    assert list(curve(session)["turn_tokens"]) == [10200, 5300]


def test_what_codex_says_in_the_users_name_opens_no_turn(tmp_path):
    (session,), _ = talk().load(tmp_path)
    assert [(r.turn, r.opens_turn) for r in session.records if r.role == "user"] == [(0, False), (1, True), (2, True)]


@pytest.mark.parametrize(
    "text", ["<user_instructions>\nBe brief.\n</user_instructions>", "# AGENTS.md instructions for /p\n\nBe brief."]
)
def test_instructions_of_a_project_are_no_turn(tmp_path, text):
    (session,), _ = Rollout().says("user", text).user("Hi").says("assistant", "Hello.").count(10, 1).load(tmp_path)
    assert places(session) == [(1, 1, 0, 2, 2)]


def test_early_versions_count_before_the_items(tmp_path):
    rollout = Rollout().user("List.").count(100, 5).calls("a").result("a", "x").count(120, 5).calls("b")
    rollout.result("b", "y").calls("c").result("c", "z").count(150, 7).says("assistant", "Done.")
    (session,), problems = rollout.load(tmp_path)
    assert problems == []
    assert [(c.usage.prompt_tokens, c.stop) for c in session.calls] == [(100, 1), (120, 3), (150, 6)]
    assert [len(r.tool_calls) for r in session.records if r.role == "assistant"] == [1, 2, 0]


def test_without_counts_a_call_ends_with_its_results(tmp_path):
    rollout = Rollout().user("List.").calls("a").calls("b").result("a", "x").result("b", "y").calls("c")
    (session,), problems = rollout.result("c", "z").says("assistant", "Done.").load(tmp_path)
    assert problems == []
    assert [(c.stop, c.usage, c.model) for c in session.calls] == [
        (1, None, "gpt-5.2-codex"),
        (4, None, "gpt-5.2-codex"),
        (6, None, "gpt-5.2-codex"),
    ]


def test_a_count_without_items_is_a_call_whose_reply_was_not_kept(tmp_path):
    rollout = Rollout().user("Hi").count(50, 3).user("Hi?").says("assistant", "Hello.").count(60, 4)
    (session,), _ = rollout.load(tmp_path)
    assert [(c.turn, c.reply, c.usage) for c in session.calls] == [(1, None, Usage(50, 3)), (2, 2, Usage(60, 4))]


def test_a_count_without_the_last_calls_part_is_what_the_total_has_grown_by(tmp_path):
    rollout = Rollout().user("Hi").says("assistant", "Hello.").count(50, 3, times=1).user("Bye")
    rollout.says("assistant", "Bye.").count(70, 4, cached=40, times=1)
    for line in rollout.lines:
        if line["payload"].get("type") == "token_count":
            del line["payload"]["info"]["last_token_usage"]
    rollout.line("event_msg", type="token_count", info=None)
    (session,), _ = rollout.load(tmp_path)
    assert [c.usage for c in session.calls] == [Usage(50, 3), Usage(30, 4, 40)]


def test_totals_that_add_reasoning_to_the_output_are_a_problem_and_not_used(tmp_path):
    rollout = Rollout().user("Hi").says("assistant", "Hello.")
    rollout.line("event_msg", type="token_count", info=info([10, 0, 9, 7, 26], [10, 0, 9, 7, 26]))
    (session,), (problem,) = rollout.load(tmp_path)
    assert session.calls[0].usage == Usage(10, 9)
    assert problem.line == 6
    assert problem.reason.startswith("token_count: total_tokens is 26, but input and output come to 19: reasoning")


def test_other_kinds_of_calls(tmp_path):
    rollout = Rollout().user("Do it.")
    rollout.item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="p")
    rollout.item("local_shell_call", call_id="l", status="completed", action={"type": "exec", "command": ["ls"]})
    rollout.item("web_search_call", id="w", status="completed", action={"type": "search", "query": "x"})
    rollout.item("function_call", arguments="{}", call_id="n").count(10, 5)
    rollout.item("custom_tool_call_output", call_id="p", output="ok")
    rollout.result("l", [{"type": "input_text", "text": "x.py"}, {"type": "input_image", "image_url": "data:,"}])
    rollout.result("n", {"content": "no such tool", "success": False}).says("assistant", "Done.").count(20, 1)
    (session,), problems = rollout.load(tmp_path)
    functions = [(c["function"]["name"], c["function"]["arguments"]) for c in session.records[1].tool_calls]
    assert functions == [
        ("apply_patch", "*** Begin Patch"),
        ("local_shell", '{"type":"exec","command":["ls"]}'),
        ("web_search", '{"type":"search","query":"x"}'),
    ]
    results = [r for r in session.records if r.role == "tool"]
    assert [(r.message["name"], r.text) for r in results] == [
        ("apply_patch", "ok"),
        ("local_shell", "x.py"),
        ("", "no such tool"),
    ]
    assert [r.image_tokens for r in results] == [0, 765, 0]
    assert "is_error" in results[2].message
    said = ["function_call", "an image's size is not known (it is not in the log)"]
    assert [p.reason.split(":")[0] for p in problems] == said


def test_a_cut_result_says_how_long_it_was(tmp_path):
    text = "begin…1000 tokens truncated…end"
    rollout = Rollout().user("Go").calls("a").count(10, 1).result("a", text).calls("b").count(12, 1).result("b", "all")
    (session,), _ = rollout.load(tmp_path)
    assert [(o.text, o.whole) for o in session.observations()] == [(text, False), ("all", True)]
    assert session.records[2].original_chars == 4000 + len(text)


def test_a_new_history_begins_a_new_segment_and_its_call_is_counted_beside(tmp_path):
    rollout = talk()
    summary = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "So far: one file."}]}
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]}
    rollout.count(5400, 300).line("compacted", message="So far: one file.", replacement_history=[kept, summary])
    rollout.line("event_msg", type="context_compacted").user("Go on.").says("assistant", "Done.").count(900, 4)
    (session,), problems = rollout.load(tmp_path)
    assert problems == []
    assert session.aside == (Usage(5400, 300),)
    assert [r.text for r in session.records if r.is_summary] == ["List the files.", "So far: one file."]
    last = session.calls[-1]
    assert (last.turn, last.start, last.stop) == (3, 9, 12)
    assert [r.text for r in session.records[last.start : last.stop]] == [
        "List the files.",
        "So far: one file.",
        "Go on.",
    ]
    assert list(curve(session)["context"]) == [5200, 5300, 900]
    assert list(curve(session)["turn"]) == [1, 2, 3]


def test_a_history_that_is_not_logged_is_the_users_messages_and_the_summary(tmp_path):
    rollout = talk().line("compacted", message="So far: one file.").user("Go on.").says("assistant", "Done.")
    rollout.count(900, 4).line("compacted", message="Later: done.").user("More.").says("assistant", "Ok.").count(950, 4)
    (session,), problems = rollout.load(tmp_path)
    assert problems == []
    texts = [[r.text for r in session.records[c.start : c.stop]] for c in session.calls[-2:]]
    assert texts == [
        ["List the files.", "Thanks.", "So far: one file.", "Go on."],
        ["List the files.", "Thanks.", "Go on.", "Later: done.", "More."],
    ]


def test_an_encrypted_summary_is_said_once(tmp_path):
    rollout = talk()
    for _ in range(2):
        rollout.line("compacted", message="", replacement_history=[{"type": "compaction", "encrypted_content": "gA"}])
    (session,), (problem,) = rollout.user("Go on.").says("assistant", "Done.").count(700, 4).load(tmp_path)
    assert "encrypted" in problem.reason
    assert (session.calls[-1].start, session.calls[-1].stop) == (9, 10)


def test_turns_that_were_taken_back_are_not_sent_any_more(tmp_path):
    rollout = talk().line("event_msg", type="thread_rolled_back", num_turns=1).user("Who?").says("assistant", "Me.")
    (session,), problems = rollout.count(5250, 3).load(tmp_path)
    assert problems == []
    assert [(r.call, r.index, r.text) for r in session.replaced] == [(3, 7, None), (3, 8, None)]
    assert list(curve(session)["turn"]) == [1, 2, 3]


def test_a_fork_has_its_parents_messages_but_not_its_calls(tmp_path):
    parent = talk()
    fork = Rollout("s2", begin=1_750_001_000.0, forked_from_id="s1")
    copied = [dict(line, timestamp=fork.lines[0]["timestamp"]) for line in parent.lines]
    fork.lines[1:1] = copied
    fork.total = list(parent.total)
    fork.user("Go on.").says("assistant", "Done.").count(5400, 3, cached=5300)
    (session,), problems = fork.load(tmp_path)
    assert problems == []
    assert (session.id, session.labels["forked_from"]) == ("s2", "s1")
    assert places(session) == [(3, 1, 0, 10, 10)]
    assert session.calls[0].usage == Usage(100, 3, 5300)


def test_a_sub_agent_names_its_parent(tmp_path):
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "s1", "depth": 1}}}
    (session,), _ = Rollout("s2", source=source).user("Look.").says("assistant", "Ok.").count(9, 1).load(tmp_path)
    assert session.parent == "s1"


def test_an_archived_copy_is_not_read_twice(tmp_path):
    rollout = talk()
    (tmp_path / "sessions/2026/01/01").mkdir(parents=True)
    (tmp_path / "archived_sessions").mkdir()
    path = rollout.write(tmp_path / "sessions/2026/01/01/rollout-2026-01-01T00-00-00-s1.jsonl")
    shutil.copy(path, tmp_path / "archived_sessions" / path.name)
    Rollout("s2").user("Hi").says("assistant", "Ho.").count(9, 1).write(path.with_name("rollout-2026-01-01-s2.jsonl"))
    sessions, problems = load(tmp_path)
    assert problems == []
    assert sorted(s.id for s in sessions) == ["s1", "s2"]
    shorter = rollout.lines[:6]
    path.write_text("".join(json.dumps(line) + "\n" for line in shorter))
    sessions, _ = load(tmp_path)
    assert {s.id: len(s.calls) for s in sessions} == {"s1": 3, "s2": 1}  # the longer one, wherever it is


def test_early_files_have_neither_payload_nor_model(tmp_path):
    old = [
        {"id": "o1", "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a", "id": None},
        {"type": "function_call_output", "call_id": "a", "output": '{"output":"x","metadata":{"exit_code":0}}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
    ]
    path = tmp_path / "rollout-2025-08-01T10-00-00-o1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in old))
    (session,), problems = load(path)
    assert problems == []
    assert (session.format, session.id, session.model, session.labels["branch"]) == ("codex", "o1", None, "main")
    assert places(session) == [(1, 1, 0, 1, 1), (1, 2, 0, 3, 3)]
    document = {"session": {"id": "o1", "timestamp": "2025-04-01T10:00:00Z", "instructions": ""}, "items": old[2:]}
    path.write_text(json.dumps(document, indent=2))
    (session,), problems = load(path)
    assert (session.format, len(session.records), len(session.calls), problems) == ("codex", 4, 2, [])


def test_a_recording_of_the_terminal_is_refused_with_a_reason(tmp_path):
    lines = [
        {"ts": "2025-08-09T15:51:04.827Z", "dir": "meta", "kind": "session_start", "cwd": "/p"},
        {
            "ts": "2025-08-09T15:51:05.000Z",
            "dir": "to_tui",
            "kind": "key_event",
            "event": "KeyEvent { code: Char('h') }",
        },
    ]
    path = tmp_path / "oss-story.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=r"recording of Codex's terminal, not a session: name its rollout"):
        load(path)


def test_lines_and_items_that_are_not_known_are_said_once(tmp_path):
    rollout = talk().line("dreams", x=1).line("dreams", x=2).item("telepathy", x=1).item("ghost_snapshot", x=1)
    rollout.lines.append(5)
    (session,), problems = rollout.load(tmp_path)
    assert len(session.calls) == 3
    assert [p.reason for p in problems] == [
        "skipped: expected an object with type and payload",
        "a line of type 'dreams' is not known: 2 lines not read",
        "an item of type 'telepathy' is not known: 1 line not read",
    ]


def whole(tmp_path):
    rollout = talk()
    rollout.line("compacted", message="So far.").user("Go on.").says("assistant", "Done.").count(900, 4)
    return rollout.write(tmp_path / "rollout.jsonl").read_bytes()


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_lacks_lines_or_breaks_off_is_read_up_to_there(tmp_path, data):
    content = whole(tmp_path)
    lines = content.splitlines(keepends=True)
    gone = data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=4))
    kept = b"".join(line for number, line in enumerate(lines) if number not in gone)
    cut = data.draw(st.integers(0, len(kept)))
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(kept[:cut])
    try:
        sessions, problems = load(path, format=None)
    except InputError:
        return
    for session in sessions:
        curve(session)
        calls_frame(session)
    torn = cut and kept[:cut].rsplit(b"\n", 1)[1]
    assert len(problems) <= 1
    for problem in problems:
        assert torn
        assert (problem.path, problem.line) == (str(path), kept[:cut].count(b"\n") + 1)


@given(number=st.integers(0, 30), value=st.recursive(st.none() | st.integers() | st.text() | st.booleans(), st.lists))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_field_of_another_type_ends_in_no_traceback(tmp_path, number, value):
    lines = [json.loads(line) for line in whole(tmp_path).splitlines()]
    line = lines[number % len(lines)]
    keys = sorted(line["payload"])
    line["payload"][keys[number % len(keys)]] = value
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    (session,), _ = load(path)
    curve(session)


def test_reading_takes_time_in_the_length_of_the_file(tmp_path):
    times = []
    for turns in (500, 4000):
        rollout = Rollout()
        for number in range(turns):
            rollout.user(f"Go {number}").calls(f"c{number}").count(100, 5).result(f"c{number}", "x")
            rollout.says("assistant", "Done.").count(110, 5)
            if number % 10 == 9:
                kept = {"type": "message", "role": "user", "content": "So far."}
                rollout.line("compacted", message="", replacement_history=[kept])
        path = rollout.write(tmp_path / f"{turns}.jsonl")
        begin = time.process_time()
        (session,), _ = load(path)
        times.append(time.process_time() - begin)
        assert len(session.calls) == 2 * turns
    assert times[1] < 30 * max(times[0], 0.02)


@real
def test_the_recorded_file():
    (session,), (problem,) = load(REAL / "small.jsonl")
    assert (session.format, session.id, session.records) == ("codex", "small", ())
    assert [(c.usage, c.model) for c in session.calls] == [
        (Usage(750, 125, 250), "gpt-5.2-codex"),
        (Usage(2000, 300, 500), "gpt-5.3-codex"),
    ]
    assert problem.line == 2
    assert "total_tokens is 1,200, but input and output come to 1,125" in problem.reason
    assert list(calls_frame(session)["prompt_tokens"]) == [1000, 2500]
