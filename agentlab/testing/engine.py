"""What the server decides, apart from HTTP: is a request accepted, and what is the answer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.messages import Usage
from agentlab.testing.prompt import PromptCache, count_tokens
from agentlab.testing.replies import HttpFault, Script, arguments_text, reply_of
from agentlab.testing.wire import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.messages import Reply
    from agentlab.testing.prompt import Counter
    from agentlab.testing.replies import Replies, Scripted
    from agentlab.testing.wire import Wire


class Engine:
    """Checks requests, measures prompts and hands out scripted answers, one at a time.

    Args:
        replies: The script.
        window: Prompt tokens accepted at most; None for no limit.
        key: Key to be asked for; None for none.
        models: Models that exist; None for any.
        counter: Counts the tokens of a text.
        cache_minimum: Tokens below which Anthropic's cache keeps nothing.
        piece: Characters per streamed piece.
        prefill: Accept a final assistant message on the Anthropic side.
    """

    def __init__(
        self,
        replies: Replies,
        *,
        window: int | None,
        key: str | None,
        models: Sequence[str] | None,
        counter: Counter,
        cache_minimum: int,
        piece: int,
        prefill: bool,
    ) -> None:
        self.models = models
        self._key = key
        self._script = Script(replies)
        self._window = window
        self._counter = counter
        self._cache = PromptCache(counter, minimum=cache_minimum)
        self._piece = piece
        self._prefill = prefill
        self._answers = 0
        self._lock = threading.Lock()

    def script(self, replies: Replies) -> None:
        """Replace what is left of the script."""
        with self._lock:
            self._script = Script(replies)

    def check(self, wire: Wire, body: Any, *, counting: bool = False) -> None:
        """Refuse what the API refuses before it looks at the size of the prompt.

        Args:
            wire: The API that was asked.
            body: The parsed body.
            counting: The request only asks for a count.

        Raises:
            RejectedRequest: What the API would answer.
        """
        wire.check_body(body, counting=counting, prefill=self._prefill)
        if self.models is not None and body["model"] not in self.models:
            raise wire.no_model(body["model"])

    def check_headers(self, wire: Wire, headers: dict[str, str]) -> None:
        """Refuse a request without the key.

        Args:
            wire: The API that was asked.
            headers: Names in lower case.

        Raises:
            RejectedRequest: What the API would answer.
        """
        wire.check_headers(headers, self._key)

    def count(self, wire: Wire, body: dict[str, Any]) -> int:
        """Tokens of a checked request's prompt."""
        return count_tokens(wire.segments(body), self._counter)

    def answer(self, wire: Wire, body: dict[str, Any]) -> tuple[Scripted, Answer]:
        """Take the next scripted answer for a checked request.

        Args:
            wire: The API that was asked.
            body: A checked body.

        Returns:
            What was scripted, and the reply in it, measured.

        Raises:
            RejectedRequest: The prompt is larger than the window, or the script is at its end.
        """
        with self._lock:
            prompt = wire.segments(body)
            tokens = count_tokens(prompt, self._counter)
            if self._window is not None and tokens > self._window:
                raise wire.too_long(tokens, self._window)
            self._answers += 1
            scripted = self._script.next(body)
            if scripted is None:
                problem = f"the script has no reply left for answer {self._answers}: give the server one more"
                raise wire.failure(HttpFault(400, message=problem))
            reply = reply_of(scripted)
            # A request that fails as a whole leaves nothing in the cache.
            failed = isinstance(scripted, HttpFault)
            counted = Usage() if failed else wire.prompt_usage(self._cache, body["model"], prompt)
            usage = reply.usage or msgspec.structs.replace(counted, output_tokens=self._output_tokens(reply))
            return scripted, Answer(reply, usage, reply.model or body["model"], self._answers, self._piece, body)

    def _output_tokens(self, reply: Reply) -> int:
        said = [reply.text, *(call.name + arguments_text(call) for call in reply.tool_calls)]
        return max(1, sum(self._counter(text) for text in said))
