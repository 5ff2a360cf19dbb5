"""The offline model in the package's own loop, over real files: the main job in small."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.policy import CHAPTER, Limit
from agentlab.providers.offline import OfflineModel
from agentlab.store import Store

PROMPTS = [
    "List the files here.",
    "Read argparse.py and tell me what it is for.",
    "Which classes does it define?",
    "Find where 'def parse_args' is defined.",
    "Compare argparse.py with optparse.py: which is longer?",
    "How many words are in this.py?",
    "What is at the end of ast.py?",
    "What time is it?",
    "How long has it been since I asked for the time?",
    "Which of the files that you read was largest?",
]
NAMES = ("argparse.py", "optparse.py", "this.py", "ast.py")
STDLIB = Path(sysconfig.get_paths()["stdlib"])


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        shutil.copy(STDLIB / name, tmp_path / name)
    return tmp_path


def run(folder, prompts, strategy="middle_snip", misbehave=None):
    ticks = iter(range(1_778_686_822, 2_000_000_000, 41))
    store, conversation = Store(), Conversation(system="You are careful.")
    tools = [make_now(lambda: next(ticks)), wordcount, *workspace_tools(folder), read_result_tool(store)]
    policy = type(CHAPTER)(default=Limit(4_000, "characters", strategy))
    model = OfflineModel(counter="characters/4", misbehave=misbehave)
    results = [run_turn(conversation, p, model, tools=tools, store=store, policy=policy) for p in prompts]
    return results, conversation


@pytest.mark.parametrize("strategy", ["middle_snip", "tail_cut", "head_cut"])
def test_ten_turns_over_real_files(folder, strategy):
    results, conversation = run(folder, PROMPTS, strategy)
    assert {(r.status, r.reason) for r in results} == {("complete", "reply")}
    texts = [r.text for r in results]
    sources = {name: (folder / name).read_text() for name in NAMES}
    assert all(name in texts[0] for name in NAMES)
    assert f"{len(sources['argparse.py']):,}" in texts[1]
    assert "ArgumentParser" in texts[2]
    assert "argparse.py:" in texts[3]
    assert "optparse.py:" in texts[3]
    assert texts[4].startswith("argparse.py is longer")
    assert f"{len(sources['this.py'].split())} words" in texts[5]
    assert sources["ast.py"].splitlines()[-1].strip() in texts[6]
    assert "2026-05-13T15:40:22Z" in texts[7]
    assert "41 seconds" in texts[8]
    assert "argparse.py is the largest" in texts[9]
    assert results[9].iterations == 1
    reads = [c["function"]["arguments"] for m in conversation.messages for c in m.get("tool_calls", ())]
    assert reads.count('{"path":"argparse.py"}') == 1


@pytest.mark.parametrize("kind", ["bad_json", "unknown_tool", "wrong_arguments", "cut_reply", "blank"])
def test_the_loop_survives_each_misbehaviour(folder, kind):
    results, _ = run(folder, ["How many words are in this.py?"], misbehave=kind)
    words = len((folder / "this.py").read_text().split())
    assert results[0].status == "complete"
    assert f"{words} words" in results[0].text


def test_the_loop_ends_an_endless_model(folder):
    assert run(folder, ["Read this.py"], misbehave="endless")[0][0].reason == "repeated_call"
    assert run(folder, ["Read this.py"], misbehave="endless_varied")[0][0].reason == "max_turns"


def test_paths_that_do_not_exist(folder):
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text("# Guide\nAll is explained.\n")
    results, _ = run(folder, ["Open dosc/guide.md", "Read docs/guid.md", "Show me nosuch.toml"])
    assert "All is explained" in results[0].text
    assert "All is explained" in results[1].text
    assert "could not read nosuch.toml" in results[2].text
