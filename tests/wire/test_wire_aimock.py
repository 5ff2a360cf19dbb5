"""Both SDKs against aimock, an independent server that we did not write."""

from __future__ import annotations

import time

import pytest
from conftest import WEATHER, connect

from agentlab.budgets import Scope
from agentlab.errors import DeadlineExceeded, ProviderError


@pytest.fixture
def provider(wire, aimock_url):
    provider = connect(wire, aimock_url, f"{aimock_url}/v1")
    yield provider
    provider.close()


def test_text_is_streamed_in_pieces(provider):
    pieces = []
    reply = provider.call(
        [{"role": "user", "content": "hello"}], system="Be kind.", tools=[], on_text_delta=pieces.append
    )
    assert reply.text == "Hello to you, and a good day. This sentence comes in several pieces."
    assert "".join(pieces) == reply.text
    assert len(pieces) > 1
    assert reply.stop_reason == "end_turn"


def test_a_tool_exchange_runs_to_its_answer(provider):
    messages = [{"role": "user", "content": "weather, please"}]
    first = provider.call(messages, system="", tools=[WEATHER])
    assert first.stop_reason == "tool_use"
    assert [(c.name, c.arguments) for c in first.tool_calls] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "Rome"}),
    ]
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": '{"city": "x"}'}}
        for c in first.tool_calls
    ]
    messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    messages += [
        {"role": "tool", "tool_call_id": c["id"], "name": "get_weather", "content": "21 degrees"} for c in calls
    ]
    second = provider.call(messages, system="", tools=[WEATHER])
    assert second.text == "It is 21 degrees in Paris and 25 degrees in Rome."
    assert second.stop_reason == "end_turn"


def test_usage_is_none_where_the_server_counts_nothing(provider, wire):
    usage = provider.call([{"role": "user", "content": "hello"}], system="", tools=[]).usage
    if wire == "anthropic":
        assert usage is None  # this server reports zeros, and no prompt has zero tokens
    else:
        assert usage.prompt_tokens > 0


def test_a_refused_request_is_a_provider_error(provider):
    with pytest.raises(ProviderError) as caught:
        provider.call([{"role": "user", "content": "nothing fits this"}], system="", tools=[])
    assert caught.value.status == 503


def test_a_deadline_ends_the_call_in_mid_stream(provider):
    provider.call([{"role": "user", "content": "hello"}], system="", tools=[])  # the SDK is imported by now
    scope = Scope(0.05)
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        provider.call([{"role": "user", "content": "hello"}], system="", tools=[], scope=scope)
    assert time.monotonic() - started < 0.5
