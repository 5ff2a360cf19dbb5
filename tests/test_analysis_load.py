"""Reading session logs: every format, and every kind of damage."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from analysis_sessions import SYSTEM, asks, record, result, says, tool, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from agentlab.analysis import calls_frame, curve, grains, load, read_messages
from agentlab.analysis.importers.peek import whole_items
from agentlab.errors import InputError
from agentlab.messages import Reply, Usage
from agentlab.providers.scripted import call, say

TALK = [user("Hi"), asks(("now", {})), result("15:40"), says("It is 15:40."), user("Thanks"), says("Welcome.")]
TAU = Path(__file__).parents[1] / "../shared/data/sessions/tau-bench/gpt-4o-airline.json"


def write(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def jsonl(values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(TALK),
        json.dumps(TALK, indent=2),
        json.dumps({"messages": TALK}),
        json.dumps({"messages": TALK}, indent=2),
        jsonl(TALK),
        jsonl([{"messages": TALK}]),
        "\ufeff" + json.dumps(TALK),
        json.dumps([{"messages": TALK}]),
    ],
    ids=["list", "indented list", "object", "indented object", "lines", "line of object", "bom", "list of objects"],
)
def test_a_list_of_messages_is_read_in_every_wrapping(tmp_path, text):
    (session,), problems = load(write(tmp_path / "talk.json", text))
    assert problems == []
    assert session.format == "chat"
    assert session.id == "talk"
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [(r.turn, r.iteration) for r in session.records] == [(1, 0), (1, 1), (1, 1), (1, 2), (2, 0), (2, 1)]
    assert [(c.turn, c.iteration, c.start, c.stop, c.reply) for c in session.calls] == [
        (1, 1, 0, 1, 1),
        (1, 2, 0, 3, 3),
        (2, 1, 0, 5, 5),
    ]
    assert session.records[1].text == ""
    assert session.records[2].message["name"] == "now"  # the result had none: it is the call's


def test_a_system_message_in_front_is_the_sessions_and_one_in_between_stays_where_it_is(tmp_path):
    messages = [
        {"role": "system", "content": "Be brief."},
        *TALK[:4],
        {"role": "developer", "content": "Now in French."},
    ]
    (session,), problems = load(write(tmp_path / "a.json", messages))
    assert (session.system, problems) == ("Be brief.", [])
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant", "system"]
    assert list(curve(session)["calls"]) == [2]


def test_parts_are_joined_and_a_part_without_text_is_reported(tmp_path):
    parts = [{"type": "text", "text": "What is"}, {"type": "input_audio", "input_audio": {"data": "AA"}}, "this?"]
    (session,), problems = load(write(tmp_path / "a.json", [user("x") | {"content": parts}, says("A cat.")]))
    assert session.records[0].text == "What is\nthis?"
    assert [p.reason for p in problems] == ["[0]: content: a part of type 'input_audio' has no text and counts nothing"]


def picture(width: int, height: int) -> dict:
    data = BytesIO()
    Image.new("RGB", (width, height)).save(data, "PNG")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(data.getvalue()).decode()}"}}


def test_images_count_by_their_size_and_not_by_their_characters(tmp_path):
    parts = [{"type": "text", "text": "What is this?"}, picture(1024, 1024), picture(300, 200)]
    unknown = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    talk = [user("x") | {"content": parts}, says("A cat."), user("x") | {"content": [unknown] * 2}, says("A dog.")]
    (session,), problems = load(write(tmp_path / "a.json", {"model": "gpt-4o", "messages": talk}))
    assert [r.image_tokens for r in session.records] == [765 + 255, 0, 765 * 2, 0]
    assert session.records[0].text == "What is this?"
    assert [p.reason for p in problems] == [
        "messages[2]: an image's size is not known (it is not in the log): such images count as 765 tokens"
    ]
    assert 1_020 < curve(session)["turn_tokens"].iloc[0] < 1_060


def test_a_result_without_a_call_and_a_call_without_a_result_are_problems(tmp_path):
    talk = [
        user("Hi"),
        asks(("now", {}), ("look", {})),
        result("15:40"),
        result("x", 7),
        says("Done."),
        asks(("now", {})),
    ]
    (session,), problems = load(write(tmp_path / "a.json", talk))
    assert [p.reason for p in problems] == [
        "[3]: tool_call_id 'call_7': no call before it waits for a result",
        "[1]: tool_calls: the call 'call_1' of 'look' has no result",
    ]  # the last call waits for nothing: the run ended there
    assert len(session.records) == len(talk)


def test_an_id_that_comes_again_after_its_result_is_no_problem(tmp_path):
    once = [asks(("now", {})), result("15:40")]
    assert load(write(tmp_path / "a.json", [user("Hi"), *once, *once, says("Done.")]))[1] == []
    _, (problem,) = load(write(tmp_path / "a.json", [user("Hi"), *once, result("15:41"), says("Done.")]))
    assert problem.reason.startswith("[3]: tool_call_id 'call_0'")


def test_items_of_the_responses_api_are_named(tmp_path):
    item = {"type": "function_call", "call_id": "c", "name": "now", "arguments": "{}"}
    _, (problem,) = load(write(tmp_path / "a.json", [user("Hi"), item, says("15:40.")]))
    assert problem.reason.endswith(
        "found an item 'function_call' of OpenAI's Responses, which this reader does not know"
    )


def pair(messages, reply, prompt=0, **request):
    usage = {"prompt_tokens": prompt, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}}
    choice = {"index": 0, "message": reply, "finish_reason": "stop"}
    response = {"object": "chat.completion", "model": "gpt-x", "created": 1_760_000_000, "choices": [choice]}
    return {"request": {"messages": messages, **request}, "response": {**response, "usage": usage}}


@pytest.mark.parametrize("wrap", [jsonl, json.dumps], ids=["lines", "list"])
def test_recorded_calls_that_go_on_are_one_session_with_what_each_was_sent(tmp_path, wrap):
    system = {"role": "system", "content": "Be brief."}
    talk = [user("Hi"), asks(("now", {})), result("15:40"), says("It is 15:40.")]
    tools = [{"type": "function", "function": {"name": "now", "parameters": {}}}]
    first, second = pair([system, *talk[:1]], talk[1], 50, tools=tools), pair([system, *talk[:3]], talk[3], 80)
    other = pair([system, user("Something else")], says("Yes."), 40)
    sessions, problems = load(write(tmp_path / "calls.jsonl", wrap([first, second, {"x": 1}, other])))
    assert [p.reason.rsplit(": ", 1)[-1] for p in problems] == ["expected an object with a request and its response"]
    assert [(s.format, s.id, len(s.calls)) for s in sessions] == [
        ("completions", "calls#1", 2),
        ("completions", "calls#2", 1),
    ]
    session = sessions[0]
    assert (session.system, session.model, len(session.tools)) == ("Be brief.", "gpt-x", 1)
    assert [r.role for r in session.records] == ["user", "assistant", "tool", "assistant"]
    assert [(c.turn, c.iteration, c.stop, c.usage) for c in session.calls] == [
        (1, 1, 1, Usage(40, 5, 10)),
        (1, 2, 3, Usage(70, 5, 10)),
    ]
    assert session.replaced == ()


def test_a_recorded_call_that_was_sent_less_says_so(tmp_path):
    talk = [user("Hi"), says("Hello."), user("Bye")]
    calls = [pair(talk[:1], talk[1], 10), pair([talk[0], talk[2]], says("Bye."), 10)]
    (session,), problems = load(write(tmp_path / "calls.jsonl", jsonl(calls)))
    assert problems == []
    assert [(each.call, each.index, each.text) for each in session.replaced] == [(1, 1, None)]


def test_images_of_recorded_calls_count_by_their_size(tmp_path):
    asks_of_it = user("x") | {"content": [picture(300, 200), {"type": "text", "text": "What is this?"}]}
    (session,), problems = load(write(tmp_path / "calls.json", pair([asks_of_it], says("A cat."), 300)))
    assert ([r.image_tokens for r in session.records], problems) == ([255, 0], [])


@given(
    st.sampled_from(["request", "response", "messages", "choices", "usage", "created", "tools"]),
    st.sampled_from([None, 5, "x", [], {}, [{}], [None], {"role": 3}, -1, True]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_in_a_recorded_call_never_ends_in_a_traceback(tmp_path, key, junk):
    odd = pair([user("Hi")], says("Hello."), 10)
    part = odd if key in odd else odd["request"] if key in ("messages", "tools") else odd["response"]
    part[key] = junk
    sessions, _ = load(write(tmp_path / "a.jsonl", jsonl([pair([user("Yo")], says("Hello."), 10), odd])))
    for session in sessions:
        curve(session)


def test_what_the_loop_said_opens_no_turn(tmp_path):
    messages = [user("Hi"), says("Hel"), user("Go on.") | {"origin": "loop"}, says("lo."), user("Bye"), says("Bye.")]
    (session,), _ = load(write(tmp_path / "a.json", messages))
    assert [(c.turn, c.iteration) for c in session.calls] == [(1, 1), (1, 2), (2, 1)]


def test_a_greeting_before_the_first_user_message_is_no_call(tmp_path):
    (session,), problems = load(write(tmp_path / "a.json", [says("How can I help?"), user("Hi"), says("Hello.")]))
    assert problems == []
    assert [(c.turn, c.stop) for c in session.calls] == [(1, 2)]


def test_usage_in_messages_is_read_with_its_cached_part_inside(tmp_path):
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}
    (session,), _ = load(write(tmp_path / "a.json", [user("Hi"), says("Hello.") | {"usage": usage}]))
    assert session.calls[0].usage == Usage(36, 7, cache_read_tokens=64)
    assert session.calls[0].measured


def test_a_request_body_gives_model_and_tools(tmp_path):
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"properties": {"a": True}}}}, {"x": 1}, 5]
    body = {"model": "gpt-4o", "messages": TALK, "tools": tools}
    (session,), _ = load(write(tmp_path / "a.json", body))
    assert session.model == "gpt-4o"
    assert [t["name"] for t in session.tools] == ["now"]
    assert curve(session)["base"].iloc[0] > 10  # a schema that is none counts all the same


def test_several_conversations_in_one_file_become_several_sessions(tmp_path):
    sessions, problems = load(
        write(tmp_path / "many.jsonl", jsonl([{"messages": TALK}, {"other": 1}, {"messages": TALK}]))
    )
    assert [s.id for s in sessions] == ["many#1", "many#2"]
    assert [(p.line, p.reason) for p in problems] == [(2, "skipped: there is no list 'messages' in it")]


def test_own_folder_and_each_of_its_files_are_the_same_session(tmp_path):
    folder = tmp_path / "run"
    record(folder, ["Hi", "Bye"], [call("now"), "15:40.", "Bye."], [tool("now", "15:40")])
    sessions = [load(path)[0][0] for path in (folder, folder / "messages.jsonl", folder / "transcript.jsonl")]
    assert sessions[0] == sessions[1] == sessions[2]
    session = sessions[0]
    assert (session.format, session.id, session.system, session.provider) == ("agentlab", "run", SYSTEM, "scripted")
    assert [t["name"] for t in session.tools] == ["now"]
    assert [(c.turn, c.iteration, c.stop, c.reply) for c in session.calls] == [(1, 1, 1, 1), (1, 2, 3, 3), (2, 1, 5, 5)]
    assert [t.status for t in session.turns] == ["complete", "complete"]


def test_a_blank_reply_that_left_no_message_is_a_call_with_its_usage(tmp_path):
    paid = Usage(50, 3)
    script = [Reply("", usage=Usage(40, 1)), Reply("There.", usage=paid)]
    record(tmp_path / "run", ["Hi"], script)
    (session,), problems = load(tmp_path / "run")
    assert problems == []
    assert [(c.iteration, c.reply, c.usage) for c in session.calls] == [(1, None, Usage(40, 1)), (2, 2, paid)]
    assert curve(session)["turn_tokens"].tolist() == [90]


def test_the_sentence_of_a_turn_that_failed_is_no_call(tmp_path):
    from agentlab.errors import ProviderError

    record(tmp_path / "run", ["Hi"], [call("now"), ProviderError("down", text="I was")], [tool("now", "15:40")])
    (session,), _ = load(tmp_path / "run")
    assert session.records[-1].text.startswith("I was")
    assert [(c.iteration, c.reply) for c in session.calls] == [(1, 1)]
    frame = curve(session)
    assert (frame["iterations"].item(), frame["calls"].item()) == (2, 1)


def test_a_reply_cut_twice_counts_both_calls(tmp_path):
    script = [say("One", stop_reason="max_tokens"), say("two", stop_reason="max_tokens")]
    (ended,) = record(tmp_path / "run", ["Hi"], script)
    assert ended.reason == "output_limit"
    (session,), _ = load(tmp_path / "run")
    assert [(c.iteration, c.reply) for c in session.calls] == [(1, 1), (2, None)]


def test_a_torn_line_and_a_foreign_line_are_problems_and_the_rest_is_read(tmp_path):
    folder = tmp_path / "run"
    record(folder, ["Hi", "Bye"], ["Hello.", "Bye."])
    path = folder / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        lines[0]
        + lines[1]
        + b'{"type":"message","turn":1,"iteration":0,"index":1,"time":0,"message":{}}\n'
        + b"".join(lines[2:])[:-9]
    )
    (session,), problems = load(folder)
    assert [r.text for r in session.records] == ["Hi", "Hello.", "Bye"]
    assert len(problems) == 2
    assert {p.path for p in problems} >= {str(path)}
    assert any("torn" in p.reason for p in problems)
    assert any("role None" in p.reason for p in problems)
    curve(session)


def test_a_transcript_alone_says_what_is_missing(tmp_path):
    record(tmp_path / "run", ["Hi"], ["Hello."])
    (tmp_path / "run/messages.jsonl").unlink()
    (session,), problems = load(tmp_path / "run")
    assert (session.calls, len(session.turns)) == ((), 1)
    assert "messages.jsonl is needed" in problems[0].reason
    assert curve(session).empty


def test_a_list_that_breaks_off_is_read_up_to_there(tmp_path):
    text = json.dumps(TALK, indent=1)
    kept = text[: text.index("Thanks") + 3]
    (session,), (problem,) = load(write(tmp_path / "a.json", kept))
    assert len(session.records) == 4
    assert problem.line == kept[: kept.rindex("{")].count("\n") + 1
    assert "read up to here, 4 items" in problem.reason


def test_messages_that_are_none_are_reported_with_their_place(tmp_path):
    odd = [
        user("Hi"),
        5,
        None,
        {"role": "robot", "content": "x"},
        {"content": "x"},
        says("ok"),
        ["a"],
        user("y") | {"content": 7},
    ]
    (session,), problems = load(write(tmp_path / "a.json", odd))
    assert [r.text for r in session.records] == ["Hi", "ok", ""]
    assert [p.reason.split(":")[0] for p in problems] == ["[1]", "[2]", "[3]", "[4]", "[6]", "[7]"]


def test_calls_without_a_name_are_left_out_and_said(tmp_path):
    odd = asks(("now", {})) | {"tool_calls": [{"id": "a"}, 3, {"function": {"name": "now", "arguments": {"a": [1]}}}]}
    (session,), problems = load(write(tmp_path / "a.json", [user("Hi"), odd, result("x")]))
    assert [c["function"] for c in session.records[1].tool_calls] == [{"name": "now", "arguments": '{"a":[1]}'}]
    assert [p.reason.split(":")[0] for p in problems] == ["[1]", "[1]", "[2]"]  # the call that is left has no id


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n",
        b"\x00\xff\xfe\x81",
        b"hello",
        b"{}",
        b"[]",
        b"[1, 2]",
        b"null",
        b'{"messages": []}',
        b'{"messages": [',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[{",
        b'[{"role": "user"}]',
        b'{"type":"user","message":{"role":"user"}}\n' * 3,
        "[]".encode("utf-16"),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_what_is_no_session_is_one_line_that_says_what_to_do(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    assert "expected" in str(error.value) or "name a" in str(error.value)


def test_paths_and_formats_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file or folder: name a session"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match=r"unknown format 'x': one of agentlab, .*, chat"):
        load(tmp_path, format="x")
    with pytest.raises(InputError, match="there is no log in it"):
        load(tmp_path)
    with pytest.raises(InputError, match="not of the format 'tau-bench'"):
        load(write(tmp_path / "a.json", TALK), format="tau-bench")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        load(tmp_path / "pipe.json")


def test_a_folder_gives_all_its_sessions_and_says_what_is_none(tmp_path):
    record(tmp_path / "b/run", ["Hi"], ["Hello."])
    write(tmp_path / "a.json", TALK)
    write(tmp_path / "c.json", "no")
    write(tmp_path / "notes.txt", "no log")
    sessions, problems = load(tmp_path)
    assert [(s.format, s.id) for s in sessions] == [("chat", "a"), ("agentlab", "run")]
    assert [p.path for p in problems] == [str(tmp_path / "c.json")]


@pytest.mark.parametrize("count", [10**20, -(10**20), 2**63, 10**12 + 1])
def test_a_usage_that_cannot_be_one_is_a_problem_and_the_size_is_estimated(tmp_path, count):
    usage = {"prompt_tokens": 100, "completion_tokens": count}
    talk = [
        user("Hi"),
        says("Hello.") | {"usage": usage},
        user("Bye"),
        says("Bye.") | {"usage": {"prompt_tokens": count}},
    ]
    (session,), problems = load(write(tmp_path / "a.json", talk))
    frame = curve(session)
    assert len(frame) == 2
    assert int(frame["turn_tokens"].sum()) < 1_000
    assert any("tokens are no count" in p.reason for p in problems) == (count > 0)


def test_numbers_beyond_any_count_in_an_own_session_are_problems(tmp_path):
    folder = tmp_path / "run"
    record(folder, ["Hi", "Bye"], [call("now"), "15:40.", "Bye."], [tool("now", "15:40")])
    lines = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    lines[2]["usage"]["output_tokens"] = 10**20
    lines[3]["turn"] = 10**20
    lines[4]["iteration"] = -1
    write(folder / "messages.jsonl", jsonl(lines))
    turns = [json.loads(line) for line in (folder / "transcript.jsonl").read_text().splitlines()]
    turns[0]["iterations"] = 10**20
    turns[1]["usage"]["input_tokens"] = 10**20
    write(folder / "transcript.jsonl", jsonl(turns))
    (session,), problems = load(folder)
    assert len(session.records) == len(lines) - 3  # without the header and the two that have no place
    assert [Path(p.path).name for p in problems] == ["messages.jsonl"] * 3 + ["transcript.jsonl"] * 2
    assert session.calls[0].usage is None
    assert list(curve(session)["turn"]) == [1, 2]
    assert list(calls_frame(session)["turn"]) == [1, 2]


def test_sizes_and_summaries_beyond_any_count_are_problems(tmp_path):
    folder = tmp_path / "run"
    record(folder, ["Hi", "Bye"], [call("now"), "15:40.", "Bye."], [tool("now", "15:40")])
    lines = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    at = next(n for n, line in enumerate(lines) if line.get("message", {}).get("role") == "tool")
    lines[at]["original_chars"] = 10**20
    place = {"turn": 1, "iteration": 1, "policy": "p", "time": 0.0}
    decisions = [{"type": "decision", **place, "usage": {"input_tokens": count}} for count in (10**20, -1, 7)]
    decisions.append(decisions[2] | {"turn": 10**20})
    write(folder / "messages.jsonl", jsonl([*lines, *decisions]))
    (session,), problems = load(folder)
    assert [p.reason.split(":")[1].strip() for p in problems] == ["original size", "usage", "usage", "skipped"]
    assert [p.line for p in problems] == [at + 1, *(len(lines) + n for n in (1, 2, 4))]
    assert [used.input_tokens for used in session.aside] == [7]
    frames = grains([session])
    assert frames.sessions["aside_prompt_tokens"].tolist() == [7]
    assert frames.messages["original_chars"].isna().all()


def test_nan_and_lone_surrogates_are_read(tmp_path):
    run = '[{"task_id": 3, "trial": 1, "reward": NaN, "traj": [{"role": "user", "content": "a\\ud83d"}]}]'
    (session,), problems = load(write(tmp_path / "a.json", run))
    assert (session.format, session.id, problems) == ("tau-bench", "task-3-trial-1", [])
    assert session.records[0].text == "a\ufffd"


@given(cut=st.integers(0, 700), junk=st.binary(max_size=5))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_ends_in_a_traceback(tmp_path, cut, junk):
    record(tmp_path / "whole", ["Hi"], [call("now"), "Done."], [tool("now", "15:40")]) if not (
        tmp_path / "whole"
    ).exists() else None
    data = (tmp_path / "whole/messages.jsonl").read_bytes()
    for text in (data, json.dumps(TALK, indent=1).encode(), jsonl(TALK).encode()):
        path = tmp_path / "damaged.json"
        path.write_bytes(text[:cut] + junk + text[cut + len(junk) :])
        try:
            sessions, _ = load(path)
        except InputError:
            continue
        for session in sessions:
            curve(session)


def test_whole_items_stops_where_the_list_breaks_off():
    assert whole_items(b'[\n{"a": 1},\n{"a": 2},\n{"b') == ([{"a": 1}, {"a": 2}], 4)
    assert whole_items(b'["x"]') == (["x"], 1)


def test_a_list_in_memory(tmp_path):
    session = read_messages([*TALK, 5], system="Be brief.", tools=[tool("now", "")], model="gpt-4o")
    assert (session.system, session.model, len(session.records), len(session.tools)) == ("Be brief.", "gpt-4o", 6, 1)
    assert len(session.labels["problems"]) == 1


@pytest.mark.skipif(not TAU.exists(), reason="the recorded tau-bench runs are not beside this checkout")
def test_tau_bench_has_200_runs_and_no_problem():
    sessions, problems = load(TAU)
    assert (len(sessions), problems) == (200, [])
    assert len({s.id for s in sessions}) == 200
    assert len({s.labels["task_id"] for s in sessions}) == 50
    assert sum(s.labels["reward"] for s in sessions) == 84
    first = sessions[0]
    assert (len(first.records), first.system[:22]) == (31, "# Airline Agent Policy")
    assert all(call.reply is not None for s in sessions for call in s.calls)
