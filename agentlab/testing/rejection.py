"""What a provider answers instead of a reply, in each API's own shape."""

from __future__ import annotations

from typing import Any

from agentlab.errors import AgentlabError


class RejectedRequest(AgentlabError):
    """A request that the real API would not have accepted.

    Attributes:
        message: The API's sentence.
        status: HTTP status of the answer.
        kind: The API's name for the error (`invalid_request_error`).
        body: The JSON body of the answer.
    """

    def __init__(self, message: str, *, status: int, kind: str, body: dict[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.body = body


def anthropic_rejection(message: str, *, status: int = 400, kind: str = "invalid_request_error") -> RejectedRequest:
    """Word an error as the Anthropic Messages API does.

    Args:
        message: What is wrong, with the path of the field in front.
        status: HTTP status.
        kind: Value of `error.type`.

    Returns:
        The exception, to be raised.

    >>> anthropic_rejection("max_tokens: Field required").body["error"]["type"]
    'invalid_request_error'
    """
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return RejectedRequest(message, status=status, kind=kind, body=body)


def openai_rejection(
    message: str,
    *,
    status: int = 400,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
) -> RejectedRequest:
    """Word an error as the OpenAI Chat Completions API does.

    Args:
        message: What is wrong.
        status: HTTP status.
        kind: Value of `error.type`.
        param: The field that it is about.
        code: The machine-readable reason, such as `context_length_exceeded`.

    Returns:
        The exception, to be raised.

    >>> openai_rejection("Missing required parameter: 'model'.", param="model").body["error"]["param"]
    'model'
    """
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return RejectedRequest(message, status=status, kind=kind, body=body)
