"""Both SDKs against llmock, an independent server that we did not write, and its faults."""

from __future__ import annotations

import threading
import time

import pytest
from conftest import WEATHER, connect

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, ContextWindowError, ProviderError, TransportError

HELLO = [{"role": "user", "content": "Say something."}]
LONG = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."


@pytest.fixture(scope="module")
def providers(llmock_url):
    """One for each API: making an SDK's client costs more than most of these tests."""
    opened = {wire: connect(wire, f"{llmock_url}/anthropic", f"{llmock_url}/v1") for wire in ("anthropic", "openai")}
    yield opened
    for provider in opened.values():
        provider.close()


@pytest.fixture
def provider(wire, providers, llmock_server):
    return providers[wire]


def failure(provider, **options):
    with pytest.raises(ProviderError) as caught:
        provider.call(HELLO, system="", tools=[], **options)
    return caught.value


def test_text_usage_and_model(provider, llmock_server):
    llmock_server.next({"type": "reply", "text": LONG})
    pieces = []
    reply = provider.call(HELLO, system="Be brief.", tools=[], on_text_delta=pieces.append)
    assert reply.text == LONG == "".join(pieces)
    assert len(pieces) > 1
    assert reply.stop_reason == "end_turn"
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.exact
    assert reply.model == provider.model


def test_tool_calls(provider, llmock_server):
    calls = [{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_weather", "arguments": {}}]
    llmock_server.next({"type": "reply", "tool_calls": calls})
    reply = provider.call(HELLO, system="", tools=[WEATHER])
    assert [call.arguments for call in reply.tool_calls] == [{"city": "Paris"}, {}]
    assert len({call.id for call in reply.tool_calls}) == 2
    assert reply.stop_reason == "tool_use"


def test_malformed_arguments_come_as_they_were(provider, llmock_server):
    llmock_server.next({"type": "tool_fault", "kind": "malformed_arguments"})
    reply = provider.call(HELLO, system="", tools=[WEATHER])
    assert isinstance(reply.tool_calls[0].arguments, str)
    assert reply.tool_calls[0].arguments


@pytest.mark.parametrize(("finish", "expected"), [("length", "max_tokens"), ("content_filter", "refusal")])
def test_stop_reasons(provider, llmock_server, finish, expected):
    llmock_server.next({"type": "reply", "text": "Half a", "finish_reason": finish})
    assert provider.call(HELLO, system="", tools=[]).stop_reason == expected


def test_a_stream_that_ends_early_is_no_reply(provider, llmock_server):
    llmock_server.next({"type": "reply", "text": LONG}, {"type": "stream_fault", "kind": "truncate", "after_chunks": 4})
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert error.transient
    assert error.text
    assert LONG.startswith(error.text)


def test_a_dropped_connection(provider, llmock_server):
    llmock_server.next(
        {"type": "reply", "text": LONG}, {"type": "stream_fault", "kind": "disconnect", "after_chunks": 4}
    )
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert LONG.startswith(error.text)


@pytest.mark.parametrize("wire", ["openai"])  # it comes without an event's name, which Anthropic's SDK skips
def test_an_event_that_is_not_json(provider, llmock_server):
    llmock_server.next({"type": "stream_fault", "kind": "malformed", "after_chunks": 2})
    error = failure(provider)
    assert isinstance(error, TransportError)
    assert error.transient


def test_rate_limit_says_how_long_to_wait_and_is_tried_once(provider, llmock_server):
    llmock_server.next({"type": "fail", "status": 429, "retry_after": 7})
    error = failure(provider)
    assert (error.status, error.retry_after, error.transient) == (429, 7.0, True)
    assert len(llmock_server.requests()) == 1  # the SDKs' own retries are off


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 529])
def test_what_may_pass(provider, llmock_server, status):
    llmock_server.next({"type": "fail", "status": status})
    error = failure(provider)
    assert (error.status, error.transient) == (status, True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass(provider, llmock_server, status):
    llmock_server.next({"type": "fail", "status": status})
    error = failure(provider)
    assert (error.status, error.transient) == (status, False)


def test_pitfall_37_a_bad_request_that_mentions_a_timeout_is_not_transient(provider, llmock_server):
    llmock_server.next({"type": "fail", "status": 400, "message": "timeout: overloaded, rate limit, try again"})
    assert not failure(provider).transient


def test_context_window_in_the_shape_of_each_provider(provider, llmock_server, wire):
    body = {
        "anthropic": {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        "openai": {"message": "Too much.", "code": "context_length_exceeded"},
    }[wire]
    llmock_server.next({"type": "fail", "status": 400, **body})
    error = failure(provider)
    assert isinstance(error, ContextWindowError)
    assert not error.transient
    assert "0 (user, 14 characters)" in str(error)
    if wire == "anthropic":
        assert (error.prompt_tokens, error.window) == (210_000, 200_000)


def test_cancelling_ends_the_call_while_the_server_is_silent(provider, llmock_server):
    provider.call(HELLO, system="", tools=[])  # the SDK is imported by now
    llmock_server.next(
        {"type": "reply", "text": LONG},
        {"type": "stream_fault", "kind": "stall", "after_chunks": 6, "stall_seconds": 20},
    )
    before = set(threading.enumerate())
    scope = Scope()
    pieces = []
    cancelled = threading.Timer(0.4, scope.cancel, ["enough"])
    cancelled.start()
    started = time.monotonic()
    with pytest.raises(Cancelled, match="enough"):
        provider.call(HELLO, system="", tools=[], on_text_delta=pieces.append, scope=scope)
    assert time.monotonic() - started < 0.4 + 0.5
    assert pieces
    # The stream is hung up, so its thread does not wait for the server.
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
        assert not thread.is_alive()


def test_cancelling_ends_the_call_before_the_answer_begins(provider, llmock_server):
    provider.call(HELLO, system="", tools=[])  # the SDK is imported by now
    llmock_server.next({"type": "delay", "seconds": 1})
    scope = Scope()
    threading.Timer(0.1, scope.cancel).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        provider.call(HELLO, system="", tools=[], scope=scope)
    assert time.monotonic() - started < 0.1 + 0.5
