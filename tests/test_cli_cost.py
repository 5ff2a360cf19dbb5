"""The command `agentlab cost`, as a user sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from analysis_sessions import asks, result, says, user

from agentlab.cli import main

if TYPE_CHECKING:
    from pathlib import Path

LIST_PRICE = "List price; a subscription is not billed so."


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """Run `agentlab cost`; returns what it printed on both streams."""
    assert main(["cost", *arguments]) == code
    return capsys.readouterr()


def talk(model: str | None, *cached: int) -> dict[str, Any]:
    """A session whose calls have prompts of 10,000 tokens, so many of them cached, and 100 of output."""
    used = [
        {"prompt_tokens": 10_000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": n}}
        for n in cached
    ]
    messages = [user("Hi")]
    for n, usage in enumerate(used[:-1]):
        messages += [asks(("look", {"n": n})) | {"usage": usage}, result("ok")]
    whole = {"messages": [*messages, says("Done.") | {"usage": used[-1]}]}
    return whole if model is None else {"model": model, **whole}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of three sessions: of a known model, with a break at call 3; of an unknown one; of an unnamed one."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(talk("gpt-5", 0, 9_984, 0)))
    (folder / "b.json").write_text(json.dumps(talk("house-model", 0, 9_984)))
    (folder / "c.json").write_text(json.dumps(talk(None, 0)))
    return folder


def priced(path: Path, **prices: Any) -> str:
    """A file with the price of `house-model`."""
    entry = {"name": "house-model", "provider": "openai", "as_of": "2026-11-30", "source": "a contract"}
    path.write_text(json.dumps({"models": [{**entry, "prices": prices}]}))
    return str(path)


def test_one_session_with_its_breaks(logs, capsys):
    out, err = said(capsys, str(logs / "a.json"))
    # 20,016 uncached, 9,984 read and 300 of output at 1.25, 0.125 and 10 dollars per million.
    assert "The calls come to 0.0293 dollars at list price: 85% uncached, 4% cache read, 10% output." in out
    row = next(line for line in out.splitlines() if line.rstrip().endswith("unknown"))
    assert row.split() == ["3", "1", "9,984", "0.0112", "-", "unknown"]
    assert "33.3% of the prompt tokens were read from the cache." in out
    assert "1 candidate for breaks of the cache (0 expired), 43% of the input's price." in out
    assert out.splitlines()[-1] == LIST_PRICE
    assert err == ""


def test_several_sessions_are_added_up_and_what_has_no_price_is_named(logs, capsys):
    out, _ = said(capsys, str(logs))
    assert "1 of 3 sessions have a price and come to 0.0293 dollars." in out
    assert "There is no list price for house-model; a file with one can be named with --prices FILE." in out
    assert "A model that a log does not name can be named with --model M." in out
    assert out.splitlines()[-1] == LIST_PRICE


def test_a_file_of_prices_comes_before_the_others_and_leaves_them(logs, tmp_path, capsys):
    table = priced(tmp_path / "prices.json", input=10, output=0, cache_read=1)
    whole = json.loads(said(capsys, str(logs), "--prices", table, "--model", "gpt-5", "--json")[0])
    dollars = {each["session"]: each["bill"]["dollars"] for each in whole["sessions"]}
    assert dollars == pytest.approx({"a": 0.029268, "b": 0.10016 + 0.009984, "c": 0.0135})


def test_json_has_calls_breaks_and_sentences_and_no_number_that_is_none(logs, capsys):
    whole = json.loads(said(capsys, str(logs / "a.json"), str(logs / "b.json"), "--json")[0])
    first, second = whole["sessions"]
    assert [call["cache_read_tokens"] for call in first["calls"]] == [0, 9_984, 0]
    assert [(each["call"], each["lost"], each["gap"]) for each in first["breaks"]] == [(3, 9_984, None)]
    assert first["sentences"][-1] == LIST_PRICE
    assert second["bill"]["dollars"] is None
    assert second["calls"][0]["total"] is None
    assert second["bill"]["tokens"] == {"uncached": 10_016, "cache_read": 9_984, "cache_write": 0, "output": 200}


def test_the_picture_of_the_session_that_was_asked_for(logs, tmp_path, capsys):
    picture = tmp_path / "cost.png"
    _, err = said(capsys, str(logs), "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "holds 3 sessions; this is the first" in err
    _, err = said(capsys, str(logs), "--run", "2", "--plot", str(picture))
    assert err == ""


@pytest.mark.parametrize(
    ("prices", "says"),
    [
        ({"input": "ten", "output": 1}, "Expected `float`, got `str` - at `$.models[0].prices.input`"),
        ({"output": 1}, "missing required field `input` - at `$.models[0].prices`"),
        ({"input": 1, "output": 1, "cached": 1}, "unknown field `cached` - at `$.models[0].prices`"),
    ],
)
def test_prices_that_are_none_are_refused_by_file_and_field(prices, says, logs, tmp_path, capsys):
    out, err = said(capsys, str(logs), "--prices", priced(tmp_path / "prices.json", **prices), code=2)
    assert out == ""
    assert "prices.json" in err
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_file_of_prices_that_is_missing_is_refused(logs, capsys):
    assert "cannot read this table of models" in said(capsys, str(logs), "--prices", "nowhere.json", code=2)[1]
