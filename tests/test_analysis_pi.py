"""pi's sessions: each trap of the format on made-up entries, and the recorded session where it is there."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load
from agentlab.errors import InputError
from agentlab.messages import Usage

REAL = Path(__file__).parents[1] / "../shared/data/sessions/pi"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")
BEGIN = 1_764_000_000
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Entries:
    """A made-up session of version 3, or, without ids, of version 1; all of it is synthetic."""

    def __init__(self, *, ids=True, **header):
        self.ids, self.last = ids, None
        self.lines = [{"type": "session", "version": 3, "id": "s1", "timestamp": stamp(0), "cwd": "/p", **header}]

    def entry(self, kind, *, parent="", **more):
        number = len(self.lines)
        line = {"type": kind, "timestamp": stamp(number), **more}
        if self.ids:
            line |= {"id": f"e{number}", "parentId": self.last if parent == "" else parent}
        self.lines.append(line)
        self.last = f"e{number}"
        return self.last

    def message(self, role, content, **more):
        parent = {"parent": more.pop("parent")} if "parent" in more else {}
        message = {"role": role, "content": content, "timestamp": (BEGIN + len(self.lines)) * 1000, **more}
        return self.entry("message", message=message, **parent)

    def user(self, text, **more):
        return self.message("user", [{"type": "text", "text": text}], **more)

    def says(self, text, usage=(10, 2, 0, 0), calls=(), cost=0.5, stop="stop", **more):
        blocks = [{"type": "text", "text": text}] if text else []
        blocks += [{"type": "toolCall", "id": each, "name": "bash", "arguments": {"command": "ls"}} for each in calls]
        used = dict(zip(("input", "output", "cacheRead", "cacheWrite"), usage, strict=True))
        used |= {"totalTokens": sum(usage), "cost": {"input": cost, "total": cost}}
        facts = {"provider": "anthropic", "model": "claude-sonnet-4-5", "usage": used, "stopReason": stop}
        return self.message("assistant", blocks, **facts, **more)

    def result(self, call, text, **more):
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, toolCallId=call, toolName="bash", isError=False, **more)

    def write(self, path):
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return path

    def load(self, folder):
        return load(self.write(folder / "2026-01-01_s1.jsonl"))


def stamp(second):
    return datetime.fromtimestamp(BEGIN + second, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def talk(**header):
    entries = Entries(**header)
    entries.entry("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
    entries.entry("thinking_level_change", thinkingLevel="high")
    entries.user("List the files.")
    entries.says("", (3, 20, 900, 100), calls=("a", "b"), cost=0.25, stop="toolUse")
    entries.result("a", "x.py")
    entries.result("b", "y.py")
    entries.says("Two files.", (4, 5, 1000, 40))
    entries.user("Thanks.")
    entries.says("Welcome.", (5, 3, 1040, 10))
    return entries


def sent(session, call):
    """The texts that a call was sent, in the order of the file."""
    gone: dict[int, str | None] = {}
    for each in session.replaced:
        if each.call <= call:
            gone[each.index] = each.text
    one = session.calls[call]
    texts = [gone.get(index, session.records[index].text) for index in range(one.start, one.stop)]
    return [text for text in texts if text is not None]


@pytest.mark.parametrize("ids", [True, False])
def test_usage_and_cost_are_read_from_each_call(tmp_path, ids):
    (session,), problems = talk(ids=ids).load(tmp_path)
    assert problems == []
    assert (session.format, session.id, session.provider) == ("pi", "2026-01-01_s1", "anthropic")
    assert session.model == "claude-sonnet-4-5"
    assert session.labels == {"session": "s1", "project": "/p"}
    roles = ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [r.role for r in session.records] == roles
    assert [(c.turn, c.iteration, c.start, c.stop, c.reply) for c in session.calls] == [
        (1, 1, 0, 1, 1),
        (1, 2, 0, 4, 4),
        (2, 1, 0, 6, 6),
    ]
    assert [c.usage for c in session.calls] == [
        Usage(3, 20, 900, 100),
        Usage(4, 5, 1000, 40),
        Usage(5, 3, 1040, 10),
    ]
    assert [c.cost for c in session.calls] == [0.25, 0.5, 0.5]
    assert [c.stop_reason for c in session.calls] == ["toolUse", "stop", "stop"]
    assert list(curve(session)["turn_tokens"]) == [1003 + 1044, 1055]
    assert [r.message["name"] for r in session.records[2:4]] == ["bash", "bash"]


def test_a_reply_that_was_stopped_before_anything_came_is_no_call(tmp_path):
    entries = talk()
    entries.user("/mode")
    entries.says("", (0, 0, 0, 0), cost=0, stop="aborted", errorMessage="Request was aborted")
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    assert len(session.calls) == 3
    assert list(curve(session)["turn"]) == [1, 2]


def test_a_reply_that_was_aborted_has_no_count_of_output_and_its_tools_were_not_called(tmp_path):
    entries = talk()
    entries.user("Go on.")
    entries.says("I was about to say", (5, 1, 1100, 10), calls=("c",), stop="aborted")
    entries.user("Stop.")
    entries.says("Ok.", (5, 2, 1110, 10))
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    broken = session.calls[3]
    assert (broken.stop_reason, broken.output_measured, broken.cost) == ("aborted", False, 0.5)
    assert broken.usage.output_tokens == 1  # as reported, and as it was priced
    assert session.records[broken.reply].tool_calls == []
    assert [c.output_measured for c in session.calls] == [True, True, True, False, True]


def test_a_compaction_keeps_what_stands_from_the_first_kept_entry_on(tmp_path):
    entries = talk()
    kept = entries.user("And the tests?")
    entries.says("None.", (5, 3, 1060, 10))
    entries.entry("compaction", summary="Two files were listed.", firstKeptEntryId=kept, tokensBefore=1075)
    entries.user("Go on.")
    entries.says("Done.", (5, 3, 300, 10))
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    assert sent(session, 3) == [
        "List the files.",
        "",
        "x.py",
        "y.py",
        "Two files.",
        "Thanks.",
        "Welcome.",
        "And the tests?",
    ]
    assert sent(session, 4) == ["And the tests?", "None.", "Two files were listed.", "Go on."]
    assert session.calls[4].start == 7
    assert [r.text for r in session.records if r.is_summary] == ["Two files were listed."]
    assert list(curve(session)["turn"]) == [1, 2, 3, 4]
    again = entries.user("And now?")
    entries.entry("compaction", summary="All is done.", firstKeptEntryId=again, tokensBefore=400)
    entries.says("Nothing.", (5, 3, 100, 10))
    (session,), _ = entries.load(tmp_path)
    assert sent(session, 5) == ["And now?", "All is done."]


def test_a_compaction_of_version_1_counts_lines(tmp_path):
    entries = talk(ids=False)
    entries.entry("compaction", summary="Two files.", firstKeptEntryIndex=8, tokensBefore=1075)
    entries.user("Go on.")
    entries.says("Done.", (5, 3, 300, 10))
    (session,), _ = entries.load(tmp_path)
    assert sent(session, 3) == ["Thanks.", "Welcome.", "Two files.", "Go on."]


def test_going_back_leaves_the_other_branch_out_and_can_return_to_it(tmp_path):
    entries = talk()
    left = entries.last
    entries.entry("branch_summary", parent="e7", fromId=left, summary="Thanks were said.")
    entries.user("What is in x.py?")
    entries.says("Nothing.", (5, 3, 1040, 30))
    entries.user("Bye.", parent=left)
    entries.says("Bye.", (5, 3, 1060, 30))
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    common = ["List the files.", "", "x.py", "y.py", "Two files."]
    assert sent(session, 2) == [*common, "Thanks."]
    assert sent(session, 3) == [*common, "Thanks were said.", "What is in x.py?"]
    assert sent(session, 4) == [*common, "Thanks.", "Welcome.", "Bye."]
    curve(session)


def test_going_back_before_a_compaction_takes_it_back(tmp_path):
    entries = talk()
    before = entries.last
    entries.entry("compaction", summary="So far.", firstKeptEntryId="e8", tokensBefore=1)
    entries.user("Go on.")
    entries.says("Done.")
    entries.user("Otherwise.", parent=before)
    entries.says("Done.")
    (session,), _ = entries.load(tmp_path)
    assert sent(session, 3) == ["Thanks.", "Welcome.", "So far.", "Go on."]
    assert sent(session, 4) == [
        "List the files.",
        "",
        "x.py",
        "y.py",
        "Two files.",
        "Thanks.",
        "Welcome.",
        "Otherwise.",
    ]


def test_a_fork_does_not_count_what_it_copied(tmp_path):
    entries = talk(parentSession="/p/old.jsonl")
    entries.lines[0]["timestamp"] = stamp(9)
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    assert [(c.turn, c.stop) for c in session.calls] == [(2, 6)]
    assert session.labels["forked_from"] == "/p/old.jsonl"


def test_commands_of_the_user_and_messages_of_extensions_open_no_turn(tmp_path):
    entries = talk()
    entries.message("bashExecution", None, command="ls", output="x.py", exitCode=0, cancelled=False, truncated=False)
    entries.message("bashExecution", None, command="pwd", output="/p", exitCode=0, excludeFromContext=True)
    entries.entry("custom_message", customType="x", content="Remember.", display=True)
    entries.entry("custom", customType="x", data={"count": 3})
    entries.entry("label", targetId="e3", label="here")
    entries.entry("session_info", name="Files")
    entries.user("Go on.")
    entries.says("Done.")
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    assert sent(session, 3)[-3:] == ["Ran `ls`\n```\nx.py\n```", "Remember.", "Go on."]
    assert list(curve(session)["turn"]) == [1, 2, 3]
    assert session.labels["title"] == "Files"


def test_images_count_by_their_size_and_cut_results_say_how_long_they_were(tmp_path):
    entries = Entries()
    entries.message(
        "user", [{"type": "text", "text": "See."}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}]
    )
    entries.says("", calls=("a",), stop="toolUse")
    cut = {"truncated": True, "truncatedBy": "lines", "totalBytes": 90_000, "outputBytes": 4}
    entries.result("a", "x.py", details={"truncation": cut})
    entries.says("Done.")
    (session,), problems = entries.load(tmp_path)
    assert problems == []
    assert session.records[0].image_tokens == 1
    assert session.records[2].original_chars == 90_000
    assert [o.whole for o in session.observations()] == [False]


def test_what_is_not_known_is_said_once(tmp_path):
    entries = talk()
    entries.entry("dream")
    entries.entry("dream")
    entries.message("robot", "x")
    entries.lines.append([1])
    (session,), problems = entries.load(tmp_path)
    assert len(session.calls) == 3
    assert [p.reason.split(",")[0] for p in problems] == [
        "skipped: expected a message with one of the roles user",
        "skipped: expected an object",
        "an entry of type 'dream' is not known: 2 lines not read",
    ]


def whole(tmp_path):
    entries = talk()
    entries.entry("compaction", summary="So far.", firstKeptEntryId="e8", tokensBefore=1075)
    entries.user("Other.", parent="e7")
    entries.says("Ok.")
    return entries.write(tmp_path / "whole.jsonl").read_bytes()


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_lacks_lines_or_breaks_off_is_read_up_to_there(tmp_path, data):
    lines = whole(tmp_path).splitlines(keepends=True)
    gone = data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=4))
    kept = b"".join(line for number, line in enumerate(lines) if number not in gone)
    cut = data.draw(st.integers(0, len(kept)))
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(kept[:cut])
    try:
        sessions, problems = load(path)
    except InputError:
        return
    for session in sessions:
        curve(session)
        calls_frame(session)
    assert len(problems) <= 1
    for problem in problems:
        assert (problem.path, problem.line) == (str(path), kept[:cut].count(b"\n") + 1)


@given(number=st.integers(0, 40), value=st.recursive(st.none() | st.integers() | st.text() | st.booleans(), st.lists))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_field_of_another_type_ends_in_no_traceback(tmp_path, number, value):
    lines = [json.loads(line) for line in whole(tmp_path).splitlines()]
    line = lines[number % len(lines)]
    holder = line.get("message", line) if number % 2 else line
    keys = sorted(holder)
    holder[keys[number % len(keys)]] = value
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    (session,), _ = load(path)
    curve(session)


def test_reading_takes_time_in_the_length_of_the_file(tmp_path):
    times = []
    for turns in (500, 4000):
        entries = Entries()
        for number in range(turns):
            entries.user(f"Go {number}")
            entries.says("", calls=(f"c{number}",))
            kept = entries.result(f"c{number}", "x")
            entries.says("Done.")
            if number % 100 == 99:
                entries.entry("compaction", summary="So far.", firstKeptEntryId=kept, tokensBefore=1)
        path = entries.write(tmp_path / f"{turns}.jsonl")
        begin = time.process_time()
        (session,), _ = load(path)
        times.append(time.process_time() - begin)
        assert len(session.calls) == 2 * turns
    assert times[1] < 30 * max(times[0], 0.02)


@real
def test_the_recorded_session():
    (session,), problems = load(REAL / "large-session.jsonl")
    assert problems == []
    assert (session.format, session.provider, session.model) == ("pi", "anthropic", "claude-sonnet-4-5")
    assert len(session.calls) == 439
    assert sum(call.cost for call in session.calls) == pytest.approx(30.3302, abs=5e-5)
    assert max(call.usage.prompt_tokens for call in session.calls) == 177_604
    assert sum(call.usage.cache_write_tokens for call in session.calls) == 4_296_232
    assert [len([r for r in session.records if r.role == role]) for role in ("user", "tool")] == [88, 373]
    assert [call.stop_reason for call in session.calls if not call.output_measured] == ["error"] + ["aborted"] * 7
    frame = curve(session)
    assert (len(frame), int(frame["context"].iloc[-1])) == (79, 177_604)
    assert list(session.replaced) == []
