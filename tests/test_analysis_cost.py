"""Prices, the prefix cache and its breaks: counted by hand, and what must hold for any sequence of requests."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from math import inf, isnan
from pathlib import Path
from time import perf_counter

import pytest
from analysis_sessions import asks, result, says, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentlab.analysis import IMPORTERS, bill, cache_breaks, cost, load, read_messages
from agentlab.analysis.cost import LIST_PRICE, sentences
from agentlab.analysis.prefix_cache import (
    ANTHROPIC_1H,
    ANTHROPIC_5M,
    OPENAI,
    Request,
    break_even,
    cacheable,
    charge,
    dollars,
    requests_of,
    rule_of,
)
from agentlab.analysis.session import Replaced
from agentlab.analysis.trend import exponent
from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.plots import plot_cost
from agentlab.tokens import models
from agentlab.tokens.running import estimate_message

SONNET = "claude-sonnet-4-5"  # 3 dollars in, 15 out, 0.3 read, 3.75 and 6 written
SESSIONS = Path(__file__).parents[2] / "shared/data/sessions"
PI, CLAUDE_CODE = SESSIONS / "pi/large-session.jsonl", SESSIONS / "claude-code"


def session_of(*usages: Usage, model: str = SONNET, hour: int = 0, times=None, costs=None):
    """A turn with a call for each usage."""
    talk = [user("Hi")]
    for n in range(len(usages) - 1):
        talk += [asks(("look", {"n": n})), result("ok")]
    session = read_messages([*talk, says("Done.")], model=model)
    calls = [
        replace(
            call,
            usage=usage,
            cache_write_1h_tokens=min(hour, usage.cache_write_tokens),
            time=None if times is None else times[n],
            cost=None if costs is None else costs[n],
        )
        for n, (call, usage) in enumerate(zip(session.calls, usages, strict=True))
    ]
    return replace(session, calls=tuple(calls))


def test_each_kind_of_token_has_its_price():
    row = cost(session_of(Usage(1_000_000, 100_000, 2_000_000, 400_000))).iloc[0]
    # Of more than 200,000 prompt tokens all prices are those of long prompts.
    assert row[["uncached", "cache_read", "cache_write", "output"]].tolist() == pytest.approx([6, 1.2, 3, 2.25])
    assert row["total"] == pytest.approx(12.45)
    short = cost(session_of(Usage(10_000, 1_000, 20_000, 4_000))).iloc[0]
    assert short["total"] == pytest.approx((10_000 * 3 + 20_000 * 0.3 + 4_000 * 3.75 + 1_000 * 15) / 1e6)


def test_what_is_kept_for_an_hour_costs_more_to_write():
    five, hour = (cost(session_of(Usage(0, 0, 0, 10_000), hour=n))["cache_write"].item() for n in (0, 4_000))
    assert five == pytest.approx(0.0375)
    assert hour == pytest.approx((6_000 * 3.75 + 4_000 * 6) / 1e6)


def test_a_model_without_a_price_is_named_and_nothing_is_guessed():
    found = bill(session_of(Usage(10, 10), model="some-model"))
    assert isnan(found.dollars)
    assert found.unpriced == ("some-model",)
    said = "There is no list price for some-model, so there are tokens only: 10 uncached, 10 output."
    assert sentences(found)[0] == said
    assert found.hit_rate == 0
    assert cost(session_of(Usage(10, 10), model="some-model"))["total"].isna().all()


def test_prices_can_come_from_a_file(tmp_path):
    table = tmp_path / "prices.json"
    prices = {"input": 2.0, "output": 8.0, "cache_read": 0.5}
    model = {"name": "some-model", "provider": "openai", "as_of": "2026-11", "source": "us", "prices": prices}
    table.write_text(json.dumps({"models": [model]}))
    session = session_of(Usage(1_000_000, 1_000_000, 1_000_000), model="some-model")
    assert bill(session, prices=table).dollars == pytest.approx(10.5)
    table.write_text('{"models": [{"name": "some-model"}]}')
    with pytest.raises(InputError, match=r"prices\.json.*missing required field `provider`.*expected \{\"models"):
        bill(session, prices=table)


def test_a_model_that_the_log_does_not_name_can_be_named():
    session = session_of(Usage(1_000_000), model=None)
    assert bill(session).unpriced == ("",)
    assert "a model that the log does not name" in sentences(bill(session))[0]
    assert bill(session, model="gpt-4o").dollars == 2.5
    assert cost(session, model="gpt-4o")["model"].tolist() == ["gpt-4o"]
    assert cost(session_of(Usage(1_000_000)), model="gpt-4o")["model"].tolist() == [SONNET]


def test_where_some_calls_have_a_price_they_are_added_up_apart():
    session = session_of(Usage(1_000_000), Usage(500), model="gpt-4o")
    other = replace(session, calls=(session.calls[0], replace(session.calls[1], model="some-model")))
    found = bill(other)
    assert isnan(found.dollars)
    said = sentences(found)
    assert said[0] == "There is no list price for some-model, so there are tokens only: 1,000,500 uncached."
    assert "The calls that have one come to 2.5000 dollars at list price: 100% uncached." in said


def test_a_log_is_billed_at_the_prices_of_its_day():
    usage, may_2026 = Usage(1_000, 0, 272_000), 1_777_593_600
    sessions = [session_of(usage, model="gpt-5.6-luna", times=[time]) for time in (may_2026, may_2026 + 200 * 86_400)]
    assert [bill(session).dollars for session in sessions] == pytest.approx([0.002 + 0.0544, 0.0004 + 0.01088])


def test_calls_beside_the_conversation_are_part_of_the_bill():
    session = replace(session_of(Usage(100_000), model="gpt-4o"), aside=(Usage(1_000_000, 100_000),))
    found = bill(session)
    assert (found.dollars, found.aside) == (3.75, 3.5)
    assert "Calls beside the conversation, such as for summaries, add 3.5000 dollars." in sentences(found)


def test_a_call_of_which_the_log_says_that_nothing_was_billed_is_not_estimated():
    usages = [Usage(0, 0, 0, 9_000), Usage(), Usage(0, 0, 9_000, 10)]
    session = session_of(*usages, costs=[1, 0, 1])
    frame = cost(session)
    assert frame["total"].tolist()[1] == 0
    assert frame["measured"].all()
    unknown = replace(session, calls=(replace(session.calls[1], cost=None),))
    assert cost(unknown)["total"].item() > 0
    assert not cost(unknown)["measured"].item()


def test_an_output_that_is_no_count_is_estimated_from_the_reply():
    session = session_of(Usage(100, 1))
    flagged = replace(session, calls=(replace(session.calls[0], output_measured=False),))
    row = cost(flagged).iloc[0]
    assert row["output_tokens"] == 6  # "Done." and what surrounds a message
    assert not row["output_measured"]
    said = "The log does not count all output of 1 of 1 call: it is what the log priced, where it did, else estimated"
    assert sentences(bill(flagged))[-2].startswith(said)
    more = replace(session.calls[0], usage=Usage(100, 50), output_measured=False)
    assert cost(replace(session, calls=(more,)))["output_tokens"].item() == 50  # no less than was reported


def test_calls_without_usage_are_priced_by_an_estimate():
    session = read_messages([user("word " * 400), says("Done.")], model=SONNET)
    row = cost(session).iloc[0]
    assert row["uncached_tokens"] == 504
    assert not row["measured"]
    assert row["total"] > 0


def test_where_a_log_has_the_sum_only_the_sum_is_priced():
    """The sum of many prompts is no long prompt."""
    session = read_messages([user("Hi"), says("Done.")], model=SONNET)
    found = bill(replace(session, usage=Usage(1_000_000, 100_000)))
    assert found.dollars == 4.5
    assert (found.tokens["uncached"], found.estimated, found.whole) == (1_000_000, 0, True)
    assert sentences(found)[0] == "The log has the tokens of the whole session only, and so has its price."
    assert bill(replace(session, model="some-model", usage=Usage(10))).unpriced == ("some-model",)
    assert bill(replace(session_of(Usage(100_000)), usage=Usage(10))).dollars == pytest.approx(0.3)


def test_recorded_cost_stands_beside():
    session = session_of(Usage(1_000_000, 0), Usage(0, 0, 1_000_000), model="gpt-4o", costs=[2.5, 1.25])
    frame = cost(session)
    assert frame["recorded"].tolist() == frame["total"].tolist() == [2.5, 1.25]
    assert bill(session).recorded == 3.75
    said = "The log records 3.7500 dollars; no call differs by more than 0.0000 from its list price."
    assert said in sentences(bill(session))
    wrong = replace(session, calls=(session.calls[0], replace(session.calls[1], cost=1.5)))
    assert bill(wrong).off == 0.25
    assert bill(replace(session_of(Usage(10), model="gpt-4o"), cost=0.5)).recorded == 0.5
    assert sentences(bill(session))[-1] == LIST_PRICE


def test_hit_rate_and_multiplier():
    found = bill(session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 10_000, 0)))
    assert found.hit_rate == 0.5
    assert found.multiplier == pytest.approx((1.25 + 0.1) / 2)


def test_a_break_is_a_call_that_read_less_than_there_was():
    usages = [Usage(0, 0, 0, 10_000), Usage(0, 0, 10_000, 1_000), Usage(0, 0, 0, 12_000), Usage(0, 0, 12_000, 10)]
    frame = cache_breaks(session_of(*usages, times=[0, 10, 400, 410]))
    assert frame["call"].tolist() == [3]
    assert frame[["expected", "read", "lost", "gap"]].iloc[0].tolist() == [11_000, 0, 11_000, 390]
    assert frame["reason"].item() == "expired"
    assert frame["dollars"].item() == pytest.approx(11_000 * 1.15 * 3 / 1e6)
    found = bill(session_of(*usages, times=[0, 10, 400, 410]))
    assert found.breaks == (1, 1)
    assert found.lost_share == pytest.approx(11_000 * 1.15 / (1.25 * 23_010 + 0.1 * 22_000))
    assert cache_breaks(session_of(*usages, times=[0, 10, 300, 310]))["reason"].item() == "unknown"


FULL = [Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 11_000)]


def test_what_can_be_known_of_a_break():
    session = session_of(*FULL, times=[0, 10])
    assert cache_breaks(session)["reason"].item() == "unknown"
    edited = replace(session, replaced=(Replaced(1, 0, "other"),))
    assert cache_breaks(edited)["reason"].item() == "a message changed"
    later = replace(session, replaced=(Replaced(2, 0, "other"),))
    assert cache_breaks(later)["reason"].item() == "unknown"
    moved = replace(session, calls=(session.calls[0], replace(session.calls[1], start=1)))
    assert cache_breaks(moved)["reason"].item() == "messages taken out"


def test_what_was_written_for_an_hour_is_not_expired_after_five_minutes():
    three = [FULL[0], Usage(0, 0, 10_000, 0), Usage(0, 0, 0, 10_500)]
    sessions = [session_of(*three, hour=hour, times=[0, 10, 3_000]) for hour in (0, 10_500)]
    assert [cache_breaks(each)["reason"].item() for each in sessions] == ["expired", "unknown"]


def test_what_was_written_for_five_minutes_is_expired_though_an_hour_is_asked_for_next():
    session = session_of(*FULL, times=[0, 3_000])
    hour = replace(session.calls[1], cache_write_1h_tokens=11_000)
    assert cache_breaks(replace(session, calls=(session.calls[0], hour)))["reason"].item() == "expired"


@pytest.mark.parametrize(("read", "breaks"), [(8_999, 1), (9_000, 0)])
def test_a_break_reads_less_than_nine_tenths(read, breaks):
    assert len(cache_breaks(session_of(FULL[0], Usage(0, 0, read, 2_000)))) == breaks


def test_no_more_is_lost_than_was_sent():
    frame = cache_breaks(session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 1_000, 7_000)))
    assert frame[["expected", "read", "lost"]].iloc[0].tolist() == [10_000, 1_000, 7_000]


def test_a_call_is_held_against_the_last_one_that_was_measured():
    between = session_of(FULL[0], Usage(), FULL[1], costs=[1, 0, 1])
    assert cache_breaks(between)["call"].tolist() == [3]


def test_a_cache_that_need_not_be_asked_holds_the_whole_prompt():
    usages = [Usage(9_000), Usage(1_000, 0, 8_960), Usage(10_500)]
    frame = cache_breaks(session_of(*usages, model="gpt-5", times=[0, 1, 2]))
    assert frame[["call", "expected", "lost"]].iloc[0].tolist() == [3, 9_856, 9_856]
    assert frame["dollars"].item() == pytest.approx(9_856 * 0.9 * 1.25 / 1e6)
    silent = [Usage(9_000), Usage(10_000), Usage(10_500)]  # a log that never says what was cached
    assert len(cache_breaks(session_of(*silent, model="gpt-5"))) == 0


def test_reading_less_for_a_known_cause_is_told_apart():
    session = session_of(*FULL, Usage(0, 0, 0, 3_000))
    later = [replace(call, model="claude-opus-4-5") for call in session.calls[1:]]
    found = bill(replace(session, calls=(session.calls[0], *later)))
    assert (found.breaks, found.lost_share) == ((0, 0), 0)
    assert found.excused["another model"] == (1, pytest.approx(10_000 * 1.15 * 5 / 1e6))
    assert found.excused["compaction"] == (1, pytest.approx(3_000 * 1.15 * 5 / 1e6))
    said = "Apart from these, 1 call found less in the cache after another model, for 0.0575 dollars."
    assert said in sentences(found)


def test_a_compaction_and_another_model_are_no_breaks():
    shrunk = session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 6_000))
    assert len(cache_breaks(shrunk)) == 0
    session = session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 10_500))
    other = replace(session, calls=(session.calls[0], replace(session.calls[1], model="claude-opus-4-5")))
    assert len(cache_breaks(session)) == 1
    assert len(cache_breaks(other)) == 0


def test_rules_come_from_prices():
    assert rule_of(models.find("gpt-5.6-sol")).write == 1.25
    assert rule_of(models.find("gpt-5.6-sol")).seconds == 1_800
    assert rule_of(models.find("gpt-4")) is None  # nothing is read
    assert rule_of(models.find("claude-opus-4-5"), hour=True) == ANTHROPIC_1H
    assert rule_of(models.find("gpt-5")) == OPENAI
    assert rule_of(models.find("gpt-4o")).read == 0.5


@pytest.mark.parametrize(
    ("rule", "factor"), [(ANTHROPIC_5M, 11.5), (ANTHROPIC_1H, 19), (OPENAI, 9), (replace(OPENAI, read=0.5), 1)]
)
def test_break_even_is_where_both_bills_are_the_same(rule, factor):
    """An edit that removes as much as stays behind it pays after `factor` calls, the edit's own among them."""
    assert break_even(1_000, 1_000, rule) + 1 == pytest.approx(factor)
    removed, after, before = 4_000, 8_000, 6_000
    later = break_even(removed, after, rule)
    base = before + removed + after
    edited = rule.read * before + (rule.read + rule.extra) * after + later * rule.read * (base - removed)
    assert edited == pytest.approx((1 + later) * rule.read * base)
    with pytest.raises(InputError, match="at least 1 token"):
        break_even(0, 10, rule)
    assert break_even(1, 10, replace(rule, read=0)) == inf


