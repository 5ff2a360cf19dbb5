"""The sixth exercise: decisions that are replayed, the figures of a text, and its way to a person and back."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.analysis import load
from agentlab.cli import main
from agentlab.errors import InputError
from agentlab.grading.building.answers import read_answer
from agentlab.grading.building.decisions import (
    DECISIONS,
    TO_CHOOSE,
    consolidated,
    fetch,
    middle,
    on_disk,
    placeholders,
    tail,
)
from agentlab.grading.building.figures import figures, says, unmeasured, words
from agentlab.grading.building.measured import Cited, agrees, drawn, problems_of
from agentlab.grading.building.recorded import measure, recorded, replayed
from agentlab.grading.exercise import read
from agentlab.repair import call_dict
from tests.boxes import needs_box

ROOT = Path(__file__).parents[1]
EXERCISES = ROOT / "exercises"
NAME = "06_production"


@pytest.fixture(scope="module", autouse=True)
def _in_a_folder_of_its_own(tmp_path_factory):
    """Where the decision to keep results on disk keeps them."""
    with contextlib.chdir(tmp_path_factory.mktemp("here")):
        yield


def loop(rules):
    """A loop as short as can be."""

    def step(question, messages, provider, system):
        messages.append({"role": "user", "content": question})
        while True:
            reply = provider.call(rules.view(messages), system=system, tools=rules.tools)
            calls = [call_dict(each) for each in reply.tool_calls]
            messages.append({"role": "assistant", "content": reply.text} | ({"tool_calls": calls} if calls else {}))
            if not calls:
                return
            box = {tool.name: tool for tool in rules.tools}
            for each in reply.tool_calls:
                text = rules.shorten(box[each.name].run(**each.arguments))
                messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": text})

    return step


def run(session, decision, shorten=middle):
    rules = SimpleNamespace(shorten=shorten, view=list, tools=[])
    turns = replayed(session, loop(rules), rules.tools, rules, decision)
    assert (rules.shorten, rules.view, rules.tools) == (shorten, list, [])
    return turns


def test_a_session_without_limit_is_sent_again_as_it_was_recorded():
    session = load(ROOT / "data" / "sessions" / "uncut")[0][0]
    measured_then = [call.usage.prompt_tokens for call in session.calls]
    sent = [each.tokens for turn in run(recorded("uncut"), "chapter", shorten=str) for each in turn]
    assert sent[:20] == measured_then
    assert len(sent) == 21  # the last call failed then, since the window was full


def test_decisions_change_what_they_are_about_and_nothing_else():
    chapter, *others = (
        run(recorded("long"), name) for name in ("chapter", "tail cut", "placeholders", "consolidation")
    )
    for turns in others:
        assert [len(turn) for turn in turns][:30] == [len(turn) for turn in chapter][:30]
    cut, lines, summary = others
    assert [each.messages for turn in summary[:30] for each in turn] == [e.messages for t in chapter[:30] for e in t]
    assert [len(turn) for turn in summary[30:32]] == [3, 2]  # the first request of turn 31 is that for the summary
    assert summary[30][1].messages[0]["content"].startswith("[Summary of what was said before]\nuser: Read warehouse/")
    assert {len(each["content"]) for each in cut[-1][-1].messages if len(each["content"]) > 4_000} == {4_030}
    shown = [each["content"] for each in lines[-1][-1].messages if each.get("name") in ("read_file", "grep")]
    assert not any(text.startswith("[an old") for text in shown[-10:])
    assert all(len(text) < 500 for text in shown[:-10])


def test_a_decision_that_is_not_there_is_refused_by_name():
    with pytest.raises(ValueError, match="no decision 'microcompact': one of 'chapter', 'tail cut'"):
        run(recorded("short"), "microcompact")
    assert set(TO_CHOOSE) < set(DECISIONS)


def test_a_loop_that_asks_too_often_is_told_where_to_look():
    def asks_again(question, messages, provider, system):
        while provider.call([*messages, {"role": "user", "content": question}], system=system, tools=()):
            pass

    rules = SimpleNamespace(shorten=middle, view=list)
    with pytest.raises(AssertionError, match="the recorded turn 1 has no reply left"):
        replayed(recorded("short"), asks_again, [], rules, "chapter")


def test_a_long_result_goes_to_disk_and_comes_back(tmp_path):
    folder = str(tmp_path / "kept")
    text = "".join(f"line {number}\n" for number in range(3_000))
    shown = on_disk(text, folder=folder)
    name = shown.partition('fetch("')[2][:12]
    assert shown.startswith(text[:1_200] + "\n[...")
    assert fetch(name, folder=folder) == text
    assert fetch(name, 5, 12, folder=folder) == text[5:12]
    assert on_disk("x" * 16_000, folder=folder) == "x" * 16_000
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [name]


def test_the_note_of_the_tail_cut_comes_on_top():
    assert tail("x" * 4_000) == "x" * 4_000
    assert tail("x" * 4_001).startswith("x" * 4_000 + "\n[...")


def result(name, size):
    return {"role": "tool", "tool_call_id": "a", "name": name, "content": "x" * size}


def test_placeholders_stand_for_old_long_results_of_chatty_tools_alone():
    messages = [result("read_file", 600), result("now", 600), result("grep", 499), *[result("grep", 600)] * 10]
    shown = placeholders(messages)
    assert [each["content"][:6] for each in shown[:3]] == ["[an ol", "xxxxxx", "xxxxxx"]
    assert shown[3:] == messages[3:]
    assert messages[0] == result("read_file", 600)
    assert placeholders(messages[3:]) == messages[3:]


@given(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=30), st.integers(0, 12))
def test_consolidation_splits_no_turn_and_keeps_the_newest(roles, keep):
    messages = [{"role": role, "content": f"{number}"} for number, role in enumerate(roles)]
    made = consolidated(messages, keep)
    if made == messages:
        return
    stays = made[1:]
    assert stays == messages[len(messages) - len(stays) :]
    assert len(stays) >= min(keep, len(messages))
    assert not stays or stays[0]["role"] == "user"
    assert made[0]["role"] == "user"


def test_a_drawn_session_tells_the_decisions_apart():
    for seed in (1, 2, 3):
        session = drawn(seed)
        tokens = [measure(session, name)["tokens"] for name in ("chapter", "placeholders", "consolidation", "on disk")]
        assert min(abs(a - b) / a for i, a in enumerate(tokens) for b in tokens[:i]) > 0.0
        assert [turn.rested for turn in session.turns].count(True) == 1
        assert agrees(measure(session, "chapter"), session, "chapter")
        assert not agrees(measure(session, "16,000 characters"), session, "chapter")


@pytest.mark.parametrize("found", [None, {}, {"tokens": 23_870}, {"tokens": "23870", "lines": 106}, [23_870, 106]])
def test_what_is_no_measurement_agrees_with_nothing(found):
    assert not agrees(found, recorded("short"), "chapter")


PAIRS = [(2_824_747, 1_535_658), (1_267, 250)]


@pytest.mark.parametrize(
    "text",
    [
        "From 2,824,747 to 1,535,658 tokens.",
        "From 2824747 to 1.535.658 tokens.",
        "From 2 824 747 to 1\u202f535\u202f658 tokens, so 1'289'089 fewer.",
        "About 2.8 million, then 1,536k.",
        "Roughly 2,800,000 tokens, and nearly 1,600,000 after.",
        "Over 2.8 million. Some 1,500,000 tokens.",
        "2,825,000 and 1,536,000 tokens (figures are rounded to thousands).",
        "46 % less, 45.6% less, 54 per cent, or about 50 percent.",
        "0.54 times as much, 1.8 times as many.",
        "Of 1,267 lines 250 lines are left.",
        "At 16,000 characters, in May 2026, for 60 turns, 10 results, 4,000-character cuts, step 3 and lines of 120.",
        "A window of 128,000-token prompts, files of 40,565 characters and 196 KB.",
        "A 128k context, or a 200k window.",
        "Nothing at all.",
    ],
)
def test_figures_that_were_measured_are_accepted_however_they_are_written(text):
    assert unmeasured(text, PAIRS) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("From 2,824,774 to 1,535,658 tokens.", ["2,824,774"]),
        ("From 2,800,000 tokens to 1,535,658.", ["2,800,000"]),
        ("About 2.9 million tokens.", ["2.9"]),
        ("About 3,000,000 tokens, about 2,000,000 tokens.", ["2,000,000"]),
        ("47 % less, 30 per cent.", ["47", "30"]),
        ("Of 1,267 lines 251 lines are left.", ["251"]),
        ("2.5 times as many, 3x.", ["2.5", "3"]),
        ("It costs 900 tokens, with 16,000 tokens of results.", ["900", "16,000"]),
        ("Then 123456 of them.", ["123456"]),
    ],
)
def test_figures_that_nobody_measured_are_named(text, wrong):
    assert unmeasured(text, PAIRS) == wrong


@given(st.integers(1_000, 10**8), st.sampled_from([",", ".", " ", "'", "\u202f", "_"]))
def test_a_number_is_found_with_any_separator(number, separator):
    assert says(f"It has {number:,} tokens.".replace(",", separator), number)
    assert not says(f"It has {number + 1:,} tokens.".replace(",", separator), number)


@given(st.text(max_size=200))
def test_any_text_has_figures_or_none(text):
    assert all(each.text in text for each in figures(text))
    assert words(text) >= 0


def test_what_stands_against_a_paragraph_is_said():
    sessions = {"short": recorded("short"), "long": recorded("long")}
    figures_of = {"chapter": {"tokens": 2_824_747, "lines": 1_267}, "mine": {"tokens": 1_535_658, "lines": 250}}
    numbers = {"short": {"chapter": measure(sessions["short"], "chapter"), "mine": {"tokens": 1, "lines": 1}}}
    numbers["long"] = figures_of
    cited = Cited(numbers, sessions, ([500, 91_370], [500, 40_482]))
    good = "From 2,824,747 to 1,535,658 tokens, 250 of 1,322 lines. " + "And so on. " * 20
    assert problems_of(good, cited) == []
    assert (
        problems_of(good + "Turn 60 has 91,370 tokens, then about 40,000; a tail cut leaves 1,245 lines.", cited) == []
    )
    assert problems_of(good + "It leaves 1,246 lines.", cited) == ["1,246 is none of the figures that you measured"]
    assert problems_of("Yes, 5 %.", cited) == [
        "expected 60 to 200 words, found 2",
        "expected the tokens of 'long' under the chapter, 2,824,747, and found no such figure",
        "expected the tokens of 'long' under your decision, 1,535,658, and found no such figure",
        "5 is none of the figures that you measured",
    ]
    assert problems_of(None, cited) == ["expected a text, found NoneType"]


def handed_in(answers):
    """The student's notebook with answers in it."""
    notebook = json.loads((EXERCISES / "student" / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = answers.get(cell["metadata"].get("agentlab", {}).get("id"), cell["source"])
    return json.dumps(notebook)


@needs_box
def test_paragraphs_go_to_a_person_and_come_back_with_points(tmp_path, capsys):
    exercise = read(EXERCISES / "tests" / f"{NAME}.json")
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    answers = {
        "ada": {cell.id: cell.solution for cell in exercise.cells if cell.kind == "answer"},
        "bob": read_answer(EXERCISES / "right" / "06" / "after_a_pause.py", exercise).cells,
        "cy": {},
    }
    for who, cells in answers.items():
        (inbox / f"{who}_{NAME}.ipynb").write_text(handed_in(cells), encoding="utf-8")
    arguments = ["grade", str(inbox), "--exercises", str(EXERCISES / "tests"), "--csv", "--out", str(tmp_path / "out")]
    texts, marked = tmp_path / "texts.csv", tmp_path / "marked.csv"
    assert main([*arguments, "--review", str(texts)]) == 0
    rows = {row["id"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    checks = sum(check.points for check in exercise.checks)
    assert {who: float(row["points"]) for who, row in rows.items()} == {"ada": checks, "bob": checks, "cy": 0}
    assert float(rows["ada"]["max"]) == checks + 4
    with texts.open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert [(line["exercise"], line["paragraph"], line["max"]) for line in lines] == [(NAME, "argument", "4")] * 2
    assert all("1 point each" in line["rubric"] for line in lines)
    by_text = {"ada": "Placeholders are worth adopting", "bob": 'f"""\nA summary after a pause'}
    for line in lines:
        who = next(who for who, start in by_text.items() if line["text"].startswith(start))
        line["points"], line["comment"] = {"ada": ("3.5", "Which tools?"), "bob": ("2", "And the loss?")}[who]
    with marked.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    assert main([*arguments, "--merge", str(marked)]) == 0
    rows = {row["id"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    merged = {who: float(row["points"]) for who, row in rows.items()}
    assert merged == {"ada": checks + 3.5, "bob": checks + 2, "cy": 0}
    page = (tmp_path / "out" / "feedback" / "bob" / f"{NAME}.html").read_text(encoding="utf-8")
    assert "And the loss?" in page


def test_more_points_than_there_are_are_refused(tmp_path, capsys):
    columns = "exercise,paragraph,text_id,file,rubric,text,max,points,comment"
    (tmp_path / "marked.csv").write_text(f"{columns}\n{NAME},argument,abc,ada.ipynb,,So.,4,5,\n")
    arguments = ["grade", str(EXERCISES / "student"), "--exercises", str(EXERCISES / "tests")]
    try:
        code = main([*arguments, "--merge", str(tmp_path / "marked.csv"), "--out", str(tmp_path / "out")])
    except InputError as error:
        code, said = 2, str(error)
    else:
        said = capsys.readouterr().err
    assert code == 2
    assert "found '5', expected a number from 0 to 4" in said
