"""Appending messages and deciding on what is sent, and saying so: the sinks hear of every message and decision."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from agentlab.errors import SinkError
from agentlab.events import CompactionDecided, MessageAppended

if TYPE_CHECKING:
    from agentlab.conversation import Conversation
    from agentlab.events import Audience
    from agentlab.messages import Message, Reply
    from agentlab.observe import Observation


class Scribe:
    """Appends the messages of one turn and tells the audience of each.

    Args:
        conversation: What is appended to.
        audience: Who is told.

    Attributes:
        turn: Number of the user turn, for the events.
        iteration: Model calls begun.
    """

    def __init__(self, conversation: Conversation, audience: Audience) -> None:
        self.conversation = conversation
        self.audience = audience
        self.turn = 0
        self.iteration = 0
        self._said = len(conversation.messages)  # how many messages the audience knows of
        self._decided = len(conversation.decisions)  # and how many decisions
        self._about: tuple[Message | None, Reply | None, Observation | None] = (None, None, None)

    @property
    def place(self) -> tuple[int, int]:
        """Turn and iteration, as events name them."""
        return self.turn, self.iteration

    def append(self, message: Message, reply: Reply | None = None, observation: Observation | None = None) -> None:
        """Append a message: an assistant's with the reply that it is from, a tool's with its observation.

        Raises:
            SinkError: A sink failed; the message stands in the list.
        """
        self._about = (message, reply, observation)
        self.conversation.append(message, None if reply is None else reply.usage)
        self.catch_up()

    def say(self, text: str) -> None:
        """Append what the loop itself says to the model in mid-turn."""
        self.append({"role": "user", "content": text, "origin": "loop"})

    def decide(self, policy: str, **what: Any) -> CompactionDecided:
        """Let less be sent from now on; see `agentlab.events.CompactionDecided` for `what`.

        Raises:
            InputError: It does not fit the messages.
            SinkError: A sink failed; the decision holds.
        """
        talk = self.conversation  # which knows its turn also where nobody listens
        made = talk.decide(CompactionDecided(talk.turn, self.iteration, time.time(), policy, **what))
        self.tell_decisions()
        return made

    def tell_decisions(self) -> None:
        """Tell of what was decided and not told yet."""
        while self._decided < len(self.conversation.decisions):
            try:
                self.audience.tell(self.conversation.decisions[self._decided])
            except SinkError:
                self._decided += 1
                raise
            self._decided += 1

    def catch_up(self) -> None:
        """Tell of what was appended and not told yet, as after an interrupt between the two."""
        if MessageAppended not in self.audience:
            return
        messages = self.conversation.messages
        while self._said < len(messages):
            event = self._event(messages[self._said])
            try:
                self.audience.tell(event)
            except SinkError:
                self._said += 1
                raise
            self._said += 1

    def _event(self, message: Message) -> MessageAppended:
        subject, reply, observation = self._about
        if subject is not message:
            reply = observation = None
        usage = None if reply is None else reply.usage
        return MessageAppended(
            self.turn,
            self.iteration,
            self._said,
            time.time(),
            message,  # type: ignore[arg-type]  # a TypedDict is a dict
            self.conversation.last_tokens,
            usage is not None and usage.exact,
            None if observation is None else observation.original_chars,
            None if observation is None else observation.store_id,
            usage,
            None if reply is None else reply.stop_reason,
            None if reply is None else reply.model,
        )