RULES = st.sampled_from([ANTHROPIC_5M, ANTHROPIC_1H, OPENAI, replace(OPENAI, write=1.25)])
GROWTH = st.lists(st.integers(1, 5_000), min_size=1, max_size=30)


@given(GROWTH, RULES)
def test_appending_reads_all_that_was_sent_before(growth, rule):
    prompts = list(accumulate(growth))
    steps = list(pairwise([0, *prompts]))
    requests = [Request(prompt, before, 0) for before, prompt in steps]
    for (before, _), each in zip(steps, charge(requests, rule), strict=True):
        assert each.read == cacheable(before, rule)
        if rule.step == 1 and before >= rule.smallest:
            assert each.read == before


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 9_000), st.floats(0, 1e4)), max_size=30),
    RULES,
)
def test_the_parts_of_a_bill_are_the_prompt(requests, rule):
    made = [Request(prompt, prefix, 0, time) for prompt, prefix, time in requests]
    for request, each in zip(made, charge(made, rule), strict=True):
        assert each.read + each.written + each.uncached == request.prompt
        assert 0 <= each.read <= min(request.prompt, request.prefix)
        assert min(each.written, each.uncached) >= 0


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000)), max_size=30),
    RULES,
    st.integers(0, 5_000),
)
def test_what_is_not_offered_is_neither_read_nor_written(requests, rule, output):
    made = [Request(prompt, prefix, output, marked=marked, model=SONNET) for prompt, prefix, marked in requests]
    for request, each in zip(made, charge(made, rule), strict=True):
        assert each.read + each.written <= request.marked
        assert each.read + each.written + each.uncached == request.prompt
    assert dollars(made, {SONNET: models.find(SONNET)}) >= len(made) * output * 15e-6 * 0.999


