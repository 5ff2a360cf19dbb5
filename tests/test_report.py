"""The report: three sentences, one page, and nothing in it that was said."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from analysis_sessions import asks, result, says, user

from agentlab.cli import main
from agentlab.policy import CHAPTER, Limit, Policy
from agentlab.report import Wanted, find, page, together

if TYPE_CHECKING:
    from pathlib import Path

SAID = ("the-user-said", "the-model-said", "the-tool-said", "an-argument")
FILLER = "word " * 900


def talk(*, usage: bool = False, calls: int = 9) -> list[dict[str, Any]]:
    """A turn that reads one long text and cites a name from its middle."""
    steps = [user(f"Hi {SAID[0]}"), asks(("read", {"path": SAID[3]})), result(f"{FILLER} id_middle {SAID[2]} {FILLER}")]
    for n in range(calls):
        steps += [asks(("small", {"n": n})), result("ok")]
    steps += [asks(("use", {"id": "id_middle"})), result("ok"), says(SAID[1])]
    prompt = 1_000
    for step in steps:
        prompt += 2_300 if "id_middle" in str(step["content"]) else 40
        if step["role"] == "assistant" and usage:
            step["usage"] = {"prompt_tokens": prompt, "completion_tokens": 10}
    return steps


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.json").write_text(json.dumps({"model": "gpt-4o", "messages": talk(usage=True)}))
    (tmp_path / "two.json").write_text(json.dumps({"model": "gpt-4o", "messages": talk(usage=True, calls=20)}))
    (tmp_path / "broken.json").write_text("{")
    return tmp_path


def made(logs: Path, **wanted: Any) -> tuple[Any, str]:
    policies = (CHAPTER, Policy("tiny", default=Limit(500)))
    found, problems = find([logs], Wanted(policies=policies, **wanted))
    whole = together(found, [policy.name for policy in policies])
    return whole, page(whole, problems, with_text=wanted.get("with_text", False))


def test_three_sentences_say_where_it_went_what_bent_it_and_what_would_have_saved(logs):
    whole, _ = made(logs)
    went, changed, saved = whole.sentences()
    assert went.startswith(f"{whole.tokens:,} prompt tokens went to 35 model calls in 2 sessions")
    assert "results of tools make" in went
    assert "those of read alone" in went
    assert "dollars" in went
    assert re.search(
        r"a jump by 2,\d{3} tokens at call 2 of two, by a result of read, which 21 later calls carried on", changed
    )
    assert re.search(r"tiny would have saved most: \d+% to \d+% of the dollars", saved)
    assert "2 of the 2 names that later calls cite would have been hidden, up to 2 calls to read again" in saved


def test_the_figures_are_those_of_the_log(logs):
    whole, html = made(logs)
    assert whole.calls == whole.measured == 35
    assert whole.tokens == sum(
        step["usage"]["prompt_tokens"] for n in (9, 20) for step in talk(usage=True, calls=n) if "usage" in step
    )
    assert [each.id for each in whole.found] == ["two", "one"]
    assert sum(map(sum, whole.kinds.values())) == whole.tokens
    assert f"{whole.tokens:,}" in html


def test_no_text_of_a_message_is_in_the_page_unless_it_is_asked_for(logs):
    _, html = made(logs)
    assert not [word for word in SAID if word in html]
    _, shown = made(logs, with_text=True)
    assert SAID[2] in shown or "id_middle" in shown or "word word" in shown
    assert "What made the prompts jump" in shown


def test_the_page_stands_for_itself_and_is_the_same_each_time(logs):
    _, html = made(logs)
    assert html == made(logs)[1]
    assert "<script" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert not re.findall(r"url\((?!#)", html)
    assert html.count("<svg") == 3
    assert "broken.json" in html  # what could not be read is said


def test_a_policy_that_may_save_or_cost_is_not_passed_over(tmp_path):
    steps = [user("Hi"), asks(("read", {})), result(f"{FILLER} id_middle {FILLER}")]
    for n in range(6):
        steps += [asks(("use", {"id": "id_middle", "n": n})), result("ok")]
    (tmp_path / "one.json").write_text(json.dumps([*steps, says("Done.")]))
    whole, _ = made(tmp_path)
    saved = whole.sentences()[2]
    assert re.search(r"None of the policies asked is sure to save: tiny .* at best, minus \d+% to \d+% of the", saved)
    assert saved.endswith("to read again.")


def test_one_session_is_spoken_of_as_one_and_an_estimate_as_one(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(talk()))
    whole, html = made(tmp_path)
    went, changed, _ = whole.sentences()
    assert " prompt tokens (estimated) went to 12 model calls in 1 session, " in went
    assert changed.endswith("later calls carried on; prompts grow linearly.")
    assert "1 session, 12 model calls" in html
    assert "no usage is recorded, so all tokens are estimated" in html


def test_a_jump_without_a_message_and_a_price_of_less_than_a_cent(tmp_path):
    steps = [user("Hi"), says("Hello."), user("x"), says("Bye.")]
    for step, tokens in zip(steps[1::2], (100, 900), strict=True):
        step["usage"] = {"prompt_tokens": tokens, "completion_tokens": 1}
    (tmp_path / "one.json").write_text(json.dumps({"model": "gpt-4o", "messages": steps}))
    went, changed, _ = made(tmp_path)[0].sentences()
    assert went.endswith("At list price that is less than a cent.")
    assert (
        changed == "What changed the curve most is a jump by 800 tokens at call 2 of one, by the assistant's own words."
    )


@pytest.mark.parametrize("name", ["\x1b[31mred\x1b]0;title\x07", "$\\frac$", "mcp__" + "x" * 400, "\u202eeman"])
def test_a_tool_of_any_name_can_be_drawn_written_and_told(tmp_path, capsys, name):
    log, out = tmp_path / "one.json", tmp_path / "page.html"
    log.write_text(json.dumps([user("Hi"), asks((name, {})), result("x" * 9_000), says("Done.")]))
    for command in (["report", "--out", str(out)], ["curve", "--calls-plot", str(tmp_path / "a.png")], ["replay"]):
        assert main([*command, str(log)]) == 0
        said, told = capsys.readouterr()
        assert not set("\x1b\x07\u202e") & set(said + told)
        assert "Font" not in told
    assert not set("\x1b\x07\u202e") & set(out.read_text())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_file_whose_name_is_no_utf8(tmp_path, capsys):
    log, out = tmp_path / "caf\udce9.json", tmp_path / "page.html"
    log.write_text(json.dumps(talk()))
    for command in (["report", "--out", str(out)], ["report", "--json"], ["replay", "--json"]):
        assert main([*command, str(log)]) == 0
        assert "Traceback" not in capsys.readouterr().err
    assert "caf\ufffd" in out.read_text(encoding="utf-8")
    assert main(["frames", str(log), "--out", str(tmp_path / "frames")]) == 0
    assert "caf\ufffd" in (tmp_path / "frames" / "sessions.csv").read_text(encoding="utf-8")


def test_run_chooses_one_session_of_several(tmp_path, capsys):
    runs = [{"task_id": n, "trial": 0, "reward": 1.0, "traj": [user("Hi"), says("x" * n)]} for n in (1, 2)]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    assert main(["report", str(tmp_path / "runs.json"), "--run", "2", "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["sessions"]] == ["task-2-trial-0"]
    assert main(["report", str(tmp_path / "runs.json"), "--run", "3", "--json"]) == 2


def test_prices_of_ones_own_price_the_picture_and_broken_ones_are_told_once(logs, capsys, tmp_path):
    table = tmp_path / "prices.txt"
    table.write_text("{")
    assert main(["report", str(logs), "--prices", str(table), "--json"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"agentlab: {table}: not a table of models")
    assert len(told.splitlines()) == 1


def test_a_path_without_a_log_beside_one_with_a_log_is_told(logs, capsys):
    assert main(["report", str(logs / "two.json"), str(logs / "nowhere"), "--json"]) == 0
    said, told = capsys.readouterr()
    assert len(json.loads(said)["sessions"]) == 1
    assert "no such file or folder" in told


def test_a_limit_for_a_tool_that_no_log_has_is_told(logs, capsys):
    assert main(["replay", str(logs / "two.json"), "--limit", "Read=500"]) == 0
    told = capsys.readouterr().err
    assert "--limit Read=...: no result in the logs is of a tool Read; there are those of: read, small, use" in told
    assert main(["replay", str(logs / "two.json"), "--limit", "read=500", "--limit", "9000"]) == 0
    assert "--limit" not in capsys.readouterr().err


def test_names_from_a_log_are_text_and_no_markup(tmp_path):
    steps = [user("Hi"), asks(("<img src=x onerror=alert(1)>", {})), result("x" * 9_000), says("Done.")]
    (tmp_path / "one.json").write_text(json.dumps(steps))
    _, html = made(tmp_path)
    assert "<img" not in html
    assert "&lt;img" in html


def test_sessions_without_usage_have_no_dollars_and_say_so(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(talk()))
    whole, html = made(tmp_path)
    assert whole.measured == 0
    assert "dollars" not in whole.sentences()[0]
    assert "of the prompt tokens, roughly" in whole.sentences()[2]
    assert "No dollars are given: a log records no usage." in html


def test_a_session_in_which_nothing_can_be_saved(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps([user("Hi"), says("Hello.")]))
    whole, html = made(tmp_path)
    assert whole.sentences()[1:] == (
        "No prompt grew, so no call changed the curve.",
        "None of the policies asked would have saved anything to speak of.",
    )
    assert "<svg" in html
    assert "0 of 0" not in html
    assert "none is cited" in html


def own(folder: Path, day: str) -> None:
    """A session folder whose messages are of one day."""
    from agentlab.conversation import Conversation
    from agentlab.loop import run_turn
    from agentlab.providers.scripted import ScriptedModel
    from agentlab.transcript import MESSAGES, SessionWriter

    writer = SessionWriter(folder, provider="scripted", system="", tools=[])
    run_turn(Conversation(), "Hi", ScriptedModel(["Hello."]), sinks=[writer], store=writer.store)
    writer.close()
    seconds = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    path = folder / MESSAGES
    path.write_text(re.sub(r'"time":[\d.]+', f'"time":{seconds}', path.read_text()))


def test_sessions_can_be_chosen_by_day_and_project(tmp_path):
    for name, day in (("early", "2026-01-01"), ("late", "2026-03-01")):
        own(tmp_path / name, day)
    since = datetime(2026, 2, 1, tzinfo=UTC).timestamp()
    assert [each.id for each in find([tmp_path], Wanted(since=since))[0]] == ["late"]
    assert [each.id for each in find([tmp_path], Wanted(project="earl"))[0]] == ["early"]
    assert len(find([tmp_path], Wanted())[0]) == 2


def test_the_command_writes_the_page_and_prints_the_sentences(logs, capsys, tmp_path):
    out = tmp_path / "page.html"
    assert main(["report", str(logs), "--limit", "read=500", "--out", str(out)]) == 0
    said, told = capsys.readouterr()
    assert len(said.splitlines()) == 3
    assert "read=500 middle_snip would have saved most" in said
    assert "broken.json" in told
    assert out.read_text().startswith("<!doctype html>")


def test_the_command_prints_what_it_found_as_json(logs, capsys):
    assert main(["report", str(logs / "two.json"), "--json", "--policy", "chapter"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert len(whole["sentences"]) == 3
    assert whole["sessions"][0]["calls"] == 22 + 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nowhere"], "no such file or folder"),
        (["two.json", "--since", "soon"], "--since is a day such as 2026-11-01"),
        (["two.json", "--project", "other"], "no session with a model call is left: look at --since and --project"),
        (["broken.json"], "agentlab: broken.json: no known format"),
        (["broken.json", "broken.json"], "no session with a model call was found: name another log"),
        (["two.json", "--strategy", "tail_cut"], "--strategy says how --limit cuts"),
        (["two.json", "--out", "nowhere/page.html"], "cannot be written"),
        (["two.json", "--format", "word"], "unknown format 'word'"),
    ],
)
def test_bad_input_is_one_line(logs, capsys, monkeypatch, arguments, problem):
    monkeypatch.chdir(logs)
    assert main(["report", *arguments]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert "Traceback" not in told
