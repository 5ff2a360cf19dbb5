"""From a call to an observation."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.budgets import Scope
from agentlab.builtin_tools.results import read_result_tool
from agentlab.errors import Cancelled, ToolError
from agentlab.messages import ToolCall
from agentlab.observe import Outcome, finish, observe
from agentlab.policy import Limit, Policy, load_policy
from agentlab.store import Store
from agentlab.tools import Tool, toolbox
from agentlab.truncate import find_marker

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def returning(value: Any, name: str = "give", **settings: Any) -> dict[str, Tool]:
    return toolbox([Tool(name, "Give.", EMPTY, lambda: value, **settings)])


def raising(error: BaseException) -> dict[str, Tool]:
    def run() -> str:
        raise error

    return toolbox([Tool("give", "Give.", EMPTY, run)])


GIVE = ToolCall("1", "give", {})


def test_an_unknown_tool_gets_the_closest_name_else_the_list() -> None:
    box = toolbox([Tool("read_file", "Read.", EMPTY, print), Tool("now", "Now.", EMPTY, print)])
    assert "Did you mean 'read_file'?" in observe(ToolCall("1", "read_fil", {}), box).text
    far = observe(ToolCall("1", "xyzzy", {}), box)
    assert far.is_error
    assert "now, read_file" in far.text
    assert "Did you mean" not in far.text


def test_an_exception_is_class_and_message_without_stack_or_path() -> None:
    seen = observe(GIVE, raising(RuntimeError("boom\nsecond line")))
    assert seen.text == "Error: RuntimeError: boom\nsecond line"
    assert seen.is_error
    assert observe(GIVE, raising(ToolError("no such file 'a': did you mean 'b'?"))).text.startswith(
        "Error: ToolError: no such"
    )
    syntax = observe(GIVE, raising(SyntaxError("invalid syntax", ("/secret/place.py", 3, 1, "x ==", 3, 2))))
    assert syntax.text.startswith("Error: SyntaxError: invalid syntax")
    assert "/secret" not in syntax.text
    noted = RuntimeError("boom")
    noted.add_note("try again")
    assert "try again" in observe(GIVE, raising(noted)).text


def test_a_tool_that_exits_is_an_error_and_ctrl_c_is_not() -> None:
    assert observe(GIVE, raising(SystemExit(3))).text == "Error: SystemExit: 3"
    with pytest.raises(KeyboardInterrupt):
        observe(GIVE, raising(KeyboardInterrupt()))


def test_pitfall_04_reading_back_is_never_stored_again_and_pages_within_its_limit() -> None:
    store = Store()
    text = "\n".join(f"line {n}" for n in range(5_000))
    box = toolbox([Tool("give", "Give.", EMPTY, lambda: text), read_result_tool(store, max_chars=1_000)])
    first = observe(GIVE, box, store=store)
    assert first.store_id is not None
    assert len(store) == 1
    note = find_marker(first.text)
    assert note is not None
    assert note.ref == first.store_id
    read, start = "", 0
    while start < len(text):
        page = observe(ToolCall("2", "read_result", {"id": first.store_id, "start": start}), box, store=store)
        assert len(page.text) <= 1_000
        assert page.store_id is None
        body, _, tail = page.text.rpartition("\n[characters ")
        body = body if tail.endswith("goes on]") else page.text
        read += body
        start += len(body)
    assert read == text
    assert len(store) == 1


def test_read_result_counts_lines_and_says_when_an_id_is_unknown() -> None:
    store = Store()
    key = store.put("alpha\nbeta\ngamma\n")
    box = toolbox([read_result_tool(store)])
    assert observe(ToolCall("1", "read_result", {"id": key, "start": 2, "end": 2, "by": "lines"}), box).text == "beta\n"
    wrong = observe(ToolCall("1", "read_result", {"id": key[:-1] + "x"}), box)
    assert wrong.is_error
    assert f"did you mean '{key}'" in wrong.text
    assert (
        "has the lines 1 to 3"
        in observe(ToolCall("1", "read_result", {"id": key, "start": 9, "by": "lines"}), box).text
    )


def test_the_range_in_the_note_reads_back_just_what_is_missing() -> None:
    store = Store()
    text = "".join(f"{n:05d}\n" for n in range(4_000))
    box = toolbox([Tool("give", "Give.", EMPTY, lambda: text), read_result_tool(store, max_chars=50_000)])
    seen = observe(GIVE, box, store=store)
    note = find_marker(seen.text)
    assert note is not None
    assert note.missing is not None
    start, end = note.missing
    missing = observe(ToolCall("2", "read_result", {"id": note.ref, "start": start, "end": end}), box).text
    head, tail = text[:start], text[end:]
    assert head + missing + tail == text
    assert len(missing) == note.omitted_chars
    assert seen.text.startswith(head)
    assert seen.text.endswith(tail)


def test_no_note_on_reading_back_where_there_is_no_tool_for_it() -> None:
    seen = observe(GIVE, returning("x" * 9_000), store=Store())
    assert seen.store_id is not None
    assert "read_result" not in seen.text


@given(
    st.lists(st.integers(0, 3_000), min_size=1, max_size=6),
    st.integers(0, 4_000),
    st.sampled_from(["characters", "bytes"]),
)
def test_pitfall_05_the_results_of_one_iteration_stay_within_their_common_limit(
    sizes: list[int], together: int, unit: Any
) -> None:
    box = returning("")
    calls = [GIVE] * len(sizes)
    outcomes = [Outcome("x" * size) for size in sizes]
    policy = Policy(default=Limit(2_000), per_iteration=Limit(together, unit))
    seen = finish(calls, outcomes, box, policy=policy)
    alone = finish(calls, outcomes, box, policy=Policy(default=Limit(2_000)))
    shown = [0 if o.text.startswith("(nothing shown: the limit is 0") else len(o.text) for o in seen]
    assert sum(shown) <= together
    if sum(len(o.text) for o in alone) <= together:
        assert seen == alone


def test_pitfall_05_small_results_stay_whole_beside_a_large_one() -> None:
    outcomes = [Outcome("a" * 100), Outcome("b" * 80_000), Outcome("c" * 200)]
    policy = Policy(default=Limit(80_000), per_iteration=Limit(10_000))
    seen = finish([GIVE] * 3, outcomes, returning(""), policy=policy)
    assert [len(o.text) for o in seen] == [100, 9_700, 200]


def test_pitfall_20_a_limit_that_leaves_nothing_is_said() -> None:
    for limit in (Limit(0), Limit(0, "tokens"), Limit(0, "lines"), Limit(1, "bytes")):
        seen = observe(GIVE, returning("\u00e9" * 100), policy=Policy(default=limit))
        assert seen.text == f"(nothing shown: the limit is {limit.value} {limit.unit})"


def test_what_json_refuses_is_shown_all_the_same() -> None:
    import numpy as np

    circular: list[Any] = []
    circular.append(circular)
    assert "caf" in observe(GIVE, returning({"name": "caf\udce9"})).text
    assert not observe(GIVE, returning(circular)).is_error
    assert observe(GIVE, returning({"a": np.int64(3), "b": np.arange(2)})).text == '{"a":3,"b":[0,1]}'
    assert observe(GIVE, returning(iter(["one ", "two"]))).text == "one two"
    assert observe(GIVE, returning(b"raw \xff")).text == "raw \ufffd"


def test_an_error_that_cannot_say_what_it_is_is_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert observe(GIVE, raising(Mute())).text.startswith("Error: Mute")
    assert observe(GIVE, raising(SyntaxError("bad", ("f", 1, 1, 7)))).text.startswith("Error: SyntaxError")  # type: ignore[arg-type]


def test_a_scope_of_the_tools_own_is_an_error_of_the_tool() -> None:
    def run(scope: Any) -> str:
        Scope(0).check()
        return "never"

    box = toolbox([Tool("give", "Give.", EMPTY, run)])
    assert observe(GIVE, box, scope=Scope(60)).text.startswith("Error: DeadlineExceeded")


def test_secrets_of_the_environment_reach_no_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentlab.providers import masking

    monkeypatch.setenv("MY_SERVICE_TOKEN", "hunter2-hunter2")
    masking.refresh()
    store = Store()
    seen = observe(GIVE, returning("TOKEN=hunter2-hunter2\n" + "x" * 9_000), store=store)
    assert "hunter2" not in seen.text
    assert "hunter2" not in store.get(seen.store_id or "")
    assert "hunter2" not in observe(GIVE, raising(RuntimeError("401 for hunter2-hunter2"))).text


def test_pages_of_stored_results_are_not_cut_by_the_default_of_a_policy() -> None:
    store = Store()
    key = store.put("x" * 9_000)
    box = toolbox([read_result_tool(store, max_chars=2_000)])
    seen = observe(ToolCall("1", "read_result", {"id": key}), box, policy=Policy(default=Limit(500)))
    assert "goes on" in seen.text
    assert len(seen.text) <= 2_000


def test_side_by_side_calls_see_the_callers_context_variables() -> None:
    from contextvars import ContextVar

    from agentlab.observe import run_side_by_side

    who: ContextVar[str] = ContextVar("who", default="nobody")
    who.set("me")
    box = toolbox([Tool("give", "Give.", EMPTY, who.get)])
    outcomes: list[Any] = [None, None]
    run_side_by_side([GIVE, GIVE], box, None, outcomes)
    assert [o.result for o in outcomes] == ["me", "me"]


def test_pitfall_06_two_big_results_under_one_call_id_are_both_read_back() -> None:
    store = Store()
    keys = [observe(GIVE, returning(letter * 9_000), store=store).store_id for letter in "ab"]
    assert [store.get(key)[0] for key in keys if key] == ["a", "b"]


def test_pitfall_07_success_that_begins_with_error_is_no_failure() -> None:
    assert not observe(GIVE, returning("Error: 0 found")).is_error


def test_pitfall_14a_an_error_has_its_own_limit_and_keeps_the_exception_line() -> None:
    box = {"give": Tool("give", "Give.", {**EMPTY, "additionalProperties": False}, print, max_observation_chars=50)}
    wrong = observe(ToolCall("1", "give", {"texts": "a b c"}), box)
    assert wrong.is_error
    assert len(wrong.text) > 50
    assert "no field 'texts'" in wrong.text
    long = observe(GIVE, raising(ValueError("the reason " + "x" * 9_000)))
    assert len(long.text) == 2_000
    assert long.text.startswith("Error: ValueError: the reason")


def test_limits_by_name_then_default_then_the_tools_own() -> None:
    box = returning("x" * 10_000, max_observation_chars=300)
    assert len(observe(GIVE, box).text) == 300
    assert len(observe(GIVE, box, policy=Policy(default=Limit(500))).text) == 500
    assert len(observe(GIVE, box, policy=Policy(default=Limit(500), limits={"give": Limit(700)})).text) == 700
    tail = observe(GIVE, returning("a" * 5_000 + "END"), policy=Policy(default=Limit(500, strategy="head_cut")))
    assert tail.text.endswith("END")


def test_a_result_over_store_over_is_stored_and_shown_by_its_preview() -> None:
    store = Store()
    policy = Policy(default=Limit(16_000), store_over=5_000, preview=Limit(1_200, strategy="tail_cut"))
    seen = observe(GIVE, returning("y" * 6_000), policy=policy, store=store)
    assert len(seen.text) == 1_200
    assert store.get(seen.store_id or "") == "y" * 6_000
    assert observe(GIVE, returning("y" * 4_000), policy=policy, store=store).store_id is None


def test_keep_fields_drops_the_others_and_leaves_valid_json() -> None:
    rows = [{"id": n, "name": "n", "blob": "z" * 100} for n in range(3)]
    seen = observe(GIVE, returning(rows, keep_fields=("id", "name")))
    import json

    assert json.loads(seen.text) == [{"id": n, "name": "n"} for n in range(3)]


def test_a_tool_over_its_time_is_given_up_and_named() -> None:
    release = threading.Event()
    box = toolbox([Tool("give", "Give.", EMPTY, lambda: release.wait(5), timeout=0.05)])
    seen = observe(GIVE, box)
    release.set()
    assert seen.is_error
    assert seen.text.startswith("Error: TimeoutError: give had no result after 0.05 s")


def test_a_scope_reaches_the_tool_and_its_end_is_raised() -> None:
    given_scopes: list[Any] = []

    def run(scope: Any) -> str:
        given_scopes.append(scope)
        return "ok"

    box = toolbox([Tool("give", "Give.", EMPTY, run)])
    observe(GIVE, box)
    scope = Scope()
    observe(GIVE, box, scope=scope)
    assert given_scopes[0] is None
    assert isinstance(given_scopes[1], Scope)
    scope.cancel("enough")
    with pytest.raises(Cancelled):
        observe(GIVE, box, scope=scope)


def test_a_policy_file_says_where_it_is_wrong(tmp_path: Any) -> None:
    from agentlab.errors import InputError

    path = tmp_path / "p.json"
    path.write_text('{"name": "mine", "limits": {"grep": {"value": 100, "unit": "tokens"}}}')
    assert load_policy(path).limits["grep"] == Limit(100, "tokens")
    for text, field in [
        ('{"limits": {"a": {"value": "x"}}}', "limits"),
        ('{"defualt": {}}', "defualt"),
        ("{", "not JSON"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=field) as caught:
            load_policy(path)
        assert str(caught.value).startswith(str(path))
    path.write_text('{"default": {"value": 3, "strategy": "snip"}}')
    with pytest.raises(InputError, match="middle_snip"):
        load_policy(path)