@given(st.integers(2_000, 9_000), st.integers(1_024, 8_999), RULES)
def test_a_break_costs_what_is_billed_again(prompt, kept, rule):
    kept = min(kept, prompt)
    whole, broken = (charge([Request(prompt, 0, 0), Request(prompt, n, 0)], rule)[1] for n in (prompt, kept))

    def billed(each):
        return rule.read * each.read + (rule.write or 0) * each.written + each.uncached

    assert billed(broken) - billed(whole) == pytest.approx((whole.read - broken.read) * rule.extra)
    assert rule.extra == (rule.write or 1.0) - rule.read


def test_the_cache_forgets_after_its_time_and_is_of_one_model():
    def read(gap: float, rule, other: str | None = None) -> int:
        return charge([Request(5_000, 0, 0, 0), Request(5_000, 5_000, 0, gap, other)], rule)[1].read

    assert (read(300, ANTHROPIC_5M), read(301, ANTHROPIC_5M), read(301, ANTHROPIC_1H)) == (5_000, 0, 5_000)
    assert read(1, ANTHROPIC_5M, "other") == 0
    three = [Request(5_000, 0, 0, 0), Request(5_000, 5_000, 0, 200), Request(5_000, 5_000, 0, 400)]
    assert charge(three, ANTHROPIC_5M)[2].read == 5_000  # a use begins the time anew
    untimed = [three[0], replace(three[1], time=None), replace(three[2], time=301)]
    assert charge(untimed, ANTHROPIC_5M)[2].read == 0  # a call without a time does not


