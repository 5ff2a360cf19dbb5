"""Whole sessions, message by message, as they are kept in `tests/golden/`.

A change that alters what a model is shown changes one of these files. With AGENTLAB_GOLDEN=write in the environment the
test writes them anew; the diff is what to look at.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.conversation import Conversation
from agentlab.policy import Limit, Policy
from agentlab.providers.offline import OfflineModel
from agentlab.runner import Runner
from agentlab.testing import check_messages
from agentlab.transcript import read_session

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).with_name("golden")

SESSIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "reading": (
        [
            "What time is it?",
            "List the files here.",
            "Read services.yaml. What is at its end?",
            "Find where 'reference' is mentioned in orders.json.",
            "How long has it been since I asked for the time?",
        ],
        {},
    ),
    "small_limits": (
        ["Read build.log. What is at its end?", "How many words are in 'one two three'?"],
        {"policy": Policy("small", default=Limit(300, strategy="tail_cut"), per_iteration=Limit(400))},
    ),
    "recovery": (
        ["Read sorce.py and tell me what it is for.", "Read response.http."],
        {"misbehave": {1: "unknown_tool"}},
    ),
}


def played(name: str, folder: Path) -> list[dict[str, Any]]:
    prompts, settings = SESSIONS[name]
    ticks = iter(range(1_778_686_822, 1_778_700_000, 41))
    tools = [make_now(lambda: next(ticks)), wordcount, *workspace_tools(ROOT / "data" / "observations")]
    model = OfflineModel(misbehave=settings.get("misbehave"))
    options = {"policy": settings["policy"]} if "policy" in settings else {}
    with Runner(
        model, folder=folder, tools=tools, system="Answer from what your tools show you.", **options
    ) as session:
        for prompt in prompts:
            assert session.send(prompt).status == "complete"
        messages = session.conversation.messages
    check_messages(messages)
    record, problems = read_session(folder)
    assert problems == []
    assert record.messages == messages
    assert Conversation.load(folder).messages == messages
    return [dict(message) for message in messages]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_what_it_was(name: str, tmp_path: Path) -> None:
    messages = played(name, tmp_path / name)
    path = GOLDEN / f"{name}.json"
    if os.environ.get("AGENTLAB_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(json.dumps(messages, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert messages == json.loads(path.read_text(encoding="utf-8"))
