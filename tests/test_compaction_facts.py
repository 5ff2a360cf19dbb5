"""Recorded sessions: facts that were planted in files which an agent read are still sent after a consolidation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentlab.compaction.auto import Consolidator
from agentlab.conversation import Conversation
from agentlab.events import Audience
from agentlab.policy import Compaction, Consolidate, Policy, Sliding
from agentlab.providers.offline import OfflineModel
from agentlab.runner import Runner
from agentlab.scribe import Scribe
from agentlab.testing import check_messages

DATA = Path(__file__).parents[1] / "data"
PROMPTS = [
    "Find 'code-middle' in source.py.",
    "Find 'code-end' in build.log.",
    "Find 'code-head' in services.yaml.",
    "What time is it?",
    "Find 'code-end' in response.http.",
    "How many lines has orders.json?",
    "Thanks.",
    "List the files.",
]


def codes() -> set[str]:
    planted = json.loads(next(DATA.rglob("planted.json")).read_text())
    return {place["code"] for file in planted.values() for place in file.values() if isinstance(place, dict)}


def record(folder: Path, policy: Policy) -> None:
    with Runner(OfflineModel(), folder=folder, workspace=DATA / "observations", policy=policy) as session:
        for prompt in PROMPTS:
            session.send(prompt)


def consolidated(folder: Path, **spec: Any) -> Conversation:
    talk = Conversation.load(folder)
    consolidator = Consolidator(Consolidate(**spec), talk, [OfflineModel()])
    selection = consolidator.select()
    assert selection is not None
    assert consolidator.settle(consolidator.summarise(selection), Scribe(talk, Audience()))
    return talk


def text_of(messages: Any) -> str:
    return "\n".join(message["content"] for message in messages)


@pytest.mark.parametrize("results", [None, Sliding(keep=0, min_chars=0)])
@pytest.mark.parametrize("place", ["message", "system"])
def test_planted_facts_that_were_seen_survive(tmp_path: Path, results: Any, place: Any) -> None:
    record(tmp_path, Policy(compaction=Compaction(results=results)))
    talk = consolidated(tmp_path, keep_turns=1, place=place)
    check_messages(talk.view())
    old = talk.messages[: talk.cursor]
    seen = {code for code in codes() if code in text_of(old)}
    told = {code for code in seen if code in text_of(m for m in old if m["role"] == "assistant")}
    sent = talk.system_view() + text_of(talk.view())
    assert len(told) >= 4
    assert {code for code in told if code not in sent} == set()  # what the user was told
    assert sum(code in sent for code in seen) / len(seen) >= 0.8  # of all that stood in some result
    before = sum(len(message["content"]) for message in talk.messages)
    assert len(sent) < before


def test_the_check_can_fail(tmp_path: Path) -> None:
    record(tmp_path, Policy())
    talk = consolidated(tmp_path, keep_turns=1)
    kept = text_of(talk.view()[1:])
    assert [code for code in codes() if code in text_of(talk.messages) and code not in kept]
