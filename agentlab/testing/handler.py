"""One connection to the server: reads requests, writes answers, and breaks off where the script says so."""

from __future__ import annotations

import contextlib
import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from agentlab.testing import wire_anthropic, wire_openai
from agentlab.testing.rejection import RejectedRequest
from agentlab.testing.replies import Cut, Dropped, ErrorEvent, HttpFault, Slow

if TYPE_CHECKING:
    from agentlab.testing.replies import Scripted
    from agentlab.testing.server import LoopbackServer
    from agentlab.testing.wire import Answer, Event, Wire

_ROUTES: dict[tuple[str, str], tuple[Wire, str]] = {
    ("POST", "/v1/messages"): (wire_anthropic, "create"),
    ("POST", "/v1/messages/count_tokens"): (wire_anthropic, "count"),
    ("POST", "/v1/chat/completions"): (wire_openai, "create"),
}


class Hangup(ConnectionError):
    """The script says that the connection ends here, or the server closes."""


class Connection(BaseHTTPRequestHandler):
    """A client's connection, which may carry several requests one after another."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Stay silent: the requests are recorded."""

    def do_GET(self) -> None:
        """Answer `GET /v1/models`."""
        self._serve("GET")

    def do_POST(self) -> None:
        """Answer everything else."""
        self._serve("POST")

    def _serve(self, method: str) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        fallback: Wire = wire_anthropic if "anthropic-version" in headers else wire_openai
        wire, action = _ROUTES.get((method, path), (fallback, ""))
        raw = self.rfile.read(int(headers.get("content-length", 0)))
        body, problem = _parse(raw)
        self._request_id = self.server.record(method, self.path, headers, body)
        try:
            self.server.engine.check_headers(wire, headers)
            if method == "GET" and path == "/v1/models":
                return self._send_json(wire, 200, wire.models(list(self.server.engine.models or ())))
            if not action:
                raise wire.failure(HttpFault(404, kind="not_found_error", message=f"Not Found: {method} {path}"))
            if problem:
                raise wire.not_json(problem)
            self.server.engine.check(wire, body, counting=action == "count")
            if action == "count":
                return self._send_json(wire, 200, {"input_tokens": self.server.engine.count(wire, body)})
            scripted, answer = self.server.engine.answer(wire, body)
        except RejectedRequest as rejected:
            self.server.reject(rejected)
            return self._send_rejection(wire, rejected)
        return self._say(wire, scripted, answer)

    def _say(self, wire: Wire, scripted: Scripted, answer: Answer) -> None:
        streamed = bool(answer.options.get("stream"))
        if isinstance(scripted, Dropped):
            raise Hangup
        if isinstance(scripted, ErrorEvent) and not streamed:
            scripted = wire.BUSY
        if isinstance(scripted, HttpFault):
            return self._send_rejection(wire, wire.failure(scripted), scripted.retry_after)
        if isinstance(scripted, Slow):
            self._wait(scripted.first)
        if streamed:
            return self._stream(wire, scripted, answer)
        if isinstance(scripted, Slow):
            self._wait(scripted.seconds * sum(event.content for event in wire.events(answer)))
        return self._send_json(wire, 200, wire.complete(answer), cut=isinstance(scripted, Cut))

    def _stream(self, wire: Wire, scripted: Scripted, answer: Answer) -> None:
        chunked = not (isinstance(scripted, Cut) and scripted.how == "early_end")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header(wire.ID_HEADER, self._request_id)
        self.send_header(*(("transfer-encoding", "chunked") if chunked else ("connection", "close")))
        self.end_headers()
        said = 0
        for event in wire.events(answer):
            if event.content and isinstance(scripted, Cut | ErrorEvent) and said == scripted.after:
                break
            if event.content and isinstance(scripted, Slow):
                self._wait(scripted.seconds)
            self._write(event, chunked=chunked)
            said += event.content
        if isinstance(scripted, Cut):
            raise Hangup
        if isinstance(scripted, ErrorEvent):
            self._write(wire.error_event(scripted.kind, scripted.message), chunked=chunked)
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, event: Event, *, chunked: bool) -> None:
        if self.server.closing.is_set():
            raise Hangup
        self.wfile.write(b"%x\r\n%b\r\n" % (len(event.data), event.data) if chunked else event.data)

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self.server.closing.wait(seconds):
            raise Hangup

    def _send_rejection(self, wire: Wire, rejected: RejectedRequest, retry_after: float | None = None) -> None:
        body = dict(rejected.body)
        if "type" in body:  # Anthropic's errors carry the id in the body as well
            body["request_id"] = self._request_id
        self._send_json(wire, rejected.status, body, retry_after=retry_after)

    def _send_json(
        self, wire: Wire, status: int, body: dict[str, Any], *, retry_after: float | None = None, cut: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header(wire.ID_HEADER, self._request_id)
        if retry_after is not None:
            self.send_header("retry-after", f"{retry_after:g}")
        self.end_headers()
        if cut:
            self.wfile.write(data[: len(data) // 2])
            raise Hangup
        self.wfile.write(data)


def _parse(raw: bytes) -> tuple[Any, str]:
    """Body of a request, and what is wrong with it; the raw text where it does not parse."""
    if not raw:
        return None, "the body is empty"
    with contextlib.suppress(UnicodeDecodeError):
        text = raw.decode()
        try:
            return json.loads(text), ""
        except ValueError as error:
            return text, str(error)
    return raw.decode(errors="replace"), "the body is not UTF-8"
