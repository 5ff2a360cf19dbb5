"""Both SDKs against `agentlab.testing.provider_server`, which rejects what the real APIs reject."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest
from conftest import WEATHER, connect

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, ContextWindowError, ProviderError, TransportError
from agentlab.testing import (
    Cut,
    Dropped,
    ErrorEvent,
    HttpFault,
    Reply,
    Slow,
    ToolCall,
    Usage,
    provider_server,
    refused_url,
)

KEY = "sk-test-0123456789abcdef"
HELLO = [{"role": "user", "content": "Hello."}]
LONG = "A sentence that is long enough to come in several pieces, whatever their size may be."


@pytest.fixture(scope="module")
def shared():
    """One server and a provider for each API: making an SDK's client costs more than most of these tests."""
    with contextlib.ExitStack() as opened:
        yield {wire: start(opened, wire, "ok") for wire in ("anthropic", "openai")}


@pytest.fixture
def serve(wire, shared):
    """A server with a script, and a provider that talks to it; its own where it needs settings."""
    with contextlib.ExitStack() as opened:

        def serve(replies, *, options=None, **settings):
            if options or settings:
                return start(opened, wire, replies, options, **settings)
            server, provider = shared[wire]
            server.script(replies)
            server.requests.clear()
            server.rejected.clear()
            return server, provider

        yield serve


def start(opened, wire, replies, options=None, **settings):
    server = opened.enter_context(provider_server(replies, **settings))
    provider = connect(wire, server.url, f"{server.url}/v1", **{"key": KEY, **(options or {})})
    opened.callback(provider.close)
    return server, provider


def failure(provider, messages=HELLO):
    with pytest.raises(ProviderError) as caught:
        provider.call(messages, system="", tools=[])
    return caught.value


def exchange(*results, call_id="call_0"):
    """An iteration of one call or several, with its results."""
    ids = [f"{call_id}.{n}" if n else call_id for n in range(len(results))]
    calls = [
        {"id": i, "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}} for i in ids
    ]
    yield {"role": "assistant", "content": "", "tool_calls": calls}
    for i, result in zip(ids, results, strict=True):
        yield {"role": "tool", "tool_call_id": i, "name": "get_weather", "content": result}


def test_the_whole_reply(serve):
    reply = Reply("Let me look.", (ToolCall("c1", "get_weather", {"city": "Rome"}),), stop_reason="tool_use")
    _, provider = serve([reply])
    pieces = []
    got = provider.call(HELLO, system="Be brief.", tools=[WEATHER], on_text_delta=pieces.append)
    assert (got.text, got.tool_calls, got.stop_reason) == (reply.text, reply.tool_calls, "tool_use")
    assert "".join(pieces) == got.text
    assert got.model == provider.model


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "refusal"])
def test_stop_reasons_have_one_name(serve, reason):
    _, provider = serve([Reply("Done.", stop_reason=reason)])
    assert provider.call(HELLO, system="", tools=[]).stop_reason == reason


@pytest.mark.parametrize("wire", ["anthropic"])
@pytest.mark.parametrize("reason", ["context_window", "stop_sequence", "pause_turn"])
def test_stop_reasons_of_anthropic_alone(serve, reason):
    _, provider = serve([Reply("Done.", stop_reason=reason)])
    assert provider.call(HELLO, system="", tools=[]).stop_reason == reason


def test_input_tokens_are_the_uncached_part(serve, wire):
    written = 0 if wire == "openai" else 30
    _, provider = serve([Reply("Done.", usage=Usage(100, 7, cache_read_tokens=900, cache_write_tokens=written))])
    usage = provider.call(HELLO, system="", tools=[]).usage
    assert usage == Usage(100, 7, cache_read_tokens=900, cache_write_tokens=written, exact=True)


