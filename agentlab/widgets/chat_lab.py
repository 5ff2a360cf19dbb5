"""`ChatLab`: talk to an agent in a notebook, see what each tool gave and what the model saw of it, stop it at will."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from agentlab.errors import AgentlabError, InputError
from agentlab.policy import Policy
from agentlab.policy.presets import load_policy, preset_names
from agentlab.show.look import clipped
from agentlab.widgets.chat_run import LINE, Chat, Entry, Said
from agentlab.widgets.chat_setup import MAX_COST, Providers, new_folder, runner_of
from agentlab.widgets.drawing import TEXT
from agentlab.widgets.message_html import speech, tool_use
from agentlab.widgets.shown import Shown, button, canvas, choice, column, ending_scroll, line_of_text, row, whenever
from agentlab.widgets.token_meter import TurnTokens, meter_html, token_meter

if TYPE_CHECKING:
    from pathlib import Path

    from agentlab.endings import TurnResult


class ChatLab(Shown):
    """A conversation: text as it streams, tool calls that unfold, a token meter, and a stop button.

    A turn runs on a thread, so other cells can run meanwhile. The session is written into a folder, which `agentlab`
    commands and `agentlab.analysis.load` read.

    Args:
        provider: A name of `agentlab.providers.registry.PROVIDERS`, or a provider of one's own.
        policy: A preset's name, or a policy.
        folder: Where each conversation gets a folder of its own, at its first message; None takes a temporary one.
        model: For a provider that is opened by name.
        max_cost: US dollars that a conversation with a hosted model may spend.
        session: What else `agentlab.runner.Runner` takes: `workspace`, `tools`, `system`, `max_iterations` and so on.

    Attributes:
        message, send_button, stop_button, new_button, provider, policy: The controls.
        chat: The conversation that is shown; None before its first message.

    Raises:
        InputError: An unknown provider or policy, a model that cannot be opened, or no such workspace.

    >>> from agentlab.providers.scripted import ScriptedModel
    >>> lab = ChatLab(ScriptedModel(["Hello."]), folder=None)
    >>> lab.ask("Hi").text
    'Hello.'
    >>> lab
    user: Hi
    assistant: Hello.
    1 turn, 1 call, ... prompt tokens
    """

    def __init__(
        self,
        provider: Any = "offline",
        *,
        policy: str | Policy = "chapter",
        folder: str | Path | None = "runs",
        model: str | None = None,
        max_cost: float = MAX_COST,
        **session: Any,
    ) -> None:
        self._max_cost, self._session, self._parent = max_cost, session, folder
        self._policies = {name: load_policy(name) for name in preset_names()}
        if isinstance(policy, Policy):
            self._policies = {policy.name: policy, **self._policies}
        chosen = policy if isinstance(policy, str) else policy.name
        if chosen not in self._policies:
            raise InputError(f"unknown policy {chosen!r}: one of {', '.join(self._policies)}", field="policy")
        self._providers = Providers(provider, model)
        self.chat: Chat | None = None
        self.meter: list[TurnTokens] = []
        runner_of(self._providers.opened, None, self._policies[chosen], max_cost=max_cost, settings=session)  # a trial
        self._make_controls(chosen)
        self._say_where()

    def _make_controls(self, policy: str) -> None:
        self.provider = choice("Provider", self._providers.names, self._providers.name)
        self.policy = choice("Policy", self._policies, policy)
        self.message = line_of_text("Message", "Ask something; Enter sends it", self._send)
        self.send_button = button("Send", self._send, tip="Send the message", style="primary", width="80px")
        self.stop_button = button("Stop", self.stop, tip="Stop the turn that runs", style="danger", width="80px")
        self.stop_button.disabled = True
        self.new_button = button("New conversation", self.new, tip="Begin another one; this one stays in its folder")
        self._status, self._streaming, self._meter = canvas(), canvas(), canvas(meter_html([]))
        self._talk = column()
        pickers = row(self.provider, self.policy, self.new_button)
        sending = row(self.message, self.send_button, self.stop_button)
        self.box = column(pickers, ending_scroll(self._talk, self._streaming), sending, self._status, self._meter)
        whenever((self.provider, self.policy), self._picked)

    # -- what a user does

    def ask(self, prompt: str) -> TurnResult | None:
        """Send a message and wait for the end of the turn; a kernel interrupt stops it.

        Raises:
            InputError: A turn runs already.
        """
        self.send(prompt)
        return self.wait()

    def send(self, prompt: str) -> None:
        """Send a message and return at once.

        Raises:
            InputError: A turn runs already, or the folder cannot be made.
        """
        if self.chat is None:
            folder = new_folder(self, self._parent)
            policy = self._policies[self.policy.value]
            provider, cap = self._providers.opened, self._max_cost
            self.chat = Chat(runner_of(provider, folder, policy, max_cost=cap, settings=self._session), self._changed)
            self._folder = folder
        self.chat.send(prompt)

    def wait(self, seconds: float | None = None) -> TurnResult | None:
        """Wait for the end of the turn; see `agentlab.widgets.chat_run.Chat.wait`."""
        return None if self.chat is None else self.chat.wait(seconds)

    def stop(self) -> None:
        """Stop the turn that runs; the session stays valid, and can go on."""
        if self.chat is not None:
            self.chat.stop()

    def new(self) -> None:
        """Begin a new conversation with the provider and the policy that are picked."""
        if self.chat is not None:
            if self.chat.active:
                return
            self.chat.runner.close()
        self.chat, self.meter = None, []
        self._talk.children, self._streaming.value = (), ""
        self._meter.value = meter_html([])
        self._say_where()

    @property
    def folder(self) -> Path | None:
        """Folder of the conversation that is shown; None before its first message."""
        return None if self.chat is None else self._folder

    # -- what is shown

    def html(self) -> str:
        """The conversation and its meter as they stand."""
        entries = [] if self.chat is None else self.chat.entries
        return f'<div style="{TEXT}">{"".join(map(entry_html, entries))}{meter_html(self.meter)}</div>'

    def __repr__(self) -> str:
        lines = [] if self.chat is None else [_line(entry) for entry in self.chat.entries]
        calls, prompt = sum(turn.calls for turn in self.meter), sum(turn.prompt for turn in self.meter)
        turns = len(self.meter)
        sums = f"{turns} turn{'s' * (turns != 1)}, {calls} call{'s' * (calls != 1)}, {prompt:,} prompt tokens"
        return "\n".join([*lines, sums])

    def _send(self) -> None:
        prompt = self.message.value.strip()
        if not prompt or (self.chat is not None and self.chat.active):
            return
        self.message.value = ""
        try:
            self.send(prompt)
        except (AgentlabError, OSError) as error:
            self.message.value = prompt
            self._say(clipped(str(error), LINE))

    def _changed(self, entry: int | None) -> None:
        """Follow the conversation; runs on the thread of the turn."""
        chat = self.chat
        if chat is None:
            return
        if entry is not None:
            self._draw(chat.entries[entry], entry)
        self._streaming.value = speech("assistant", chat.streaming, busy=True) if chat.streaming else ""
        if entry is None:
            self._let(running=chat.active)

    def _draw(self, entry: Entry, at: int) -> None:
        shown = self._talk.children
        if at < len(shown):
            shown[at].value = entry_html(entry)
        else:
            self._talk.children = (*shown, canvas(entry_html(entry)))

    def _let(self, *, running: bool) -> None:
        """Enable what makes sense now."""
        if self.stop_button.disabled != running:
            return
        self.stop_button.disabled = not running
        for control in (self.send_button, self.new_button, self.provider, self.policy):
            control.disabled = running
        if running:
            self._say("The agent works; Stop ends its turn.")
        else:  # the buttons come first: of a long session the meter takes a moment
            self._say_where()
            self._measure()

    def _measure(self) -> None:
        from agentlab.analysis import load

        try:
            sessions, _ = load(self._folder)
            self.meter = token_meter(sessions[0]) if sessions else []
        except AgentlabError as error:
            self._meter.value = f'<p style="{TEXT}">{escape(str(error))}</p>'
            return
        self._meter.value = meter_html(self.meter)

    def _picked(self) -> None:
        name = self.provider.value
        if name != self._providers.name:
            try:
                self._providers.open(name)
            except AgentlabError as error:
                self.provider.value = self._providers.name
                self._say(clipped(f"{name}: {error}", LINE))
                return
        if self.chat is None:
            self._say_where()
        else:
            self._say("A new conversation takes the provider and the policy that are picked; this one keeps its own.")

    def _say_where(self) -> None:
        said = self._providers.said(self._max_cost)
        if self.chat is not None and self._parent is not None:
            said = f"{said} Saved in {self._folder}/ (messages, transcript, full results)."
        self._say(said)

    def _say(self, text: str) -> None:
        self._status.value = f'<div role="status" style="{TEXT};opacity:0.8;font-size:0.9em">{escape(text)}</div>'


def entry_html(entry: Entry) -> str:
    """What somebody said or a tool gave, as HTML."""
    if not isinstance(entry, Said):
        return tool_use(entry)
    if entry.role == "note":
        quiet = f"{TEXT};opacity:0.8;font-style:italic;margin:4px 14px"
        return f'<div role="status" style="{quiet}">{escape(entry.text)}</div>'
    return speech(entry.role, entry.text)


def _line(entry: Entry) -> str:
    if isinstance(entry, Said):
        return f"{entry.role}: {entry.text}"
    return f"tool {entry.name}: {entry.outcome}"
