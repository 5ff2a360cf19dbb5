"""Decisions of compaction: kept beside the messages, carried out in the view, written and read back."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.events import Audience, Cleared, CompactionDecided
from agentlab.messages import Usage
from agentlab.scribe import Scribe
from agentlab.testing import check_messages
from agentlab.transcript import SessionWriter, read_session

if TYPE_CHECKING:
    from pathlib import Path


def exchange(n: int, size: int = 2_000) -> list[dict[str, Any]]:
    """A user turn with one call."""
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": f'{{"path": "{n}.txt"}}'}}
    return [
        {"role": "user", "content": f"Read {n}.txt."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "read_file", "content": f"{n}" * size},
        {"role": "assistant", "content": f"It says {n}."},
    ]


def talk_of(turns: int) -> Conversation:
    talk = Conversation(system="Be brief.")
    for n in range(turns):
        for message in exchange(n):
            talk.append(message)  # type: ignore[arg-type]
    return talk


def clearing(*indexes: int, text: str = "(taken out)") -> CompactionDecided:
    return CompactionDecided(1, 1, 0.0, "test", cleared=tuple(Cleared(i, text) for i in indexes))


def folding(cursor: int, **settings: Any) -> CompactionDecided:
    return CompactionDecided(1, 1, 0.0, "test", cursor=cursor, summary="They read files.", **settings)


def test_without_decisions_the_view_is_the_list_itself() -> None:
    talk = talk_of(1)
    assert talk.view() is talk.messages


def test_a_decision_changes_what_is_sent_and_never_the_messages() -> None:
    talk = talk_of(3)
    before = copy.deepcopy(talk.messages)
    talk.decide(clearing(2))
    assert talk.messages == before
    assert talk.view()[2] == {**before[2], "content": "(taken out)"}
    assert [a is b for a, b in zip(talk.view(), talk.messages, strict=True)].count(False) == 1
    check_messages(talk.view())


def test_between_decisions_the_view_is_the_same_list_extended() -> None:
    talk = talk_of(2)
    talk.decide(clearing(2))
    sent = talk.view()
    known = list(map(id, sent))
    for message in exchange(7):
        talk.append(message)  # type: ignore[arg-type]
        assert talk.view() is sent
        assert list(map(id, sent))[: len(known)] == known
    assert len(sent) == 12


def test_the_count_follows_a_decision_and_says_that_it_is_estimated() -> None:
    talk = talk_of(2)
    talk.append({"role": "user", "content": "And?"})
    talk.append({"role": "assistant", "content": "So."}, Usage(1_100, 5))
    kept = talk.decide(clearing(2))
    assert kept.tokens_saved == 500 - 3
    assert talk.count.total.n == 1_105 - 497
    assert not talk.count.total.exact


def test_a_summary_stands_in_a_message_for_all_before_the_cursor() -> None:
    talk = talk_of(3)
    size = talk.count.total.n
    kept = talk.decide(folding(8, pinned=(2,)))
    view = talk.view()
    assert view[0]["role"] == "user"
    assert view[0]["origin"] == "loop"
    assert "They read files." in view[0]["content"]
    assert "0" * 2_000 in view[0]["content"]
    assert view[1:] == talk.messages[8:]
    assert talk.count.total.n == size - kept.tokens_saved
    assert talk.cursor == 8
    check_messages(view)


def test_a_summary_may_stand_in_the_system_prompt() -> None:
    talk = talk_of(3)
    size = talk.count.total.n
    kept = talk.decide(folding(8, place="system"))
    assert talk.view() == talk.messages[8:]
    assert talk.system == "Be brief."
    assert talk.system_view().startswith("Be brief.\n\n[Summary of the first 8 messages")
    assert talk.count.total.n == pytest.approx(size - kept.tokens_saved, abs=2)
    check_messages(talk.view())


def test_decisions_add_up_in_any_order() -> None:
    talk = talk_of(5)
    for decision in (clearing(2, 6), folding(4), clearing(2, 10), folding(12, place="system"), clearing(14)):
        talk.decide(decision)
        check_messages(talk.view())
    assert talk.view()[2]["content"] == "(taken out)"
    assert talk.view()[3:] == talk.messages[15:]
    assert talk.cursor == 12


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (clearing(1), "no tool result"),
        (clearing(99), "no tool result"),
        (folding(0), "not at a user message"),
        (folding(5), "not at a user message"),
        (folding(99), "not at a user message"),
        (CompactionDecided(1, 1, 0.0, "test", cursor=4), "no summary"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused(decision: CompactionDecided, words: str) -> None:
    talk = talk_of(2)
    with pytest.raises(InputError, match=words):
        talk.decide(decision)
    assert talk.view() is talk.messages
    talk.decide(folding(4))
    with pytest.raises(InputError, match="after 4"):
        talk.decide(folding(4))


def write(folder: Path, turns: int, *decisions: CompactionDecided) -> Conversation:
    talk = Conversation(system="Be brief.")
    writer = SessionWriter(folder, system="Be brief.")
    scribe = Scribe(talk, Audience([writer]))
    for n in range(turns):
        scribe.turn, scribe.iteration = n + 1, 1
        for message in exchange(n):
            scribe.append(message)  # type: ignore[arg-type]
    for decision in decisions:
        talk.decide(decision)
        scribe.tell_decisions()
    writer.close()
    return talk


def test_decisions_are_written_and_loaded_again(tmp_path: Path) -> None:
    talk = write(tmp_path, 3, clearing(2, 6), folding(4, pinned=(2,)))
    assert b'{"type":"decision"' in (tmp_path / "messages.jsonl").read_bytes()
    record, problems = read_session(tmp_path)
    assert problems == []
    assert record.decisions == talk.decisions
    loaded = Conversation.load(tmp_path)
    assert loaded.messages == talk.messages
    assert loaded.view() == talk.view()
    assert loaded.notes == []
    assert int(loaded.count) == int(talk.count)


def test_decisions_find_their_messages_again_after_a_line_was_lost(tmp_path: Path) -> None:
    write(tmp_path, 4, clearing(10))
    path = tmp_path / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[4]  # the first turn's reply
    lines[2] = b"torn\n"  # its call: so its result goes too
    path.write_bytes(b"".join(lines))
    loaded = Conversation.load(tmp_path)
    cleared = [m for m in loaded.view() if m["content"] == "(taken out)"]
    assert [loaded.messages[i]["content"][0] for i in loaded.cleared] == ["2"]
    assert len(cleared) == 1
    check_messages(loaded.view())


def test_a_decision_without_its_message_is_passed_over_and_said(tmp_path: Path) -> None:
    write(tmp_path, 2, folding(4))
    path = tmp_path / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[-1]]))  # the second turn is gone
    loaded = Conversation.load(tmp_path)
    assert loaded.view() is loaded.messages
    assert any("passed over" in note for note in loaded.notes)


def test_a_decision_told_twice_holds_once(tmp_path: Path) -> None:
    talk = write(tmp_path, 2, clearing(2))
    path = tmp_path / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    assert read_session(tmp_path)[0].decisions == talk.decisions