@pytest.mark.parametrize("wire", ["anthropic"])
@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_with_caching_on_a_call_reads_what_the_call_before_wrote(serve, ttl):
    server, provider = serve(["First.", "Second."], options={"cache": ttl}, cache_minimum=0)
    messages = [{"role": "user", "content": "Remember this text. " * 50}]
    first = provider.call(messages, system="Be brief.", tools=[WEATHER])
    messages += [{"role": "assistant", "content": first.text}, {"role": "user", "content": "And now?"}]
    second = provider.call(messages, system="Be brief.", tools=[WEATHER])
    assert first.usage.cache_write_tokens > 0
    assert second.usage.cache_read_tokens >= first.usage.cache_write_tokens
    assert second.usage.input_tokens < first.usage.prompt_tokens
    assert str(server.requests[-1].body).count(f"'ttl': '{ttl}'") == 4


@pytest.mark.parametrize("wire", ["anthropic"])
def test_without_caching_nothing_is_marked(serve):
    server, provider = serve(["Hello."])
    assert provider.caching == "off"
    assert provider.call(HELLO, system="x", tools=[WEATHER]).usage.cache_write_tokens == 0
    assert "cache_control" not in str(server.requests[0].body)


def test_pitfall_16_an_id_used_in_two_turns_is_accepted(serve):
    server, provider = serve(["Fine."])
    messages = [*HELLO, *exchange("21", "22"), *exchange("23", "24")]
    assert provider.call(messages, system="", tools=[WEATHER]).text == "Fine."
    assert not server.rejected


def test_pitfall_20_empty_texts_are_accepted(serve):
    server, provider = serve(["Fine."])
    messages = [*HELLO, *exchange(""), {"role": "user", "content": " \n"}]
    assert provider.call(messages, system=" ", tools=[WEATHER]).text == "Fine."
    assert "(get_weather returned nothing)" in str(server.requests[0].body)


def test_pitfall_21_two_user_messages_are_both_sent(serve):
    server, provider = serve(["Fine."])
    provider.call(
        [{"role": "user", "content": "First question"}, {"role": "user", "content": "Second"}], system="", tools=[]
    )
    sent = str(server.requests[0].body["messages"])
    assert "First question" in sent
    assert "Second" in sent


def test_the_loops_own_message_follows_the_results(serve):
    server, provider = serve(["Fine."])
    notice = {"role": "user", "content": "Two turns are left.", "origin": "loop"}
    provider.call([*HELLO, *exchange("21", "22"), notice], system="", tools=[WEATHER])
    assert not server.rejected
    assert "origin" not in str(server.requests[0].body)


def test_an_error_is_marked_where_the_api_knows_how(serve, wire):
    server, provider = serve(["Fine."])
    call, result = exchange("Error: no such city")
    provider.call([*HELLO, call, {**result, "is_error": True}], system="", tools=[WEATHER])
    assert ("is_error" in str(server.requests[0].body)) is (wire == "anthropic")


@pytest.mark.parametrize(
    "arguments", ["", '{"city": ', "[1]", '{"city": NaN}', '{"n": 1e999}', "\ud83d", "[" * 100_000]
)
def test_pitfall_25_arguments_that_are_no_object_can_be_sent_back(serve, arguments):
    server, provider = serve(["Fine."])
    call, result = exchange("Error: bad arguments")
    call["tool_calls"][0]["function"]["arguments"] = arguments
    assert provider.call([*HELLO, call, result], system="", tools=[WEATHER]).text == "Fine."
    assert not server.rejected


@pytest.mark.parametrize("text", ['{"city": ', "[1, 2]", "nonsense"])
def test_malformed_arguments_come_as_they_were(serve, text):
    _, provider = serve([Reply("", (ToolCall("c1", "get_weather", text),), stop_reason="tool_use")])
    assert provider.call(HELLO, system="", tools=[WEATHER]).tool_calls == (ToolCall("c1", "get_weather", text),)


