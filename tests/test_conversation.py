"""Message lists: counted once, put right when they come in."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.conversation import Conversation, recent
from agentlab.errors import InputError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.repair import call_dict, open_calls, repaired
from agentlab.testing import check_messages


def asks(*ids: str, name: str = "echo", content: Any = "") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id: str, content: Any = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "echo", "content": content}


USER = {"role": "user", "content": "Go."}


def test_pitfall_18_a_result_that_does_not_follow_its_call_is_moved_to_it() -> None:
    messages, notes = repaired([USER, asks("x"), {"role": "user", "content": "Well?"}, result("x")])
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "user"]
    assert messages[2]["content"] == "seen"
    assert any("moved" in note for note in notes)
    check_messages(messages)


def test_pitfall_19_a_result_without_a_call_and_a_call_without_a_name_are_dropped_on_load() -> None:
    nameless = asks("y")
    nameless["tool_calls"][0]["function"]["name"] = ""
    loaded = Conversation.load([USER, result("zzz"), nameless, USER])
    assert [m["role"] for m in loaded.messages] == ["user", "assistant", "user"]
    assert any("without a call" in note for note in loaded.notes)
    assert any("without a name" in note for note in loaded.notes)
    check_messages(loaded.messages)


def test_pitfall_20_null_and_empty_texts_are_replaced_on_load() -> None:
    loaded = Conversation.load(
        [
            {"role": "user", "content": ""},
            asks("x", content=None),
            result("x", ""),
            {"role": "assistant", "content": None},
        ]
    )
    check_messages(loaded.messages)
    assert loaded.messages[2]["content"] == "(echo returned nothing)"


def test_pitfall_16_and_17_ids_are_paired_within_their_message_and_made_unique() -> None:
    history = [
        USER,
        asks("c", "c"),
        result("c", "one"),
        result("c", "two"),
        {"role": "assistant", "content": "ok"},
        USER,
        asks("c"),
        result("c", "three"),
    ]
    messages, _ = repaired(history)
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["one", "two", "three"]
    check_messages(messages)


def test_pitfall_15_a_missing_result_says_interrupted() -> None:
    messages, notes = repaired([USER, asks("x", "y"), result("y")])
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == ["x", "y"]
    assert "interrupted" in messages[2]["content"]
    assert len(notes) == 1


def test_pitfall_24_a_window_begins_at_a_user_message() -> None:
    history = [
        USER,
        asks("x"),
        result("x"),
        {"role": "assistant", "content": "ok"},
        USER,
        asks("y"),
        result("y"),
        {"role": "assistant", "content": "ok"},
    ]
    for keep in range(10):
        window = recent(history, keep)
        assert len(window) <= keep
        assert not window or window[0] is USER
        check_messages(window)
    assert recent(history, 7) == history[4:]
    noted = [USER, {"role": "user", "content": "again", "origin": "loop"}, {"role": "assistant", "content": "ok"}]
    assert recent(noted, 2) == []


def test_a_system_message_becomes_the_system_prompt() -> None:
    loaded = Conversation.load([{"role": "system", "content": "Be brief."}, USER])
    assert loaded.system == "Be brief."
    assert loaded.messages == [USER]


def test_a_path_that_is_not_there_is_one_line(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        Conversation.load(tmp_path / "nothing")


@pytest.mark.parametrize("calls", [5, "calls", {"id": "x"}, True, 1.5])
def test_calls_that_are_no_list_are_dropped_and_said(calls: Any) -> None:
    broken = {"role": "assistant", "content": "", "tool_calls": calls}
    loaded = Conversation.load([USER, broken, asks("x"), broken, result("x")])
    check_messages(loaded.messages)
    assert [m["content"] for m in loaded.messages if m["role"] == "tool"] == ["seen"]
    assert sum("tool_calls dropped, expected a list" in note for note in loaded.notes) == 2


def test_calls_of_a_user_message_are_dropped_and_said() -> None:
    loaded = Conversation.load([asks("x", content="Go.") | {"role": "user"}, {"role": "assistant", "content": "ok"}])
    check_messages(loaded.messages)
    assert loaded.notes == ["message 0: tool_calls dropped, a user message makes no calls"]


@pytest.mark.parametrize("first", [5, None, "text", ["a"], {"content": "x"}, {"role": ["user"], "content": "x"}])
def test_a_list_whose_first_element_is_no_message_is_read_without_it(first: Any) -> None:
    loaded = Conversation.load([first, USER])
    assert loaded.messages == [USER]
    assert loaded.notes[0].startswith("message 0: dropped")


def circular() -> dict[str, Any]:
    value: dict[str, Any] = {"path": "a.txt"}
    value["again"] = value
    return value


@pytest.mark.parametrize(
    "arguments",
    [{"a": object()}, circular(), {"a": {(1, 2): 3}}, {"a": 10**30}, {"a": "\ud800", "b": object()}, {"a": {1, 2}}],
    ids=["object", "circular", "tuple as key", "large", "surrogate", "set"],
)
def test_a_call_becomes_json_text_whatever_its_arguments_hold(arguments: Any) -> None:
    text = call_dict(ToolCall("1", "echo", arguments))["function"]["arguments"]
    assert json.loads(text)
    assert text.encode()
    loaded = Conversation.load(
        [USER, asks("x") | {"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}]
    )
    check_messages(loaded.messages)


def test_what_json_lacks_stands_in_a_call_as_its_text() -> None:
    call = call_dict(ToolCall("1", "echo", {"path": PurePosixPath("a/b.txt"), "n": 1}))
    assert json.loads(call["function"]["arguments"]) == {"path": "a/b.txt", "n": 1}


blocks = st.one_of(
    st.just(USER),
    st.builds(
        lambda ids, text: asks(*ids, content=text),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
        st.sampled_from(["", None, "hm"]),
    ),
    st.builds(result, st.sampled_from("abcd"), st.sampled_from(["", "seen", None, [{"type": "text", "text": "part"}]])),
    st.builds(lambda text: {"role": "assistant", "content": text}, st.sampled_from(["", None, "ok"])),
    st.sampled_from(
        [{"role": "developer", "content": "x"}, {"content": "x"}, "text", None, {"role": "tool", "content": "y"}]
    ),
)


@given(st.lists(blocks, max_size=12))
def test_any_list_is_put_right_once_and_keeps_every_result_that_has_a_call(history: list[Any]) -> None:
    messages, _ = repaired(history)
    check_messages(messages)
    again, notes = repaired(messages)
    assert again == messages
    assert notes == []


@given(st.lists(blocks, max_size=12))
def test_a_valid_list_is_left_as_it_is(history: list[Any]) -> None:
    messages, _ = repaired(history)
    before = [dict(m) for m in messages]
    assert not open_calls(messages)
    assert Conversation(messages).close() == []
    assert messages == before


class Spy(dict):  # type: ignore[type-arg]
    reads = 0

    def __getitem__(self, key: str) -> Any:
        if key == "content":
            Spy.reads += 1
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        if key == "content":
            Spy.reads += 1
        return super().get(key, default)


def test_the_running_count_never_reads_an_old_message_again() -> None:
    talk = Conversation(system="Be brief.")
    Spy.reads = 0
    for n in range(50):
        talk.append(Spy(role="user", content=f"message {n}"))
        assert talk.count.total.n > 0
    assert Spy.reads <= 50 * 2


def test_usage_of_the_provider_replaces_the_estimate() -> None:
    talk = Conversation(system="Be brief.")
    talk.append({"role": "user", "content": "x" * 400})
    assert not talk.count.total.exact
    talk.append({"role": "assistant", "content": "ok"}, Usage(1_000, 5))
    assert (talk.count.total.n, talk.count.total.exact) == (1_005, True)
    talk.append({"role": "user", "content": "x" * 400})
    assert talk.count.total.n == pytest.approx(1_105, abs=10)
    assert not talk.count.total.exact
    assert talk.last_tokens < 120


def test_usage_is_estimated_where_a_provider_reports_none() -> None:
    talk = Conversation(system="Be brief.")
    talk.append({"role": "user", "content": "x" * 400})
    usage = talk.estimate_usage(Reply("y" * 40))
    assert not usage.exact
    assert usage.output_tokens == 10
    assert 100 < usage.prompt_tokens < 120
