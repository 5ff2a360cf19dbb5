"""A session looked at: its curve, what its prompts are made of, its jumps, its messages, other policies.

Everything is computed once, when it is first asked for; moving a slider only draws.
"""

from __future__ import annotations

from functools import cached_property
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from agentlab.analysis.composition import KINDS as WORDS
from agentlab.analysis.replayed import ASSUMPTIONS
from agentlab.plots.composition import KINDS
from agentlab.plots.curve import PARTS
from agentlab.plots.figures import RED, how_counted
from agentlab.show.look import CELL, NUMBER, QUIET, heads, table
from agentlab.widgets.drawing import TEXT, Series, stacked
from agentlab.widgets.message_html import ToolUse, speech, tool_use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis import Observed, Session
    from agentlab.analysis.replayed import Replay
    from agentlab.policy import Policy

JUMPS: Final = 10


class SessionView:
    """The figures of one session.

    Args:
        session: Any.
        policies: To be set against the recorded one.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> view = SessionView(read_messages(talk * 2))
    >>> [jump["growth"] for jump in view.jumps]
    [11]
    """

    def __init__(self, session: Session, policies: Sequence[Policy] = ()) -> None:
        self.session = session
        self.policies = list(policies)

    @cached_property
    def turns(self) -> dict[str, list[Any]]:
        """The columns of `agentlab.analysis.curve`."""
        from agentlab.analysis import curve

        frame = curve(self.session)
        return {str(name): frame[name].tolist() for name in frame}

    @cached_property
    def calls(self) -> dict[str, list[Any]]:
        """The columns of `agentlab.analysis.composition_by_call`."""
        from agentlab.analysis import composition_by_call

        frame = composition_by_call(self.session)
        return {str(name): frame[name].tolist() for name in frame}

    @cached_property
    def sentences(self) -> list[str]:
        """What the session comes to."""
        from agentlab.analysis import summary

        return summary(self.session)

    @cached_property
    def jumps(self) -> list[dict[str, Any]]:
        """The calls that made the prompt grow most, the largest first."""
        from agentlab.analysis import jumps

        found = jumps(self.session, JUMPS).to_dict("records")
        return [{str(name): value for name, value in jump.items()} for jump in found]

    @cached_property
    def replay(self) -> Replay:
        """What the policies would have sent, cost and kept."""
        from agentlab.analysis import replay

        return replay([self.session], self.policies)

    @cached_property
    def observed(self) -> dict[int, Observed]:
        """The observations by message, in full where that was kept."""
        return {seen.index: seen for seen in self.session.observations()}

    @cached_property
    def measured(self) -> str:
        """Whether the tokens were measured."""
        return how_counted(self.calls["measured"])

    def curve_html(self, call: int | None = None) -> str:
        """The curve: turn tokens by what they are, the context, and a mark at the turn of a call."""
        turns = self.turns
        single = [a - b for a, b in zip(turns["resent_iterations"], turns["resent_parallel"], strict=True)]
        values = {**turns, "resent_single": single}
        series = [Series(label, colour, tuple(values[name])) for name, label, colour in PARTS if any(values[name])]
        mark = None
        if call is not None and turns["turn"]:
            mark = turns["turn"].index(self.calls["turn"][call - 1]) + 1
        title = f"Prompt tokens of each user turn ({self.measured})"
        context = Series("context: the turn's last call", RED, tuple(turns["context"]))
        return stacked(
            series, title=title, across="user turn", up=f"prompt tokens ({self.measured})", line=context, mark=mark
        )

    def composition_html(self, call: int | None = None) -> str:
        """What the prompt of each call is made of, and a mark at one of them."""
        series = [
            Series(label, colour, tuple(self.calls[kind]))
            for kind, (label, colour) in KINDS.items()
            if any(self.calls[kind])
        ]
        title = f"What the prompt of each call is made of ({self.measured})"
        return stacked(series, title=title, across="model call", up=f"prompt tokens ({self.measured})", mark=call)

    def summary_html(self, *, unfold: bool = False) -> str:
        """What the session comes to: a sentence, and the others to unfold."""
        first, *more = self.sentences
        if not more:
            return f'<p style="{TEXT};margin:4px 0">{escape(first)}</p>'
        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in more)
        return (
            f'<details style="{TEXT};margin:4px 0"{" open" if unfold else ""}>'
            f'<summary style="cursor:pointer">{escape(first)}</summary><ul style="margin:0">{said}</ul></details>'
        )

    def call_html(self, call: int) -> str:
        """What one prompt is made of, as a table.

        Args:
            call: From 1.
        """
        at = call - 1
        total = self.calls["prompt_tokens"][at]
        rows = "".join(
            f'<tr><td style="{CELL}" title="{escape(WORDS[kind])}">{escape(label)}</td>'
            f'<td style="{NUMBER}">{self.calls[kind][at]:,}</td>'
            f'<td style="{NUMBER}">{self.calls[f"new_{kind}"][at]:,}</td>'
            f'<td style="{NUMBER}">{self.calls[kind][at] / max(1, total):.0%}</td></tr>'
            for kind, (label, _) in KINDS.items()
            if self.calls[kind][at]
        )
        place = f"Call {call:,} (turn {self.calls['turn'][at]}, iteration {self.calls['iteration'][at]})"
        named = heads((place, CELL), ("tokens", NUMBER), ("of these new", NUMBER), ("share", NUMBER))
        said = f'<div style="{QUIET}" role="status">{total:,} prompt tokens in all ({self.measured})</div>'
        return f'<div style="{TEXT}">{table(named, rows)}{said}</div>'

    def policies_html(self) -> str:
        """The policies side by side: tokens, dollars, evidence, each as a range."""
        rows = "".join(_policy_row(row) for row in self.replay.by_policy().to_dict("records"))
        named = heads(
            ("Policy", CELL),
            ("prompt tokens", NUMBER),
            ("of recorded", NUMBER),
            ("US dollars", NUMBER),
            ("cited names still shown", NUMBER),
        )
        said = self.replay.sentences()
        facts = "".join(f"<div>{escape(sentence)}</div>" for sentence in said if sentence not in ASSUMPTIONS)
        assumed = "".join(f"<li>{escape(sentence)}</li>" for sentence in said if sentence in ASSUMPTIONS)
        fold = f'<summary style="cursor:pointer">What these numbers assume</summary><ul style="margin:0">{assumed}</ul>'
        notes = f'<div style="{QUIET}">{facts}<details>{fold}</details></div>'
        return f'<div style="{TEXT};overflow-x:auto">{table(named, rows)}{notes}</div>'

    def message_html(self, index: int) -> str:
        """One message, unfolded; calls with their results.

        Args:
            index: In `Session.records`.
        """
        record = self.session.records[index]
        place = f"Message {index:,}, turn {record.turn}, iteration {record.iteration}"
        if record.role == "tool":
            asked = self._asked_for(str(record.message.get("tool_call_id") or ""), index)
            body = tool_use(self._use(index, asked), unfold=True)
        else:
            role = "user" if record.opens_turn else "loop" if record.role == "user" else record.role
            body = speech(role, record.text) if record.text or not record.tool_calls else ""
            body += "".join(tool_use(self._answered(made, index), unfold=True) for made in record.tool_calls)
        return f'<section style="{TEXT}" aria-label="{place}"><div style="{QUIET}">{place}</div>{body}</section>'

    def _use(self, index: int, arguments: Any) -> ToolUse:
        """The result at an index, with the arguments of its call."""
        record, seen = self.session.records[index], self.observed[index]
        original = len(seen.text) if seen.whole else record.original_chars or len(record.text)
        full = seen.text if seen.whole else None
        return ToolUse(seen.tool or "tool", arguments, record.text, full, original, seen.is_error)

    def _answered(self, made: dict[str, Any], index: int) -> ToolUse:
        """A call of the message at an index, with its result where one follows."""
        arguments = made["function"]["arguments"]
        for at in range(index + 1, len(self.session.records)):
            record = self.session.records[at]
            if record.role == "tool" and record.message.get("tool_call_id") == made.get("id"):
                return self._use(at, arguments)
            if record.role == "assistant":
                break
        return ToolUse(made["function"]["name"], arguments, without="has no result in the log")

    def _asked_for(self, call_id: str, index: int) -> Any:
        """The arguments of the call that a result answers: of the newest with its id before it."""
        for record in reversed(self.session.records[:index]):
            for made in record.tool_calls:
                if made.get("id") == call_id:
                    return made["function"]["arguments"]
        return ""


def _policy_row(row: dict[Any, Any]) -> str:
    cells = (
        _range(row["tokens"], row["tokens_high"], "{:,.0f}"),
        _range(row["share"], row["share_high"], "{:.0%}"),
        _range(row["dollars"], row["dollars_high"], "{:,.2f}"),
        "none cited" if isnan(row["kept"]) else f"{row['kept']:.0%} of {row['names']:,}",
    )
    numbers = "".join(f'<td style="{NUMBER}">{cell}</td>' for cell in cells)
    return f'<tr><td style="{CELL}">{escape(str(row["policy"]))}</td>{numbers}</tr>'


def _range(low: float, high: float, pattern: str) -> str:
    """Both ends, or one number where they are the same.

    >>> _range(1.0, 1.2, "{:.0%}"), _range(2.0, 2.0, "{:.1f}"), _range(float("nan"), float("nan"), "{}")
    ('100% to 120%', '2.0', 'not known')
    """
    if isnan(low):
        return "not known"
    ends = pattern.format(low), pattern.format(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
