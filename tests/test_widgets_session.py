"""SessionExplorer without a browser: curve, jumps, composition, messages and policies of several kinds of session."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from analysis_sessions import asks, record, result, says, tool, user
from counted_session import counted_session

from agentlab.analysis import composition_by_call, curve, jumps, load, read_messages, replay
from agentlab.errors import InputError
from agentlab.policy import CHAPTER, load_policy
from agentlab.widgets import SessionExplorer

ROOT = Path(__file__).parents[1]
LONG = ROOT / "data" / "sessions" / "long"
FOREIGN = ROOT.parent / "shared" / "data" / "sessions"


def thousand_calls() -> list[dict]:
    """250 turns of 4 calls; the result of call 601 is by far the largest."""
    talk = []
    for number in range(1, 1_001):
        if number % 4 == 1:
            talk.append(user(f"Question {number}: what is in shelf {number}?"))
        if number % 4:
            asked = asks(("read_file", {"path": f"shelf_{number}.txt"}))
            asked["tool_calls"][0]["id"] = f"id_{number}"
            lines = 400 if number == 601 else 10
            text = "\n".join(f"box {number}-{n} holds {n * 7} candles" for n in range(lines))
            text += f"\nThe next shelf is in shelf_{number + 1}.txt"
            talk += [asked, {**result(text), "tool_call_id": f"id_{number}", "name": "read_file"}]
        else:
            talk.append(says(f"They are in box {number - 1}-1."))
    return talk


@pytest.fixture(scope="module")
def large():
    return SessionExplorer(thousand_calls())


def test_the_curve_of_a_thousand_calls_says_what_its_columns_stand_for(large):
    large.page.value = "Curve"
    frame = curve(large.view.session)
    assert len(frame) == 250
    page = large.view.curve_html()
    assert "user turn, the highest of each 2" in page
    assert 'aria-label="Prompt tokens of each user turn (estimated)"' in page
    assert ">prompt tokens (estimated)</text>" in page
    assert "context: the turn&#x27;s last call" in page


def test_a_jump_is_a_button_that_points_at_its_call_and_opens_its_message(large):
    frame = jumps(large.view.session, 10)
    assert [button.description for button in large.jumps] == [
        f"{n}. +{jump.growth:,} {jump.grown_by or 'nothing new'}, call {jump.call:,}"
        for n, jump in enumerate(frame.itertuples(), 1)
    ]
    assert large.jumps[0].description.endswith("read_file, call 602")
    large.jumps[0].click()
    assert large.call.value == 602
    opened = large.view.session.records[large.message]
    assert opened.text.startswith("box 601-0 holds 0 candles")
    assert [button.button_style for button in large.jumps[:2]] == ["info", ""]
    shown = large._message.value
    assert f"Message {large.message:,}, turn 151, iteration 1" in shown
    assert "{&quot;path&quot;: &quot;shelf_601.txt&quot;}" in shown
    large.jumps[1].click()
    assert [button.button_style for button in large.jumps[:2]] == ["", "info"]


def test_messages_can_be_read_on_from_the_one_that_is_open(large):
    large.show(1)
    large.after.click()
    assert large.message == 2
    large.before.click()
    large.before.click()
    assert (large.message, large.before.disabled) == (0, True)
    assert "Question 1: what is in shelf 1?" in large._message.value
    large.before.click()
    assert large.message == 0
    large.show(len(large.view.session.records) - 1)
    assert (large.before.disabled, large.after.disabled) == (False, True)
    with pytest.raises(InputError, match="there is no message 99999: the session has"):
        large.show(99_999)


def test_a_message_that_calls_shows_the_result_that_followed(large):
    large.show(1)
    assert "shelf_1.txt" in large._message.value
    assert "box 1-9 holds 63 candles" in large._message.value


def test_a_call_that_nothing_answered_says_so():
    explorer = SessionExplorer([user("Hi"), asks(("read_file", {"path": "a"})), user("Go on"), says("Yes.")])
    explorer.show(1)
    assert "has no result in the log" in explorer._message.value


def test_a_result_belongs_to_the_call_before_it_where_ids_come_again():
    again = [user("Hi"), asks(("read", {"path": "a"})), user("Go on"), asks(("read", {"path": "b"})), result("of b")]
    explorer = SessionExplorer([*again, says("Done.")])
    explorer.show(1)
    assert "has no result in the log" in explorer._message.value
    explorer.show(3)
    assert "of b" in explorer._message.value
    explorer.show(4)
    assert "&quot;b&quot;" in explorer._message.value


def test_the_curve_marks_the_turn_of_the_call():
    explorer = SessionExplorer([user("Hi"), says("Hello.")] * 4)
    explorer.call.value = 3
    (x,) = re.findall(r'd="M([\d.]+) 8V186" stroke="currentColor" stroke-dasharray', explorer._picture.value)
    assert float(x) == pytest.approx(56 + (600 - 56 - 14) * 2.5 / 4, abs=0.1)  # the middle of the third of four


def test_the_table_of_a_call_is_its_composition(large):
    large.page.value = "Composition"
    large.call.value = 1_000
    row = composition_by_call(large.view.session).iloc[999]
    page = large._picture.value
    assert "Call 1,000 (turn 250, iteration 4)" in page
    assert f"{row.prompt_tokens:,} prompt tokens in all" in page
    assert f">{row.results:,}</td>" in page
    assert f">{row.new_results:,}</td>" in page
    assert f"{row.results / row.prompt_tokens:.0%}" in page


def test_the_mark_follows_the_call(large):
    large.page.value = "Composition"

    def place(call):
        large.call.value = call
        return float(re.search(r'd="M([\d.]+) 8V186" stroke="currentColor" stroke-dasharray', large._picture.value)[1])

    places = [place(call) for call in (1, 250, 500, 1_000)]
    assert places == sorted(places)
    assert places[0] == pytest.approx(58, abs=4)
    assert places[-1] == pytest.approx(584, abs=4)


def test_policies_stand_side_by_side_with_tokens_dollars_and_evidence(large):
    large.page.value = "Policies"
    assert large.call.disabled
    frame = replay([large.view.session], large.view.policies).by_policy()
    page = large._picture.value
    for row in frame.itertuples():
        assert f"{row.tokens:,}" in page, row.policy
    assert "nanobot-now" in page
    assert ">100% of 500</td>" in page  # two calls of each turn take their path from the result before
    assert "not known</td>" in page
    assert "No dollars are given" in page
    large.page.value = "Curve"
    assert not large.call.disabled


def test_given_policies_take_the_place_of_the_presets():
    explorer = SessionExplorer(LONG, policies=[CHAPTER, load_policy("codex")])
    explorer.page.value = "Policies"
    assert re.findall(r"<tr><td[^>]*>([\w-]+)</td>", explorer._picture.value) == ["recorded", "chapter", "codex"]


def test_dollars_are_shown_where_the_model_has_a_price(tmp_path):
    explorer = SessionExplorer(counted_session(tmp_path))
    explorer.page.value = "Policies"
    assert explorer.view.replay.by_policy().dollars[0] == pytest.approx(0.2573, abs=1e-4)
    page = explorer._picture.value
    assert ">454,400</td>" in page
    assert ">100%</td>" in page
    assert ">0.26</td>" in page
    assert ">not known<" not in page


def test_the_full_result_stands_beside_what_the_model_saw(tmp_path):
    from agentlab.providers.scripted import call

    text = "".join(f"row {n}\n" for n in range(2_000))
    reader = tool("read", text, max_observation_chars=400)
    record(tmp_path, ["Read it."], [call("read", path="a"), "Done."], [reader])
    explorer = SessionExplorer(tmp_path)
    explorer.show(2)
    shown = explorer._message.value
    assert "what the model saw (400 characters)" in shown
    assert f"full result ({len(text):,} characters)" in shown
    assert "row 1000\n" in shown
    assert "[...truncated: " in shown


def test_static_html_holds_every_page_and_the_repr_every_sentence():
    explorer = SessionExplorer(LONG)
    page = explorer.html()
    assert page.count("<svg") == 2
    assert "nanobot-now" in page
    assert "<details" in page
    assert "<script" not in page
    assert repr(explorer).splitlines()[1] == explorer.view.sentences[0]
    assert "117 calls in 60 turns" in page


def test_several_sessions_can_be_picked_and_none_is_lost_by_its_name():
    (one,), _ = load(LONG)
    other = read_messages([user("Hi"), says("Hello.")])
    explorer = SessionExplorer([one, other, other])
    assert list(explorer.which.options) == [
        "long (agentlab, 117 calls)",
        "messages (chat, 1 call)",
        "messages (chat, 1 call), number 3",
    ]
    assert explorer.which.value == "long (agentlab, 117 calls)"
    explorer.jumps[0].click()
    explorer.which.value = "messages (chat, 1 call)"
    assert (explorer.message, explorer.call.max, explorer.jumps) == (None, 1, [])
    assert "1 call in 1 turn" in explorer._summary.value


def test_a_session_without_a_call_shows_its_sentence():
    explorer = SessionExplorer([user("Hi")])
    assert explorer.call.disabled
    assert "<svg" not in explorer.html()
    assert explorer.view.sentences[0] in explorer.html()
    for page in ("Composition", "Policies", "Curve"):
        explorer.page.value = page
        assert explorer._picture.value == ""


def test_markup_in_a_log_stays_text():
    evil = "<img src=x onerror=alert(1)>"
    asked = asks((evil, {"path": evil}))
    explorer = SessionExplorer([user(evil), asked, {**result(evil * 50), "name": evil}, says(evil)])
    for index in range(4):
        explorer.show(index)
        assert "<img" not in explorer._message.value
    assert "<img" not in explorer.html()


def test_what_holds_no_session_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there is no log in it"):
        SessionExplorer(tmp_path / "empty")
    (tmp_path / "notes.txt").write_text("nothing here", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt: no known format"):
        SessionExplorer(tmp_path / "notes.txt")
    with pytest.raises(InputError, match="found an empty list"):
        SessionExplorer([])


LOGS = (
    "claude-code/coding-1.jsonl",
    "codex/small.jsonl",
    "inspect/popularity.eval",
    "openhands/multi-swe-bench.jsonl",
    "swe-agent/ctf-web.traj",
    "tau-bench/gpt-4o-airline.json",
)


@pytest.mark.parametrize("log", LOGS)
def test_logs_of_other_agents_open_and_every_jump_shows_its_message(log):
    if not (FOREIGN / log).exists():
        pytest.skip("the logs of other agents are not here")
    explorer = SessionExplorer(FOREIGN / log)
    for button in explorer.jumps:
        button.click()
        assert f"Call {explorer.call.value:,} (turn" in explorer._picture.value
        assert explorer.message is None or f"Message {explorer.message:,}," in explorer._message.value
    for page in ("Composition", "Policies"):
        explorer.page.value = page
        assert explorer._picture.value
    json.dumps(explorer.html())
