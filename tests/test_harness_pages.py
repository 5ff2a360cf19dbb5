"""`fetch_url`: what it may ask, where it stops, and pages as text."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, InputError, ToolError
from agentlab.harness.page_text import html_text, page_text
from agentlab.harness.pages import Fetcher, fetch_url_tool, is_public
from agentlab.harness.session import Harness
from agentlab.providers.scripted import ScriptedModel, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = b"""<!DOCTYPE html><html><head><title>The  Title</title><style>p {}</style></head><body>
<!-- hidden --><h1>Head</h1><p>One <b>bold</b>
word &amp; more.</p><ul><li>a</li><li>b</li></ul><script>alert("no")</script><pre>  kept
    so</pre></body></html>"""


@contextmanager
def site(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def reading(fetcher: Fetcher, url: str, scope: Scope | None = None) -> str:
    return fetch_url_tool(fetcher).run(url=url, scope=scope)


LOCAL = Fetcher(allow_private=True)


def test_a_page_becomes_text_with_title_blocks_and_preformatted_lines() -> None:
    assert page_text(PAGE, "text/html; charset=utf-8") == (
        "The Title\n\nHead\nOne bold word & more.\na\nb\n  kept\n    so"
    )


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"plain <b>", "text/plain", "plain <b>"),
        ("gr\u00fcn".encode("latin-1"), "text/plain; charset=latin-1", "gr\u00fcn"),
        ('<meta charset="latin-1"><p>gr\u00fcn'.encode("latin-1"), "text/html", "gr\u00fcn"),
        (b"<p>x", "text/html; charset=nonsense", "x"),
        (b"<p>x", "text/html; charset=base64", "x"),
        (b"\xff\xfe", "text/plain", "\ufffd\ufffd"),
        (b"<html><p>x", "", "x"),
        (b"\x89PNG\0\0", "image/png", None),
        (b"\0\1", "text/plain", None),
        (b"", "text/html", ""),
    ],
)
def test_what_is_text_is_decoded_and_the_rest_is_not(data: bytes, kind: str, text: str | None) -> None:
    assert page_text(data, kind) == text


def test_broken_and_deep_html_is_read_in_one_pass() -> None:
    began = time.monotonic()
    assert html_text("<div>" * 20_000 + "deep") == "deep"
    assert html_text("<p>a <b>b <a>c " * 4_000).count("a b c") == 4_000
    assert time.monotonic() - began < 8.0
    assert html_text("<svg><path><p>no</svg><p>yes<noscript>no") == "yes"
    assert html_text("<pre>a</pre></pre><p>b   c") == "a\nb c"


def test_a_page_is_fetched_and_named() -> None:
    seen: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append(f"{handler.path} {handler.headers['Host']} {handler.headers['Accept-Encoding']}")
        send(handler, PAGE, Content_Type="text/html")

    with site(answer) as port:
        text = reading(LOCAL, f"http://127.0.0.1:{port}/a b?q=\u00fc#part")
    assert text.startswith(f"http://127.0.0.1:{port}/a b?q=\u00fc#part\nThe Title\n\nHead")
    assert seen == [f"/a%20b?q=%C3%BC 127.0.0.1:{port} identity"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///etc/passwd", "not an http or https address"),
        ("ftp://example.org/", "not an http or https address"),
        ("example.org", "not an http or https address"),
        ("http:///nothing", "names no machine"),
        ("http://example.org:99999/", "is not an address"),
        ("http://user:word@example.org/", "user name or password"),
        ("http://[::1/", "is not an address"),
        ("http://" + "a" * 70 + ".org/", "is not an address"),
        ("http://example.org/" + "a" * 3_000, "2000 are the most"),
    ],
)
def test_what_is_no_address_is_refused_with_a_reason(url: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        reading(LOCAL, url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://localhost:9/",
        "http://[::1]:9/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://2130706433:9/",
        "http://0.0.0.0:9/",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data/",
    ],
)
def test_private_and_loopback_addresses_are_refused_unless_allowed(url: str) -> None:
    with pytest.raises(ToolError, match="private network or of this machine"):
        reading(Fetcher(), url)


@pytest.mark.parametrize(
    "address",
    ["172.16.0.1", "192.168.1.1", "100.64.0.1", "224.0.0.1", "fe80::1", "fc00::1", "2002:7f00:1::", "no", "::"],
)
def test_no_form_of_a_private_address_is_public(address: str) -> None:
    assert is_public(address) is False
    assert is_public("2606:2800:220:1:248:1893:25c8:1946") is True


def test_a_name_of_several_addresses_is_refused_if_one_is_private() -> None:
    fetcher = Fetcher(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(ToolError, match="private network"):
        reading(fetcher, "http://example.org/")


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]  # a name that means another machine a moment later
    asked: list[str] = []
    dialled: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    with site(lambda handler: send(handler, b"hello", Content_Type="text/plain")) as port:

        def connect(address: tuple[str, int], seconds: float) -> socket.socket:
            dialled.append(address[0])
            return socket.create_connection(("127.0.0.1", port), seconds)

        text = reading(Fetcher(resolve=resolve, connect=connect), "http://rebinding.example/")
    assert text.endswith("\nhello")
    assert (asked, dialled) == (["rebinding.example"], ["93.184.216.34"])


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with site(lambda handler: send(handler, b"", 302, Location="http://127.0.0.1:1/secret")) as port:
        fetcher = Fetcher(
            resolve=lambda host, _: ["93.184.216.34"] if host == "example.org" else [host],
            connect=lambda _, seconds: socket.create_connection(("127.0.0.1", port), seconds),
        )
        with pytest.raises(ToolError, match=r"'127.0.0.1' is an address of a private network"):
            reading(fetcher, "http://example.org/")


def test_redirects_are_followed_and_have_a_limit() -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        left = int(handler.path[1:])
        if left:
            send(handler, b"", 301, Location=f"/{left - 1}")
        else:
            send(handler, b"there", Content_Type="text/plain")

    with site(answer) as port:
        assert reading(LOCAL, f"http://127.0.0.1:{port}/5") == f"http://127.0.0.1:{port}/0\nthere"
        with pytest.raises(ToolError, match="redirects more than 5 times"):
            reading(LOCAL, f"http://127.0.0.1:{port}/6")
        with (
            pytest.raises(ToolError, match="not an http or https address"),
            site(lambda handler: send(handler, b"", 302, Location="file:///etc/passwd")) as other,
        ):
            reading(LOCAL, f"http://127.0.0.1:{other}/")


def test_a_page_is_read_up_to_its_limit_and_says_so() -> None:
    with site(lambda handler: send(handler, b"x" * 5_000, Content_Type="text/plain")) as port:
        text = reading(Fetcher(allow_private=True, max_bytes=1_000), f"http://127.0.0.1:{port}/")
    assert text.count("x") == 1_000
    assert text.endswith("(only its first 1,000 bytes were read)")


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (404, {"Content_Type": "text/html"}, "answered 404: gone"),
        (200, {"Content_Type": "image/png"}, "is image/png, and only text can be read"),
        (200, {"Content_Type": "text/plain", "Content_Encoding": "gzip"}, "compressed"),
    ],
)
def test_what_is_no_readable_page_is_an_error_with_a_reason(status: int, headers: dict[str, str], says: str) -> None:
    with site(lambda handler: send(handler, b"gone", status, **headers)) as port, pytest.raises(ToolError, match=says):
        reading(LOCAL, f"http://127.0.0.1:{port}/")


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte now and then, for ever: it renews every timeout of a socket."""
    try:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
        for _ in range(60):
            handler.wfile.write(b"y")
            time.sleep(0.05)
    except OSError:
        return


