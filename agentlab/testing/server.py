"""A strict provider on the loopback interface, for tests of what really goes over the wire.

One thread per connection; all of them end with the server.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.testing.engine import Engine
from agentlab.testing.handler import Connection
from agentlab.testing.prompt import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from agentlab.testing.prompt import Counter
    from agentlab.testing.rejection import RejectedRequest
    from agentlab.testing.replies import Replies

_JOIN_SECONDS = 5.0
_SECRETS = frozenset(("authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"))


class RecordedRequest(msgspec.Struct, frozen=True):
    """One request as it arrived.

    `headers` have names in lower case and no secrets: of a key only the scheme is left. `body` is the parsed JSON, or
    the raw text where it does not parse, or None.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class LoopbackServer(ThreadingHTTPServer):
    """HTTP on a free port of 127.0.0.1 that keeps what it saw and can end its connections.

    Args:
        engine: What decides about the answers.
    """

    daemon_threads = True
    block_on_close = False  # the connections are ended and joined by `end_connections`
    request_queue_size = 64

    def __init__(self, engine: Engine) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.engine = engine
        self.closing = threading.Event()
        self.requests: list[RecordedRequest] = []
        self.rejected: list[RejectedRequest] = []
        self.errors: list[BaseException] = []
        self._lock = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}

    def server_bind(self) -> None:
        """Bind without the base class's look-up of the host's name, which may ask the network."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection on a thread of its own."""
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        with self._lock:
            self._open[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection and close it."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the base class's signature
        """Keep what went wrong on a connection; clients and scripts that hang up are no error."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            with self._lock:
                self.errors.append(error)

    def record(self, method: str, path: str, headers: dict[str, str], body: Any) -> str:
        """Keep a request, without its secrets.

        Returns:
            The id under which it is answered.
        """
        shown = {name: _hidden(value) if name in _SECRETS else value for name, value in headers.items()}
        with self._lock:
            self.requests.append(RecordedRequest(method, path, shown, body))
            return f"req_{len(self.requests):06}"

    def reject(self, rejected: RejectedRequest) -> None:
        """Keep a rejection."""
        with self._lock:
            self.rejected.append(rejected)

    def end_connections(self) -> None:
        """Wake every connection that waits for its client, and wait for their threads."""
        with self._lock:
            still_open = dict(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in still_open.values():
            thread.join(_JOIN_SECONDS)


class ProviderServer:
    """What `provider_server` makes: a context manager around the running server.

    Attributes:
        url: Base URL without a path: what `anthropic` takes; `openai` takes `url + "/v1"`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._http = LoopbackServer(engine)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __repr__(self) -> str:
        return f"<ProviderServer {self.url}, {len(self._http.requests)} requests>"

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far, in order of arrival."""
        return self._http.requests

    @property
    def rejected(self) -> list[RejectedRequest]:
        """Every rejection so far; scripted faults are none."""
        return self._http.rejected

    def script(self, replies: Replies) -> None:
        """Replace what is left of the script.

        Args:
            replies: As for `provider_server`.
        """
        self._engine.script(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if not self._http.errors:
            return
        if error is None:
            raise self._http.errors[0]
        error.add_note(f"on the server's side: {self._http.errors[0]!r}")

    def close(self) -> None:
        """Stop answering, break off what is still going on and wait for every thread; a second call does nothing."""
        if self._http.closing.is_set():
            return
        self._http.closing.set()
        if self._thread.ident is not None:
            self._http.shutdown()
            self._thread.join(_JOIN_SECONDS)
        self._http.end_connections()
        self._http.server_close()


def provider_server(
    replies: Replies = "ok",
    *,
    window: int | None = 200_000,
    key: str | None = None,
    models: Sequence[str] | None = None,
    counter: Counter = estimate_tokens,
    cache_minimum: int = 1_024,
    piece: int = 16,
    prefill: bool = False,
) -> ProviderServer:
    """Make a strict provider on a free port of the loopback interface.

    It serves `POST /v1/messages` and `/v1/messages/count_tokens` (Anthropic), `POST /v1/chat/completions` (OpenAI),
    streamed or not, and `GET /v1/models` in both shapes. What the real APIs reject it rejects, with their status and
    body, and such a request takes nothing from the script. Prompt caches are simulated: Anthropic's where the request
    carries `cache_control`, OpenAI's always. `max_tokens` is not enforced: script a cut reply with `cut_call`.

    Args:
        replies: One answer, repeated for ever; a sequence of answers, each given once; or a function from the
            request's body to an answer. An answer is a text, a `Reply`, or a fault of `agentlab.testing`.
        window: Prompt tokens accepted at most; None for no limit.
        key: Key that requests must carry; None for none.
        models: Models that exist; None for any.
        counter: Counts the tokens of a text. The default is one token for every four characters begun. Prompts are
            counted block by block (tools, system, messages), with 3 tokens more for each message.
        cache_minimum: Tokens below which Anthropic's cache keeps nothing.
        piece: Length in characters of the pieces that are streamed.
        prefill: Accept an assistant message at the end on the Anthropic side, as models before Claude 4.6 do.

    Returns:
        A server that runs inside `with`. Leaving it raises what a function in `replies` raised, if nothing else did.

    >>> with provider_server(["Hello.", "Bye."]) as server:
    ...     server.url.startswith("http://127.0.0.1:"), server.requests
    (True, [])
    """
    engine = Engine(
        replies,
        window=window,
        key=key,
        models=models,
        counter=counter,
        cache_minimum=cache_minimum,
        piece=piece,
        prefill=prefill,
    )
    return ProviderServer(engine)


def refused_url() -> str:
    """Give a base URL at which nothing listens: connecting to it is refused.

    Returns:
        A URL on the loopback interface whose port was free a moment ago.

    >>> refused_url().startswith("http://127.0.0.1:")
    True
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def _hidden(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    return f"{scheme} [redacted]" if space else "[redacted]"
