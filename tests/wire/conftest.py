"""Servers for the wire tests: started on free loopback ports, waited for, and stopped again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentlab.providers import masking
from agentlab.providers.anthropic import AnthropicProvider
from agentlab.providers.openai import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentlab.providers.wire import WireProvider

HERE = Path(__file__).parent
AIMOCK_IN_PROJECT = HERE.parent.parent / ".cache/aimock/node_modules/.bin/llmock"


class Spec(msgspec.Struct, frozen=True):
    """A tool as providers see it."""

    name: str
    description: str
    parameters: dict[str, Any]


WEATHER = Spec(
    "get_weather",
    "Say what the weather is like in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(masking, "_kept", {})
    masking.refresh()


@pytest.fixture
def weather() -> Spec:
    return WEATHER


class Llmock:
    """The independent server llmock, driven over its control API."""

    def __init__(self, url: str) -> None:
        self.url = url

    def next(self, *behaviors: dict[str, Any]) -> None:
        """Say what happens to the requests to come."""
        body = json.dumps({"behaviors": behaviors}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/_llmock/scenario", data=body)).close()

    def reset(self) -> None:
        """Forget what has not happened."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/_llmock/reset", data=b"")).close()

    def requests(self) -> list[dict[str, Any]]:
        """What arrived since the last reset."""
        with urllib.request.urlopen(f"{self.url}/_llmock/requests") as answer:
            found = json.load(answer)
        return found["requests"] if isinstance(found, dict) else found


@pytest.fixture(scope="session")
def llmock_url() -> Iterator[str]:
    command = Path(sys.executable).with_name("llmock")
    if not command.exists():
        pytest.skip("llmock is not installed: pip install llmock==0.2.2")
    options = ["--stream-chunk-delay-ms", "20", "--log-level", "error"]
    with served([str(command), "serve", "--host", "127.0.0.1", *options], port_option="--port") as url:
        yield url


@pytest.fixture
def llmock_server(llmock_url: str) -> Iterator[Llmock]:
    server = Llmock(llmock_url)
    server.reset()
    yield server
    server.reset()


@pytest.fixture(scope="session")
def aimock_url() -> Iterator[str]:
    command = Path(os.environ.get("AGENTLAB_AIMOCK") or AIMOCK_IN_PROJECT)
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so the independent server aimock cannot run")
    if not command.exists():
        pytest.skip("aimock is not installed: npm i --prefix .cache/aimock @copilotkit/aimock@1.43.0")
    options = ["-f", str(HERE / "aimock.json"), "--strict", "--latency", "20", "--log-level", "silent"]
    with served([str(command), "--host", "127.0.0.1", *options], port_option="--port") as url:
        yield url


@pytest.fixture(params=["anthropic", "openai"])
def wire(request: pytest.FixtureRequest) -> str:
    """Each API in turn."""
    return request.param


def connect(wire: str, anthropic_url: str, openai_url: str, **options: Any) -> WireProvider:
    """A provider that talks to a test server."""
    if wire == "anthropic":
        return AnthropicProvider("claude-opus-5", base_url=anthropic_url, **options)
    return OpenAIProvider("gpt-4o", base_url=openai_url, **options)


@contextlib.contextmanager
def served(command: Sequence[str], *, port_option: str) -> Iterator[str]:
    """Run a server on a free port; yields its URL once it answers, and stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*command, port_option, str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_it_answers(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"{process.args} ended at once with code {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    pytest.fail(f"{process.args} did not answer within {seconds} s")
