"""Scope, and work on threads that it leaves behind."""

from __future__ import annotations

import signal
import threading
import time
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.budgets import Scope, run_in_thread, stream_in_thread
from agentlab.errors import Cancelled, DeadlineExceeded, InputError, ScopeEnded

needs_alarm = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a POSIX timer signal")


class Clock:
    """A clock that stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


# Deadlines


def test_without_a_deadline_it_never_ends_by_itself():
    scope = Scope(clock=Clock())
    assert scope.endless
    assert scope.remaining() == float("inf")
    scope.check()


def test_a_deadline_is_reached_by_the_injected_clock():
    clock = Clock()
    scope = Scope(10, clock=clock)
    clock.now += 9.5
    assert scope.remaining() == pytest.approx(0.5)
    scope.check()
    clock.now += 0.5
    assert scope.ended()
    with pytest.raises(DeadlineExceeded):
        scope.check()
    clock.now += 50
    assert scope.remaining() == 0.0


@given(st.one_of(st.none(), st.floats(-5, 100)), st.one_of(st.none(), st.floats(-5, 100)), st.floats(0, 120))
def test_a_child_has_the_smaller_of_its_own_time_and_what_its_parent_has_left(outer, inner, elapsed):
    clock = Clock()
    parent = Scope(outer, clock=clock)
    child = parent.child(inner)
    clock.now += elapsed
    own = float("inf") if inner is None else max(0.0, inner - elapsed)
    assert child.remaining() == pytest.approx(min(parent.remaining(), own))
    assert child.ended() == (child.remaining() <= 0)


def test_a_child_that_ends_does_not_end_its_parent():
    clock = Clock()
    parent = Scope(10, clock=clock)
    child = parent.child(1)
    clock.now += 2
    assert child.ended()
    assert not parent.ended()
    other = parent.child()
    other.cancel("mine")
    assert not parent.ended()
    assert parent.reason is None


def test_a_time_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="seconds: expected a number of seconds, or None, found nan"):
        Scope(float("nan"))
    with pytest.raises(InputError, match="nan"):
        Scope().child(float("nan"))


@pytest.mark.parametrize("seconds", [0, -1, float("-inf")])
def test_a_time_that_is_not_above_0_is_over_at_once(seconds):
    scope = Scope(seconds, clock=Clock())
    assert scope.ended()
    with pytest.raises(DeadlineExceeded):
        scope.check()


# Cancellation


def test_the_first_reason_stays():
    scope = Scope()
    scope.cancel("first")
    scope.cancel("second")
    with pytest.raises(Cancelled, match=r"^first$"):
        scope.check()
    assert scope.remaining() == 0.0


def test_a_childs_reason_does_not_replace_its_parents():
    parent = Scope()
    child = parent.child(5)
    parent.cancel("outer")
    child.cancel("inner")
    with pytest.raises(Cancelled, match="outer"):
        child.check()


def test_cancelled_beats_a_deadline_that_passed_too():
    clock = Clock()
    scope = Scope(1, clock=clock)
    clock.now += 2
    scope.cancel("stop")
    with pytest.raises(Cancelled):
        scope.check()


def test_a_watcher_is_woken_once_even_if_parent_and_child_are_cancelled():
    parent = Scope()
    child = parent.child()
    woken = []
    child.on_cancel(lambda: woken.append(1))
    parent.cancel()
    child.cancel()
    assert woken == [1]


def test_a_watcher_that_comes_late_is_woken_at_once():
    parent = Scope()
    parent.cancel()
    woken = []
    parent.child().on_cancel(lambda: woken.append("child"))
    parent.on_cancel(lambda: woken.append("parent"))
    assert woken == ["child", "parent"]


def test_a_watcher_can_be_taken_back_once_without_touching_its_twin():
    scope = Scope()
    woken = []

    def wake():
        woken.append(1)

    undo = scope.child().on_cancel(wake)
    scope.on_cancel(wake)
    undo()
    undo()
    scope.cancel()
    assert woken == [1]


def test_a_watcher_that_raises_does_not_silence_the_others():
    scope = Scope()
    woken = []
    scope.on_cancel(lambda: woken.append("before"))
    scope.on_cancel(lambda: 1 / 0)
    scope.on_cancel(lambda: woken.append("after"))
    with pytest.raises(ZeroDivisionError):
        scope.cancel()
    assert woken == ["before", "after"]


def test_cancel_and_on_cancel_at_the_same_time_never_lose_or_repeat_a_wake():
    for _ in range(150):
        parent = Scope()
        scope = parent.child()
        counts = [0] * 20
        start = threading.Barrier(3)

        def register(scope=scope, counts=counts, start=start):
            start.wait()
            for i in range(20):
                scope.on_cancel(lambda i=i: counts.__setitem__(i, counts[i] + 1))

        def cancel(which, start=start):
            start.wait()
            which.cancel()

        threads = [threading.Thread(target=register)]
        threads += [threading.Thread(target=cancel, args=(which,)) for which in (parent, scope)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [1] * 20


@needs_alarm
def test_a_signal_handler_may_cancel_in_the_middle_of_a_wait():
    scope = Scope(5)
    before = signal.signal(signal.SIGALRM, lambda *_: scope.cancel("signal"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Cancelled, match="signal"):
            scope.wait(5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_cancel_that_interrupts_the_registration_of_a_watcher_does_not_lock_up():
    scope, woken = Scope(), []

    class Interrupted(list):
        def append(self, item):
            scope.cancel("signal in between")
            super().append(item)

    scope._watchers = Interrupted()
    thread = threading.Thread(target=scope.on_cancel, args=(lambda: woken.append(1),), daemon=True)
    thread.start()
    thread.join(2)
    assert not thread.is_alive()
    assert woken == [1]


# Waiting


def test_wait_with_an_injected_clock_takes_no_real_time():
    clock = Clock()
    scope = Scope(100, clock=clock, sleep=clock.sleep)
    begun = time.monotonic()
    scope.wait(30)
    scope.child().wait(30)
    assert clock.now == 160
    assert time.monotonic() - begun < 1


def test_a_wait_that_passes_the_deadline_sleeps_until_it_and_raises():
    clock = Clock()
    scope = Scope(10, clock=clock, sleep=clock.sleep)
    with pytest.raises(DeadlineExceeded):
        scope.wait(30)
    assert clock.now == 110


def test_a_wait_that_was_cut_short_by_the_deadline_never_looks_complete():
    with pytest.raises(DeadlineExceeded):
        Scope(10, clock=Clock(), sleep=lambda seconds: None).wait(30)


def test_a_wait_on_the_real_clock_never_returns_before_its_time_as_if_it_were_over():
    for _ in range(10):
        with pytest.raises(DeadlineExceeded):
            Scope(0.003).wait(1)
    begun = time.monotonic()
    Scope(5).wait(0.01)
    assert time.monotonic() - begun >= 0.01


def test_a_wait_without_end_is_ended_by_cancel():
    scope = Scope()
    threading.Timer(0.01, scope.cancel, args=("enough",)).start()
    with pytest.raises(Cancelled, match="enough"):
        scope.wait(float("inf"))


def test_no_wait_is_begun_in_a_scope_that_has_ended():
    slept = []
    scope = Scope(sleep=slept.append)
    scope.cancel()
    with pytest.raises(Cancelled):
        scope.wait(1)
    assert slept == []


# Streams


def test_items_arrive_in_order_and_an_error_after_them():
    def produce():
        yield from range(3)
        raise ValueError("broken")

    got = []
    with pytest.raises(ValueError, match="broken"):  # noqa: PT012 - what came before the error counts
        for item in stream_in_thread(produce, None):
            got.append(item)  # noqa: PERF402
    assert got == [0, 1, 2]
    assert list(stream_in_thread(lambda: iter("ab"), Scope(1e12))) == ["a", "b"]


def test_cancel_ends_a_blocked_stream_at_once():
    scope, release = Scope(), threading.Event()

    def produce():
        yield 1
        release.wait(5)
        yield 2

    stream = stream_in_thread(produce, scope)
    assert next(stream) == 1
    threading.Timer(0.02, scope.cancel).start()
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        next(stream)
    assert time.monotonic() - begun < 0.5
    release.set()


def test_a_deadline_never_looks_like_the_end_of_the_stream():
    hang = threading.Event()

    def produce():
        yield 1
        hang.wait(5)

    for _ in range(20):
        with pytest.raises(DeadlineExceeded):
            list(stream_in_thread(produce, Scope(0.002)))
    hang.set()


def test_a_clock_that_stands_still_does_not_cut_the_stream():
    clock = Clock()

    def produce():
        yield 1
        time.sleep(0.03)
        yield 2

    assert list(stream_in_thread(produce, Scope(0.005, clock=clock))) == [1, 2]


def test_nothing_is_started_in_a_scope_that_has_ended():
    called = []
    scope = Scope()
    scope.cancel()
    with pytest.raises(Cancelled):
        run_in_thread(lambda: called.append(1), scope)
    time.sleep(0.01)
    assert called == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_abandoned_producer_is_closed_when_the_consumer_raises(error):
    closed, go = threading.Event(), threading.Event()

    def produce():
        try:
            yield 1
            go.wait(5)
            yield 2
            yield 3
        finally:
            closed.set()

    def consume():
        for _ in stream_in_thread(produce, None):
            raise error

    with pytest.raises(error):
        consume()
    go.set()
    assert closed.wait(2)


def test_a_producer_that_is_no_generator_is_closed_too():
    class Response:
        closed = False

        def __iter__(self):
            return iter((1, 2))

        def close(self):
            self.closed = True

    response = Response()
    assert list(stream_in_thread(lambda: response, None)) == [1, 2]  # type: ignore[arg-type,return-value]
    assert response.closed


def test_a_consumer_that_leaves_takes_its_watcher_back():
    scope = Scope()
    for _ in range(3):
        next(stream_in_thread(lambda: iter((1, 2)), scope))
    assert scope._watchers == []


@needs_alarm
def test_ctrl_c_in_a_blocked_stream_is_raised_at_once():
    scope, hang = Scope(), threading.Event()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            run_in_thread(lambda: hang.wait(5), scope)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        hang.set()
    assert scope._watchers == []


# One function


def test_what_a_function_returns_or_raises_comes_back():
    def refuse():
        raise LookupError("no such file")

    assert run_in_thread(lambda: None, None) is None
    with pytest.raises(LookupError, match="no such file"):
        run_in_thread(refuse, Scope(5))


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, SystemExit, KeyboardInterrupt])
def test_errors_that_steer_iteration_or_the_process_come_back_as_they_are(error):
    def function():
        raise error

    with pytest.raises(error):
        run_in_thread(function, None)


def test_pitfall_34_a_late_result_is_dropped():
    scope, finished = Scope(0.02), threading.Event()

    def slow():
        time.sleep(0.04)
        finished.set()
        return "late"

    with pytest.raises(ScopeEnded):
        run_in_thread(slow, scope)
    assert not finished.is_set()
    assert finished.wait(2)


def test_the_thread_sees_the_callers_context_and_does_not_hold_the_exit():
    name: ContextVar[str] = ContextVar("name", default="outside")
    name.set("caller")
    assert run_in_thread(lambda: (name.get(), threading.current_thread().daemon), None) == ("caller", True)


def test_threads_are_used_again_but_not_one_that_was_left_behind() -> None:
    release, ended = threading.Event(), threading.Event()
    behind: list[int] = []

    def stuck() -> None:
        behind.append(threading.get_ident())
        release.wait(5.0)
        ended.set()

    with pytest.raises(ScopeEnded):
        run_in_thread(stuck, Scope(0.05))
    seen = {run_in_thread(threading.get_ident, Scope(5.0)) for _ in range(20)}
    assert len(seen) == 1
    assert seen.isdisjoint(behind)
    release.set()
    assert ended.wait(5.0)


def test_a_thread_that_is_used_again_sees_the_context_of_its_caller_only() -> None:
    from contextvars import ContextVar

    place: ContextVar[str] = ContextVar("place", default="nowhere")

    def change() -> str:
        found = place.get()
        place.set("inside")
        return found

    assert run_in_thread(change, Scope(5.0)) == "nowhere"
    place.set("caller")
    assert run_in_thread(change, Scope(5.0)) == "caller"
    assert place.get() == "caller"


def test_side_by_side_each_has_its_own_thread() -> None:
    both = threading.Barrier(2, timeout=5.0)
    results: list[int] = []

    def one() -> None:
        results.append(run_in_thread(both.wait, Scope(5.0)))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 1]
