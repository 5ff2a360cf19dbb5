"""Claude Code's logs: each trap of the format on made-up lines, and recorded sessions where they are there."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentlab.analysis import calls_frame, curve, load
from agentlab.analysis.importers.claude_words import CLEARED, kind_of, original_chars
from agentlab.analysis.parts import parts_of
from agentlab.analysis.sizes import sizes_of
from agentlab.errors import InputError
from agentlab.messages import Usage

if TYPE_CHECKING:
    import random

REAL = Path(__file__).parents[1] / "../shared/data/sessions/claude-code"
real = pytest.mark.skipif(not REAL.exists(), reason="the recorded sessions are not beside this checkout")


class Lines:
    """A made-up log; each line follows the one before, unless `parent` says otherwise."""

    def __init__(self, session="s1", side=""):
        self.values = []
        self.last = None
        self.common = {
            "sessionId": session,
            "isSidechain": bool(side),
            "cwd": "/p",
            "version": "2.1.0",
            "gitBranch": "main",
        }
        if side:
            self.common["agentId"] = side
        self.tag = f"{session}{side}"

    def add(self, kind, *, parent="", **more):
        number = len(self.values)
        uuid = more.pop("uuid", f"{self.tag}-u{number}")
        parent = self.last if parent == "" else parent
        stamp = datetime.fromtimestamp(1_750_000_000 + number, UTC).isoformat().replace("+00:00", "Z")
        line = {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": stamp, **self.common, **more}
        self.values.append(line)
        self.last = uuid
        return uuid

    def note(self, kind, **more):
        """A line outside the conversation."""
        self.values.append({"type": kind, **more})

    def user(self, content, **more):
        return self.add("user", message={"role": "user", "content": content}, **more)

    def says(self, *blocks, number, sent=100, output=9, request="", model="claude-x", **more):
        """One line per block, as Claude Code writes a call."""
        for given_ in blocks:
            block = {"type": "text", "text": given_} if isinstance(given_, str) else given_
            usage = {"input_tokens": 4, "cache_read_input_tokens": sent - 4, "output_tokens": output}
            message = {"id": f"m{number}", "role": "assistant", "model": model, "content": [block], "usage": usage}
            self.add("assistant", message=message, requestId=request or f"r{number}", **more)
            more.pop("parent", None)
        return self.last

    def result(self, call_id, content, **more):
        return self.user([{"type": "tool_result", "tool_use_id": call_id, "content": content}], **more)

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in self.values))
        return path


def use(call_id, name="Read", **given_):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given_}


def sent(session, number):
    """The texts that a call was sent, by `start`, `stop` and `replaced`."""
    call = session.calls[number]
    shown = {}
    for each in session.replaced:
        if each.call <= number:
            shown[each.index] = each.text
    texts = [shown.get(i, session.records[i].text) for i in range(call.start, call.stop)]
    return [text for text in texts if text is not None]


def in_order(session):
    starts, stops = [c.start for c in session.calls], [c.stop for c in session.calls]
    return starts == sorted(starts) and stops == sorted(stops) and all(c.start <= c.stop for c in session.calls)


# --- one call, many lines


def test_the_lines_of_a_call_are_one_call_with_its_largest_output(tmp_path):
    log = Lines()
    log.user("Read a and b")
    for block, output in (
        ({"type": "thinking", "thinking": "Two."}, 2),
        ("I read.", 5),
        (use("a"), 30),
        (use("b"), 30),
    ):
        log.says(block, number=1, output=output)
    log.result("a", "A", parent=f"{log.tag}-u3")
    log.result("b", "B", parent=f"{log.tag}-u4")
    log.says("Done.", number=2, sent=200)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [(c.turn, c.iteration, c.stop, c.reply) for c in session.calls] == [(1, 1, 1, 1), (1, 2, 4, 4)]
    assert session.calls[0].usage == Usage(4, 30, cache_read_tokens=96)
    asked = session.records[1]
    assert (asked.text, asked.thinking, [c["id"] for c in asked.tool_calls]) == ("I read.", "Two.", ["a", "b"])
    assert sent(session, 1) == ["Read a and b", "I read.", "A", "B"]
    assert session.replaced == ()


def test_a_line_may_hold_several_blocks_and_results(tmp_path):
    message = {"id": "m", "role": "assistant", "model": "claude-x", "usage": {"input_tokens": 9, "output_tokens": 3}}
    log = Lines()
    log.user("Go")
    log.add("assistant", message={**message, "content": [{"type": "text", "text": "I read."}, use("a"), use("b")]})
    log.user([{"type": "tool_result", "tool_use_id": each, "content": each.upper()} for each in "ab"])
    log.says("Done.", number=2)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [call["id"] for call in session.records[1].tool_calls] == ["a", "b"]
    assert sent(session, 1) == ["Go", "I read.", "A", "B"]


def test_results_off_the_parent_chain_are_sent_and_ones_before_their_call_are_found(tmp_path):
    log = Lines()
    log.user("Go")
    log.result("b", "B", parent=f"{log.tag}-u3")  # flushed before the line of its call
    log.says(use("a"), number=1, parent=f"{log.tag}-u0")
    log.says(use("b"), number=1)
    log.result("a", "A", parent=f"{log.tag}-u2")
    log.says("Done.", number=2, parent=f"{log.tag}-u1")  # its chain misses the result of a
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert sorted(sent(session, 1)) == ["", "A", "B", "Go"]
    assert {r.message["name"] for r in session.records if r.role == "tool"} == {"Read"}


def test_the_rich_result_beside_a_result_is_not_counted(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), number=1)
    log.result("a", "short", toolUseResult={"stdout": "long " * 9999})
    log.says("Done.", number=2)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert session.records[2].text == "short"
    assert "long" not in str(session)
    assert sum(len(r.text) for r in session.records) < 50


def test_a_synthetic_reply_is_no_call_and_passes_its_parent_on(tmp_path):
    log = Lines()
    log.user("Go")
    log.says("API Error", number=1, model="<synthetic>", isApiErrorMessage=True)
    log.add("system", subtype="api_error", level="error")
    log.user("Again")
    log.says("Here.", number=2)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert len(session.calls) == 1
    assert sent(session, 0) == ["Go", "Again"]


def test_cache_and_cost_are_read(tmp_path):
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 7, "output_tokens": 2}
    usage["cache_creation"] = {"ephemeral_1h_input_tokens": 40, "ephemeral_5m_input_tokens": 10}
    message = {"id": "m", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn", "usage": usage}
    log = Lines()
    log.user("Go")
    log.add("assistant", message={**message, "content": [{"type": "text", "text": "Hi"}]}, requestId="r", costUSD=0.25)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    (call,) = session.calls
    assert (call.usage, call.cache_write_1h_tokens, call.cost) == (Usage(3, 2, 7, 50), 40, 0.25)
    assert (call.stop_reason, call.model, call.time) == ("end_turn", "claude-x", 1_750_000_001.0)
    assert calls_frame(session)["prompt_tokens"].item() == 60


# --- who speaks


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please look.", "typed"),
        ("<command-name>/x</command-name>", "command"),
        ("<command-message>x</command-message>\n<command-name>/x</command-name>", "command"),
        ("<bash-input>ls</bash-input>", "shell"),
        ("<local-command-stdout>ok</local-command-stdout>", "output"),
        ("<bash-stdout>a</bash-stdout>", "loop"),
        ("<task-notification>done</task-notification>", "loop"),
        ("[Request interrupted by user for tool use]", "loop"),
        ("Caveat: The messages below were generated by the user while running local commands. DO NOT", "loop"),
        ("<system-reminder>x</system-reminder>", "loop"),
        ("<ide_opened_file>a.py</ide_opened_file>", "loop"),
        ("<div>what is this?</div>", "typed"),
        ("", "loop"),
    ],
)
def test_who_wrote_a_line(text, kind):
    assert kind_of({"message": {"content": text}}) == kind
    assert kind_of({"message": {"content": text}, "isMeta": True}) == "loop"


def test_a_command_is_a_turn_only_where_a_call_answers_it(tmp_path):
    log = Lines()
    log.user("Hello")
    log.says("Hi.", number=1)
    log.user("<local-command-caveat>Caveat", isMeta=True)
    log.user("<command-name>/model</command-name>")
    log.user("<local-command-stdout>Set</local-command-stdout>")
    log.user("<command-name>/publish</command-name>")
    log.user([{"type": "text", "text": "Publish it."}], isMeta=True)
    log.says("Published.", number=2)
    log.user("[Request interrupted by user]")
    log.user("<bash-input>ls</bash-input>")
    log.user("<bash-stdout>a b</bash-stdout>")
    log.user("And now?")
    log.says("Done.", number=3)
    log.user("<command-name>/exit</command-name>")
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [r.text[:24] for r in session.records if r.opens_turn] == ["Hello", "<command-name>/publish</", "And now?"]
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (2, 1), (3, 1)]
    assert len(sent(session, 2)) == 12  # what opens no turn is sent all the same


def test_a_notice_of_a_finished_task_goes_on_with_the_turn(tmp_path):
    log = Lines()
    log.user("Start it")
    log.says("Started.", number=1)
    log.user("<task-notification>done</task-notification>")
    log.says("It is done.", number=2)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (1, 2)]


# --- what was sent: rewinds, compactions, clearing


def test_going_back_leaves_out_what_was_abandoned_but_its_calls_stay(tmp_path):
    log = Lines()
    log.user("One")
    first = log.says("1.", number=1)
    log.user("Wrong")
    log.says(use("a"), number=2, sent=150)
    log.result("a", "result")
    log.says("Wrong too.", number=3, sent=160)
    log.user("Right", parent=first)
    log.says("Good.", number=4, sent=120)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [c.usage.prompt_tokens for c in session.calls] == [100, 150, 160, 120]
    assert in_order(session)
    assert sent(session, 2) == ["One", "1.", "Wrong", "", "result"]
    assert sent(session, 3) == ["One", "1.", "Right"]
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (2, 1), (2, 2), (3, 1)]
    assert session.carried() == [4, 3, 2, 1, 1, 0, 1, 0]


def test_going_back_and_forth_brings_messages_back(tmp_path):
    log = Lines()
    log.user("Root")
    base = log.says("base", number=1)
    left = [log.user("left"), log.says("l1", number=2)][1]
    log.user("right", parent=base)
    log.says("r1", number=3)
    log.user("left again", parent=left)
    log.says("l2", number=4)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 2) == ["Root", "base", "right"]
    assert sent(session, 3) == ["Root", "base", "left", "l1", "left again"]
    assert in_order(session)
    assert all(part.prompt > 0 for part in parts_of(session))


def test_what_was_typed_and_never_sent_is_no_turn(tmp_path):
    log = Lines()
    log.user("One")
    first = log.says("1.", number=1)
    log.user("Never sent")
    log.user("Two", parent=first)
    log.says("2.", number=2)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert [r.text for r in session.records] == ["One", "1.", "Two", "2."]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.booleans()), min_size=1, max_size=25))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_call_is_sent_the_path_above_it_in_any_tree(tmp_path, steps):
    log = Lines()
    log.user("start")
    uuids = [log.last]
    for number, (is_call, back, compacts) in enumerate(steps):
        parent = uuids[max(0, len(uuids) - 1 - back)]
        if compacts:
            log.user(f"summary {number}", parent=None, isCompactSummary=True)
        elif is_call:
            log.says(f"call {number}", number=number, parent=parent)
        else:
            log.user(f"user {number}", parent=parent)
        uuids.append(log.last)
    log.says("last", number=999)
    for line in log.values:
        line["message"].pop("usage", None)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert in_order(session)

    lines = {line["uuid"]: line for line in log.values}

    def path(uuid):
        above = lines[uuid]["parentUuid"]
        return [] if above is None else [*path(above), above]

    def said(uuid):
        content = lines[uuid]["message"]["content"]
        return content if isinstance(content, str) else content[0]["text"]

    calls = {said(uuid): list(map(said, path(uuid))) for uuid in lines if lines[uuid]["type"] == "assistant"}
    assert {session.records[c.reply].text: sent(session, n) for n, c in enumerate(session.calls)} == calls
    carried = {record.text: times for record, times in zip(session.records, session.carried(), strict=True)}
    assert carried == {text: sum(text in sent_ for sent_ in calls.values()) for text in carried}
    sizes = sizes_of(session)
    of_text = {record.text: size for record, size in zip(session.records, sizes.messages, strict=True)}
    assert [part.prompt for part in parts_of(session)] == [
        sizes.base + sum(of_text[text] for text in calls[session.records[c.reply].text]) for c in session.calls
    ]


@pytest.mark.parametrize("parent", [None, "s1-u1"])
@pytest.mark.parametrize("is_linked", [True, False])
def test_an_old_compaction_begins_anew_with_its_summary(tmp_path, parent, is_linked):
    log = Lines()
    log.user("One")
    log.says("1.", number=1, sent=900)
    log.user("It was about one.", parent=parent, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.says("2.", number=2, sent=200)
    for line in log.values:
        line["parentUuid"] = line["parentUuid"] if is_linked else None
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [r.is_summary for r in session.records] == [False, False, True, False]
    assert [(c.turn, c.iteration, c.start, c.stop) for c in session.calls] == [(1, 1, 0, 1), (1, 2, 2, 3)]
    assert session.replaced == ()


def compacted(**metadata):
    log = Lines()
    log.user("One")
    log.says("1.", number=1)
    log.user("Two")
    tail = log.says("2.", number=2, sent=900)
    log.add("system", subtype="compact_boundary", parent=None, logicalParentUuid=tail, compactMetadata=metadata)
    log.user("Summary of one.", isCompactSummary=True)
    log.user("Three")
    log.says("3.", number=3, sent=300)
    return log


def test_a_new_compaction_begins_at_its_boundary(tmp_path):
    (session,), problems = load(compacted(trigger="auto", preTokens=900).write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert sent(session, 2) == ["Summary of one.", "Three"]
    assert session.calls[2].start == 4


@pytest.mark.parametrize("anchor", ["s1-u5", "s1-u4", "s1-u3"], ids=["summary", "boundary", "a line before"])
@pytest.mark.parametrize("how", ["segment", "list"])
def test_a_compaction_that_keeps_messages_sends_them_too(tmp_path, anchor, how):
    kept = {"headUuid": "s1-u2", "anchorUuid": anchor, "tailUuid": "s1-u3"}
    listed = {"anchorUuid": anchor, "uuids": ["s1-u2", "s1-u3"], "allUuids": ["s1-u2", "s1-u3"]}
    metadata = {"preservedSegment": kept} if how == "segment" else {"preservedMessages": listed}
    log = compacted(trigger="auto", **metadata)
    log.user("Four")
    log.says("4.", number=4, sent=400)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert sent(session, 1) == ["One", "1.", "Two"]
    assert sent(session, 2) == ["Two", "2.", "Summary of one.", "Three"]
    assert sent(session, 3) == ["Two", "2.", "Summary of one.", "Three", "3.", "Four"]
    assert in_order(session)


def test_a_compaction_whose_kept_messages_are_not_there_keeps_none(tmp_path):
    kept = {"headUuid": "gone", "anchorUuid": "s1-u5", "tailUuid": "s1-u3"}
    (session,), _ = load(compacted(preservedSegment=kept).write(tmp_path / "s1.jsonl"))
    assert sent(session, 2) == ["Summary of one.", "Three"]


def test_going_back_to_before_a_compaction_sends_what_was_before_it(tmp_path):
    log = compacted(preservedSegment={"headUuid": "s1-u2", "anchorUuid": "s1-u5", "tailUuid": "s1-u3"})
    log.user("Back", parent="s1-u3")
    log.says("4.", number=4)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 2) == ["Two", "2.", "Summary of one.", "Three"]
    assert sent(session, 3) == ["One", "1.", "Two", "2.", "Back"]
    assert in_order(session)


def test_results_that_were_cleared_are_shown_so_from_then_on(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), number=1)
    log.result("a", "a long result")
    log.says(use("b"), number=2)
    log.result("b", "another")
    log.add("system", subtype="microcompact_boundary", microcompactMetadata={"compactedToolIds": ["a", "unknown"]})
    log.says("Done.", number=3)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert sent(session, 1) == ["Go", "", "a long result"]
    assert sent(session, 2) == ["Go", "", CLEARED, "", "another"]


def test_a_cut_result_says_how_long_it_was(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), use("b"), use("c"), number=1)
    cut = "<persisted-output>\nOutput too large (44.5KB). Full output saved to: /x/a.txt\n\nPreview (first 2KB):\nxx"
    log.result("a", cut)
    log.result("b", CLEARED, toolUseResult={"stdout": "y" * 500, "stderr": ""})
    log.result("c", "whole", toolUseResult={"stdout": "whole, and more"})
    log.says("Done.", number=2)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert [r.original_chars for r in session.records if r.role == "tool"] == [int(44.5 * 1024), 500, None]
    assert [o.whole for o in session.observations()] == [False, False, True]


def test_what_stands_for_a_result_in_the_request_is_what_counts(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), number=1)
    log.result("a", "x" * 5000)
    log.note("content-replacement", sessionId="s1", replacements=[{"toolUseId": "a", "replacement": "preview"}])
    log.says("Done.", number=2)
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert (session.records[2].text, session.records[2].original_chars) == ("preview", 5000)


# --- copies


def test_a_resumed_session_counts_each_call_once_and_keeps_the_context(tmp_path):
    first = Lines("s1")
    first.user("One")
    first.says("1.", number=1)
    second = Lines("s2")
    second.user("One")
    second.says("1.", number=1)
    second.user("Two")
    second.says("2.", number=2, sent=200)
    first.write(tmp_path / "p/s1.jsonl")
    second.write(tmp_path / "p/s2.jsonl")
    sessions, problems = load(tmp_path / "p")
    assert problems == []
    assert [(s.id, len(s.calls)) for s in sessions] == [("s1", 1), ("s2", 1)]
    assert sent(sessions[1], 0) == ["One", "1.", "Two"]


def test_the_same_line_twice_counts_once(tmp_path):
    log = Lines()
    log.user("One")
    log.says("1.", number=1)
    log.values += log.values[:]
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert (len(session.records), len(session.calls), problems) == (2, 1, [])


def test_a_copy_within_the_file_drops_what_it_lost(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), use("b"), number=1)
    log.result("a", "A", parent="s1-u1")
    log.result("b", "B", parent="s1-u2")
    log.says("Done.", number=2)
    copy = Lines()
    copy.tag = "copy"
    copy.user("Go")
    copy.says(use("b"), number=1)
    copy.result("b", "B")
    copy.says("Done.", number=2)
    copy.user("And?")
    copy.says("Then.", number=3)
    log.values += copy.values
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [r.text for r in session.records if r.opens_turn] == ["Go", "And?"]
    assert len(session.calls) == 3
    assert sent(session, 1) == ["Go", "", "A", "B"]
    assert sent(session, 2) == ["Go", "", "B", "Done.", "And?"]


def test_a_second_result_of_a_call_alone_is_no_copy_of_the_history(tmp_path):
    log = Lines()
    log.user("Go")
    log.says(use("a"), number=1)
    log.result("a", "A")
    log.says(use("b"), number=2)
    log.result("b", "[Request interrupted by user for tool use]")
    log.result("b", "B, too late")
    log.says("Done.", number=3)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 2) == ["Go", "", "A", "", "[Request interrupted by user for tool use]"]
    assert session.replaced == ()


# --- sub-agents


def with_agent(folder, agent):
    main = Lines("s1")
    main.user("Go")
    main.says(use("t", "Task", prompt="Look.", subagent_type="explorer", description="A look"), number=1)
    main.result("t", "Seen.", toolUseResult={"agentId": "ab12"})
    main.says("Done.", number=2)
    main.write(folder / "s1.jsonl")
    agent.write(folder / "s1/subagents/agent-ab12.jsonl")


def test_a_sub_agent_is_a_session_with_a_parent(tmp_path):
    agent = Lines("s1", "ab12")
    agent.user("Look.")
    agent.says("Seen.", number=7, sent=50)
    with_agent(tmp_path / "slug", agent)
    for path in (tmp_path / "slug", tmp_path / "slug/s1.jsonl", tmp_path):
        (main, sub), problems = load(path)
        assert problems == []
        assert (main.id, main.parent, len(main.calls)) == ("s1", "", 2)
        assert (sub.id, sub.parent, len(sub.calls)) == ("agent-ab12", "s1", 1)
        about = {key: sub.labels[key] for key in ("agent", "agent_type", "task", "tool_call")}
        assert about == {"agent": "ab12", "agent_type": "explorer", "task": "A look", "tool_call": "t"}
    (alone,), _ = load(tmp_path / "slug/s1/subagents/agent-ab12.jsonl")
    assert (alone.id, alone.parent) == ("agent-ab12", "s1")


def test_side_questions_repeat_calls_of_the_session_that_are_not_theirs(tmp_path):
    agent = Lines("s1", "ab12")
    agent.user("Go")
    agent.says(use("t", "Task", prompt="Look."), number=1, request="other")
    agent.result("t", "Seen.")
    agent.user("By the way?")
    agent.says("Yes.", number=9, sent=70)
    with_agent(tmp_path / "slug", agent)
    (main, sub), _ = load(tmp_path / "slug")
    assert [len(main.calls), len(sub.calls)] == [2, 1]
    assert sent(sub, 0) == ["Go", "", "Seen.", "By the way?"]


def test_side_chains_of_old_versions_stand_in_the_same_file(tmp_path):
    main = Lines()
    main.user("Go")
    main.says(use("t", "Task", prompt="Look.", description="A look"), number=1)
    kept = main.last
    for number, prompt in ((2, "Look."), (3, "Look elsewhere.")):
        main.user(prompt, parent=None, isSidechain=True)
        main.says("Seen.", number=number, sent=40, isSidechain=True)
    main.result("t", "Seen.", parent=kept)
    main.says("Done.", number=4)
    sessions, problems = load(main.write(tmp_path / "s1.jsonl"))
    assert problems == []
    assert [(s.id, s.parent, len(s.calls)) for s in sessions] == [
        ("s1", "", 2),
        ("s1/sidechain", "s1", 1),
        ("s1/sidechain#2", "s1", 1),
    ]
    assert sessions[1].labels["task"] == "A look"
    assert sent(sessions[0], 1) == ["Go", "", "Seen."]


# --- other lines


def test_labels_come_from_the_lines(tmp_path):
    log = Lines()
    log.note("summary", summary="Of another session", leafUuid="elsewhere")
    log.user("Go")
    log.says("Done.", number=1)
    log.note("summary", summary="Doing it", leafUuid=log.last)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert session.labels == {
        "project": "/p",
        "version": "2.1.0",
        "branch": "main",
        "session": "s1",
        "title": "Doing it",
    }
    assert (session.model, session.provider, session.format) == ("claude-x", "anthropic", "claude-code")


def test_notes_of_the_program_are_silent_and_what_is_not_known_is_said_once(tmp_path):
    log = Lines()
    log.note("queue-operation", operation="enqueue", sessionId="s1", content="typed ahead")
    log.note("file-history-snapshot", messageId="x", snapshot={})
    log.user("Go")
    log.add("progress", data={"type": "hook_progress"})
    log.add("attachment", attachment={"type": "file", "content": {"type": "text", "file": {"content": "x = 1"}}})
    log.add("attachment", attachment={"type": "plan_mode", "planExists": True})
    log.add("attachment", attachment={"type": "plan_mode"})
    log.add("attachment", attachment={"type": "queued_command", "prompt": "Also b", "commandMode": "prompt"})
    log.add("attachment", attachment={"type": "hook_success", "hookEvent": "PostToolUse", "content": "ok"})
    log.add(
        "attachment", attachment={"type": "hook_success", "hookEvent": "SessionStart", "content": "ok", "stdout": "ok"}
    )
    log.says("Done.", number=1)
    log.add("system", subtype="turn_duration", durationMs=5)
    log.add("system", subtype="local_command", content="<command-name>/cost</command-name>")
    for _ in range(3):
        log.add("hologram")
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 0) == ["Go", "x = 1", "Also b", "ok"]
    assert [r.text for r in session.records if r.opens_turn] == ["Go", "Also b"]
    assert session.records[-1].text == "<command-name>/cost</command-name>"
    assert [(p.line, p.reason) for p in problems] == [
        (6, "what an attachment of type 'plan_mode' says is not known to be sent: 2 lines not counted"),
        (14, "a line of type 'hologram' is not known to be sent: 3 lines not counted"),
    ]


def test_counts_of_output_that_are_none_are_estimated_and_flagged(tmp_path):
    log = Lines()
    log.user("Go")
    log.says({"type": "thinking", "thinking": "t" * 400}, "x" * 400, use("a", content="y" * 386), number=1, output=3)
    log.result("a", "ok")
    log.says("z" * 400, number=2, output=1)
    log.common["version"] = "1.0.53"
    log.user("And?")
    log.says("w" * 1200, number=3, output=300)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert [c.output_measured for c in session.calls] == [False, False, True]
    assert [c.usage.output_tokens for c in session.calls] == [301, 100, 300]  # 400 + 400 + 404 characters
    assert all(c.measured for c in session.calls)


def test_lines_without_links_follow_each_other(tmp_path):
    log = Lines()
    for number in range(3):
        log.user(f"q{number}", parent=None)
        log.says(f"a{number}", number=number, parent=None)
    for line in log.values:
        line["parentUuid"] = None
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 2) == ["q0", "a0", "q1", "a1", "q2"]


def test_a_damaged_line_is_a_problem_and_the_conversation_goes_on(tmp_path):
    log = Lines()
    log.user("One")
    log.says("1.", number=1)
    log.values.append('{"type":"user","uuid":"broken", "message"\n')
    log.user("Two", parent="broken")
    log.says("2.", number=2)
    log.values += ['"text"\n', "[1]\n", '{"silly": 1}\n', '{"type":"user","message":{}}\n', '{"type":"assistant"']
    (session,), problems = load(log.write(tmp_path / "s1.jsonl"))
    assert sent(session, 1) == ["One", "1.", "Two"]
    assert [p.line for p in problems] == [3, 6, 7, 8, 9, 10]
    assert "torn" in problems[-1].reason
    assert all(p.path == str(tmp_path / "s1.jsonl") for p in problems)


def test_lines_in_a_circle_end(tmp_path):
    log = Lines()
    log.user("One", parent="s1-u3")
    log.says("1.", number=1)
    log.add("progress", parent="s1-u3")
    log.add("progress", parent="s1-u2")
    log.says("2.", number=2, parent="s1-u5")
    log.user("Two", parent="s1-u4")
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert len(session.calls) == 2
    assert in_order(session)


# --- folders


def test_a_folder_of_projects_and_files_of_other_formats(tmp_path):
    for name in ("one", "two"):
        log = Lines(name)
        log.user("Hi")
        log.says("Hello.", number=1, request=name)
        log.write(tmp_path / f"projects/{name}/{name}.jsonl")
    (tmp_path / "projects/two/empty.jsonl").write_text("")
    (tmp_path / "projects/two/sessions-index.json").write_text("{}")
    sessions, problems = load(tmp_path / "projects")
    assert ([s.id for s in sessions], problems) == (["one", "two"], [])
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    (tmp_path / "projects/two/talk.json").write_text(json.dumps(talk))
    sessions, problems = load(tmp_path / "projects")
    assert sorted((s.format, s.id) for s in sessions) == [
        ("chat", "talk"),
        ("claude-code", "one"),
        ("claude-code", "two"),
    ]


def test_a_file_without_a_conversation_is_said(tmp_path):
    log = Lines()
    log.note("file-history-snapshot", messageId="x", snapshot={})
    with pytest.raises(InputError, match="there is no session in it"):
        load(log.write(tmp_path / "s1.jsonl"))


# --- size


def test_five_thousand_calls_take_no_time_per_pair(tmp_path):
    log = Lines()
    back = log.user("Go")
    for number in range(5_000):
        log.says(use(f"t{number}"), number=number)
        log.result(f"t{number}", f"result {number}")
        if number % 50 == 49:
            back = log.user("Back", parent=back)
    path = log.write(tmp_path / "s1.jsonl")
    before = time.perf_counter()
    (session,), _ = load(path)
    assert time.perf_counter() - before < 10
    assert len(session.calls) == 5_000
    assert in_order(session)
    assert len(session.replaced) < 12_000


def test_long_branches_that_take_turns_are_read_one_after_the_other(tmp_path):
    log = Lines()
    ends = [log.user("Go")] * 2
    for number in range(3_000):
        ends = [
            log.says(f"{side}{number}", number=f"{side}{number}", parent=end)
            for side, end in zip("ab", ends, strict=True)
        ]
    before = time.perf_counter()
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert time.perf_counter() - before < 10
    assert len(session.calls) == 6_000
    assert len(session.replaced) < 6_001
    assert in_order(session)
    texts = [session.records[c.reply].text for c in session.calls]
    assert (texts[2_999], texts[3_000]) == ("a2999", "b0")
    assert sent(session, 3_001) == ["Go", "b0"]


def test_a_chain_of_a_hundred_thousand_messages_is_no_deep_recursion(tmp_path):
    log = Lines()
    for _ in range(100_000):
        log.user("x")
    log.says("Done.", number=1)
    (session,), _ = load(log.write(tmp_path / "s1.jsonl"))
    assert session.calls[0].stop == 100_000


# --- damage


def whole_log():
    log = compacted(preservedSegment={"headUuid": "s1-u2", "anchorUuid": "s1-u5", "tailUuid": "s1-u3"})
    log.says(use("a"), use("b"), number=5)
    log.result("a", "A")
    log.result("b", "B")
    log.user("Side", parent=None, isSidechain=True)
    log.says("Seen.", number=6, isSidechain=True)
    log.user("Back", parent="s1-u3")
    log.says("5.", number=7)
    return [json.dumps(line) + "\n" for line in log.values]


@given(st.randoms(use_true_random=False), st.integers(0, 4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_lines_are_damaged_the_others_are_read(tmp_path, chance: random.Random, count):
    lines = whole_log()
    broken = set(chance.sample(range(len(lines)), count))
    for number in broken:
        line = lines[number].rstrip("\n")
        lines[number] = line[: chance.randrange(1, len(line) - 1)].replace("}", "") + "\n"
    path = tmp_path / "damaged.jsonl"
    path.write_text("".join(lines))
    sessions, problems = load(path, format="claude-code")
    assert {p.line - 1 for p in problems} == broken
    texts = {r.text for s in sessions for r in s.records} | {
        c["id"] for s in sessions for r in s.records for c in r.tool_calls
    }
    for number, said in {3: "2.", 7: "3.", 8: "a", 9: "b", 13: "Seen.", 15: "5."}.items():
        assert (said in texts) == (number not in broken)
    for session in sessions:
        assert in_order(session)
        curve(session)


@given(st.integers(0, 5_000), st.binary(max_size=4))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_truncation_and_overwriting_at_any_byte_is_no_traceback(tmp_path, cut, junk):
    data = "".join(whole_log()).encode()
    path = tmp_path / "damaged.jsonl"
    for damaged in (data[: cut % len(data)], data[: cut % len(data)] + junk + data[cut % len(data) + len(junk) :]):
        path.write_bytes(damaged)
        try:
            sessions, _ = load(path)
        except InputError:
            continue
        for session in sessions:
            assert in_order(session)
            curve(session)


ODD = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2)
    | st.just({})
)


@given(st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fields_of_any_other_type_are_no_traceback(tmp_path, data):
    lines = [json.loads(line) for line in whole_log()]
    for _ in range(3):
        at = data.draw(st.sampled_from(lines))
        while isinstance(at, dict | list) and at:
            keys = sorted(at) if isinstance(at, dict) else range(len(at))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(at[key], dict | list) or data.draw(st.booleans()):
                at[key] = data.draw(ODD)
                break
            at = at[key]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    sessions, _ = load(path, format="claude-code")
    for session in sessions:
        assert in_order(session)
        curve(session)


# --- recorded sessions


def naive(path):
    """Cache reads with and without merging, and outputs kept first and largest, by a few lines of their own."""
    merged, first, most, every = {}, {}, {}, 0
    for line in path.read_text().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict) or value.get("type") != "assistant":
            continue
        usage, key = value["message"].get("usage", {}), (value["message"]["id"], value.get("requestId"))
        every += usage.get("cache_read_input_tokens", 0)
        merged[key] = usage.get("cache_read_input_tokens", 0)
        first.setdefault(key, usage.get("output_tokens", 0))
        most[key] = max(most.get(key, 0), usage.get("output_tokens", 0))
    return every, sum(merged.values()), sum(first.values()), sum(most.values())


FIGURES = {  # calls and largest context of the first session, turns, sessions, lines with problems
    "coding-1": (201, 154_565, 7, 2, []),
    "coding-2": (16, 21_021, 4, 1, []),
    "coding-3": (90, 100_349, 5, 1, []),
    "coding-4": (271, 155_283, 17, 1, []),
    "tool-calls": (54, 86_733, 9, 1, [1, 2]),
    "short": (11, 24_662, 4, 1, []),
    "representative": (5, 78, 4, 1, []),
    "edge-cases": (3, 200, 4, 2, [10, 11, 13, 14, 15, 16]),
}


@real
@pytest.mark.parametrize("name", FIGURES)
def test_recorded_sessions_have_the_figures_that_were_counted_by_hand(name):
    sessions, problems = load(REAL / f"{name}.jsonl")
    calls, context, turns, count, lines = FIGURES[name]
    session = sessions[0]
    assert [p.line for p in problems] == lines
    assert (len(sessions), len(session.calls)) == (count, calls)
    assert max(c.usage.prompt_tokens for c in session.calls) == context
    assert sum(r.opens_turn for r in session.records) == turns
    for each in sessions:
        assert in_order(each)
        assert curve(each)["turn"].is_monotonic_increasing
        assert curve(each)["turn"].is_unique


@real
@pytest.mark.parametrize("name", ["coding-1", "coding-3", "coding-4", "tool-calls"])
def test_merged_counts_agree_with_a_few_lines_of_their_own(name):
    sessions, _ = load(REAL / f"{name}.jsonl")
    _, cached, _, output = naive(REAL / f"{name}.jsonl")
    usages = [c.usage for s in sessions for c in s.calls]
    assert sum(u.cache_read_tokens for u in usages) == cached
    flagged = not sessions[0].calls[0].output_measured
    assert (sum(u.output_tokens for u in usages) == output) != flagged


@real
def test_the_effect_of_merging_is_as_it_was_measured():
    every, merged, _, _ = naive(REAL / "tool-calls.jsonl")
    assert (round(every / 1e6, 2), round(merged / 1e6, 2)) == (14.48, 2.98)
    sessions, _ = load(REAL / "tool-calls.jsonl")
    assert sum(c.usage.cache_read_tokens for c in sessions[0].calls) == merged
    _, _, first, most = naive(REAL / "coding-1.jsonl")
    assert (first, most) == (7_106, 17_274)
    sessions, _ = load(REAL / "coding-1.jsonl")
    assert sum(c.usage.output_tokens for s in sessions for c in s.calls) == 17_274


@real
def test_only_the_versions_with_placeholders_are_flagged():
    flagged = {name: {c.output_measured for s in load(REAL / f"{name}.jsonl")[0] for c in s.calls} for name in FIGURES}
    assert {name for name, values in flagged.items() if False in values} == {"tool-calls", "short"}
    (session,), _ = load(REAL / "tool-calls.jsonl")
    assert 19_000 < sum(c.usage.output_tokens for c in session.calls) < 20_000


@real
def test_an_image_of_350_thousand_characters_counts_by_its_size():
    (session,), _ = load(REAL / "coding-2.jsonl")
    (images,) = [r for r in session.records if r.image_tokens]
    assert (images.image_tokens, images.text) == (
        1_600,
        "Cool but all commits stil show the wrong name on github [Image #1]",
    )
    frame = calls_frame(session)
    assert frame["prompt_tokens"].max() < 25_000


@real
def test_the_folder_is_one_load_of_all_its_sessions():
    sessions, problems = load(REAL)
    assert sum(len(s.calls) for s in sessions) == sum(
        len(s.calls) for n in FIGURES for s in load(REAL / f"{n}.jsonl")[0]
    )
    assert len(problems) == sum(len(lines) for *_, lines in FIGURES.values())
    assert len({s.id for s in sessions}) == len(sessions)


@pytest.mark.parametrize(("said", "chars"), [("2KB", 2048), ("1.5 MB", 1_572_864), ("7.B", 7)])
def test_the_size_of_a_persisted_output_is_read(said, chars):
    assert original_chars(f"<persisted-output>\nOutput too large ({said})", None) == (chars if chars > 60 else None)


@pytest.mark.parametrize("said", ["9999999999999999999GB", "999999999GB", "1.2.3MB", "." * 30 + "KB", "9" * 400 + "B"])
def test_a_size_that_cannot_be_one_is_not_known(said):
    assert original_chars(f"<persisted-output>\nOutput too large ({said})", None) is None
