"""What a turn does before each model call: look whether anything is due, and decide on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.compaction.ledger import Ledger, Result
from agentlab.compaction.micro import Prompt, due, worth
from agentlab.compaction.placeholder import placeholder
from agentlab.compaction.room import room_of
from agentlab.errors import SinkError
from agentlab.events import Cleared
from agentlab.truncate import find_marker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentlab.compaction.auto import Consolidator
    from agentlab.messages import Message
    from agentlab.policy.specs import Compaction, ResultRule
    from agentlab.providers.base import Provider
    from agentlab.scribe import Scribe
    from agentlab.store import Store
    from agentlab.tools import Tool

READ_BACK = "read_result"
ALWAYS_PINNED = frozenset(("read_skill",))


class Compactor:
    """Carries out the rules of a policy for one turn.

    Args:
        compaction: The rules.
        scribe: Records what is decided, and tells of it.
        provider: Whose window counts.
        toolbox: Says which results are pinned, and whether a result can be read back.
        store: Keeps the texts that are cleared, where there is one.
        summariser: Summarises old turns; None asks `provider`, which is also what it falls back to.
        settings: Of `agentlab.compaction.summariser.Summariser`: `scope`, `spend`.

    Raises:
        InputError: The window leaves no room for a prompt.
    """

    def __init__(
        self,
        compaction: Compaction,
        scribe: Scribe,
        provider: Provider,
        toolbox: Mapping[str, Tool],
        store: Store | None = None,
        *,
        summariser: Any = None,
        **settings: Any,
    ) -> None:
        self.compaction = compaction
        self.scribe = scribe
        self.conversation = scribe.conversation
        self.toolbox = toolbox
        self.store = store if READ_BACK in toolbox else None
        self.room = room_of(compaction.room, provider)
        self.pinned = pinned_tools(toolbox)
        self.consolidator: Consolidator | None = None
        if compaction.consolidate is not None:
            from agentlab.compaction.auto import Consolidator

            providers = [provider] if summariser is None else [summariser, provider]
            self.consolidator = Consolidator(
                compaction.consolidate,
                self.conversation,
                providers,
                room=self.room,
                pinned_tools=self.pinned,
                **settings,
            )

    def before_call(self) -> None:
        """Decide on what is due before the next request.

        Raises:
            SinkError: A decision or a text could not be written.
            ScopeEnded: The scope ended while a summary was made.
        """
        if self.compaction.results is not None:
            self._clear(self.compaction.results)
        if self.consolidator is not None:
            self.consolidator.near_the_window(self.scribe)

    def _clear(self, rule: ResultRule) -> None:
        talk = self.conversation
        ledger, talk.ledger = talk.ledger, None  # an interrupt before the end has it made anew
        if ledger is None or ledger.rule != rule or ledger.pinned != self.pinned:
            ledger = Ledger(rule, self.pinned)
        ledger.read(talk.messages, talk.cleared, talk.cursor)
        count = due(rule, ledger.waiting, Prompt(int(talk.count), self.room))
        cleared = [self._cleared(result) for result in ledger.take(count) if worth(rule, result)] if count else []
        if cleared:
            self.scribe.decide(str(rule.__struct_config__.tag), cleared=tuple(cleared))
        talk.ledger = ledger

    def _cleared(self, result: Result) -> Cleared:
        message = self.conversation.messages[result.index]
        return Cleared(result.index, placeholder(message, self._key(message)))

    def _key(self, message: Message) -> str | None:
        """By what the text can be read back: the id that its own cut names, else one that it gets now."""
        if self.store is None:
            return None
        tool = self.toolbox.get(message["name"])
        if tool is not None and not tool.stored:
            return None  # it was read back itself: the same call does it again
        marker = find_marker(message["content"])
        if marker is not None and marker.ref is not None and marker.ref in self.store:
            return marker.ref
        try:
            return self.store.put(message["content"])
        except OSError as error:
            raise SinkError(f"a result could not be stored: {error}") from error


def pinned_tools(toolbox: Mapping[str, Tool]) -> frozenset[str]:
    """Names of the tools whose results no rule takes out."""
    return ALWAYS_PINNED.union(tool.name for tool in toolbox.values() if tool.pinned)
