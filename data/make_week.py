"""Write `data/transcripts/week.jsonl`: a transcript of a week, as agentlab's own loop wrote it.

    python data/make_week.py              writes it
    python data/make_week.py --check      writes nothing; exit code 1 where the file is not what would be written

Its sessions stand in `week_plan.py`. A line is a user turn; a session begins where `turn` is 1. The folder that the
tools read is made by `make_workspace.py`, and the clock is made up, so the file is the same on every machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import make_workspace
from make_sessions import Clock, Retimed
from week_plan import Session, week

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.messages import ToolCall
from agentlab.providers.offline import OfflineModel
from agentlab.runner import SYSTEM
from agentlab.store import Store
from agentlab.transcript import TurnWriter

if TYPE_CHECKING:
    from agentlab.providers.offline.history import History

FILE = Path(__file__).parent / "transcripts" / "week.jsonl"
MONDAY = 1_778_457_600.0  # 2026-05-11, 00:00 UTC
DAY = 86_400.0  # seconds


class Told(OfflineModel):
    """The offline model that is told how to begin each turn, and then goes on by itself.

    Args:
        told: Calls, one for each iteration, or the reply.
        settings: What `OfflineModel` takes.
    """

    def __init__(self, told: tuple[ToolCall | str, ...], **settings: Any) -> None:
        super().__init__(**settings)
        self._told = list(told)

    def _reply(self, history: History, *rest: Any) -> tuple[str, tuple[ToolCall, ...], str]:
        """What it was told to do next, else what its rules say."""
        if not self._told:
            return super()._reply(history, *rest)
        step = self._told.pop(0)
        if isinstance(step, str):
            return step, (), "end_turn"
        return "", (ToolCall(f"call_{history.calls + 1}", step.name, step.arguments),), "tool_use"


def record(session: Session, file: Path, workspace: Path) -> None:
    """Run the turns of a session, and append their lines to the transcript."""
    clock = Clock()
    clock.time = MONDAY + session.day * DAY + 60 * session.minute
    store = Store(None)
    tools = [make_now(clock), wordcount, *workspace_tools(workspace), read_result_tool(store)]
    talk = Conversation(system=SYSTEM)
    writer = TurnWriter(file)
    for asked in session.turns:
        model = Told(asked.told, misbehave=asked.misbehave)
        run_turn(talk, asked.prompt, model, tools=tools, sinks=[Retimed(writer, clock, {})], store=store)
    writer.close()


def write(file: Path) -> None:
    """Write the transcript; what was there before goes."""
    file.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as made:
        make_workspace.write(Path(made))
        for session in week():
            record(session, file, Path(made))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write data/transcripts/week.jsonl.")
    parser.add_argument("--check", action="store_true", help="write nothing, say whether the file differs")
    parser.add_argument("--file", type=Path, default=FILE, help="where it is (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.check:
        with tempfile.TemporaryDirectory() as made:
            write(Path(made, FILE.name))
            same = options.file.is_file() and Path(made, FILE.name).read_bytes() == options.file.read_bytes()
        if not same:
            print(f"{options.file} is not what the script writes: run python data/make_week.py")
        return 0 if same else 1
    write(options.file)
    data = options.file.read_bytes()
    lines = data.count(b"\n")
    print(f"{options.file}: {lines} turns, {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
