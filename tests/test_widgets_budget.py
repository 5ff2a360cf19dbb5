"""BudgetLab: its arithmetic beside that of the analysis on a session that the loop made, and its sliders."""

from __future__ import annotations

from itertools import pairwise

import pytest
from counted_session import BASE, CALLS, LIMIT, MODEL, TURNS, counted_session
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentlab.analysis import curve, replay
from agentlab.errors import InputError
from agentlab.policy import ClearAt, Compaction, Consolidate, Limit, Policy, Room, Sliding
from agentlab.tokens import models
from agentlab.tokens.models import Prices
from agentlab.widgets import BudgetLab, Setting
from agentlab.widgets.budget_lab import STEP
from agentlab.widgets.budget_model import (
    CLEAR,
    CLEAR_LATE,
    FORGET,
    KEEP_ALL,
    POLICIES,
    SUMMARISE,
    bill_of,
    requests_of,
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return counted_session(tmp_path_factory.mktemp("counted"))


AS_RUN = Setting(
    turns=TURNS,
    calls=CALLS,
    result=1_004,
    limit=504,
    base=BASE,
    question=54,
    asking=9,
    reply=304,
    threshold=8_000,
    pause=1,
    step=1,
)
"""The session above in numbers: sizes with the 4 tokens that an estimate adds to each message."""


def sonnet() -> Prices:
    prices = models.find(MODEL).prices
    assert prices is not None
    return prices


def test_turns_contexts_and_output_are_those_of_the_curve(session):
    frame = curve(session)
    bill = bill_of(AS_RUN, sonnet(), 300)
    assert [sum(turn) for turn in bill.turns] == frame.turn_tokens.tolist()
    assert list(bill.contexts) == frame.context.tolist()
    assert bill.contexts[-1] == 20_666
    assert bill.usage.output_tokens == frame.output_tokens.sum()


def test_what_forgetting_sends_is_the_curve_without_continuation(session):
    forgets = bill_of(replace(AS_RUN, policy=FORGET), sonnet(), 300)
    frame = curve(session)
    assert frame.base.iloc[0] == pytest.approx(CALLS * BASE, rel=0.01)
    assert forgets.usage.prompt_tokens == pytest.approx(frame.turn_tokens_without.sum(), rel=0.01)


ROOM = Room(window=8_000, reserve=0, margin=0)


@pytest.mark.parametrize(
    ("setting", "policy"),
    [
        (AS_RUN, Policy(default=Limit(LIMIT))),
        (replace(AS_RUN, limit=104), Policy(default=Limit(400))),
        (
            replace(AS_RUN, policy=CLEAR),
            Policy(default=Limit(LIMIT), compaction=Compaction(results=Sliding(keep=3, min_chars=0))),
        ),
        (
            replace(AS_RUN, policy=CLEAR_LATE),
            Policy(default=Limit(LIMIT), compaction=Compaction(results=ClearAt(threshold=8_000, keep=3))),
        ),
        (
            replace(AS_RUN, policy=SUMMARISE),
            Policy(
                default=Limit(LIMIT),
                compaction=Compaction(consolidate=Consolidate(keep_turns=1, target=0.05), room=ROOM),
            ),
        ),
    ],
    ids=["as it was", "a smaller limit", CLEAR, CLEAR_LATE, SUMMARISE],
)
def test_tokens_and_dollars_are_those_of_a_replay_by_the_packages_own_rules(session, setting, policy):
    replayed = replay([session], [policy]).by_policy().iloc[1]
    bill = bill_of(setting, sonnet(), 300)
    assert bill.usage.prompt_tokens == pytest.approx(replayed.tokens, rel=0.003)
    assert bill.spent.total == pytest.approx(replayed.dollars, rel=0.003)


def test_without_a_cache_everything_is_billed_in_full():
    bill = bill_of(AS_RUN, sonnet(), 0)
    assert bill.usage.input_tokens == bill.usage.prompt_tokens == 454_400
    assert bill.spent.total == pytest.approx((454_400 * 3 + 3_310 * 15) / 1e6)


def test_a_pause_longer_than_the_cache_lives_writes_the_whole_prompt_anew():
    kept, lost = (bill_of(replace(AS_RUN, pause=pause), sonnet(), 300) for pause in (290, 301))
    assert kept.usage.cache_write_tokens == kept.contexts[-1]
    # At the beginning of each later turn, what stood at the end of the one before.
    assert lost.usage.cache_write_tokens - kept.usage.cache_write_tokens == sum(kept.contexts[:-1])


@given(
    setting=st.builds(
        Setting,
        turns=st.integers(1, 12),
        calls=st.integers(1, 8),
        result=st.integers(0, 5_000),
        limit=st.integers(0, 5_000),
        policy=st.sampled_from(list(POLICIES)),
        keep=st.integers(0, 6),
        threshold=st.integers(0, 30_000),
        base=st.integers(0, 3_000),
        pause=st.floats(0, 1_000),
    ),
    seconds=st.sampled_from([0.0, 60.0, 300.0]),
)
def test_every_prompt_is_whole_and_its_prefix_stood_in_the_one_before(setting, seconds):
    requests = requests_of(setting).requests
    assert len(requests) == setting.turns * setting.calls
    assert requests[0].prefix == 0
    for before, request in pairwise(requests):
        assert 0 <= request.prefix <= min(before.prompt, request.prompt)
        assert request.prompt >= setting.base + setting.question
    bill = bill_of(setting, Prices(3.0, 15.0, 0.3, 3.75), seconds)
    aside = sum(request.prompt for request in requests_of(setting).aside)
    assert sum(map(sum, bill.turns)) + aside == bill.usage.prompt_tokens
    assert sum(request.prompt for request in requests) == sum(map(sum, bill.turns))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"turns": 0}, "turns"), ({"result": -1}, "result"), ({"policy": "hope"}, "policy")],
)
def test_a_setting_that_is_no_run_is_refused(wrong, field):
    with pytest.raises(InputError, match=field):
        BudgetLab(replace(Setting(), **wrong))


