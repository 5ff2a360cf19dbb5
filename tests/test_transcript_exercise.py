"""The exercise on transcripts: how a chat is run and its file read, and what a student is told."""

from __future__ import annotations

import builtins
import json
import re
import sys
from pathlib import Path

import pytest

from agentlab.builtin_tools import lorem
from agentlab.grading.building.transcripts import Heard, cutting, look, talk, talks
from agentlab.loop import agent_step
from agentlab.providers.scripted import ScriptedModel

ROOT = Path(__file__).parents[1]


def chat_of(write_line, mode="a"):
    """A chat that asks by `read` and writes what `write_line` makes of the prompt."""

    def chat(provider, read=input, transcript="transcript.jsonl"):
        with Path(transcript).open(mode, encoding="utf-8") as file:
            while prompt := read("you: "):
                sys.stdout.write(f"painted by {provider}")
                file.write(write_line(prompt))

    return chat


def as_line(prompt):
    return json.dumps({"prompt": prompt}) + "\n"


def test_a_chat_is_run_in_a_folder_of_its_own_and_nothing_is_left_changed(capsys):
    before, asked = Path.cwd(), builtins.input
    assert talk(chat_of(as_line), ["one\ntwo", "three"], None) == [{"prompt": "one\ntwo"}, {"prompt": "three"}]
    assert (Path.cwd(), builtins.input) == (before, asked)
    assert not Path("transcript.jsonl").exists()
    assert capsys.readouterr().out == ""


def test_a_chat_that_asks_by_input_until_the_end_of_the_lines_is_run_as_well():
    def chat(provider):
        with Path("transcript.jsonl").open("a") as file:
            try:
                while True:
                    file.write(as_line(input()))
            except EOFError:
                return

    assert [line["prompt"] for line in talk(chat, ["one"], None)] == ["one", ""]


def test_what_a_second_chat_finds_is_what_the_first_has_written():
    runs = (["one"], None), (["two", "three"], None)
    assert [line["prompt"] for line in talks(chat_of(as_line), *runs)] == ["one", "two", "three"]
    assert [line["prompt"] for line in talks(chat_of(as_line, "w"), *runs)] == ["two", "three"]


@pytest.mark.parametrize(
    ("chat", "said"),
    [
        (lambda provider: None, "expected chat to write a file transcript.jsonl, found none"),
        (chat_of(lambda prompt: f"{prompt}\n"), "found in line 1: 'hello'"),
        (chat_of(lambda prompt: json.dumps({"a": prompt}, indent=1) + "\n"), "found in line 1: '{'"),
        (chat_of(lambda prompt: json.dumps([prompt]) + "\n"), "expected a JSON object in each line"),
    ],
)
def test_what_is_no_transcript_is_said_in_a_sentence(chat, said):
    with pytest.raises(AssertionError, match=re.escape(said)):
        talk(chat, ["hello"], None)


def test_a_chat_that_fails_leaves_the_folder_and_input_as_they_were():
    before, asked = Path.cwd(), builtins.input
    with pytest.raises(RuntimeError, match="lost"):
        talk(lambda provider: (_ for _ in ()).throw(RuntimeError("lost")), ["hello"], ScriptedModel([]))
    assert (Path.cwd(), builtins.input) == (before, asked)


def test_tools_are_cut_by_the_strategy_that_is_named():
    whole = lorem.run()
    middle, tail = (cutting([lorem], name, 1_000)[0].run() for name in ("middle_snip", "tail_cut"))
    assert (len(middle), len(tail)) == (1_000, 1_000)
    assert middle.endswith(whole[-100:])
    assert not tail.endswith(whole[-100:])
    assert lorem.run() == whole


def test_the_model_keeps_all_messages_of_a_session():
    model, messages = Heard(), []
    agent_step("How many words are in 'a b c'?", messages, model, "")
    agent_step("Thanks.", messages, model, "")
    assert model.messages == messages
    assert len(messages) == 6
    assert Heard().messages == []


def test_a_turn_is_shown_with_its_calls():
    row = look(["s06.4"]).iloc[0]
    assert (row["iterations"], row["ended"]) == (8, "reply")
    assert row["calls"] == "2 x gre (failed), 4 x grep (failed), grep"
    assert look(["s04.5"]).iloc[0]["calls"] == "none"
