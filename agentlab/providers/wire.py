"""What the adapters of hosted models share: the client, the stream on its thread, and texts that may be sent."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from agentlab.budgets import stream_in_thread
from agentlab.errors import InputError, ProviderError, TransportError
from agentlab.providers import keys
from agentlab.tokens import models, valid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, Reply

DEFAULT_OUTPUT = 16_384
"""Output tokens allowed where nobody says: long answers fit, and no single call runs away with a small budget."""

CONNECT_SECONDS = 10.0


class Assembly(Protocol):
    """Puts the events of a stream together.

    Attributes:
        stop_reason: Why the model stopped, in the words of `StopReason`; None until the stream says so.
    """

    stop_reason: str | None

    @property
    def text(self) -> str:
        """The reply's text so far."""

    def take(self, event: Any) -> str:
        """Take one event; returns the text that it adds to the reply."""

    def reply(self) -> Reply:
        """The reply as far as it has come."""


class WireProvider:
    """Base of the adapters: one model behind one address, and a client that is made at the first call.

    Attributes:
        model: The model that is asked for.
        window: Size of its window in tokens, or None where it is not known.
        base_url: Address of the server, or None for the provider's own.
        hosted: True where calls leave one's own machines, and may cost money.
    """

    native: ClassVar[bool] = True
    name: ClassVar[str]
    package: ClassVar[str]
    client_class: ClassVar[str]
    base_error: ClassVar[str]
    base_url_variable: ClassVar[str]
    extra: ClassVar[str | None] = None

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        max_output_tokens: int | None = None,
        timeout: float = 600.0,
    ) -> None:
        _check_installed(self.package, self.extra)
        if max_output_tokens is not None and max_output_tokens < 1:
            raise InputError(f"expected 1 or more, found {max_output_tokens}", field="max_output_tokens")
        from_environment = os.environ.get(self.base_url_variable, "").strip() or None
        self.model = model
        self.base_url = _check_url(base_url or from_environment)
        self.hosted = self.base_url is None or not on_own_machine(self.base_url)
        self.timeout = timeout
        self.max_output_tokens = max_output_tokens
        known = models.find(model)
        self.window: int | None = known.window if known else None
        self.default_output = min(DEFAULT_OUTPUT, (known.max_output if known else None) or DEFAULT_OUTPUT)
        self._key = key or _key_for(self.name, base_url, from_environment)
        self._client: Any = None
        self._lock = threading.Lock()

    @property
    def caching(self) -> str:
        """Whether the provider keeps the prompt in its cache, in words for the run's header."""
        return "not known"

    def __repr__(self) -> str:
        where = f", base_url={self.base_url!r}" if self.base_url else ""
        return f"{type(self).__name__}({self.model!r}{where}, caching={self.caching!r})"

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def sdk(self) -> Any:
        """The SDK's module, imported when it is first asked for: that takes a second."""
        from importlib import import_module

        return import_module(self.package)

    @property
    def client(self) -> Any:
        """The SDK's client, made when it is first asked for; its own retries are off."""
        with self._lock:
            if self._client is None:
                make = getattr(self.sdk, self.client_class)
                self._client = make(api_key=self._key, base_url=self.base_url, max_retries=0)
            return self._client

    def open_stream(self, request: dict[str, Any], timeout: Any) -> Any:
        """Send the request; returns the SDK's stream."""
        raise NotImplementedError

    def complete(
        self,
        request: dict[str, Any],
        assembly: Assembly,
        *,
        messages: Sequence[Message],
        on_text_delta: Callable[[str], None] | None,
        scope: Scope | None,
    ) -> Reply:
        """Send a request and put its stream together; text is handed on in the caller's thread.

        Raises:
            ProviderError: The call failed; its `text` is what had arrived.
            ScopeEnded: The scope ended first.
        """
        events = _Stream(self, request, messages, scope)
        with closing(events.read()) as arriving:
            try:
                for event in arriving:
                    piece = assembly.take(event)
                    if piece and on_text_delta is not None:
                        on_text_delta(piece)
            except ProviderError as error:
                error.text = error.text or assembly.text
                raise
        if assembly.stop_reason is None:
            raise TransportError(f"the answer of {self.name} ended before it was complete", text=assembly.text)
        return assembly.reply()

    def failures(self) -> tuple[type[Exception], ...]:
        """What a call may raise: the SDK's errors, those of its HTTP layer, and unreadable events."""
        layers = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
        return (getattr(self.sdk, self.base_error), ValueError, *(layer.HTTPError for layer in layers))

    def translate(self, error: Exception, messages: Sequence[Message]) -> ProviderError:
        """The error of ours for one of `failures`."""
        from agentlab.providers.failures import translate

        return translate(self.sdk, error, provider=self.name, model=self.model, messages=messages)

    def patience(self, scope: Scope | None) -> Any:
        """Seconds to wait for the next byte: what the scope has left and a little more, so that threads end."""
        left = scope.remaining() + 1.0 if scope is not None else self.timeout
        return self.sdk.Timeout(min(self.timeout, left), connect=min(CONNECT_SECONDS, left))


