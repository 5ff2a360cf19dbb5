"""Actors as data, failed model calls in a row, and skills whose numbers are those of the actors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, ContextWindowError, DeadlineExceeded, InputError, ProviderError, TransportError
from agentlab.harness.actors import ACTORS, COG, RESEARCHER, Actor
from agentlab.harness.skills import (
    SHIPPED,
    budgets_block,
    listing,
    read_skill_tool,
    read_skills,
    skills_for,
    with_budgets,
)
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel
from agentlab.providers.tolerant import Tolerant

if TYPE_CHECKING:
    from pathlib import Path


def test_the_actors_have_the_numbers_of_the_source() -> None:
    numbers = {a.name: (a.turns, a.ceiling, a.errors, a.seconds) for a in ACTORS.values()}
    assert numbers == {
        "cog": (10, 20, None, 300.0),
        "researcher": (8, None, 3, 90.0),
        "observer": (6, None, 3, 90.0),
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"turns": 0}, "turns"),
        ({"turns": True}, "turns"),
        ({"turns": 21}, "ceiling"),
        ({"ceiling": 9}, "ceiling"),
        ({"errors": 0}, "errors"),
        ({"errors": 10}, "errors"),
        ({"seconds": 0.0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"name": "two words"}, "name"),
    ],
)
def test_a_budget_that_contradicts_itself_is_refused_where_it_is_set(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        msgspec.structs.replace(COG, **changes)
    assert caught.value.field == field


def test_only_the_cog_may_be_extended_and_its_prompt_says_so() -> None:
    assert [a.name for a in ACTORS.values() if a.extendable] == ["cog"]
    assert "10 turns" in COG.budget_text()
    assert "up to 20 turns" in COG.budget_text()
    assert "request_more_turns" not in RESEARCHER.budget_text()
    assert "8 turns" in RESEARCHER.budget_text()


def failing(times: int, error: Exception | None = None, then: str = "Here.") -> ScriptedModel:
    return ScriptedModel([*[error or TransportError("broke off")] * times, *[then] * 5])


def ask(provider: Any, scope: Scope | None = None) -> str:
    return provider.call([{"role": "user", "content": "Hi"}], system="", tools=(), scope=scope).text


def test_two_errors_in_a_row_are_absorbed_and_a_good_reply_resets_the_count() -> None:
    said: list[tuple[int, int]] = []
    script = [TransportError("a"), TransportError("b"), "One.", TransportError("c"), TransportError("d"), "Two."]
    model = Tolerant(ScriptedModel(script), 3, on_error=lambda n, limit, _: said.append((n, limit)))
    assert (ask(model), ask(model)) == ("One.", "Two.")
    assert said == [(1, 3), (2, 3), (1, 3), (2, 3)]


def test_the_third_error_in_a_row_ends_it_with_the_last_cause() -> None:
    model = ScriptedModel([TransportError("a"), TransportError("b"), ProviderError("it is down", status=503)])
    with pytest.raises(ProviderError, match="it is down") as caught:
        ask(Tolerant(model, 3))
    assert model.calls == 3
    assert "the last of 3 failed model calls in a row" in caught.value.__notes__


def test_a_foreign_error_of_the_network_becomes_a_provider_error() -> None:
    model = ScriptedModel([ConnectionResetError("reset")] * 3)
    with pytest.raises(TransportError, match="reset"):
        ask(Tolerant(model, 3))


@pytest.mark.parametrize(
    "error", [ProviderError("bad key", status=401), ContextWindowError("too large"), ProviderError("no", status=400)]
)
def test_an_error_that_no_repetition_changes_ends_it_at_once(error: ProviderError) -> None:
    model = failing(5, error)
    with pytest.raises(type(error)):
        ask(Tolerant(model, 3))
    assert model.calls == 1


def test_pitfall_36_retries_never_wait_beyond_the_deadline() -> None:
    waited: list[float] = []
    time_is = [0.0]

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        time_is[0] += seconds

    scope = Scope(10.0, clock=lambda: time_is[0], sleep=sleep)
    patient = ProviderError("slow down", status=429, retry_after=4.0)
    model = failing(9, patient)
    with pytest.raises(ProviderError, match="slow down") as caught:
        ask(Tolerant(Retry(model, jitter=lambda: 0.0), 3), scope)
    assert waited == [4.0, 4.0]  # a third wait would have passed the deadline
    assert time_is[0] < 10.0
    assert any("deadline" in note for note in caught.value.__notes__)


def test_pitfall_36_the_waits_for_429_differ_by_jitter() -> None:
    def waits(chance: float) -> list[float]:
        seen: list[float] = []
        scope = Scope(100.0, clock=lambda: 0.0, sleep=lambda _: None)
        limited = ProviderError("slow down", status=429)
        ask(Retry(failing(2, limited), jitter=lambda: chance, on_retry=lambda _n, w, _r: seen.append(w)), scope)
        return seen

    assert waits(0.0) != waits(0.9)


def test_pitfall_37_a_400_that_mentions_a_timeout_is_neither_retried_nor_tolerated() -> None:
    model = failing(5, ProviderError("messages.0: timeout, overloaded, try again", status=400))
    with pytest.raises(ProviderError):
        ask(Tolerant(Retry(model, base=0.0), 3))
    assert model.calls == 1


def test_pitfall_38_as_many_errors_as_turns_are_refused_and_a_failed_call_is_no_turn() -> None:
    with pytest.raises(InputError, match="fewer than its 3 turns"):
        Actor(name="tiny", turns=3, errors=3, seconds=1.0)
    from agentlab.harness.session import Harness

    tiny = Actor(name="cog", turns=2, errors=1, seconds=5.0)
    down = ScriptedModel([TransportError("provider down")] * 9)
    with Harness(Retry(down, attempts=1), actors={"cog": tiny}) as harness:
        result = harness.send("Hello")
    assert (result.status, result.reason) == ("failed", "provider_error")
    assert "provider down" in str(result.result.error)


def test_pitfall_39_a_cancelled_call_is_no_error() -> None:
    said: list[int] = []
    scope = Scope()

    def cancelled(messages: Any) -> str:
        scope.cancel("stop button")
        scope.check()
        return ""

    model = ScriptedModel(cancelled)
    with pytest.raises(Cancelled, match="stop button"):
        ask(Tolerant(model, 3, on_error=lambda n, *_: said.append(n)), scope)
    assert said == []
    assert model.calls == 1
    with pytest.raises(DeadlineExceeded):
        ask(Tolerant(failing(1), 3), Scope(0.0))


# -- skills


def test_the_shipped_skills_state_the_numbers_of_the_actors() -> None:
    files = sorted(SHIPPED.glob("*/SKILL.md"))
    assert [file.parent.name for file in files] == ["harness-errors", "harness-turns"]
    for file in files:
        text = file.read_text()
        assert with_budgets(text, ACTORS) == text, f"{file.name} is not up to date"
        assert budgets_block(ACTORS) in text
        outside = text.replace(budgets_block(ACTORS), "")
        for number in ("300", "90 s", "20 turns", "10 turns", "8 turns", "6 turns"):
            assert number not in outside, "a number outside of the block is not held equal by anything"


def test_other_actors_give_the_skills_other_numbers() -> None:
    actors = {**ACTORS, "cog": msgspec.structs.replace(COG, turns=12, ceiling=33)}
    turns = next(skill for skill in read_skills(actors=actors)[0] if skill.name == "harness-turns")
    assert "| cognitive | 12, up to 33 with request_more_turns |" in turns.text


def test_every_actor_sees_both_skills_and_reads_them_whole() -> None:
    skills, problems = read_skills()
    assert problems == []
    for actor in ACTORS.values():
        seen = skills_for(actor, skills)
        assert [skill.name for skill in seen] == ["harness-errors", "harness-turns"]
        assert "- harness-turns: " in listing(seen)
        reading = read_skill_tool(seen)
        assert reading(name="harness-turns").startswith("# Turns and budgets")
        assert len(seen[0].text) < reading.max_observation_chars
        with pytest.raises(Exception, match="Did you mean 'harness-turns'"):
            reading(name="harness_turns")


def skill(folder: Path, text: str, name: str = "one") -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)
    return folder


GOOD = "---\nname: one\ndescription: Does one thing.\nagents: [researcher]\n---\nText.\n"


def test_a_skill_is_seen_by_the_actors_that_it_names(tmp_path: Path) -> None:
    found = read_skills(skill(tmp_path, GOOD))[0]
    assert [s.text for s in found] == ["Text.\n"]
    assert skills_for(RESEARCHER, found) == found
    assert skills_for(COG, found) == []
    assert listing([]) == ""


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("No front matter.\n", 1, "front matter is missing"),
        ("---\nname: one\n", 1, "front matter is missing"),
        (GOOD.replace("description: Does one thing.\n", ""), 1, "description is missing"),
        (GOOD.replace("one thing.", "one: thing: at a time"), 3, "not YAML"),
        (GOOD.replace("name: one", "name: One Thing"), 2, "lower-case words"),
        (GOOD.replace("Does one thing.", "[a, list]"), 3, "expected a text"),
        (GOOD.replace("[researcher]", "[researchr]"), 4, "no actor 'researchr'"),
        (GOOD.replace("[researcher]", "7"), 4, "expected a list of names"),
        ("---\n- a\n- b\n---\n", 2, "no fields"),
    ],
)
def test_bad_front_matter_is_reported_by_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    skill(tmp_path, GOOD, "fine")
    found, problems = read_skills(skill(tmp_path, text, "bad"))
    assert [(p.path, p.line) for p in problems] == [(str(tmp_path / "bad" / "SKILL.md"), line)]
    assert says in problems[0].reason
    assert [s.name for s in found] == ["one"]


def test_two_skills_of_one_name_and_a_folder_without_skills_are_reported(tmp_path: Path) -> None:
    skill(tmp_path, GOOD, "a")
    assert "another skill" in read_skills(skill(tmp_path, GOOD, "b"))[1][0].reason
    with pytest.raises(InputError, match="no skill in it"):
        read_skills(tmp_path / "nowhere")


def test_a_harness_refuses_a_bad_skill_and_says_where(tmp_path: Path) -> None:
    from agentlab.harness.session import Harness

    with pytest.raises(InputError, match=r"SKILL.md:4: agents: there is no actor"):
        Harness(ScriptedModel([]), skills=[skill(tmp_path, GOOD.replace("[researcher]", "nobody"))])