def test_each_model_has_a_cache_of_its_own_which_it_finds_again():
    asked = [("a", 0), ("b", 0), ("a", 60), ("a", 120)]
    prompts = [2_000, 3_000, 4_000, 5_000]
    requests = [
        Request(prompt, before, 0, time, name)
        for (before, prompt), (name, time) in zip(pairwise([0, *prompts]), asked, strict=True)
    ]
    assert [each.read for each in charge(requests, ANTHROPIC_5M)] == [0, 0, 2_000, 4_000]
    edited = [requests[0], replace(requests[1], prefix=1_500), *requests[2:]]
    assert [each.read for each in charge(edited, ANTHROPIC_5M)] == [0, 0, 1_500, 4_000]


def test_requests_of_a_session_that_only_adds_share_the_whole_prompt_before():
    requests = requests_of(session_of(Usage(900, 5), Usage(2_000, 6), times=[1, 2]))
    assert requests == [Request(900, 0, 5, 1, SONNET), Request(2_000, 900, 6, 2, SONNET)]


def test_requests_of_a_session_with_a_changed_message_share_what_stands_before_it():
    talk = [user("a" * 400), asks(("look", {})), result("b" * 4_000), asks(("look", {})), result("ok"), says("Done.")]
    session = read_messages(talk)
    plain, edited = requests_of(session), requests_of(replace(session, replaced=(Replaced(2, 2, "gone"),)))
    assert [request.prefix for request in plain] == [0, plain[0].prompt, plain[1].prompt]
    assert edited[:2] == plain[:2]
    assert edited[2].prefix == plain[0].prompt + estimate_message(session.messages[1])
    assert edited[2].prompt == plain[2].prompt - 1_000 + 1
    moved = replace(session, calls=(*session.calls[:2], replace(session.calls[2], start=3)))
    assert requests_of(moved)[2].prefix == 0  # nothing stands before the messages: no system prompt, no tools


