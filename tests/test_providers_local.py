"""The provider of model files, on a runtime without weights."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from agentlab.budgets import Scope
from agentlab.builtin_tools import now, wordcount
from agentlab.errors import Cancelled, ContextWindowError, InputError, ProviderError, TransportError
from agentlab.loop import agent_step
from agentlab.messages import ToolCall, Usage
from agentlab.providers import adapt
from agentlab.providers.local import LocalProvider
from agentlab.providers.local.runtime import check_file, check_installed
from agentlab.providers.registry import is_hosted, open_provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Written:
    """A runtime that writes given texts in small pieces, and keeps what it was asked."""

    def __init__(self, *texts: str, size: int = 3, end: str | None = "stop") -> None:
        self.texts = list(texts)
        self.size = size
        self.end = end
        self.asked: list[dict[str, Any]] = []

    def stream(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        self.asked.append(request)
        text = self.texts.pop(0)
        yield {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]}
        for start in range(0, len(text), self.size):
            yield {"choices": [{"delta": {"content": text[start : start + self.size]}, "finish_reason": None}]}
        if self.end is not None:
            yield {"choices": [{"delta": {}, "finish_reason": self.end}]}
        details = {"cached_tokens": 90}
        yield {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": details}}


def local(*texts: str, **options: Any) -> tuple[LocalProvider, Written]:
    runtime = Written(*texts, **{k: options.pop(k) for k in ("size", "end") if k in options})
    return LocalProvider("models/tiny.gguf", runtime=runtime, **options), runtime


def ask(provider: LocalProvider, *, tools: Any = (now, wordcount), **options: Any) -> Any:
    return provider.call([{"role": "user", "content": "What time is it?"}], system="Be brief.", tools=tools, **options)


def test_an_answer_is_streamed_as_text_and_its_usage_is_measured():
    provider, _ = local('{"answer": "It is \\u00e9asy:\\n\\"yes\\""}')
    heard: list[str] = []
    reply = ask(provider, on_text_delta=heard.append)
    assert reply.text == "".join(heard) == 'It is éasy:\n"yes"'
    assert len(heard) > 3
    assert (reply.tool_calls, reply.stop_reason, reply.model) == ((), "end_turn", "tiny.gguf")
    assert reply.usage == Usage(10, 7, cache_read_tokens=90, exact=True)


def test_a_call_streams_nothing_and_has_an_id_of_its_own():
    provider, _ = local('{"tool": "wordcount", "arguments": {"text": "a {\\"answer\\": b"}}')
    heard: list[str] = []
    reply = ask(provider, on_text_delta=heard.append)
    assert heard == []
    assert reply.tool_calls == (ToolCall("call_1", "wordcount", {"text": 'a {"answer": b'}),)
    assert reply.stop_reason == "tool_use"


def test_a_turn_of_the_loop_runs_the_call_and_sends_it_back_as_the_model_wrote_it():
    provider, runtime = local('{"tool": "wordcount", "arguments": {"text": "a b c"}}', '{"answer": "Three."}')
    messages: list[Any] = []
    assert agent_step("How many words?", messages, adapt(provider), "Be brief.", tools=[wordcount]) == "Three."
    sent = runtime.asked[1]["messages"]
    assert sent[-3:] == [
        {"role": "user", "content": "How many words?"},
        {"role": "assistant", "content": '{"tool": "wordcount", "arguments": {"text": "a b c"}}'},
        {"role": "user", "content": "Result of wordcount:\n3"},
    ]
    assert [m["role"] for m in sent[1:]] == ["user", "assistant"] * ((len(sent) - 1) // 2) + ["user"]


def test_every_request_is_deterministic_bounded_and_held_in_shape():
    provider, runtime = local('{"answer": "x"}', '{"answer": "x"}', max_output_tokens=40)
    ask(provider)
    ask(provider, max_output_tokens=9)
    first, second = runtime.asked
    assert (first["temperature"], first["max_tokens"], second["max_tokens"]) == (0, 40, 9)
    assert first["stream_options"] == {"include_usage": True}
    branches = first["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [b["properties"].get("tool") for b in branches] == [{"const": "now"}, {"const": "wordcount"}, None]


def test_without_tools_the_reply_is_plain_text_and_nothing_is_demonstrated():
    provider, runtime = local('{"answer": is no JSON here')
    assert ask(provider, tools=()).text == '{"answer": is no JSON here'
    assert "response_format" not in runtime.asked[0]
    assert len(runtime.asked[0]["messages"]) == 2


@pytest.mark.parametrize(
    ("written", "text", "calls"),
    [
        ('{"answer": "It is lat', "It is lat", ()),
        ('{"answer": "half an escape \\u00', "half an escape ", ()),
        ('{"tool": "wordcount", "arguments": {"te', "", (ToolCall("call_1", "wordcount", '{"te'),)),
        ('{"tool": "wordc', "", ()),
    ],
)
def test_a_reply_that_reaches_its_limit_says_so_and_keeps_what_there_is(written, text, calls):
    provider, _ = local(written, end="length")
    reply = ask(provider)
    assert (reply.text, reply.tool_calls, reply.stop_reason) == (text, calls, "max_tokens")


def test_a_reply_out_of_shape_and_one_that_breaks_off_are_errors():
    provider, _ = local('{"speech": "hello"}')
    with pytest.raises(ProviderError, match="neither a call nor an answer"):
        ask(provider)
    provider, _ = local('{"answer": "so far', end=None)
    with pytest.raises(TransportError, match="before it was complete") as caught:
        ask(provider)
    assert caught.value.text == "so far"


class Failing:
    """A runtime that answers with llama.cpp's error."""

    def __init__(self, **error: Any) -> None:
        self.error = error

    def stream(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"error": self.error}


