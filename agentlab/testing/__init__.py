"""Tools for tests that talk to a provider: a strict loopback server, and the rules that it keeps.

>>> from agentlab.testing import check_messages, provider_server
>>> with provider_server(["Hello."], window=1_000) as server:
...     server.requests
[]

The rules can be used without HTTP: `check_anthropic` and `check_openai` take the body of a request, `check_messages`
agentlab's own list of messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.messages import Reply, ToolCall, Usage
from agentlab.testing.anthropic_rules import check_anthropic
from agentlab.testing.chat_rules import check_messages
from agentlab.testing.openai_rules import check_openai
from agentlab.testing.rejection import RejectedRequest
from agentlab.testing.replies import (
    OVERLOADED,
    RATE_LIMITED,
    SERVER_ERROR,
    Cut,
    Dropped,
    ErrorEvent,
    HttpFault,
    Slow,
    cut_call,
)

if TYPE_CHECKING:
    from agentlab.testing.server import ProviderServer, RecordedRequest, provider_server, refused_url

__all__ = [
    "OVERLOADED",
    "RATE_LIMITED",
    "SERVER_ERROR",
    "Cut",
    "Dropped",
    "ErrorEvent",
    "HttpFault",
    "ProviderServer",
    "RecordedRequest",
    "RejectedRequest",
    "Reply",
    "Slow",
    "ToolCall",
    "Usage",
    "check_anthropic",
    "check_messages",
    "check_openai",
    "cut_call",
    "provider_server",
    "refused_url",
]

_FROM_SERVER = frozenset(("ProviderServer", "RecordedRequest", "provider_server", "refused_url"))


def __getattr__(name: str) -> object:
    """Load the server, and with it `http.server`, only where it is asked for: the rules alone stay cheap."""
    if name in _FROM_SERVER:
        from agentlab.testing import server

        return getattr(server, name)
    raise AttributeError(f"module 'agentlab.testing' has no attribute {name!r}")
