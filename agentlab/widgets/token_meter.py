"""The token meter of a conversation: a row per user turn, and what its last prompt was made of."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.plots.composition import KINDS
from agentlab.show.look import CELL, NUMBER, QUIET, heads, table
from agentlab.widgets.drawing import TEXT, legend

if TYPE_CHECKING:
    from agentlab.analysis import Session

COLUMNS: Final = ("turn", "calls", "prompt tokens", "context", "output")


class TurnTokens(msgspec.Struct, frozen=True):
    """What a turn sent.

    Attributes:
        turn: From 1.
        calls: Model calls that returned; 0 where the turn was stopped before that.
        prompt: Prompt tokens of all of them.
        context: Prompt tokens of the last.
        output: Output tokens of all.
        parts: What the last prompt is made of: tokens by kind, as in `agentlab.analysis.composition`.
        measured: Whether a provider or an exact tokenizer said so.
    """

    turn: int
    calls: int
    prompt: int
    context: int
    output: int
    parts: dict[str, int]
    measured: bool


def token_meter(session: Session) -> list[TurnTokens]:
    """Read the meter off a session.

    Args:
        session: Any.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> [(turn.calls, turn.prompt, sum(turn.parts.values())) for turn in token_meter(read_messages(talk * 2))]
    [(1, 8, 8), (1, 19, 19)]
    """
    from agentlab.analysis import composition_by_call
    from agentlab.analysis.cost import output_of

    found = {record.turn: TurnTokens(record.turn, 0, 0, 0, 0, {}, True) for record in session.records if record.turn}
    for row, call in zip(composition_by_call(session).to_dict("records"), session.calls, strict=True):
        turn, prompt = int(row["turn"]), int(row["prompt_tokens"])
        before = found.get(turn, TurnTokens(turn, 0, 0, 0, 0, {}, True))
        found[turn] = TurnTokens(
            turn,
            before.calls + 1,
            before.prompt + prompt,
            prompt,
            before.output + output_of(session, call),
            {kind: int(row[kind]) for kind in KINDS if row[kind]},
            before.measured and bool(row["measured"]),
        )
    return [found[turn] for turn in sorted(found)]


def meter_html(turns: list[TurnTokens]) -> str:
    """The meter as a table, with a bar for what each last prompt is made of."""
    if not any(turn.calls for turn in turns):
        return f'<p style="{TEXT};{QUIET}">No model call has returned yet.</p>'
    most = max(turn.context for turn in turns)
    rows = "".join(
        f'<tr><td style="{NUMBER}">{turn.turn}</td><td style="{NUMBER}">{turn.calls}</td>'
        f'<td style="{NUMBER}">{turn.prompt:,}</td><td style="{NUMBER}">{turn.context:,}</td>'
        f'<td style="{NUMBER}">{turn.output:,}</td></tr>'
        f'<tr><td colspan="{len(COLUMNS)}" style="{CELL};padding-bottom:8px">{_bar(turn, most)}</td></tr>'
        for turn in turns
    )
    named = heads(*((name, NUMBER) for name in COLUMNS))
    measured = all(turn.measured for turn in turns)
    said = f"Tokens, {'measured' if measured else 'estimated'}. A bar is what the turn's last prompt is made of."
    whole = table(named, rows, "width:100%")
    label = 'tabindex="0" role="region" aria-label="Tokens of each turn"'
    # As the conversation above it, it begins at its end.
    box = "max-width:660px;max-height:320px;overflow:auto;display:flex;flex-direction:column-reverse"
    used = [KINDS[kind] for kind in KINDS if any(kind in turn.parts for turn in turns)]
    return (
        f'<div style="{TEXT}"><div {label} style="{box}"><div>{whole}</div></div>{legend(used)}'
        f'<div style="{QUIET}">{said}</div></div>'
    )


def _bar(turn: TurnTokens, most: int) -> str:
    """A bar whose whole width is the largest context."""
    if not turn.calls:
        return f'<span style="{QUIET};padding:0">no call returned</span>'
    words = ", ".join(f"{KINDS[kind][0]} {tokens:,}" for kind, tokens in turn.parts.items())
    spans = "".join(
        f'<span title="{escape(KINDS[kind][0])}: {tokens:,}" style="display:inline-block;height:12px;'
        f'width:{100 * tokens / max(1, most):.2f}%;background:{KINDS[kind][1]}"></span>'
        for kind, tokens in turn.parts.items()
    )
    return f'<div role="img" aria-label="{escape(words)}" style="font-size:0;white-space:nowrap">{spans}</div>'