def test_a_session_of_many_calls_and_changes_is_quick():
    calls = 3_000
    talk = [user("Hi"), *(part for n in range(calls) for part in (asks(("look", {"n": n})), result("ok")))]
    session = read_messages(talk)
    session = replace(session, replaced=tuple(Replaced(n, 2 * n - 6, "gone") for n in range(10, calls)))
    began = perf_counter()
    assert len(charge(requests_of(session), ANTHROPIC_5M)) == calls
    assert perf_counter() - began < 3  # calls times messages would be minutes


def test_dollars_of_requests_are_those_of_a_log_with_the_same_usage():
    requests = [Request(10_000, 0, 100, model=SONNET), Request(11_000, 10_000, 200, model=SONNET)]
    usages = [Usage(0, 100, 0, 10_000), Usage(0, 200, 10_000, 1_000)]
    known = {SONNET: models.find(SONNET)}
    assert dollars(requests, known) == pytest.approx(bill(session_of(*usages)).dollars)
    assert dollars([Request(10, 0, 1, model="x")], {"x": None}) is None


def test_the_picture_marks_breaks():
    usages = [Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 12_000)]
    session = session_of(*usages)
    ax = plot_cost(cost(session), cache_breaks(session))
    tops = [patch.get_data().values for patch in ax.patches]
    assert [top.tolist() for top in tops] == [[pytest.approx(3.75), pytest.approx(4.5)]]
    spoken = plot_cost(cost(session_of(Usage(1_000, 100, 2_000, 4_000))))  # one call, all kinds of tokens
    tops = [patch.get_data().values.item() for patch in spoken.patches]
    bottoms = [patch.get_data().baseline.item() for patch in spoken.patches]
    assert bottoms == [0, *tops[:-1]]
    assert tops == pytest.approx([0.06, 1.56, 1.86, 2.01])
    assert spoken.get_ylabel() == "US cents, list price\n(measured)"
    (marks,) = ax.get_lines()
    assert marks.get_xdata().tolist() == [2]
    assert marks.get_ydata().tolist() == pytest.approx([12_000 * 3.75 / 1e4])


