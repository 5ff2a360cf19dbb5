"""The provider: one request to the runtime, its reply put together."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agentlab.budgets import stream_in_thread
from agentlab.errors import InputError, ProviderError, TransportError
from agentlab.providers.failures import too_large
from agentlab.providers.local.prompt import calls_in, to_local
from agentlab.providers.local.reading import Assembly
from agentlab.providers.local.runtime import LlamaRuntime, check_file, check_installed
from agentlab.providers.local.schema import reply_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, Reply, ToolChoice, ToolSpec
    from agentlab.providers.local.runtime import Runtime

DEFAULT_WINDOW = 8_192
DEFAULT_OUTPUT = 512
"""Output tokens where nobody says: half a minute on a slow core, and the end of a model that repeats itself."""


class LocalProvider:
    """A model file on this computer's CPU.

    The same request gives the same reply on one computer: temperature 0, and as many threads as are said. The file is
    loaded at the first call.

    Args:
        model: The file (GGUF).
        window: Size of the context in tokens; more takes more memory.
        max_output_tokens: Limit of a reply where the call sets none.
        n_threads: Threads that compute.
        any_name: Let the model name tools that do not exist, as a hosted model can; otherwise the grammar does not.
        runtime: What answers in place of the file, which is then not looked at.

    Raises:
        InputError: No file is named, it is missing or none, a number is below 1, or the runtime is not installed.

    >>> LocalProvider("missing.gguf")
    Traceback (most recent call last):
    agentlab.errors.InputError: missing.gguf: cannot be read (No such file or directory): name a model file (GGUF)
    """

    native: ClassVar[bool] = True
    name: ClassVar[str] = "local"
    hosted: ClassVar[bool] = False
    caching: ClassVar[str] = "the part that a prompt has in common with the one before"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        window: int = DEFAULT_WINDOW,
        max_output_tokens: int = DEFAULT_OUTPUT,
        n_threads: int = 1,
        any_name: bool = False,
        runtime: Runtime | None = None,
    ) -> None:
        if model is None:
            raise InputError("the provider local needs a model file (GGUF): name it with model= (--model FILE.gguf)")
        for field, value in (
            ("window", window),
            ("max_output_tokens", max_output_tokens),
            ("n_threads", n_threads),
        ):
            if value < 1:
                raise InputError(f"expected a number from 1, found {value}", field=field)
        self.path = Path(model)
        if runtime is None:
            check_file(self.path)
            check_installed()
        self.model = self.path.name
        self.window = window
        self.max_output_tokens = max_output_tokens
        self.n_threads = n_threads
        self.any_name = any_name
        self._runtime = runtime
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LocalProvider({self.model!r}, window={self.window}, n_threads={self.n_threads})"

    def close(self) -> None:
        """Let go of the weights; a later call loads them again."""
        with self._lock:
            self._runtime = None

    def call(
        self,
        messages: Sequence[Message],
        *,
        system: str,
        tools: Sequence[ToolSpec],
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Make one model call; see `Provider.call`.

        Raises:
            ContextWindowError: The prompt is larger than the window.
            ProviderError: The runtime refused the request, or its reply cannot be read.
            ScopeEnded: The scope ended first.
        """
        request = self.request(messages, system, tools, tool_choice, max_output_tokens)
        assembly = Assembly(self.model, structured=bool(tools), next_call=calls_in(messages) + 1)
        try:
            with closing(self._chunks(request, scope)) as arriving:
                for chunk in arriving:
                    if "error" in chunk:
                        raise self._failure(chunk["error"], messages)
                    piece = assembly.take(chunk)
                    if piece and on_text_delta is not None:
                        on_text_delta(piece)
            if assembly.stop_reason is None:
                raise TransportError(f"the answer of {self.model} ended before it was complete")
            return assembly.reply()
        except ProviderError as error:
            error.text = error.text or assembly.text
            raise

    def request(
        self,
        messages: Sequence[Message],
        system: str,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,
    ) -> dict[str, Any]:
        """What the runtime is asked: messages, the shape of the reply, and what keeps it the same each time."""
        request: dict[str, Any] = {
            "messages": to_local(messages, system, tools),
            "max_tokens": max_output_tokens or self.max_output_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # a chunk per batch of the prompt: a cancelled call ends there
        }
        if tools:
            schema = reply_schema(tools, tool_choice, any_name=self.any_name)
            request["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
        return request

    def _chunks(self, request: dict[str, Any], scope: Scope | None) -> Generator[dict[str, Any], None, None]:
        """The chunks of a reply, made on a daemon thread."""
        yield from stream_in_thread(lambda: self._opened().stream(request), scope)

    def _opened(self) -> Runtime:
        """The weights, loaded where that has not been done."""
        with self._lock:
            if self._runtime is None:
                self._runtime = LlamaRuntime(self.path, window=self.window, threads=self.n_threads)
            return self._runtime

    def _failure(self, error: Any, messages: Sequence[Message]) -> ProviderError:
        """The error of ours for one of the runtime's."""
        told: dict[str, Any] = error if isinstance(error, dict) else {"message": str(error)}
        kind, status = told.get("type"), told.get("code")
        if kind == "exceed_context_size_error":
            return too_large(
                self.model,
                messages,
                prompt_tokens=told.get("n_prompt_tokens"),
                window=told.get("n_ctx") or self.window,
                status=status,
                kind=kind,
            )
        return ProviderError(f"llama.cpp: {told.get('message') or 'unknown error'}", status=status, kind=kind)
