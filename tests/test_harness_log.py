"""The cycle log: what is written, what a reader makes of it, damage included."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentlab.budgets import TurnBudget
from agentlab.cli import main
from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.harness.cyclelog import CycleLog, CycleWriter
from agentlab.harness.reading import COLUMNS, cycles_of, find_cycle, frame, read_cycles, read_log
from agentlab.harness.records import (
    SCHEMA,
    TYPES,
    AgentCycleComplete,
    AgentCycleStart,
    CycleComplete,
    CycleStart,
    Record,
    ToolCalled,
    ToolResult,
    type_of,
)
from agentlab.harness.session import Harness
from agentlab.harness.summary import repeats, summarise
from agentlab.harness.wording import in_words
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.testing import check_messages
from agentlab.transcript import never_begun, read_session

KILLS = int(os.environ.get("AGENTLAB_KILLS", "20"))  # `make soak` asks for more
NOON = 1_778_673_600.0  # 2026-05-13T12:00:00Z
NAMED = [
    "cycle_start",
    "agent_cycle_start",
    "llm_request",
    "llm_response",
    "llm_retry",
    "tool_call",
    "tool_result",
    "budget_extended",
    "budget_refused",
    "watchdog_fire",
    "compaction",
    "cycle_complete",
    "agent_cycle_complete",
]


def harness(cog: Any, folder: Path, **settings: Any) -> Harness:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "a.txt").write_text("".join(f"line {n}\n" for n in range(2_000)))
    model = cog if isinstance(cog, ScriptedModel) else ScriptedModel(cog)
    return Harness(model, folder=folder / "run", workspace=folder / "files", **settings)


def run_one(tmp_path: Path) -> Path:
    cog = [
        call("agent_researcher", instruction="Read a.txt.", context="It is long."),
        call("read_file", path="b.txt"),
        call("read_file", path="b.txt"),
        call("request_more_turns", additional=3, reason="One more check."),
        "Done.",
        "Hello.",
    ]
    researcher = ScriptedModel([call("read_file", path="a.txt"), "2,000 lines."])
    with harness(cog, tmp_path, providers={"researcher": researcher}) as session:
        session.send("What is in a.txt?")
        session.send("Hi.")
    return tmp_path / "run"


def writer(log: CycleLog, cycle: str = "c1", parent: str | None = None) -> CycleWriter:
    return CycleWriter(log, cycle=cycle, parent=parent, actor="cog", turns=TurnBudget(3), on_record=lambda _: None)


def finish(lines: CycleWriter) -> None:
    from agentlab.messages import Usage

    lines.complete("complete", "reply", Usage(), "Yes.", 0)


def test_the_types_are_the_named_ones() -> None:
    assert [kind.__struct_config__.tag for kind in TYPES] == NAMED


def test_every_line_says_what_all_lines_say(tmp_path: Path) -> None:
    (file,) = (run_one(tmp_path) / "cycles").iterdir()
    assert len(file.stem) == len("2026-05-13")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        assert row["schema"] == SCHEMA
        assert {"seq", "cycle", "parent", "actor", "turn", "timestamp", "type"} <= set(row)
        assert row["timestamp"].endswith("Z")
    seen: dict[str, int] = {}
    for row in rows:
        assert row["seq"] == seen.get(row["cycle"], 0) + 1
        seen[row["cycle"]] = row["seq"]
    assert len(seen) == 3


def test_a_result_says_its_sizes_before_and_after_the_cut_with_explicit_booleans(tmp_path: Path) -> None:
    records, problems = read_log(run_one(tmp_path))
    assert problems == []
    results = [r for r in records if isinstance(r, ToolResult)]
    whole = next(r for r in results if r.actor == "researcher")
    assert (whole.original_chars > 4_000, whole.chars, whole.cut, whole.is_error) == (True, 4_000, True, False)
    assert whole.store_id is not None
    failed = [r for r in results if r.is_error]
    assert [r.name for r in failed] == ["read_file", "read_file"]
    assert "there is no 'b.txt'" in failed[0].error
    for record in records:
        for field, value in msgspec.structs.asdict(record).items():
            if field in ("is_error", "cut", "run", "last", "extended", "watchdog", "extendable", "in_part"):
                assert type(value) is bool, (type_of(record), field)


def test_a_child_cycle_names_its_parent_and_the_turn_of_it(tmp_path: Path) -> None:
    cycles, _ = read_cycles(run_one(tmp_path))
    cog, child, second = cycles
    assert (child.parent, child.parent_turn, child.actor) == (cog.id, 1, "researcher")
    assert isinstance(child.start, AgentCycleStart)
    assert isinstance(child.end, AgentCycleComplete)
    assert child.start.with_context is True
    assert (cog.parent, second.parent) == (None, None)
    assert (cog.turns, cog.allowed, second.turns, second.allowed) == (5, 13, 1, 10)


def test_the_terminal_line_is_there_before_the_reply_is_handed_over(tmp_path: Path) -> None:
    seen: list[str] = []

    class Last:
        """Hears what the loop says last, after the log has."""

        def __call__(self, event: Any) -> None:
            if type(event).__name__ == "TurnFinished":
                seen.append(read_cycles(tmp_path / "run")[0][0].status)

    with harness(["Yes."], tmp_path, sinks=[Last()]) as session:
        session.send("Well?")
    assert seen == ["complete"]


def test_a_cycle_without_a_terminal_line_is_abandoned_and_nobody_writes_that(tmp_path: Path) -> None:
    folder = run_one(tmp_path)
    (file,) = (folder / "cycles").iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"type":"cycle_complete"' not in line))
    assert "abandoned" not in file.read_text()
    _, problems = read_log(folder)
    assert [p.reason.split(" ")[-1] for p in problems] == ["abandoned", "abandoned"]
    assert problems[0].line == 1
    cycles, _ = read_cycles(folder)
    assert [view.status for view in cycles] == ["abandoned", "complete", "abandoned"]
    assert (cycles[0].turns, cycles[0].allowed) == (5, 13)


def test_a_file_a_day_and_a_cycle_over_midnight(tmp_path: Path) -> None:
    clock = [NOON]
    log = CycleLog(tmp_path, clock=lambda: clock[0])
    lines = writer(log)
    lines.failed(1, "one")
    clock[0] += 86_400 / 2
    lines.failed(2, "two")
    finish(lines)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["2026-05-13.jsonl", "2026-05-14.jsonl"]
    (view,), problems = read_cycles(tmp_path)
    assert problems == []
    assert [record.seq for record in view.records] == [1, 2, 3]
    assert view.status == "complete"
    log.close()


def test_nothing_is_written_after_the_terminal_line(tmp_path: Path) -> None:
    log = CycleLog(tmp_path)
    lines = writer(log)
    finish(lines)
    lines.failed(1, "late")
    finish(lines)
    assert len(read_log(tmp_path)[0]) == 1
    log.close()


def test_pitfall_45_a_torn_line_is_reported_and_the_next_append_starts_fresh(tmp_path: Path) -> None:
    first = CycleLog(tmp_path, clock=lambda: NOON)
    finish(writer(first, "c1"))
    first.close()
    file = tmp_path / "2026-05-13.jsonl"
    with file.open("ab") as end:
        end.write(b'{"type":"cycle_complete","schema":1,"seq":1,"cyc')
    _, problems = read_log(tmp_path)
    assert [(p.line, "torn" in p.reason) for p in problems] == [(2, True)]
    again = CycleLog(tmp_path, clock=lambda: NOON)
    finish(writer(again, "c2"))
    again.close()
    cycles, problems = read_cycles(tmp_path)
    assert [view.id for view in cycles] == ["c1", "c2"]
    assert [p.line for p in problems] == [2]


@pytest.mark.parametrize(
    "line", [b"\xff\xfe\n", b"[]\n", b"7\n", b'{"type":"nobody"}\n', b"{" * 5_000 + b"\n", b'{"type":"cycle_start"}\n']
)
def test_a_damaged_line_is_reported_and_the_others_are_read(tmp_path: Path, line: bytes) -> None:
    log = CycleLog(tmp_path, clock=lambda: NOON)
    finish(writer(log, "c1"))
    log.close()
    file = tmp_path / "2026-05-13.jsonl"
    file.write_bytes(line + file.read_bytes())
    records, problems = read_log(tmp_path)
    assert (len(records), [p.line for p in problems]) == (1, [1])


def test_lost_lines_and_a_newer_schema_are_reported(tmp_path: Path) -> None:
    log = CycleLog(tmp_path, clock=lambda: NOON)
    lines = writer(log)
    for n in range(4):
        lines.failed(n, "error")
    finish(lines)
    log.close()
    file = tmp_path / "2026-05-13.jsonl"
    kept = file.read_text().splitlines(keepends=True)
    file.write_text(kept[0] + kept[2] + kept[3].replace('"schema":1', '"schema":2') + kept[4])
    _, problems = read_log(tmp_path)
    assert "schema 2, this reads 1" in problems[0].reason
    assert "lacks 2 of its lines (no. 2, 4)" in problems[1].reason


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    log = CycleLog(tmp_path)
    cycles = [writer(log, f"c{n}") for n in range(8)]

    def work(lines: CycleWriter) -> None:
        for n in range(100):
            lines.failed(n, "x" * 200)
        finish(lines)

    threads = [threading.Thread(target=work, args=(lines,)) for lines in cycles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records, problems = read_log(tmp_path)
    assert (len(records), problems) == (808, [])
    log.close()


def test_a_log_that_cannot_be_written_ends_the_cycle_and_leaves_the_messages_valid(tmp_path: Path) -> None:
    from agentlab.testing import check_messages

    class Full(CycleLog):
        left = 6

        def append(self, record: Record) -> None:
            self.left -= 1
            if self.left < 0:
                raise OSError(28, "No space left on device")
            super().append(record)

    with harness([call("wordcount", text="a"), call("wordcount", text="b"), "Done."], tmp_path) as session:
        session.log = Full(tmp_path / "full")
        result = session.send("Go.")
        check_messages(session.runner.conversation.messages)
    assert (result.status, result.reason) == ("failed", "sink_error")
    assert "No space left" in result.text


def test_the_frame_has_the_declared_columns_and_types(tmp_path: Path) -> None:
    records, _ = read_log(run_one(tmp_path))
    made = frame(records)
    assert {name: str(kind) for name, kind in made.dtypes.items()} == COLUMNS
    assert len(made) == len(records)
    assert int(made.loc[made.type == "tool_result", "is_error"].sum()) == 2
    assert set(made.loc[made.type == "budget_extended", "granted"]) == {3}
    assert {name: str(kind) for name, kind in frame([]).dtypes.items()} == COLUMNS


def test_the_summary_counts_turns_extensions_repeats_and_failures(tmp_path: Path) -> None:
    found = summarise(read_cycles(run_one(tmp_path))[0])
    assert found.turns == {"cog": {1: 1, 5: 1}, "researcher": {2: 1}}
    assert (found.extendable, found.extended, found.extended_share) == (2, 1, 0.5)
    assert found.extension_reasons == {"One more check.": 1}
    assert found.repeats == {"read_file": 1}
    assert found.failures == {"read_file": 2}
    assert found.calls["read_file"] == 3
    assert found.endings == {"cog complete (reply)": 2, "researcher complete (reply)": 1}


def test_a_call_repeats_only_what_failed_with_the_same_arguments() -> None:
    from agentlab.harness.reading import CycleView

    common = {"cycle": "c", "parent": None, "actor": "cog", "timestamp": "2026-05-13T12:00:00.000Z"}
    records: list[Record] = []

    def made(turn: int, digest: str, *, is_error: bool) -> None:
        sized = {"original_chars": 1, "chars": 1, "cut": False, "error": "", "seconds": 0.0, "store_id": None}
        records.append(
            ToolCalled(seq=1, turn=turn, call_id="a", name="t", arguments="", digest=digest, run=True, **common)
        )
        records.append(
            ToolResult(seq=2, turn=turn, call_id="a", name="t", run=True, is_error=is_error, **sized, **common)
        )

    made(1, "x", is_error=True)
    made(2, "y", is_error=True)
    assert repeats(CycleView("c", records)) == []
    made(3, "x", is_error=False)
    made(4, "x", is_error=True)
    assert repeats(CycleView("c", records)) == ["t"]  # once: by then the call had worked


def test_every_type_has_words() -> None:
    from agentlab.harness.wording import _WORDS

    assert set(_WORDS) == set(TYPES)


def test_secrets_and_texts_that_cannot_be_encoded_do_not_reach_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentlab.providers import masking

    monkeypatch.setenv("HOUSE_TOKEN", "secret-house-token")
    masking.refresh()
    asked = [
        call("wordcount", text="secret-house-token \ud800"),
        call("request_more_turns", additional="\ud800", reason="secret-house-token"),
        call("request_more_turns", additional=1, reason="secret-house-token"),
        "Yes.",
    ]
    with harness(asked, tmp_path) as session:
        session.send("Is it secret-house-token?")
    monkeypatch.undo()
    masking.refresh()
    for file in (tmp_path / "run" / "cycles").iterdir():
        assert "secret-house-token" not in file.read_text()
    assert read_log(tmp_path / "run")[1] == []


def test_a_call_that_was_not_run_is_no_failure_of_its_tool(tmp_path: Path) -> None:
    from agentlab.harness.actors import ACTORS, COG

    actors = {**ACTORS, "cog": msgspec.structs.replace(COG, turns=2, ceiling=2)}
    with harness([call("wordcount", text="a"), call("wordcount", text="b")], tmp_path, actors=actors) as session:
        session.send("Go.")
    (view,) = read_cycles(tmp_path / "run")[0]
    assert [(r.run, r.is_error) for r in view.of(ToolResult)] == [(True, False), (False, True)]
    found = summarise([view])
    assert (found.calls, found.failures) == ({"wordcount": 1}, {})
    assert view.end is not None
    assert (view.end.tool_calls, view.end.tool_errors) == (2, 0)


# -- the command


def test_the_command_prints_a_cycle_as_a_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_one(tmp_path)
    assert main(["log", str(folder), "--cycle", read_cycles(folder)[0][0].id]) == 0
    out = capsys.readouterr().out
    assert "turn 1/10:" in out
    assert "cut to 4,000 characters" in out
    assert "budget 10 -> 13 turns (3, ceiling 20): One more check." in out
    assert "turn 5/13:" in out
    assert "    researcher " in out
    assert "end: complete (reply) after 5 turns, 8 of 13 left" in out
    assert out.index("    researcher ") < out.index("turn 2/10:")


def test_the_command_lists_many_cycles_and_sums_them_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_one(tmp_path)
    assert main(["log", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["log", str(folder), "--summary"]) == 0
    out = capsys.readouterr().out
    assert "turns per cycle of cog\n   1  # 1\n   2  0" in out
    assert "extended: 1 of 2 cycles that could be (50%)" in out
    assert "the tool that failed most: read_file, 2 of 3 calls" in out


def test_the_command_speaks_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_one(tmp_path)
    assert main(["log", str(folder / "cycles"), "--json"]) == 0
    cycles = json.loads(capsys.readouterr().out)["cycles"]
    assert [c["actor"] for c in cycles] == ["cog", "researcher", "cog"]
    extended = next(e for e in cycles[0]["events"] if e["type"] == "budget_extended")
    assert (extended["from"], extended["to"], extended["granted"], extended["ceiling"]) == (10, 13, 3, 20)
    assert main(["log", str(folder), "--summary", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["extended"] == 1
    assert main(["log", str(folder), "--cycle", "last", "--json"]) == 0
    assert [c["turns"] for c in json.loads(capsys.readouterr().out)["cycles"]] == [1]


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_one(tmp_path)
    for arguments, says in [
        (["log", str(tmp_path / "nowhere")], "no such file or folder"),
        (["log", str(tmp_path / "files")], "no cycle log in it"),
        (["log", str(folder), "--cycle", "zzz"], "there is no cycle 'zzz'"),
    ]:
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert says in said
        assert said.count("\n") == 1


def test_an_id_may_be_shortened_where_that_is_plain(tmp_path: Path) -> None:
    cycles = read_cycles(run_one(tmp_path))[0]
    assert find_cycle(cycles, cycles[0].id[:6]).id == cycles[0].id
    assert find_cycle(cycles, "last").id == cycles[2].id
    with pytest.raises(InputError, match="there is no cycle ''"):
        find_cycle(cycles, "")


def test_cycles_in_memory_are_those_of_the_file(tmp_path: Path) -> None:
    with harness(["Yes."], tmp_path) as session:
        session.send("Well?")
        assert [in_words(r) for v in cycles_of(session.activity.records) for r in v.records] == [
            in_words(r) for r in read_log(tmp_path / "run")[0]
        ]
    assert isinstance(session.activity.records[0], CycleStart)
    assert isinstance(session.activity.records[-1], CycleComplete)


# -- kill -9


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_pitfall_45_twenty_kills_never_leave_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    chance = random.Random(45)
    script = str(Path(__file__).with_name("crashing_harness.py"))
    cycles = 0
    for kill in range(KILLS):
        process = subprocess.Popen([sys.executable, script, str(tmp_path / "run")], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        found, problems = read_cycles(tmp_path / "run")
        assert all("torn" in p.reason or "lines" in p.reason for p in problems), problems
        assert len(problems) <= kill + 1
        assert sum(view.end is None for view in found) <= 2 * (kill + 1)
        assert len(found) >= cycles
        cycles = len(found)
        files = sorted((tmp_path / "run").rglob("messages.jsonl"), key=lambda file: file.stat().st_mtime)
        for file in files[-5:]:  # the cog's, and those of the newest agents
            if never_begun(file):
                continue
            record, torn = read_session(file.parent)
            assert len(torn) <= 2 * (kill + 1)
            talk = Conversation.load(file.parent)
            check_messages(talk.messages)
            assert len(talk.messages) >= len(record.lines)
    assert cycles > 40


def test_pitfall_33_compaction_is_logged_and_a_skill_that_was_read_stays(tmp_path: Path) -> None:
    from agentlab.policy import Compaction, Policy, Sliding

    policy = Policy(
        "tight", compaction=Compaction(results=Sliding(keep=1, min_chars=200, tools=("read_file", "read_skill")))
    )
    reads = [call("read_file", path="a.txt", start_line=n, end_line=n + 60) for n in (1, 70, 140, 210)]
    session = harness([call("read_skill", name="harness-turns"), *reads, "Done."], tmp_path, policy=policy)
    assert session.send("Read.").status == "complete"
    records, problems = read_log(tmp_path / "run" / "cycles")
    assert problems == []
    logged = [record for record in records if type_of(record) == "compaction"]
    assert logged
    assert all(record.rule and record.tokens_saved > 0 for record in logged)  # type: ignore[attr-defined]
    view = session.runner.conversation.view()
    kept = {message["name"]: message["content"] for message in view if message["role"] == "tool"}
    assert "budget" in kept["read_skill"].lower()
    assert len(kept["read_skill"]) > 200
    first = next(message for message in view if message.get("name") == "read_file")
    assert "line 5" not in first["content"]
