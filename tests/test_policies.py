"""The policies that come with agentlab: each is held to the numbers of its source."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentlab.builtin_tools.results import read_result_tool
from agentlab.cli import main
from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.events import CompactionDecided
from agentlab.loop import run_turn
from agentlab.policy import (
    CHAPTER,
    ClearAt,
    Compaction,
    Consolidate,
    Limit,
    OnPressure,
    Policy,
    Room,
    Sliding,
    load_policy,
    preset_names,
)
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.store import Store
from agentlab.tools import Tool

if TYPE_CHECKING:
    from pathlib import Path

SEVEN = {"read_file", "exec", "grep", "glob", "web_search", "web_fetch", "list_dir"}


def test_there_are_seven_and_each_names_its_source() -> None:
    assert preset_names() == [
        "anthropic-context-editing",
        "chapter",
        "claude-code",
        "codex",
        "nanobot-2026-05",
        "nanobot-2026-05-no-workspace",
        "nanobot-now",
    ]
    for name in preset_names():
        policy = load_policy(name)
        assert policy.name == name
        assert policy.source
        if name != "chapter":
            assert policy.omits
            date.fromisoformat(policy.date)


def test_the_chapter_is_what_agent_step_uses() -> None:
    assert load_policy("chapter") == CHAPTER
    assert (CHAPTER.limits, CHAPTER.default, CHAPTER.compaction) == ({}, None, None)


@pytest.mark.parametrize("name", ["nanobot-2026-05", "nanobot-2026-05-no-workspace"])
def test_nanobot_at_the_commit_of_the_chapter(name: str) -> None:
    policy = load_policy(name)
    assert "5d7f3f27510495f30f39696177d9bac53aa171f9" in policy.source
    assert policy.date == "2026-05-13"
    assert policy.default == Limit(16_000, "characters", "tail_cut")
    compaction = policy.compaction
    assert compaction is not None
    rule = compaction.results
    assert isinstance(rule, Sliding)
    assert (rule.keep, rule.min_chars) == (10, 500)
    assert set(rule.tools or ()) - {"run_command"} == SEVEN  # its exec is run_command here
    assert compaction.idle_minutes is None
    assert compaction.consolidate == Consolidate(trigger=1.0, target=0.5, keep_messages=8)
    with_workspace = name == "nanobot-2026-05"
    assert policy.store_over == (16_000 if with_workspace else None)
    assert policy.preview == (Limit(1_200, "characters", "tail_cut") if with_workspace else None)


def test_nanobot_now() -> None:
    policy = load_policy("nanobot-now")
    assert "3852956" in policy.source
    assert policy.default == Limit(16_000, "characters", "tail_cut")
    assert (policy.store_over, policy.preview) == (16_000, Limit(1_200, "characters", "tail_cut"))
    assert policy.limits["exec"] == policy.limits["run_command"] == Limit(10_000, "characters", "middle_snip")
    assert policy.compaction == Compaction(
        results=OnPressure(target=0.85, min_chars=500), room=Room(reserve=8_192, margin=1_024)
    )


def test_claude_code_codex_and_context_editing() -> None:
    claude, codex, editing = map(load_policy, ("claude-code", "codex", "anthropic-context-editing"))
    assert claude.limits["Bash"] == claude.limits["run_command"] == Limit(30_000, "characters", "middle_snip")
    assert claude.limits["Read"] == claude.limits["read_file"] == Limit(25_000, "tokens", "tail_cut")
    assert codex.default == Limit(10 * 1_024, "bytes", "middle_snip")
    assert any("256 lines" in each for each in codex.omits)
    assert editing.compaction == Compaction(results=ClearAt(threshold=100_000, keep=3, clear_at_least=None))


def shown(policy: Policy, name: str, size: int) -> tuple[str, Store]:
    """What the model sees of a result of so many characters."""
    store = Store()
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    give = Tool(name, "Give.", schema, lambda: "a" * (size - 3) + "END", max_observation_chars=4_000)
    talk = Conversation()
    run_turn(talk, "Go.", ScriptedModel([call(name), "Done."]), tools=[give], policy=policy, store=store)
    return talk.messages[2]["content"], store


@pytest.mark.parametrize(
    ("preset", "tool", "length", "end"),
    [
        ("chapter", "give", 4_000, True),
        ("nanobot-2026-05", "give", 1_200, False),
        ("nanobot-2026-05-no-workspace", "give", 16_000, False),
        ("nanobot-now", "give", 1_200, False),
        ("nanobot-now", "exec", 10_000, True),
        ("nanobot-now", "read_file", 60_000, True),
        ("claude-code", "Bash", 30_000, True),
        ("codex", "give", 10_240, True),
    ],
)
def test_what_each_shows_of_60000_characters(preset: str, tool: str, length: int, end: bool) -> None:
    text, store = shown(load_policy(preset), tool, 60_000)
    assert len(text) == length
    assert text.endswith("END") is end
    assert len(store) == 1


def test_the_sliding_preset_clears_the_eleventh_result_and_offers_it_again() -> None:
    events: list[Any] = []
    store = Store()
    read = Tool(
        "read_file", "Read.", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda n: f"{n}" * 900
    )
    model = ScriptedModel([*(call("read_file", n=n) for n in range(1, 15)), "Done."])
    run_turn(
        Conversation(),
        "Go.",
        model,
        tools=[read, read_result_tool(store)],
        policy=load_policy("nanobot-2026-05"),
        store=store,
        sinks=[events.append],
        max_iterations=20,
    )
    decisions = [event for event in events if isinstance(event, CompactionDecided)]
    assert [each.iteration for each in decisions] == [12, 13, 14, 15]
    assert all("read_result" in each.cleared[0].text for each in decisions)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"one of anthropic-context-editing, chapter, .*nanobot-now"):
        load_policy("nanobott")


def test_a_rule_in_a_file_says_where_it_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"compaction": {"results": {"kind": "sliding", "keep": -1}}}')
    with pytest.raises(InputError, match=r"p\.json: compaction\.results\.keep: Expected `int` >= 0"):
        load_policy(path)
    path.write_text('{"compaction": {"results": {"kind": "slide"}}}')
    with pytest.raises(InputError, match=r"compaction\.results\.kind: Invalid value 'slide'"):
        load_policy(path)


@pytest.mark.parametrize("name", preset_names())
def test_a_policy_in_a_header_reads_back_as_it_was(name: str) -> None:
    policy = load_policy(name)
    assert msgspec.convert(msgspec.to_builtins(policy), Policy) == policy


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == preset_names()
    assert main(["policies"]) == 0
    out = capsys.readouterr().out
    assert "all results but the newest 3 once the prompt is over 100000 tokens" in out
    assert "exec at 10000 characters (keeps both ends)" in out
    assert "source    HKUDS/nanobot at 5d7f3f27" in out


def test_a_run_takes_a_policy_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.txt").write_text("word " * 8_000)
    code = main(["run", "--policy", "nanobot-now", "--prompt", "Read big.txt.", "--out", "s", "--json"])
    assert code == 0
    capsys.readouterr()
    header = json.loads((tmp_path / "s" / "messages.jsonl").read_text().splitlines()[0])
    assert header["policy"]["name"] == "nanobot-now"
    assert header["policy"]["compaction"]["results"]["kind"] == "on_pressure"