def test_a_server_that_drips_is_given_up_in_time() -> None:
    with site(drip) as port:
        began = time.monotonic()
        with pytest.raises(ToolError, match=r"within 0.3 s"):
            reading(Fetcher(allow_private=True, seconds=0.3), f"http://127.0.0.1:{port}/")
        assert time.monotonic() - began < 1.0


def test_cancelling_ends_a_fetch_at_once() -> None:
    scope = Scope()
    with site(drip) as port:
        threading.Timer(0.2, scope.cancel).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            reading(LOCAL, f"http://127.0.0.1:{port}/", scope)
        assert time.monotonic() - began < 1.0


def test_a_closed_port_a_broken_server_and_an_unknown_name_are_errors_with_a_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ToolError, match="cannot be fetched"):
        reading(LOCAL, f"http://127.0.0.1:{port}/")
    with (
        site(lambda handler: handler.wfile.write(b"nonsense\r\n\r\n")) as port,
        pytest.raises(ToolError, match="fetched"),
    ):
        reading(LOCAL, f"http://127.0.0.1:{port}/")

    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(ToolError, match=r"no machine named 'nowhere\.example'"):
        reading(Fetcher(resolve=unknown), "http://nowhere.example/")


def test_https_checks_the_name_and_a_plain_server_is_refused() -> None:
    with site(lambda handler: send(handler, b"x")) as port, pytest.raises(ToolError, match="cannot be fetched"):
        reading(LOCAL, f"https://127.0.0.1:{port}/")


@pytest.mark.parametrize("limits", [{"max_bytes": 0}, {"seconds": 0}, {"max_redirects": -1}])
def test_limits_that_are_none_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Fetcher(**limits)


def test_the_researcher_reads_pages_only_where_that_is_switched_on() -> None:
    without = Harness(ScriptedModel([]))
    assert "fetch_url" not in [each.name for each in without._tools["researcher"]]
    with site(lambda handler: send(handler, PAGE, Content_Type="text/html")) as port:
        researcher = ScriptedModel([call("fetch_url", url=f"http://127.0.0.1:{port}/"), lambda m: m[-1]["content"]])
        cog = ScriptedModel([call("agent_researcher", instruction="Read the page."), lambda m: m[-1]["content"]])
        session = Harness(cog, providers={"researcher": researcher}, pages=fetch_url_tool(LOCAL))
        assert "One bold word & more." in session.send("What does it say?").text
    assert "fetch_url" not in [each.name for each in session._tools["cog"]]