def test_pitfall_22_a_call_cut_by_the_output_limit_says_so(serve):
    _, provider = serve([Reply("", (ToolCall("c1", "get_weather", '{"city": "Ro'),), stop_reason="max_tokens")])
    reply = provider.call(HELLO, system="", tools=[WEATHER])
    assert reply.stop_reason == "max_tokens"
    assert reply.tool_calls[0].arguments == '{"city": "Ro'


def test_a_lone_surrogate_does_not_stop_the_call(serve):
    _, provider = serve(["Fine."])
    messages = [{"role": "user", "content": "caf\udce9"}, *exchange("\ud83d half an emoji")]
    assert provider.call(messages, system="\udc80", tools=[WEATHER]).text == "Fine."


@pytest.mark.parametrize(("choice", "openai_word"), [("auto", "auto"), ("none", "none"), ("any", "required")])
def test_tool_choice_leaves_the_tools_in_the_request(serve, wire, choice, openai_word):
    server, provider = serve(["Fine."])
    provider.call(HELLO, system="", tools=[WEATHER], tool_choice=choice)
    body = server.requests[0].body
    assert body["tool_choice"] == ({"type": choice} if wire == "anthropic" else openai_word)
    assert len(body["tools"]) == 1


def test_a_history_with_calls_can_be_sent_without_tools(serve):
    server, provider = serve(["A summary."])
    messages = [*HELLO, *exchange("21"), {"role": "user", "content": "Summarise this."}]
    assert provider.call(messages, system="", tools=[]).text == "A summary."
    assert not server.rejected


def test_without_tools_no_choice_is_sent(serve):
    server, provider = serve(["Fine."])
    provider.call(HELLO, system="", tools=[], tool_choice="none")
    assert not {"tools", "tool_choice"} & server.requests[0].body.keys()


def test_the_output_limit(serve, wire):
    server, provider = serve(["Fine."] * 3, options={"max_output_tokens": 500})
    provider.call(HELLO, system="", tools=[])
    provider.call(HELLO, system="", tools=[], max_output_tokens=50)
    provider.max_output_tokens = None
    provider.call(HELLO, system="", tools=[])
    sent = [request.body.get("max_tokens") for request in server.requests]
    assert sent == [500, 50, provider.default_output if wire == "anthropic" else None]


def test_context_window(serve):
    _, provider = serve(["Never."], window=300)
    messages = [{"role": "user", "content": "Read it."}, *exchange("word " * 2000)]
    error = failure(provider, messages)
    assert isinstance(error, ContextWindowError)
    assert error.window == 300
    assert error.prompt_tokens > 300
    assert "2 (tool get_weather, 10000 characters), 0 (user, 8 characters)" in str(error)
    assert "lower limits" in str(error)


@pytest.mark.parametrize("wire", ["anthropic"])
def test_a_body_that_is_too_large_is_a_context_window_error(serve):
    _, provider = serve([HttpFault(413, kind="request_too_large", message="Request exceeds the maximum size")])
    assert isinstance(failure(provider), ContextWindowError)


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_that_only_mentions_the_window_is_none(serve, status):
    said = "the file says: prompt is too long: 5 tokens > 4 maximum"
    _, provider = serve([HttpFault(status, message=said)])
    assert not isinstance(failure(provider), ContextWindowError)


@pytest.mark.parametrize(("status", "transient"), [(429, True), (529, True), (500, True), (400, False), (404, False)])
def test_http_faults(serve, status, transient):
    server, provider = serve([HttpFault(status, retry_after=2.5)])
    error = failure(provider)
    assert (error.status, error.transient, error.retry_after) == (status, transient, 2.5)
    assert len(server.requests) == 1


@pytest.mark.parametrize("wire", ["openai"])
def test_an_empty_account_is_not_worth_a_retry(serve):
    _, provider = serve([HttpFault(429, kind="insufficient_quota", message="You exceeded your current quota.")])
    error = failure(provider)
    assert (error.status, error.transient) == (429, False)