def test_a_prompt_larger_than_the_window_says_what_to_cut():
    error = {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9030}
    provider = LocalProvider("tiny.gguf", runtime=Failing(**error, n_ctx=4096))
    with pytest.raises(ContextWindowError, match="9030 tokens is larger than the window of 4096 tokens") as caught:
        ask(provider)
    assert (caught.value.prompt_tokens, caught.value.window, caught.value.status) == (9030, 4096, 400)
    with pytest.raises(ProviderError, match=r"llama\.cpp: no slot") as other:
        ask(LocalProvider("tiny.gguf", runtime=Failing(code=503, message="no slot", type="unavailable_error")))
    assert not isinstance(other.value, ContextWindowError)


class Slow:
    """A runtime that writes a piece and then waits until it is left."""

    def __init__(self) -> None:
        self.left = threading.Event()
        self.go_on = threading.Event()

    def stream(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            yield {"choices": [{"delta": {"content": '{"answer": "a'}, "finish_reason": None}]}
            self.go_on.wait(10)
            yield {"choices": [{"delta": {"content": "b"}, "finish_reason": None}]}
            yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}
        finally:
            self.left.set()


def test_a_cancelled_call_returns_at_once_and_its_runtime_is_left():
    runtime, scope = Slow(), Scope()
    heard: list[str] = []
    ended: list[float] = []

    def hear(piece: str) -> None:
        heard.append(piece)
        threading.Timer(0.05, lambda: (ended.append(time.monotonic()), scope.cancel("stop"))).start()

    with pytest.raises(Cancelled, match="stop"):
        ask(LocalProvider("tiny.gguf", runtime=runtime), on_text_delta=hear, scope=scope)
    assert time.monotonic() - ended[0] < 0.2
    assert heard == ["a"]
    assert not runtime.left.is_set()
    runtime.go_on.set()
    assert runtime.left.wait(5)


def test_what_is_wrong_with_a_file_is_said_before_anything_is_loaded(tmp_path: Path):
    with pytest.raises(InputError, match="needs a model file"):
        open_provider("local")
    with pytest.raises(InputError, match="cannot be read"):
        open_provider("local", model=str(tmp_path / "none.gguf"))
    with pytest.raises(InputError, match="is a folder"):
        open_provider("local", model=str(tmp_path))
    text = tmp_path / "notes.txt"
    text.write_text("Hello")
    with pytest.raises(InputError, match=r"notes\.txt: is no GGUF file: .*found b'Hell'"):
        open_provider("local", model=str(text))
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"GGUF\x03")
    check_file(model)


def test_a_runtime_that_is_not_installed_is_said_with_the_line_that_installs_it():
    with pytest.raises(InputError, match=r"no_such_runtime is not installed: pip install 'agentlab-observe\[local\]'"):
        check_installed("no_such_runtime")


@pytest.mark.parametrize("field", ["window", "max_output_tokens", "n_threads"])
def test_numbers_below_one_are_refused(field):
    with pytest.raises(InputError, match=f"{field}: expected a number from 1, found 0"):
        local(**{field: 0})


def test_it_costs_nothing_and_shows_no_path():
    provider, _ = local()
    assert not is_hosted(provider)
    assert "models" not in repr(provider)


def test_its_requests_can_be_written_as_json():
    provider, runtime = local('{"answer": "x"}')
    ask(provider)
    assert json.loads(json.dumps(runtime.asked[0])) == runtime.asked[0]