needs_pi = pytest.mark.skipif(not PI.exists() or "pi" not in IMPORTERS, reason="the recorded session is not here")


@needs_pi
def test_a_recorded_bill_is_reproduced_to_four_decimals():
    (session,), _ = load(PI)
    frame = cost(session)
    priced = frame[frame["total"].notna() & frame["recorded"].notna()]
    assert len(priced) >= 439
    assert (priced["total"] - priced["recorded"]).abs().max() < 5e-5
    found = bill(session)
    assert round(found.recorded, 4) == round(found.dollars, 4) == 30.3302


def figures(session):
    """Measured calls, largest prompt, exponent of the sum; hit rate, multiplier, breaks, share lost to them."""
    prompts = [call.usage.prompt_tokens for call in session.calls if call.measured]
    growth = (len(prompts), max(prompts), round(exponent(list(accumulate(prompts))).value, 2))
    found = bill(session)
    return *growth, round(found.hit_rate, 3), round(found.multiplier, 3), *found.breaks, round(found.lost_share, 2)


@needs_pi
def test_figures_of_a_session_of_pi():
    """As another program counted them."""
    assert figures(load(PI)[0][0]) == (439, 177_604, 1.47, 0.910, 0.204, 37, 4, 0.49)


@pytest.mark.skipif(not CLAUDE_CODE.exists(), reason="the recorded sessions are not here")
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("coding-1", (201, 154_565, 1.63, 0.953, 0.154, 6, 5, 0.21)),
        ("coding-3", (90, 100_349, 1.51, 0.946, 0.162, 2, 1, 0.15)),
        ("coding-4", (271, 155_283, 1.59, 0.964, 0.142, 6, 0, 0.16)),
        # The other program says 40 %: it counts tokens as billed again that the shorter prompt no longer had.
        ("tool-calls", (54, 86_733, 1.43, 0.890, 0.227, 5, 5, 0.37)),
    ],
)
def test_figures_of_sessions_of_claude_code(name, found):
    """As another program counted them."""
    assert figures(load(CLAUDE_CODE / f"{name}.jsonl")[0][0]) == found
