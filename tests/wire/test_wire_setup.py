"""Keys, errors and the registry: what happens before and around a call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace as Some

import pytest
from conftest import connect

import agentlab.providers.wire as wire_module
from agentlab.errors import ContextWindowError, InputError, MissingKeyError, ProviderError, TransportError
from agentlab.providers import keys
from agentlab.providers.anthropic import AnthropicProvider
from agentlab.providers.failures import retry_after, translate
from agentlab.providers.keys import find_key, forget_key, redact, require_key, use_key
from agentlab.providers.openai import OpenAIProvider
from agentlab.providers.registry import PROVIDERS, announcement, is_hosted, open_provider

SECRET = "sk-ant-api03-abcdefghijklmnop"


# Keys


def test_a_key_is_kept_in_the_process_only():
    use_key("anthropic", ask=lambda question: f" {SECRET}\n")
    assert find_key("anthropic") == SECRET
    assert SECRET not in os.environ.values()
    forget_key("anthropic")
    assert find_key("anthropic") is None


def test_the_key_that_was_entered_goes_before_the_environments(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment")
    assert find_key("openai") == "sk-from-environment"
    use_key("openai", ask=lambda question: SECRET)
    assert find_key("openai") == SECRET


def test_the_question_is_asked_by_getpass(monkeypatch):
    asked = []
    monkeypatch.setattr("getpass.getpass", lambda question: asked.append(question) or SECRET)
    use_key()
    assert "anthropic" in asked[0]
    assert find_key("anthropic") == SECRET


def test_no_answer_is_an_input_error():
    with pytest.raises(InputError, match="no key was entered"):
        use_key("openai", ask=lambda question: "  ")


def test_a_provider_without_keys_is_an_input_error():
    with pytest.raises(InputError, match="expected one of anthropic, openai"):
        use_key("offline", ask=lambda question: SECRET)


@pytest.mark.parametrize(("provider", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")])
def test_a_missing_key_says_what_to_do_in_one_line(provider, variable):
    with pytest.raises(MissingKeyError) as caught:
        require_key(provider)
    assert variable in str(caught.value)
    assert "use_key" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("secret", [SECRET, "sk-proj-ABC_def-0123456789", "sk-abc*****wxyz"])
def test_what_looks_like_a_key_is_taken_out(secret):
    assert redact(f"Key {secret} is wrong.") == "Key [key] is wrong."


def test_known_keys_of_any_look_are_taken_out(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_PASSWORD", "correct horse battery")
    use_key("openai", ask=lambda question: "plain-looking")
    text = redact("x-api-key: whatever; correct horse battery; plain-looking; Bearer a.b.c")
    assert text == "x-api-key: [key]; [key]; [key]; Bearer [key]"


def test_ordinary_text_stays():
    text = "The task-oriented desk-lamp asks for tokens; the bearer is Bob."
    assert redact(text) == text


# Which key is sent where


def test_a_hosted_model_needs_a_key(wire):
    with pytest.raises(MissingKeyError):
        connect(wire, None, None)


def test_a_server_of_ones_own_gets_no_real_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert OpenAIProvider("m", base_url="http://127.0.0.1:1/v1")._key == keys.PLACEHOLDER
    assert OpenAIProvider("m", base_url="http://127.0.0.1:1/v1", key="mine")._key == "mine"
    assert OpenAIProvider("m", base_url="https://example.com/v1")._key == SECRET


def test_address_and_key_of_the_environment_belong_together(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1")
    assert AnthropicProvider("m")._key == keys.PLACEHOLDER
    assert not AnthropicProvider("m").hosted
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    assert AnthropicProvider("m")._key == SECRET


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "http://", "http://me:secret@example.com/v1"])
def test_an_address_that_is_none_is_an_input_error(url):
    with pytest.raises(InputError, match="base_url") as caught:
        OpenAIProvider("m", base_url=url)
    if "secret" in url:
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "hosted"),
    [
        (None, True),
        ("https://example.com/v1", True),
        ("http://localhost:1", False),
        ("http://[::1]:1", False),
        ("http://192.168.0.7:11434/v1", False),
    ],
)
def test_hosted_is_what_leaves_ones_own_machines(url, hosted):
    assert is_hosted(OpenAIProvider("gpt-4o", base_url=url, key="k")) is hosted


def test_a_wrong_setting_is_an_input_error():
    with pytest.raises(InputError, match="cache: expected False, '5m' or '1h'"):
        AnthropicProvider("m", key="k", cache="10m")
    with pytest.raises(InputError, match="max_output_tokens"):
        AnthropicProvider("m", key="k", max_output_tokens=0)


def test_an_sdk_that_is_not_installed_is_an_input_error(monkeypatch):
    monkeypatch.delitem(sys.modules, "openai", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'agentlab-observe\[openai\]'"):
        OpenAIProvider("m", key="k")


def test_sdks_are_imported_at_the_first_call_only():
    code = (
        "import sys; from agentlab.providers.registry import open_provider, announcement;"
        "p = open_provider('anthropic', base_url='http://localhost:1', model='m'); announcement(p); repr(p);"
        "open_provider('openai', base_url='http://localhost:1', model='m');"
        "sys.exit(any(m in sys.modules for m in ('anthropic', 'openai', 'httpx2', 'pydantic', 'httpx')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Errors


class ApiError(Exception):
    """Stands for both SDKs' base of errors that the API reports."""

    def __init__(self, status=None, body=None, headers=None):
        self.body = body
        if status is not None:
            self.status_code = status
            self.response = Some(headers=headers or {})


class Unreadable(ApiError):
    pass


class NoConnection(Exception):
    pass