def test_an_overload_inside_the_stream(serve, wire):
    kind = "overloaded_error" if wire == "anthropic" else "server_error"
    _, provider = serve([ErrorEvent(LONG, after=2, kind=kind)])
    error = failure(provider)
    assert (error.transient, error.kind) == (True, kind)
    assert error.text
    assert LONG.startswith(error.text)


@pytest.mark.parametrize("how", ["early_end", "chunked"])
def test_a_stream_that_is_cut(serve, how):
    _, provider = serve([Cut(LONG, after=2, how=how)])
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert error.transient
    assert error.text
    assert LONG.startswith(error.text)


def test_a_connection_that_is_dropped_before_the_answer(serve):
    _, provider = serve([Dropped()])
    assert isinstance(failure(provider), TransportError)


def test_nobody_there(wire):
    url = refused_url()
    provider = connect(wire, url, f"{url}/v1")
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert "check the network" in str(error)
    provider.close()


def test_a_server_that_never_answers(serve):
    _, provider = serve([Slow("Late.", first=5)], options={"timeout": 0.3})
    started = time.monotonic()
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert time.monotonic() - started < 3


def test_cancellation_within_a_slow_stream(serve):
    _, provider = serve(["Quick.", Slow(LONG, seconds=2.0)])
    provider.call(HELLO, system="", tools=[])  # the SDK is imported by now
    scope = Scope()
    threading.Timer(0.2, scope.cancel).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        provider.call(HELLO, system="", tools=[], scope=scope)
    assert time.monotonic() - started < 0.2 + 0.5


def test_a_call_in_an_ended_scope_sends_nothing(serve):
    server, provider = serve(["First.", "Never."])
    provider.call(HELLO, system="", tools=[])  # the SDK is imported by now
    before = set(threading.enumerate())
    scope = Scope()
    scope.cancel()
    with pytest.raises(Cancelled):
        provider.call(HELLO, system="", tools=[], scope=scope)
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
    assert len(server.requests) == 1


def test_text_is_handed_on_in_the_callers_thread(serve):
    _, provider = serve([LONG])
    threads = set()
    provider.call(HELLO, system="", tools=[], on_text_delta=lambda _: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_what_the_listener_raises_ends_the_call(serve):
    _, provider = serve([Slow(LONG, seconds=0.05), "Fine."])

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        provider.call(HELLO, system="", tools=[], on_text_delta=interrupt)
    assert provider.call(HELLO, system="", tools=[]).text == "Fine."


def test_a_wrong_key_is_refused_and_shown_nowhere(serve):
    _, provider = serve(["Never."], key="sk-another-key-0123456789")
    error = failure(provider)
    assert (error.status, error.transient) == (401, False)
    assert "use_key" in str(error)
    assert KEY not in str(error) + repr(error) + repr(provider)
    assert error.__cause__ is None
    assert error.__suppress_context__


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_secret_is_in_an_error(serve, monkeypatch, status):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "hunter2-hunter2")
    said = f"Incorrect API key provided: {KEY}; Authorization: Bearer abc.def; hunter2-hunter2"
    _, provider = serve([HttpFault(status, message=said)])
    text = str(failure(provider))
    assert KEY not in text
    assert "abc.def" not in text
    assert "hunter2" not in text


@pytest.mark.parametrize("wire", ["anthropic"])
def test_count_tokens(serve):
    server, provider = serve(["Fine."])
    counted = provider.count_tokens(HELLO, system="Be brief.", tools=[WEATHER])
    usage = provider.call(HELLO, system="Be brief.", tools=[WEATHER]).usage
    assert counted.n == usage.prompt_tokens
    assert not counted.exact
    assert counted.method == "anthropic count_tokens"
    assert server.requests[0].path == "/v1/messages/count_tokens"


@pytest.mark.parametrize("wire", ["anthropic"])
def test_count_tokens_fails_as_a_call_does(serve):
    _, provider = serve(["Fine."], key="sk-another-key-0123456789")
    with pytest.raises(ProviderError) as caught:
        provider.count_tokens(HELLO)
    assert caught.value.status == 401
