"""What the exercise on transcripts looks at: a chat on given lines and what it wrote, and the transcript of a week."""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.grading.building.pictures import plot_turns
from agentlab.grading.building.probe import data
from agentlab.providers.offline import OfflineModel
from agentlab.truncate import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from agentlab.messages import Message, Reply
    from agentlab.tools import Tool

TRANSCRIPT = "transcript.jsonl"
FIELDS = ("prompt", "reply", "iterations")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Heard(OfflineModel):
    """The offline model, which keeps what it was sent last and what it replied.

    Attributes:
        messages: The messages of its last call, and its reply where that was text.
    """

    messages: list[Any] = []  # noqa: RUF012 - each call puts another list in its place

    def call(self, messages: Sequence[Message], **settings: Any) -> Reply:
        """Decide on the next calls or the final text; see `OfflineModel.call`."""
        reply = super().call(messages, **settings)
        final = [] if reply.tool_calls else [{"role": "assistant", "content": reply.text}]
        self.messages = [*messages, *final]
        return reply


def talk(chat: Callable[..., Any], prompts: Iterable[str], provider: Any) -> list[dict[str, Any]]:
    r"""Run a chat on given lines, in a folder of its own, and read the transcript that it wrote there.

    Args:
        chat: `chat(provider, ...)`; it asks for lines by its parameter `read` where it has one, else by `input`.
        prompts: What the user says; the chat is then ended by an empty line.
        provider: What answers.

    Returns:
        The lines of its transcript.

    Raises:
        AssertionError: It wrote none, or a line that is no JSON object.

    >>> from agentlab.providers.scripted import ScriptedModel
    >>> def chat(provider):
    ...     with open("transcript.jsonl", "a") as file:
    ...         while prompt := input("you: "):
    ...             file.write(json.dumps({"prompt": prompt}) + "\n")
    >>> talk(chat, ["Hi", "Bye"], ScriptedModel([]))
    [{'prompt': 'Hi'}, {'prompt': 'Bye'}]
    """
    return talks(chat, (prompts, provider))


def talks(chat: Callable[..., Any], *runs: tuple[Iterable[str], Any]) -> list[dict[str, Any]]:
    """Run a chat several times in one folder, one after the other; see `talk`.

    Args:
        chat: As for `talk`.
        runs: The prompts and the provider of each.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for prompts, provider in runs:
                _run(chat, prompts, provider)
            written = Path(TRANSCRIPT).read_text(encoding="utf-8") if Path(TRANSCRIPT).exists() else None
        finally:
            os.chdir(before)
    if written is None:
        raise AssertionError(f"expected chat to write a file {TRANSCRIPT}, found none: look at chat, in the first cell")
    return [_object(number, line) for number, line in enumerate(written.split("\n"), 1) if line.strip()]


def _run(chat: Callable[..., Any], prompts: Iterable[str], provider: Any) -> None:
    """Run a chat; what it paints goes nowhere."""
    waiting = iter([*prompts, ""])

    def read(_asked: object = "", /) -> str:
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    kept = builtins.input
    told = {"read": read} if "read" in signature(chat).parameters else {}
    builtins.input = read
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            chat(provider, **told)
    finally:
        builtins.input = kept


def _object(number: int, line: str) -> dict[str, Any]:
    """A line of a transcript, read as JSON.

    Raises:
        AssertionError: It is no object.
    """
    value: Any = None
    with contextlib.suppress(ValueError):
        value = json.loads(line)
    if isinstance(value, dict):
        return value
    raise AssertionError(
        f"expected a JSON object in each line of {TRANSCRIPT}, found in line {number}: {line[:60]!r}: look at what "
        "chat writes for a turn"
    )


def cutting(tools: Iterable[Tool], strategy: str, limit: int = 4000) -> list[Tool]:
    """Tools that cut their own results, so that no loop has to.

    Args:
        tools: As they are.
        strategy: A name of `agentlab.truncate.STRATEGIES`, as `tail_cut`.
        limit: In characters.

    >>> from agentlab.builtin_tools import lorem
    >>> len(cutting([lorem], "tail_cut")[0].run())
    4000
    """

    def cut_run(run: Callable[..., str]) -> Callable[..., str]:
        return lambda **arguments: cut(run(**arguments), limit, strategy).text

    return [replace(tool, run=cut_run(tool.run)) for tool in tools]


def plot_iterations(frame: pd.DataFrame, title: str = "Iterations per user turn") -> Axes:
    """Draw iterations per user turn: a group of bars per turn, a colour per column.

    >>> import pandas as pd
    >>> plot_iterations(pd.DataFrame({"mine": [2, 3]}, index=[1, 2])).get_ylabel()
    'iterations per user turn'
    """
    ax = plot_turns(frame, title)
    ax.set_ylabel("iterations per user turn")
    return ax


def week() -> list[dict[str, Any]]:
    """The turns of `data/transcripts/week.jsonl`: an id such as `s07.3`, the day, prompt, reply and iterations.

    >>> turn = week()[0]
    >>> turn["id"], turn["day"], turn["prompt"], turn["iterations"]
    ('s01.1', 'Monday', 'Good morning!', 1)
    """
    return [
        {"id": ident, "day": DAYS[datetime.fromisoformat(line["started_at"]).weekday()]}
        | {field: line[field] for field in FIELDS}
        for ident, line in _lines().items()
    ]


def look(idents: Iterable[str]) -> pd.DataFrame:
    """What the transcript of the week says of some turns: a row each, with their tool calls; a failed one has a mark.

    >>> look(["s01.2"]).to_dict("records")
    [{'prompt': 'Read warehouse/islands.py.', 'iterations': 2, 'calls': 'read_file', 'ended': 'reply'}]
    """
    import pandas as pd

    lines = _lines()
    rows = {ident: _row(lines[ident]) for ident in idents}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["prompt", "iterations", "calls", "ended"])


def _row(line: Mapping[str, Any]) -> list[Any]:
    calls = Counter(f"{call['name']}{' (failed)' if call['is_error'] else ''}" for call in line.get("tool_calls", ()))
    said = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in calls.items())
    prompt = line["prompt"] if len(line["prompt"]) <= 60 else line["prompt"][:59] + "…"
    return [prompt, line["iterations"], said or "none", line["reason"]]


def _lines() -> dict[str, dict[str, Any]]:
    """The lines of the week by id: the number of the session and of the turn in it."""
    lines: dict[str, dict[str, Any]] = {}
    session = 0
    for text in data("transcripts/week.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        session += line["turn"] == 1
        lines[f"s{session:02d}.{line['turn']}"] = line
    return lines