class _Stream:
    """One stream of an SDK, read on a daemon thread and hung up when it is left early."""

    def __init__(
        self, provider: WireProvider, request: dict[str, Any], messages: Sequence[Message], scope: Scope | None
    ) -> None:
        self.provider = provider
        self.request = request
        self.messages = messages
        self.scope = scope
        self.opened: Any = None

    def read(self) -> Generator[Any, None, None]:
        """Yield the events."""
        done = False
        try:
            yield from stream_in_thread(self._produce, self.scope)
            done = True
        finally:
            if not done and self.opened is not None:
                _hang_up(self.opened)

    def _produce(self) -> Iterator[Any]:
        provider = self.provider
        failures = provider.failures()
        try:
            with provider.open_stream(self.request, provider.patience(self.scope)) as stream:
                self.opened = stream
                yield from stream
        except failures as error:
            # Not chained: the SDK's error shows the provider's body and the request's headers.
            raise provider.translate(error, self.messages) from None


def _hang_up(stream: Any) -> None:
    """End a stream whose thread waits for its next byte, so that the thread closes it and the server stops writing."""
    import socket

    with suppress(AttributeError, KeyError, TypeError, OSError):
        connection = stream.response.extensions["network_stream"].get_extra_info("socket")
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def parse_arguments(text: str) -> dict[str, Any] | str:
    """The arguments of a call: the object that the text holds, `{}` where it is empty, else the text as it came.

    >>> parse_arguments('{"path": "a.txt"}'), parse_arguments(""), parse_arguments('{"path": ')
    ({'path': 'a.txt'}, {}, '{"path": ')
    """
    import msgspec

    if not text.strip():
        return {}
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def sendable(text: str | None, empty: str) -> str:
    r"""A text that every provider accepts: valid Unicode, and `empty` in place of nothing but white space.

    >>> sendable(" ", "(no text)"), sendable("caf\udce9", "(no text)")
    ('(no text)', 'caf\ufffd')
    """
    return valid_text(text) if text and not text.isspace() else empty


def on_own_machine(url: str) -> bool:
    """Whether an address is this computer's, or one of a private network.

    >>> on_own_machine("http://localhost:8080/v1"), on_own_machine("https://api.example.com")
    (True, False)
    """
    from ipaddress import ip_address

    host = _host(url)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_private


def _key_for(name: str, base_url: str | None, from_environment: str | None) -> str:
    """The key to send: a real one never goes to a server of one's own unless it was set beside its address."""
    if base_url is not None:
        return keys.PLACEHOLDER if on_own_machine(base_url) else keys.find_key(name) or keys.PLACEHOLDER
    if from_environment is not None and on_own_machine(from_environment):
        return keys.find_key(name) or keys.PLACEHOLDER
    return keys.require_key(name)


def _check_installed(package: str, extra: str | None) -> None:
    """Say how to install an SDK that is not there, without importing it."""
    from importlib.util import find_spec

    if package not in sys.modules and find_spec(package) is None:
        what = f"agentlab-observe[{extra}]" if extra else package
        raise InputError(f"the package {package} is not installed: pip install '{what}'")


def _check_url(url: str | None) -> str | None:
    """The address without user and password in it, which error texts could show."""
    if url is None:
        return None
    if not url.startswith(("http://", "https://")) or not _host(url):
        raise InputError(f"expected an address like http://localhost:8080/v1, found {url!r}", field="base_url")
    if "@" in url.split("/")[2]:
        raise InputError("expected an address without user and password; pass the key as key=", field="base_url")
    return url


def _host(url: str) -> str:
    """The host of an address, in small letters; empty where there is none."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
