"""`SessionExplorer`: the curve of a session, its jumps, what its prompts are made of, and other policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentlab.analysis import Session, load, read_messages
from agentlab.errors import InputError
from agentlab.policy.presets import load_policy, preset_names
from agentlab.printable import counted
from agentlab.widgets.drawing import TEXT, beside
from agentlab.widgets.session_view import SessionView
from agentlab.widgets.shown import Shown, button, canvas, choice, column, numbered, row, slider, switch, whenever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.policy import Policy

CURVE, COMPOSITION, POLICIES = "Curve", "Composition", "Policies"
PAGES: Final = (CURVE, COMPOSITION, POLICIES)


class SessionExplorer(Shown):
    """A session to look through.

    Args:
        source: A `Session`, several of them, a list of messages, or the path of a log or folder of logs.
        policies: To be set against the recorded one; None takes every preset.

    Attributes:
        which, page, call: The controls: which session, what is shown of it, which call is pointed at.
        jumps: Buttons, the largest jump first; each opens the message that made it.
        before, after: Buttons that go on from the message that is open.
        message: Index of that message; None where none is open.
        view: The figures behind it.

    Raises:
        InputError: No session could be read.

    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> explorer = SessionExplorer(talk * 3)
    >>> explorer.jumps[0].click()
    >>> explorer.call.value, explorer.message
    (2, 1)
    """

    def __init__(
        self,
        source: Session | Sequence[Session] | Sequence[dict[str, Any]] | str | Path,
        *,
        policies: Sequence[Policy] | None = None,
    ) -> None:
        wanted = [load_policy(name) for name in preset_names()] if policies is None else list(policies)
        self._views = {name: SessionView(each, wanted) for name, each in named(sessions_of(source)).items()}
        largest = max(self._views, key=lambda name: len(self._views[name].session.calls))
        self.which = choice("Session", self._views, largest, width="420px")
        self.page = switch(PAGES, CURVE)
        self.call = slider("Call", 1, 1, 1, tip="The call whose prompt is looked at")
        self.before = button("Message before", lambda: self._go(-1), tip="Open the message before this one")
        self.after = button("Message after", lambda: self._go(1), tip="Open the message after this one")
        self.message: int | None = None
        self._summary, self._picture, self._message = canvas(), canvas(), canvas()
        self._jumps, self._around = row(), row(self.before, self.after)
        controls = [self.which] if len(self._views) > 1 else []
        controls = [*controls, self.page, numbered(self.call)]
        self.box = column(row(*controls), self._summary, self._picture, self._jumps, self._around, self._message)
        whenever((self.which,), self._open)
        whenever((self.page, self.call), self._follow)
        self._moving = False
        self._open()

    @property
    def view(self) -> SessionView:
        """The figures of the session that is shown."""
        return self._views[self.which.value]

    def show(self, index: int) -> None:
        """Open a message.

        Args:
            index: In `Session.records`.

        Raises:
            InputError: There is no such message.
        """
        count = len(self.view.session.records)
        if not 0 <= index < count:
            raise InputError(f"there is no message {index}: the session has {count}, from 0", field="index")
        self._message.value = self.view.message_html(index)
        self.message = index
        self.before.disabled, self.after.disabled = index == 0, index == count - 1
        self._around.layout.display = "flex"

    def html(self) -> str:
        """Everything at once: the sentences, both pictures and the policies."""
        view = self.view
        pictures = (view.curve_html(), view.composition_html(), view.policies_html()) if view.session.calls else ()
        return f'<div style="{TEXT}">{view.summary_html(unfold=True)}{"".join(pictures)}</div>'

    def __repr__(self) -> str:
        return "\n".join([repr(self.view.session), *self.view.sentences])

    def _open(self) -> None:
        view, calls = self.view, len(self.view.session.calls)
        self._moving = True
        self.call.value = 1
        self.call.max = max(1, calls)
        self._moving = False
        self.message, self._message.value = None, ""
        self._around.layout.display = "none"
        self._summary.value = view.summary_html()
        self.jumps = [self._jump(number, jump) for number, jump in enumerate(view.jumps, 1)]
        heading = canvas(f'<span style="{TEXT}">The largest jumps, each opens its message:</span>')
        self._jumps.children = (heading, *self.jumps) if self.jumps else ()
        self._follow()

    def _jump(self, number: int, jump: dict[str, Any]) -> Any:
        name = f"{number}. +{jump['growth']:,} {jump['grown_by'] or 'nothing new'}, call {jump['call']:,}"

        def act() -> None:
            self.call.value = jump["call"]
            for each in self.jumps:
                each.button_style = "info" if each is made else ""
            if isinstance(jump["message"], int):
                self.show(jump["message"])

        made = button(name, act, tip=f"Open the message behind the jump of {jump['growth']:,} tokens")
        return made

    def _go(self, steps: int) -> None:
        """Open the message so many after the one that is open."""
        if self.message is not None and 0 <= self.message + steps < len(self.view.session.records):
            self.show(self.message + steps)

    def _follow(self) -> None:
        view = self.view
        if self._moving:
            return
        page, call = self.page.value, self.call.value
        self.call.disabled = not view.session.calls or page == POLICIES
        if not view.session.calls:
            self._picture.value = ""
        elif page == POLICIES:
            self._picture.value = view.policies_html()
        else:
            draw = view.curve_html if page == CURVE else view.composition_html
            self._picture.value = beside(draw(call), view.call_html(call))


def sessions_of(source: Session | Sequence[Session] | Sequence[dict[str, Any]] | str | Path) -> list[Session]:
    """The sessions that a source holds.

    Args:
        source: As `SessionExplorer` takes it.

    Raises:
        InputError: There is none, or the path cannot be read.

    >>> sessions_of([{"role": "user", "content": "Hi"}])
    [<Session messages: chat, 1 message, 0 calls, 1 turn>]
    """
    if isinstance(source, Session):
        return [source]
    if isinstance(source, str | Path):
        found, problems = load(source)
        if not found:
            why = f": {problems[0].reason}" if problems else ""
            raise InputError(f"no session could be read{why}; name a log or a session folder", path=source)
        return list(found)
    given = list(source)
    if not given:
        raise InputError("expected a session or messages, found an empty list", field="source")
    sessions = [each for each in given if isinstance(each, Session)]
    if len(sessions) == len(given):
        return sessions
    return [read_messages(given)]


def named(sessions: Sequence[Session]) -> dict[str, Session]:
    """Sessions by a name that tells them apart.

    >>> list(named(sessions_of([{"role": "user", "content": "Hi"}]) * 2))
    ['messages (chat, 0 calls)', 'messages (chat, 0 calls), number 2']
    """
    found: dict[str, Session] = {}
    for number, session in enumerate(sessions, 1):
        name = f"{session.id} ({session.format}, {counted(len(session.calls), 'call')})"
        found[f"{name}, number {number}" if name in found else name] = session
    return found
