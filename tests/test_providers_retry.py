"""Calls that are made again."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.budgets import Scope
from agentlab.errors import (
    Cancelled,
    CassetteMiss,
    ContextWindowError,
    DeadlineExceeded,
    InputError,
    ProviderError,
    TransportError,
)
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel


class Clock:
    """A clock that stands still until somebody sleeps; it remembers each sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    def scope(self, seconds: float | None = None) -> Scope:
        return Scope(seconds, clock=self, sleep=self.sleep)


def ask(provider, scope=None, **options):
    return provider.call([], system="", tools=(), scope=scope, **options)


def longest() -> float:
    return 1.0


def overloaded(**options):
    return ProviderError("Overloaded", status=529, kind="overloaded_error", **options)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 520, 529])
def test_statuses_that_may_pass_are_tried_again(status):
    clock, told = Clock(), []
    model = Retry(ScriptedModel([ProviderError("no", status=status), "yes"]), on_retry=lambda *a: told.append(a))
    assert ask(model, clock.scope()).text == "yes"
    assert [(attempt, reason) for attempt, _, reason in told] == [(1, f"{status} no")]
    assert clock.sleeps == [told[0][1]]


@pytest.mark.parametrize(
    "error",
    [TransportError("cut off"), ProviderError("odd", transient=True), ConnectionResetError("x"), TimeoutError()],
)
def test_transport_errors_and_what_says_it_is_transient_are_tried_again(error):
    assert ask(Retry(ScriptedModel([error, "yes"])), Clock().scope()).text == "yes"


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("read timeout, please try again: 503 overloaded", status=400),
        ProviderError("connection timeout is not a field"),
        ProviderError("no such model", status=404),
        ProviderError("pay first", status=429, kind="insufficient_quota"),
        ContextWindowError("too large", status=500),
        CassetteMiss("not recorded"),
        ValueError("timeout"),
        Cancelled("stop"),
        DeadlineExceeded("over"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_pitfall_37_and_39_what_cannot_pass_is_raised_at_once(error):
    clock, told = Clock(), []
    inner = ScriptedModel([error, "never"])
    with pytest.raises(type(error)) as caught:
        ask(Retry(inner, on_retry=lambda *a: told.append(a)), clock.scope())
    assert caught.value is error
    assert (inner.calls, clock.sleeps, told) == (1, [], [])
    assert not getattr(error, "__notes__", [])


def test_the_last_error_is_raised_when_the_attempts_are_used_up():
    clock, last = Clock(), TransportError("third")
    inner = ScriptedModel([TransportError("first"), TransportError("second"), last, "never"])
    with pytest.raises(TransportError) as caught:
        ask(Retry(inner), clock.scope())
    assert caught.value is last
    assert inner.calls == 3
    assert last.__notes__ == ["not tried again: it failed 3 times"]
    assert last.__context__ is None  # no chain of earlier attempts in front of the reader


def test_waits_double_up_to_the_cap():
    clock = Clock()
    inner = ScriptedModel([overloaded() for _ in range(6)] + ["yes"])
    ask(Retry(inner, attempts=7, base=1, cap=8, jitter=longest), clock.scope())
    assert clock.sleeps == [1, 2, 4, 8, 8, 8]


@given(st.integers(1, 20), st.randoms(use_true_random=False), st.floats(0.001, 10), st.floats(0.001, 100))
def test_a_wait_is_between_half_and_all_of_its_step(failures, chance, base, cap):
    clock = Clock()
    model = Retry(ScriptedModel([overloaded()] * failures + ["yes"]), attempts=5000, base=base, cap=cap, jitter=chance)
    ask(model, clock.scope())
    for retry, slept in enumerate(clock.sleeps[:100]):
        step = min(cap, base * 2**retry)
        assert step / 2 <= slept <= step


def test_two_clients_that_fail_together_do_not_come_back_together():
    waits = []
    for seed in (1, 2):
        clock = Clock()
        error = ProviderError("slow down", status=429, retry_after=3)
        ask(Retry(ScriptedModel([error, "yes"]), jitter=random.Random(seed)), clock.scope())
        waits += clock.sleeps
    assert waits[0] != waits[1]


@given(st.floats(0.01, 60), st.floats(0, 0.999))
def test_pitfall_36_retry_after_is_honoured_and_spread(asked, chance):
    clock = Clock()
    ask(Retry(ScriptedModel([overloaded(retry_after=asked), "yes"]), base=0.5, jitter=lambda: chance), clock.scope())
    assert asked <= clock.sleeps[0] <= asked + 0.5


@pytest.mark.parametrize("asked", [-3, 0, float("nan"), None])
def test_a_retry_after_that_means_nothing_leaves_the_usual_wait(asked):
    clock = Clock()
    ask(Retry(ScriptedModel([overloaded(retry_after=asked), "yes"]), jitter=longest), clock.scope())
    assert clock.sleeps == [0.5]


def test_a_retry_after_that_is_too_long_is_not_cut_short_but_ends_it():
    clock = Clock()
    error = overloaded(retry_after=61)
    with pytest.raises(ProviderError):
        ask(Retry(ScriptedModel([error, "never"])), clock.scope())
    assert clock.sleeps == []
    assert error.__notes__ == ["not tried again: the provider asks to wait 61 s, longer than 60 s"]


def test_pitfall_36_a_wait_that_would_pass_the_deadline_is_not_begun():
    clock, told = Clock(), []
    inner = ScriptedModel([overloaded(), overloaded(), "never"])
    model = Retry(inner, base=2, jitter=longest, on_retry=lambda *a: told.append(a))
    with pytest.raises(ProviderError, match="Overloaded") as caught:
        ask(model, clock.scope(5))
    assert clock.sleeps == [2]  # the second would have ended at 6
    assert [wait for _, wait, _ in told] == [2]
    assert "deadline" in caught.value.__notes__[0]


def test_pitfall_36_a_child_of_a_run_that_is_almost_over_counts_with_what_is_left():
    clock = Clock()
    scope = clock.scope(1).child(100)
    with pytest.raises(ProviderError):
        ask(Retry(ScriptedModel([overloaded(retry_after=1), "never"])), scope)
    assert clock.sleeps == []


def test_pitfall_39_cancelling_ends_a_wait_at_once():
    scope = Scope()
    inner = ScriptedModel([overloaded(), "never"])
    model = Retry(inner, base=30, cap=30, on_retry=lambda *_: threading.Timer(0.01, scope.cancel, ("by user",)).start())
    with pytest.raises(Cancelled, match="by user"):
        ask(model, scope)
    assert inner.calls == 1


def test_nothing_is_tried_again_after_text_was_streamed():
    pieces, error = [], TransportError("cut off", text="Once upon")
    inner = ScriptedModel([error, "Once upon a time"])
    with pytest.raises(TransportError) as caught:
        ask(Retry(inner), Clock().scope(), on_text_delta=pieces.append)
    assert "".join(pieces) == "Once upon"
    assert (caught.value, inner.calls) == (error, 1)


def test_text_that_nobody_was_shown_does_not_stand_in_the_way():
    broken = TransportError("cut off", text="Once upon")
    assert ask(Retry(ScriptedModel([broken, "The end"])), Clock().scope()).text == "The end"

    class Empty:
        def call(self, messages, system, tools, on_text_delta=None):
            on_text_delta("")
            raise TransportError("cut off before a word")

    pieces, told = [], []
    with pytest.raises(TransportError):
        ask(Retry(Empty(), attempts=2, base=0, on_retry=lambda *a: told.append(a)), on_text_delta=pieces.append)
    assert (pieces, len(told)) == (["", ""], 1)


def test_what_is_streamed_in_a_later_attempt_reaches_the_caller():
    pieces = []
    ask(Retry(ScriptedModel([overloaded(), "all of it"])), Clock().scope(), on_text_delta=pieces.append)
    assert "".join(pieces) == "all of it"


def test_the_request_is_passed_on_as_it_is_each_time():
    inner = ScriptedModel([overloaded(), "yes"], keep_requests=True)
    messages = [{"role": "user", "content": "hi"}]
    Retry(inner, base=0).call(messages, system="s", tools=("t",), tool_choice="none", max_output_tokens=9)
    first, second = inner.requests
    assert first == second
    assert (first.messages, first.system, first.tools) == (messages, "s", ("t",))
    assert (first.tool_choice, first.max_output_tokens) == ("none", 9)


def test_a_reason_is_one_short_line_without_a_key():
    told = []
    error = ProviderError("bad\nthings with sk-ant-abcdefghijk0123 " + "x" * 5000, status=500)
    ask(Retry(ScriptedModel([error, "yes"]), base=0, on_retry=lambda *a: told.append(a[2])))
    assert told[0].startswith("500 bad things with")
    assert "abcdefgh" not in told[0]
    assert "\n" not in told[0]
    assert len(told[0]) <= 200


def test_who_listens_may_end_it():
    def listen(*_):
        raise RuntimeError("the log is full")

    inner = ScriptedModel([overloaded(), "never"])
    with pytest.raises(RuntimeError, match="the log is full") as caught:
        ask(Retry(inner, on_retry=listen), Clock().scope())
    assert caught.value.__context__ is None
    assert inner.calls == 1


def test_each_run_hears_of_its_own_retries():
    everybody, mine = [], []
    shared = Retry(
        ScriptedModel([overloaded(), "a", overloaded(), "b"]), base=0, on_retry=lambda *a: everybody.append(a)
    )
    ask(shared.reporting_to(lambda *a: mine.append(a)))
    ask(shared)
    assert len(everybody) == 2
    assert mine == everybody[:1]


def test_it_shows_the_name_model_and_window_of_what_it_wraps():
    class Book:
        def call(self, messages, system, tools):
            return None

    inner = ScriptedModel([], model="m", window=100)
    model = Retry(inner)
    inner.model = "changed"
    assert (model.name, model.model, model.window) == ("scripted", "changed", 100)
    assert (Retry(Book()).name, Retry(Book()).model, Retry(Book()).window) == ("Book", None, None)


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"base": -1}, {"cap": float("nan")}, {"max_wait": -0.1}])
def test_settings_out_of_range_are_named(wrong):
    with pytest.raises(InputError, match=f"^{next(iter(wrong))}: expected"):
        Retry(ScriptedModel([]), **wrong)


def test_a_series_without_end_does_not_overflow_the_wait():
    clock = Clock()
    model = Retry(ScriptedModel([overloaded()] * 1100 + ["yes"]), attempts=2000, cap=1e300, jitter=longest)
    ask(model, clock.scope())
    assert clock.sleeps[-1] == 0.5 * 2**62