class TimedOut(NoConnection):
    pass


SDK = Some(
    APIError=ApiError, APIResponseValidationError=Unreadable, APIConnectionError=NoConnection, APITimeoutError=TimedOut
)
MESSAGES = [{"role": "user", "content": "hello"}]


def failed(error) -> ProviderError:
    return translate(SDK, error, provider="openai", model="m", messages=MESSAGES)


@pytest.mark.parametrize(
    ("status", "body", "window"),
    [
        (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}, 8),
        (
            400,
            {
                "error": {
                    "type": "invalid_request_error",
                    "message": "input length and `max_tokens` exceed context limit: 9 + 5 > 8, decrease input length",
                }
            },
            8,
        ),
        (400, {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}, None),
        (400, {"code": 400, "message": "This model's maximum context length is 8 tokens. However, you do."}, 8),
        (400, {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}, 8),
        (413, "<html>too large</html>", None),
        (200, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}, 8),
    ],
)
def test_prompts_that_are_too_large(status, body, window):
    error = failed(ApiError(status, body))
    assert isinstance(error, ContextWindowError)
    assert error.window == window
    assert not error.transient


@pytest.mark.parametrize(
    ("status", "body", "transient"),
    [
        (200, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, True),
        (None, {"code": "rate_limit_exceeded", "message": "slow down"}, True),
        (None, {"code": 502, "message": "upstream failed"}, True),
        (None, {"type": "invalid_request_error", "message": "overloaded, try again"}, False),
        (None, {"message": "rate limit, overloaded, timeout"}, False),
        (400, {"detail": "timeout"}, False),
        (500, "<html>secret</html>", True),
        (502, None, True),
        (429, {"code": "insufficient_quota", "message": "pay"}, False),
    ],
)
def test_pitfall_37_errors_are_told_apart_by_status_and_code(status, body, transient):
    error = failed(ApiError(status, body))
    assert error.transient is transient
    assert "secret" not in str(error)


def test_a_quote_is_short_and_on_one_line():
    text = str(failed(ApiError(400, {"message": "line\n" * 1000})))
    assert "\n" not in text
    assert len(text) < 500


@pytest.mark.parametrize(
    "error", [TimedOut(), NoConnection(), Unreadable(200), json.JSONDecodeError("x", "secret", 0), OSError("secret")]
)
def test_answers_that_did_not_come_are_transport_errors(error):
    found = failed(error)
    assert isinstance(found, TransportError)
    assert found.transient
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_pitfall_36_how_long_to_wait(headers, seconds):
    assert retry_after(headers) == seconds


# The registry


def test_an_unknown_provider_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'anthropic'"):
        open_provider("antropic")


def test_an_unknown_model_names_the_known_ones_and_the_way_round(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    with pytest.raises(InputError, match="did you mean 'claude-opus-5'") as caught:
        open_provider("anthropic", model="claude-opus5")
    assert "--any-model" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert open_provider("anthropic", model="claude-opus5", any_model=True).model == "claude-opus5"


def test_a_model_of_another_provider_is_unknown(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    with pytest.raises(InputError, match="unknown model of anthropic 'gpt-4o'"):
        open_provider("anthropic", model="gpt-4o")


def test_a_server_of_ones_own_may_have_any_model():
    provider = open_provider("openai", model="qwen", base_url="http://localhost:1/v1")
    assert (provider.model, provider.window) == ("qwen", None)


@pytest.mark.parametrize("options", [{}, {"base_url": "http://localhost:1/v1"}])
def test_a_missing_model_is_an_input_error(options):
    with pytest.raises(InputError, match="needs a model"):
        open_provider("openai", **options)


def test_the_default_model_of_anthropic_is_known(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    assert open_provider("anthropic").model == PROVIDERS["anthropic"].default_model


def test_a_missing_key_comes_after_the_model():
    with pytest.raises(MissingKeyError):
        open_provider("openai", model="gpt-4o")


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'cache'"):
        open_provider("anthropic", model="m", base_url="http://localhost:1", cach="5m")


def test_none_stands_for_the_providers_own_default():
    provider = open_provider("anthropic", model="m", base_url="http://localhost:1", cache=None, timeout=None)
    assert (provider.cache, provider.timeout) == (False, 600.0)


def test_a_scripted_model_is_opened_by_name():
    assert open_provider("scripted", script=["Hi."]).call([], system="", tools=[]).text == "Hi."


def test_every_entry_can_be_loaded():
    assert {entry.load().name for entry in PROVIDERS.values()} == set(PROVIDERS)


def test_the_announcement_says_model_price_date_and_cap():
    provider = Some(provider=AnthropicProvider("claude-opus-5", key="k", cache="5m"), call=None)
    text = announcement(provider, max_cost=0.5)
    assert "claude-opus-5 at anthropic" in text
    assert "prompt caching: on, 5 minutes" in text
    assert "$0.50" in text
    assert is_hosted(provider)


def test_a_price_that_is_not_known_is_said():
    provider = OpenAIProvider("gpt-4o", base_url="https://example.com/v1", key="k")
    text = announcement(provider, max_cost=0.5)
    assert "https://example.com/v1" in text
    assert "price not known" in text
    assert "cannot hold" in text


def test_default_output_stays_within_the_models_limit(monkeypatch):
    monkeypatch.setattr(wire_module.models, "find", lambda name: Some(window=8_000, max_output=4_096))
    assert AnthropicProvider("m", key="k").default_output == 4_096
    monkeypatch.setattr(wire_module.models, "find", lambda name: Some(window=8_000, max_output=None))
    assert AnthropicProvider("m", key="k").default_output == wire_module.DEFAULT_OUTPUT
