"""Sessions of model calls, recorded and answered from the record."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.budgets import Scope
from agentlab.errors import (
    Cancelled,
    CassetteMiss,
    ContextWindowError,
    InputError,
    ProviderError,
    SinkError,
    TransportError,
)
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.replay import Recorder, Replay, without_times
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel, call, say

TOOL = SimpleNamespace(name="now", description="Tell the time.", parameters={"type": "object", "properties": {}})


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def ask(provider, messages, *, system="be brief", tools=(TOOL,), **options):
    return provider.call(messages, system=system, tools=tools, **options)


def talk(provider, prompts, **options):
    """A session: each prompt, the replies kept."""
    messages, replies = [], []
    for prompt in prompts:
        messages.append(user(prompt))
        replies.append(ask(provider, messages, **options))
        messages.append(assistant(replies[-1].text))
    return replies


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


# What was recorded comes back

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
tool_calls = st.builds(ToolCall, st.text(), st.text(), st.dictionaries(st.text(), values, max_size=3) | st.text())
usages = st.none() | st.builds(Usage, *[st.integers(0, 10**6)] * 4, exact=st.booleans())
replies = st.builds(
    Reply,
    text=st.text(),
    tool_calls=st.lists(tool_calls, max_size=3).map(tuple),
    usage=usages,
    stop_reason=st.sampled_from([None, "end_turn", "tool_use", "max_tokens"]),
    model=st.just("m"),
)


@settings(max_examples=30, deadline=None)
@given(
    script=st.lists(replies, min_size=1, max_size=5),
    prompts=st.lists(st.text(), min_size=5, max_size=5),
    size=st.integers(1, 5),
)
def test_any_session_replays_with_identical_replies_and_pieces(tmp_path_factory, script, prompts, size):
    path = tmp_path_factory.mktemp("cassette") / "c.jsonl"
    heard: tuple[list[str], list[str]] = ([], [])
    prompts = prompts[: len(script)]
    recorded = talk(Recorder(ScriptedModel(script, stream_by=size), path), prompts, on_text_delta=heard[0].append)
    replay = Replay(path)
    assert talk(replay, prompts, on_text_delta=heard[1].append) == recorded == script
    assert heard[0] == heard[1]
    assert replay.problems == ()


@pytest.mark.parametrize(
    "error",
    [
        TransportError("cut off", text="Once up", kind="reset"),
        ProviderError("slow down", status=429, kind="rate_limit_error", retry_after=2.5, transient=True),
        ContextWindowError("too large", prompt_tokens=300_000, window=200_000, status=400),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_back_as_it_was(path, error):
    pieces = []
    with pytest.raises(type(error)):
        ask(Recorder(ScriptedModel([error]), path), [user("hi")], on_text_delta=lambda piece: None)
    with pytest.raises(type(error)) as caught:
        ask(Replay(path), [user("hi")], on_text_delta=pieces.append)
    assert type(caught.value) is type(error)
    assert (str(caught.value), vars(caught.value)) == (str(error), vars(error))
    assert "".join(pieces) == error.text


def test_an_error_of_an_unknown_class_comes_back_as_a_provider_error(path):
    class Odd(TransportError):
        pass

    with pytest.raises(Odd):
        ask(Recorder(ScriptedModel([Odd("gone")]), path), [user("hi")])
    with pytest.raises(TransportError, match="gone"):
        ask(Replay(path), [user("hi")])


def test_equal_requests_are_served_in_the_order_of_their_recording(path):
    recorder = Retry(Recorder(ScriptedModel([TransportError("first"), "second", "third"]), path), base=0)
    assert [ask(recorder, [user("hi")]).text for _ in range(2)] == ["second", "third"]
    replay = Replay(path)
    with pytest.raises(TransportError, match="first"):
        ask(replay, [user("hi")])
    assert [ask(replay, [user("hi")]).text for _ in range(2)] == ["second", "third"]
    with pytest.raises(CassetteMiss, match=r"recorded 3 times \(line 2, 3, 4\) and is asked once more"):
        ask(replay, [user("hi")])
    replay.rewind()
    with pytest.raises(TransportError):
        ask(replay, [user("hi")])


def test_what_was_not_streamed_is_streamed_whole(path):
    ask(Recorder(ScriptedModel(["all of it"]), path), [user("hi")])
    pieces = []
    ask(Replay(path), [user("hi")], on_text_delta=pieces.append)
    assert pieces == ["all of it"]


def test_a_scope_ends_a_replay_before_it_and_between_pieces(path):
    ask(Recorder(ScriptedModel(["abcdef"], stream_by=2), path), [user("hi")], on_text_delta=lambda piece: None)
    scope, pieces = Scope(), []

    def hear(piece):
        pieces.append(piece)
        scope.cancel()

    replay = Replay(path)
    with pytest.raises(Cancelled):
        ask(replay, [user("hi")], on_text_delta=hear, scope=scope)
    assert pieces == ["ab"]
    with pytest.raises(Cancelled):
        ask(replay, [user("hi")], scope=scope)


# The file


def test_each_line_holds_request_and_response_and_names_what_is_there_already(path):
    talk(Recorder(ScriptedModel(["one", "two"], model="m", window=9), path), ["a", "b"], max_output_tokens=5)
    header, first, second = lines(path)
    assert header == {
        "schema": "agentlab-cassette", "version": 1, "provider": "scripted", "model": "m", "window": 9,
    }  # fmt: skip
    assert first["request"] == {
        "after": "",
        "messages": [user("a")],
        "system": "be brief",
        "tools": [{"name": "now", "description": "Tell the time.", "parameters": TOOL.parameters}],
        "tool_choice": "auto",
        "max_output_tokens": 5,
    }
    assert first["response"]["reply"]["text"] == "one"
    assert second["request"]["messages"] == [assistant("one"), user("b")]
    assert set(second["request"]["system"]) == set(second["request"]["tools"]) == {"ref"}


def test_the_file_grows_by_what_is_new(path):
    recorder = Recorder(ScriptedModel(lambda messages: "y" * 100), path)
    talk(recorder, [f"{i} " + "x" * 100 for i in range(30)])
    sizes = [len(line) for line in path.read_text().splitlines()]
    assert max(sizes[3:]) < min(sizes[3:]) * 1.1


def test_a_list_that_parts_from_an_earlier_one_repeats_no_message(path):
    recorder = Recorder(ScriptedModel(["one", "two"]), path)
    long = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    ask(recorder, long)
    view = [user("a"), assistant("instead of b"), *long[2:]]
    ask(recorder, view)
    request = lines(path)[2]["request"]
    assert request["messages"][0] == assistant("instead of b")
    assert [set(entry) for entry in request["messages"][1:]] == [{"ref"}] * 3
    replay = Replay(path)
    assert (ask(replay, view).text, ask(replay, long).text) == ("two", "one")


def test_a_recording_goes_on_in_a_file_that_is_there(path):
    talk(Recorder(ScriptedModel(["one"]), path), ["a"])
    before = path.read_bytes()
    ask(Recorder(ScriptedModel(["two"]), path), [user("a"), assistant("one"), user("b")])
    assert path.read_bytes().startswith(before)
    assert len(lines(path)) == 3
    assert lines(path)[2]["request"]["messages"] == [assistant("one"), user("b")]
    assert [reply.text for reply in talk(Replay(path), ["a", "b"])] == ["one", "two"]


def test_several_recorders_and_threads_may_share_a_file(path):
    recorders = [Recorder(ScriptedModel(lambda messages: messages[-1]["content"] + "!"), path) for _ in range(2)]

    def work(recorder, name):
        talk(recorder, [f"{name}{i}" for i in range(10)])

    threads = [threading.Thread(target=work, args=(recorders[i % 2], f"t{i}-")) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replay = Replay(path)
    for i in range(4):
        assert [r.text for r in talk(replay, [f"t{i}-{n}" for n in range(10)])] == [f"t{i}-{n}!" for n in range(10)]


def test_another_models_cassette_is_not_mixed(path):
    Recorder(ScriptedModel([], model="one"), path)
    with pytest.raises(InputError, match="holds calls of scripted one, expected scripted two; record to another file"):
        Recorder(ScriptedModel([], model="two"), path)


def test_a_call_that_did_not_end_is_not_written(path):
    recorder = Recorder(ScriptedModel([KeyboardInterrupt(), "after"]), path)
    with pytest.raises(KeyboardInterrupt):
        ask(recorder, [user("hi")])
    ask(recorder, [user("hi")])
    assert len(lines(path)) == 2


def test_a_line_that_cannot_be_written_is_said_and_later_lines_do_not_count_on_it(path):
    recorder = Recorder(ScriptedModel(["one", "two"]), path)
    recorder.path = path.parent / "nowhere" / "c.jsonl"
    with pytest.raises(SinkError, match="could not be written") as caught:
        ask(recorder, [user("hi")])
    assert isinstance(caught.value.__cause__, OSError)
    recorder.path = path
    ask(recorder, [user("hi")])
    assert ask(Replay(path), [user("hi")]).text == "two"


def test_secrets_are_written_nowhere_and_the_session_still_replays(path, monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "hunter2-hunter2")
    secret, key = "hunter2-hunter2", "sk-ant-REDACTME-0123456789"
    script = [
        say(f"the key is {key}", call("send", token=secret, nested=[{secret: key}])),
        TransportError(f"refused {key}", text=f"so {secret}"),
    ]
    messages = [user(f"use {key}"), {"role": "tool", "content": "ok", "tool_call_id": secret}]
    recorder = Recorder(ScriptedModel(script, stream_by=3), path)
    ask(recorder, messages, system=f"S {secret}", on_text_delta=lambda piece: None)
    with pytest.raises(TransportError):
        ask(recorder, messages, system=f"S {secret}", on_text_delta=lambda piece: None)
    text = path.read_text()
    assert "hunter2" not in text
    assert "REDACTME" not in text
    # Pieces of three characters hide a key from a search of the file: they are written as one.
    assert all(len(line["response"]["deltas"]) == 1 for line in lines(path)[1:])
    assert ask(Replay(path), messages, system=f"S {secret}").text == "the key is [key]"


def test_text_that_is_not_valid_unicode_is_recorded(path):
    messages = [user("a \udc80 b")]
    ask(Recorder(ScriptedModel(["x\ud800y"], stream_by=1), path), messages, on_text_delta=lambda piece: None)
    assert ask(Replay(path), messages).text == "x\\ud800y"


# A miss


def miss(replay, messages, **options):
    with pytest.raises(CassetteMiss) as caught:
        ask(replay, messages, **options)
    assert "\n" not in str(caught.value)
    assert not caught.value.transient
    return str(caught.value)


@pytest.fixture
def replay(path):
    recorder = Recorder(ScriptedModel(["one", "two"]), path)
    talk(recorder, ["please read the file a.txt and count its words", "and now b.txt"])
    return Replay(path)


FIRST = user("please read the file a.txt and count its words")


def test_a_miss_names_the_nearest_call_the_message_the_field_and_both_sides(replay, path):
    text = miss(replay, [FIRST, assistant("one"), user("and now c.txt")])
    assert text.startswith(f"{path}: no recorded call has this request of 3 messages. Nearest is call 2 (line 3): ")
    assert (
        "messages[2] (user) differs in content at character 8: recorded 'and now b.txt', asked 'and now c.txt'" in text
    )


def test_long_sides_are_clipped_around_the_first_difference(path):
    ask(Recorder(ScriptedModel(["one"]), path), [user("x" * 500 + "A" + "y" * 500)])
    text = miss(Replay(path), [user("x" * 500 + "B" + "y" * 500)])
    assert "at character 500" in text
    assert f"recorded …'{'x' * 20}A{'y' * 39}'…, asked …'{'x' * 20}B{'y' * 39}'…" in text


def test_a_miss_of_role_length_system_tools_and_choice_is_told_apart(replay):
    assert "messages[0] differs in role at character 0: recorded 'user', asked 'assistant'" in miss(
        replay, [assistant(FIRST["content"])]
    )
    assert "it goes on with messages[2], which is not asked (user): 'and now b.txt'" in miss(
        replay, [FIRST, assistant("one")]
    )
    assert "it ends before messages[3], which is asked (user): 'more'" in miss(
        replay, [FIRST, assistant("one"), user("and now b.txt"), user("more")]
    )
    assert "system prompt differs at character 3: recorded 'be brief', asked 'be long'" in miss(
        replay, [FIRST], system="be long"
    )
    assert "the tools differ at character 0: recorded 'now', asked ''" in miss(replay, [FIRST], tools=())
    other = SimpleNamespace(name="now", description="Tell the date.", parameters=TOOL.parameters)
    assert "the tool now differs in description at character 9" in miss(replay, [FIRST], tools=(other,))
    assert "tool_choice: recorded 'auto', asked 'none'" in miss(replay, [FIRST], tool_choice="none")
    assert "differs in is_error: recorded nothing, asked 'true'" in miss(replay, [{**FIRST, "is_error": True}])


def test_among_equally_long_agreements_the_most_similar_message_wins(path):
    recorder = Recorder(ScriptedModel(["1", "2", "3"]), path)
    for text in ("count the words", "read the file notes.txt", "what time is it"):
        ask(recorder, [user(text)])
    assert "Nearest is call 2 (line 3)" in miss(Replay(path), [user("read the file other.txt")])


def test_a_cassette_without_calls_says_so(path):
    Recorder(ScriptedModel([]), path)
    assert "no call was recorded" in miss(Replay(path), [user("hi")])


def test_a_miss_in_a_long_session_is_found_quickly(path):
    recorder = Recorder(ScriptedModel(lambda messages: "ok"), path)
    talk(recorder, [str(i) for i in range(150)])
    messages = [m for i in range(140) for m in (user(str(i)), assistant("ok"))]
    assert "Nearest is call 141 (line 142): messages[280] (user) differs in content" in miss(
        Replay(path), [*messages, user("else")]
    )


# What does not count


def at(time):
    return [user("what time is it?"), {"role": "tool", "content": f"It is {time}.", "tool_call_id": "call_0"}]


def test_everything_counts_unless_it_is_said_otherwise(path):
    ask(Recorder(ScriptedModel(["noon"]), path), at("2026-03-01T12:00:00Z"))
    miss(Replay(path), at("2027-05-05T08:30:00Z"))
    replay = Replay(path, ignore=without_times)
    assert ask(replay, at("2027-05-05T08:30:00Z")).text == "noon"
    assert "recorded 'It is <time>.', asked 'It was <time>.'" in miss(
        replay, [at("")[0], {**at("")[1], "content": "It was 2027-05-05."}]
    )


def test_what_is_recorded_twice_apart_from_what_is_ignored_is_served_in_order(path):
    recorder = Recorder(ScriptedModel(["first", "second"]), path)
    ask(recorder, at("10:00:00"))
    ask(recorder, at("11:00:00"))
    replay = Replay(path, ignore=without_times)
    assert [ask(replay, at("23:59:59")).text for _ in range(2)] == ["first", "second"]


def test_the_order_of_keys_does_not_count_and_the_output_limit_does_not(path):
    ask(Recorder(ScriptedModel(["one"]), path), [{"role": "user", "content": "hi"}], max_output_tokens=5)
    assert ask(Replay(path), [{"content": "hi", "role": "user"}], max_output_tokens=50).text == "one"


# Damage


def recorded_lines(path, count=4):
    talk(Recorder(ScriptedModel([str(i) for i in range(count)]), path), [f"prompt {i}" for i in range(count)])
    return path.read_bytes().splitlines(keepends=True)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_wherever_the_last_write_was_cut_off_the_rest_replays_and_recording_goes_on(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cassette") / "c.jsonl"
    kept = recorded_lines(path)
    cut = data.draw(st.integers(1, len(kept[-1]) - 2))
    path.write_bytes(b"".join(kept[:-1]) + kept[-1][:cut])
    replay = Replay(path)
    assert replay.problems == (f"{path}:5: skipped: the write of this line was cut off",)
    assert [r.text for r in talk(replay, ["prompt 0", "prompt 1", "prompt 2"])] == ["0", "1", "2"]

    messages = [m for i in range(3) for m in (user(f"prompt {i}"), assistant(str(i)))] + [user("prompt 3")]
    ask(Recorder(ScriptedModel(["again"]), path), messages)
    replay = Replay(path)
    assert len(replay.problems) == 1
    assert ask(replay, messages).text == "again"


@pytest.mark.parametrize("number", [b"-", b"-1.", b"-1.5e", b"-1.5e-", b"-1.5e-7"])
def test_a_write_that_was_cut_within_a_number_is_told_from_damage(path, number):
    ask(Recorder(ScriptedModel([call("f", n=-1.5e-7)]), path), [user("hi")])
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"-1.5e-7")] + number)
    ask(Recorder(ScriptedModel(["again"]), path), [user("hi")])
    assert ask(Replay(path), [user("hi")]).text == "again"


def test_a_last_line_that_only_lacks_its_end_is_read(path):
    recorded_lines(path)
    path.write_bytes(path.read_bytes()[:-1])
    replay = Replay(path)
    assert (len(replay.calls), replay.problems) == (4, ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"request": nonsense}', "damaged"),
        (b'{"request": {}, "response": {}}', "damaged"),
        (b"[1, 2]", "damaged"),
        (b'{"a": "\xff"}', "damaged"),
    ],
)
def test_a_damaged_line_is_reported_by_file_and_line(path, line, said):
    kept = recorded_lines(path)
    path.write_bytes(b"".join([*kept[:2], line + b"\n", *kept[2:]]))
    with pytest.raises(InputError, match=said) as caught:
        Replay(path)
    assert (caught.value.path, caught.value.line) == (path, 3)


def test_a_lost_line_is_noticed_where_it_is_missed(path):
    kept = recorded_lines(path)
    path.write_bytes(b"".join(kept[:2] + kept[3:]))
    with pytest.raises(InputError, match=r"session\.jsonl:3: request\.after: names something that no earlier line"):
        Replay(path)
    del kept[1]
    path.write_bytes(b"".join(kept))
    with pytest.raises(InputError, match=r"session\.jsonl:2: request\.after"):
        Recorder(ScriptedModel([]), path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no cassette"),
        (b'{"role": "user"}\n', "1: not a cassette"),
        (b"plain text\n", "1: damaged"),
        (b'{"schema":"agentlab-cassette","version":2,"provider":"p","model":null}\n', "version: expected 1, found 2"),
    ],
)
def test_what_is_no_cassette_is_refused_and_left_alone(path, content, said):
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        Replay(path)
    if content:
        with pytest.raises(InputError, match=said):
            Recorder(ScriptedModel([]), path)
        assert path.read_bytes() == content


def test_a_file_that_is_not_there_or_cannot_be_made_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read \(No such file"):
        Replay(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        Recorder(ScriptedModel([]), tmp_path / "no" / "folder.jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        Recorder(ScriptedModel([]), tmp_path)


def test_a_cut_header_is_followed_by_a_whole_one(path):
    path.write_bytes(b'{"schema":"agentlab-cas')
    ask(Recorder(ScriptedModel(["one"]), path), [user("hi")])
    replay = Replay(path)
    assert ask(replay, [user("hi")]).text == "one"
    assert len(replay.problems) == 1


def test_both_show_who_answered(path):
    recorder = Recorder(ScriptedModel([], model="m", window=7), path)
    replay = Replay(path)
    assert (recorder.name, recorder.model, recorder.window) == ("scripted", "m", 7)
    assert (replay.name, replay.model, replay.window) == ("replay", "m", 7)


def test_no_descriptor_stays_open(path):
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("needs /proc")
    before = len(list(descriptors.iterdir()))
    recorded_lines(path)
    Replay(path)
    assert len(list(descriptors.iterdir())) == before


def test_a_key_at_the_seam_of_two_texts_is_no_key(path):
    messages = [{"role": "user", "content": "Authorization: Bearer ", "name": "abcdefgh"}]
    ask(Recorder(ScriptedModel(["one"]), path), messages)
    assert lines(path)[1]["request"]["messages"] == messages