def test_every_control_changes_curve_and_bill_at_once():
    lab = BudgetLab(Setting(turns=4, calls=3))
    changes = {
        lab.result: 500,
        lab.limit: 200,
        lab.calls: 6,
        lab.turns: 9,
        lab.pause: 3_000,
        lab.cache: 0,
        lab.policy: CLEAR,
        lab.keep: 1,
        lab.model: "claude-haiku-4-5",
        lab.prices["output"]: 60.0,
    }
    seen = [(lab.html(), lab.bill.spent.total)]
    for control, value in changes.items():
        control.value = value
        seen.append((lab.html(), lab.bill.spent.total))
    pages, totals = zip(*seen, strict=True)
    assert len(set(pages)) == len(seen)
    assert len(set(totals)) == len(seen)
    assert lab.bill == lab.bills[CLEAR]
    lab.policy.value = CLEAR_LATE
    lab.threshold.value = 3_000
    before = lab.bill.usage.prompt_tokens
    lab.threshold.value = 150_000
    assert lab.bill.usage.prompt_tokens > before


def test_the_bill_and_the_policies_stand_in_the_page_and_the_sentence():
    lab = BudgetLab(Setting(turns=2, calls=2, result=4_000, limit=500, policy=KEEP_ALL))
    assert lab.bill.usage.prompt_tokens == 11_220
    assert "11,220" in lab.html()
    assert f"${lab.bill.spent.total:.4f} (estimated)" in repr(lab)
    for name, bill in lab.bills.items():
        assert f"{bill.usage.prompt_tokens:,}</td>" in lab.html(), name


def test_a_model_sets_the_four_prices_and_a_price_by_hand_leaves_the_model():
    lab = BudgetLab(model="claude-haiku-4-5")
    assert {name: control.value for name, control in lab.prices.items()} == {
        "input": 1.0,
        "cache_read": 0.1,
        "cache_write": 1.25,
        "output": 5.0,
    }
    lab.cache.value = 6  # beyond five minutes the price of an hour
    assert lab.prices["cache_write"].value == 2.0
    lab.prices["output"].value = 5.0 + STEP
    assert lab.model.value == "by hand"
    lab.cache.value = 5
    assert lab.prices["cache_write"].value == 2.0


def test_what_a_browser_rounds_is_still_the_models_price():
    lab = BudgetLab(model="gpt-6-luna")
    lab.prices["cache_write"].value = 0.125 + 1e-9
    assert lab.model.value == "gpt-6-luna"


def test_all_prices_are_multiples_of_a_sliders_step():
    for model in models.all():
        for price in (getattr(model.prices, name, None) for name in Prices.__struct_fields__):
            assert price is None or round(price / STEP) * STEP == pytest.approx(price, abs=1e-12), model.name


def test_an_unknown_model_is_named_with_the_nearest_one():
    with pytest.raises(InputError, match="did you mean 'claude-haiku-4-5'"):
        BudgetLab(model="claude-haiku-45")


def test_a_run_beyond_a_sliders_ends_widens_it():
    lab = BudgetLab(Setting(turns=200, calls=2, threshold=50))
    assert (lab.setting.turns, lab.setting.threshold) == (200, 50)
    assert len(lab.bill.turns) == 200
