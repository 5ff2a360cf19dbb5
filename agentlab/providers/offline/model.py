"""The offline model: a provider that needs no key, no network and no weights."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from agentlab.errors import ContextWindowError, InputError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.offline.counting import PromptCounter
from agentlab.providers.offline.history import History
from agentlab.providers.offline.misbehave import due, plan_of, spoil
from agentlab.providers.offline.planner import Limits, decide
from agentlab.providers.offline.schemas import as_json
from agentlab.providers.offline.talk import LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentlab.budgets import Scope
    from agentlab.messages import Message, ToolChoice, ToolSpec

WORD = re.compile(r"\s*\S+\s*|\s+")


class OfflineModel:
    """A deterministic stand-in for a tool-calling model: rule-based, not an LLM.

    It plans from the user's text, the tools' names, descriptions and schemas, and from what it observed; it remembers
    nothing but the messages. It shows mechanics (sizes, order, budgets, endings), never how language models behave.

    Args:
        window: Largest prompt in tokens, by `counter`.
        model: Name that replies carry.
        misbehave: A kind of misbehaviour (`misbehave.KINDS`) for the first reply of each turn that it fits, or kinds
            by iteration of a turn, from 1: `{2: "bad_json"}`.
        wording: How it tells the time: `"quote"` the timestamp, or `"words"` rounded to a quarter of an hour.
        counter: `"o200k_base"` (also measures the window) or `"characters/4"`, which loads no tokenizer.
        max_calls_per_turn: Calls after which it answers with what it has.
        max_steps_per_turn: Replies with calls after which it answers with what it has.
        piece: Words in a streamed piece.
        delay: Seconds between streamed pieces.

    Raises:
        InputError: A setting is not one of these.

    >>> OfflineModel()
    <OfflineModel offline-rules-1: rule-based, not an LLM>
    >>> "rule-based" in OfflineModel().call([{"role": "user", "content": "hi"}], system="", tools=()).text
    True
    """

    native = True
    name = "offline"
    description = LABEL

    def __init__(
        self,
        *,
        window: int = 128_000,
        model: str = "offline-rules-1",
        misbehave: str | Mapping[int, str] | None = None,
        wording: Literal["quote", "words"] = "quote",
        counter: str = "o200k_base",
        max_calls_per_turn: int = 24,
        max_steps_per_turn: int = 8,
        piece: int = 1,
        delay: float = 0.0,
    ) -> None:
        if wording not in ("quote", "words"):
            raise InputError(f"expected 'quote' or 'words', found {wording!r}", field="wording")
        for field, value in (
            ("window", window),
            ("max_calls_per_turn", max_calls_per_turn),
            ("max_steps_per_turn", max_steps_per_turn),
            ("piece", piece),
        ):
            if value < 1:
                raise InputError(f"expected a number from 1, found {value}", field=field)
        self.window = window
        self.model = model
        self.wording = wording
        self.piece = piece
        self.delay = delay
        self.limits = Limits(steps=max_steps_per_turn, calls=max_calls_per_turn)
        self._misbehave = plan_of(misbehave)
        self._counter = PromptCounter(counter)

    def __repr__(self) -> str:
        return f"<OfflineModel {self.model}: {LABEL}>"

    @property
    def tokenizer(self) -> str:
        """What its counts are made with: `o200k_base`, or `characters/4` where its rank files are missing."""
        return self._counter.method

    def call(
        self,
        messages: Sequence[Message],
        *,
        system: str,
        tools: Sequence[ToolSpec],
        on_text_delta: Callable[[str], None] | None = None,
        scope: Scope | None = None,
        tool_choice: ToolChoice = "auto",
        max_output_tokens: int | None = None,
    ) -> Reply:
        """Decide on the next calls or the final text; see `Provider.call`.

        Raises:
            ContextWindowError: The prompt is larger than `window`.
            ScopeEnded: The scope ended first.
        """
        if scope is not None:
            scope.check()
        prompt = self._counter.prompt(messages, system, tools)
        if prompt > self.window:
            raise ContextWindowError(
                f"the prompt has {prompt} tokens ({self.tokenizer}) and the window of {self.model} has {self.window}: "
                "drop or shorten the oldest tool results, or start a new conversation",
                prompt_tokens=prompt,
                window=self.window,
                status=400,
                kind="context_length_exceeded",
            )
        text, calls, stop_reason = self._reply(History(messages), system, tools, tool_choice)
        if scope is not None:
            scope.check()
        text, calls, stop_reason, written = self._limited(text, calls, stop_reason, max_output_tokens)
        self._stream(text, on_text_delta, scope)
        usage = Usage(prompt, written, exact=self._counter.exact)
        return Reply(text, calls, usage, stop_reason, self.model)

    def _reply(
        self, history: History, system: str, tools: Sequence[ToolSpec], tool_choice: ToolChoice
    ) -> tuple[str, tuple[ToolCall, ...], str]:
        """What it says and asks for, before any limit."""
        made = decide(history, system, tools, limits=self.limits, tool_choice=tool_choice, wording=self.wording)
        calls = tuple(ToolCall(f"call_{history.calls + i}", c.name, c.arguments) for i, c in enumerate(made.calls, 1))
        kind = due(self._misbehave, history.current)
        spoiled = spoil(kind, made, calls, history, tools) if kind else None
        if spoiled is not None:
            return spoiled.text, spoiled.calls, spoiled.stop_reason
        return made.text, calls, "tool_use" if calls else "end_turn"

    def _limited(
        self, text: str, calls: tuple[ToolCall, ...], stop_reason: str, most: int | None
    ) -> tuple[str, tuple[ToolCall, ...], str, int]:
        """Cut the reply at the output limit: text at a word, a call in the middle of its arguments."""
        written = self._counter.reply(text, calls)
        if most is None or written <= most:
            return text, calls, stop_reason, written
        kept: list[ToolCall] = []
        if calls:
            room = most - self._counter.text(text)
            for call in calls:
                size = self._counter.reply("", (call,))
                if size > room:
                    whole = "" if isinstance(call.arguments, dict) and not call.arguments else as_json(call.arguments)
                    kept += [ToolCall(call.id, call.name, whole[: len(whole) // 2] or "{")] if room > 0 else []
                    break
                kept.append(call)
                room -= size
        if self._counter.text(text) > most:
            text, kept = self._first(text, most), []
        return text, tuple(kept), "max_tokens", min(most, self._counter.reply(text, kept))

    def _first(self, text: str, most: int) -> str:
        """The longest beginning of a text, in whole words, that has at most so many tokens."""
        words = WORD.findall(text)
        low, high = 0, len(words)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counter.text("".join(words[:middle])) <= most:
                low = middle
            else:
                high = middle - 1
        return "".join(words[:low]) or text[:most]

    def _stream(self, text: str, on_text_delta: Callable[[str], None] | None, scope: Scope | None) -> None:
        """Hand over the text in pieces of a few words."""
        if on_text_delta is None:
            return
        words = WORD.findall(text)
        for start in range(0, len(words), self.piece):
            if scope is not None:
                scope.check()
            if self.delay > 0 and start:
                self._wait(scope)
            on_text_delta("".join(words[start : start + self.piece]))

    def _wait(self, scope: Scope | None) -> None:
        if scope is not None:
            scope.wait(self.delay)
        else:
            import time

            time.sleep(self.delay)
