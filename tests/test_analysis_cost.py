"""Prices, the prefix cache and its breaks: counted by hand, and what must hold for any sequence of requests."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import pytest
from analysis_sessions import asks, result, says, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentlab.analysis import bill, cache_breaks, cost, load, read_messages
from agentlab.analysis.cost import LIST_PRICE, sentences
from agentlab.analysis.prefix_cache import (
    ANTHROPIC_1H,
    ANTHROPIC_5M,
    OPENAI,
    Request,
    break_even,
    charge,
    dollars,
    rule_of,
)
from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.plots import plot_cost
from agentlab.tokens import models

SONNET = "claude-sonnet-4-5"  # 3 dollars in, 15 out, 0.3 read, 3.75 and 6 written
PI = Path(__file__).parents[2] / "shared/data/sessions/pi/large-session.jsonl"


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
    assert "no list price for some-model" in sentences(found)[0]
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
    with pytest.raises(InputError, match=r"other-prices\.json.*missing required field"):
        bill(session, prices=_other(table))


def _other(table):
    """The same text at another place: a table is read once."""
    other = table.with_name("other-prices.json")
    other.write_text(table.read_text())
    return other


def test_an_output_that_is_no_count_is_estimated_from_the_reply():
    session = session_of(Usage(100, 1))
    flagged = replace(session, calls=(replace(session.calls[0], output_measured=False),))
    row = cost(flagged).iloc[0]
    assert row["output_tokens"] == 6  # "Done." and what surrounds a message
    assert not row["output_measured"]
    assert "is estimated" in sentences(bill(flagged))[-2]


def test_calls_without_usage_are_priced_by_an_estimate():
    session = read_messages([user("word " * 400), says("Done.")], model=SONNET)
    row = cost(session).iloc[0]
    assert row["uncached_tokens"] == 504
    assert not row["measured"]
    assert row["total"] > 0


def test_recorded_cost_stands_beside():
    session = session_of(Usage(1_000_000, 0), Usage(0, 0, 1_000_000), model="gpt-4o", costs=[2.5, 1.25])
    frame = cost(session)
    assert frame["recorded"].tolist() == frame["total"].tolist() == [2.5, 1.25]
    assert bill(session).recorded == 3.75
    assert "The log records 3.7500 dollars." in sentences(bill(session))
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


def test_a_compaction_and_another_model_are_no_breaks():
    shrunk = session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 6_000))
    assert len(cache_breaks(shrunk)) == 0
    session = session_of(Usage(0, 0, 0, 10_000), Usage(0, 0, 0, 10_500))
    other = replace(session, calls=(session.calls[0], replace(session.calls[1], model="claude-opus-4-5")))
    assert len(cache_breaks(session)) == 1
    assert len(cache_breaks(other)) == 0


def test_rules_come_from_prices():
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


RULES = st.sampled_from([ANTHROPIC_5M, ANTHROPIC_1H, OPENAI])
GROWTH = st.lists(st.integers(1, 5_000), min_size=1, max_size=30)


@given(GROWTH, RULES)
def test_appending_reads_all_that_was_sent_before(growth, rule):
    prompts = [sum(growth[: n + 1]) for n in range(len(growth))]
    requests = [Request(prompt, before, 0) for before, prompt in zip([0, *prompts], prompts, strict=False)]
    for before, each in zip([0, *prompts], charge(requests, rule), strict=False):
        assert before - rule.step < each.read + (before if before < rule.smallest else 0) <= before


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 9_000), st.floats(0, 1e4)), max_size=30),
    RULES,
)
def test_the_parts_of_a_bill_are_the_prompt(requests, rule):
    made = [Request(prompt, prefix, 0, time) for prompt, prefix, time in requests]
    for request, each in zip(made, charge(made, rule), strict=True):
        assert each.read + each.written + each.uncached == request.prompt
        assert 0 <= each.read <= min(request.prompt, request.prefix)
        assert min(each.written, each.uncached) == 0


@given(st.integers(2_000, 9_000), st.integers(1_024, 8_999), RULES)
def test_a_break_costs_what_is_billed_again(prompt, kept, rule):
    kept = min(kept, prompt)
    whole, broken = (charge([Request(prompt, 0, 0), Request(prompt, n, 0)], rule)[1] for n in (prompt, kept))
    price = (rule.write or 1.0) - rule.read

    def billed(each):
        return rule.read * each.read + (rule.write or 0) * each.written + each.uncached

    assert billed(broken) - billed(whole) == pytest.approx((whole.read - broken.read) * price)


def test_the_cache_forgets_after_its_time_and_is_of_one_model():
    def read(gap: float, rule, other: str | None = None) -> int:
        return charge([Request(5_000, 0, 0, 0), Request(5_000, 5_000, 0, gap, other)], rule)[1].read

    assert (read(300, ANTHROPIC_5M), read(301, ANTHROPIC_5M), read(301, ANTHROPIC_1H)) == (5_000, 0, 5_000)
    assert read(1, ANTHROPIC_5M, "other") == 0
    three = [Request(5_000, 0, 0, 0), Request(5_000, 5_000, 0, 200), Request(5_000, 5_000, 0, 400)]
    assert charge(three, ANTHROPIC_5M)[2].read == 5_000  # a use begins the time anew


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
    (marks,) = ax.get_lines()
    assert marks.get_xdata().tolist() == [2]
    assert marks.get_ydata().tolist() == pytest.approx([12_000 * 3.75 / 1e4])


@pytest.mark.skipif(not PI.exists(), reason="the recorded session is not here")
def test_a_recorded_bill_is_reproduced_to_four_decimals():
    (session,), _ = load(PI)
    frame = cost(session)
    priced = frame[frame["total"].notna() & frame["recorded"].notna()]
    assert (priced["total"] - priced["recorded"]).abs().max() < 5e-5
    assert round(bill(session).recorded, 4) == 30.3302
