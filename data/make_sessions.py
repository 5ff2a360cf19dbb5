"""Write the recorded sessions in `data/sessions/`: what agentlab's own loop wrote, with stand-ins for a model.

    python data/make_sessions.py                 writes all
    python data/make_sessions.py short errors    only these
    python data/make_sessions.py --check         writes nothing; exit code 1 where a folder is not what would be written

The folder that the tools read is made by `make_workspace.py`, so the sessions are the same on every machine and in
every version of Python. Nothing is measured in time: the clock is made up, and so are the pauses.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import make_workspace
import msgspec
from session_scripts import HARNESS, HARNESS_PROMPTS, SCRIPTS, Script, harness_actors

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.events import CompactionDecided, Event, MessageAppended, Sink, TurnFinished
from agentlab.harness.session import Harness
from agentlab.loop import run_turn
from agentlab.providers.offline import OfflineModel
from agentlab.providers.scripted import ScriptedModel
from agentlab.runner import SYSTEM
from agentlab.store import Store
from agentlab.transcript import STORE, SessionWriter
from agentlab.truncate import MAX_OBSERVATION_CHARS
from agentlab.turn import iso

FOLDER = Path(__file__).parent / "sessions"
START = 1_778_686_822.0  # 2026-05-13, 15:40:22 UTC
READING, THINKING, TOOL = 45.0, 3.0, 0.5  # seconds: before a user turn, for a reply, for a tool
MADE_BY = "data/make_sessions.py"


class Clock:
    """A clock that only what is logged moves on."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> float:
        """Seconds since 1970."""
        return self.time

    def pass_for(self, message: dict[str, Any], pause: float = 0.0) -> float:
        """Move on by what a message takes; returns the time after it."""
        if message["role"] == "user" and "origin" not in message:
            self.time += READING + pause
        else:
            self.time += {"assistant": THINKING, "tool": TOOL}.get(message["role"], 0.0)
        return self.time


class Retimed:
    """A sink that hands events on with the times of a clock of its own.

    Args:
        sink: Is given the events.
        clock: Moves on with each message.
        pauses: Seconds before a user turn, by its number.
    """

    hears = SessionWriter.hears

    def __init__(self, sink: Sink, clock: Clock, pauses: dict[int, float]) -> None:
        self.sink, self.clock, self.pauses = sink, clock, pauses
        self.began = clock()

    def __call__(self, event: Event) -> None:
        """Hand on an event."""
        if isinstance(event, MessageAppended):
            opens = event.message["role"] == "user" and "origin" not in event.message
            time = self.clock.pass_for(event.message, self.pauses.get(event.turn, 0.0) if opens else 0.0)
            self.began = time if opens else self.began
            event = msgspec.structs.replace(event, time=time)
        elif isinstance(event, CompactionDecided):
            event = msgspec.structs.replace(event, time=self.clock())
        elif isinstance(event, TurnFinished):
            event = msgspec.structs.replace(event, started_at=iso(self.began), finished_at=iso(self.clock()))
        self.sink(event)


def record(script: Script, folder: Path, workspace: Path) -> None:
    """Run the turns of a script, and write them as a session folder."""
    clock = Clock()
    scripted = None if script.steps is None else ScriptedModel(script.steps, unique_ids=True)
    first = OfflineModel() if scripted is None else scripted
    about = "scripted: its replies are written in advance" if scripted else OfflineModel.description
    talk = Conversation(system=SYSTEM)
    store = Store(folder / STORE)
    tools = [make_now(clock), wordcount, *workspace_tools(workspace), read_result_tool(store, max_chars=page(script))]
    writer = SessionWriter(
        folder,
        provider=first.name,
        model=first.model,
        system=SYSTEM,
        tools=tools,
        policy=msgspec.to_builtins(script.policy),
        settings={"made_by": MADE_BY, "model": about, "times": "made up", "about": script.about},
        store=store,
        clock=clock,
    )
    sinks = [Retimed(writer, clock, script.pauses)]
    for number, prompt in enumerate(script.prompts, 1):
        kind = script.misbehaving.get(number)
        model = first if kind is None else OfflineModel(misbehave=kind)
        run_turn(talk, prompt, model, tools=tools, policy=script.policy, sinks=sinks, store=store)
    writer.close()


def page(script: Script) -> int:
    """Characters that `read_result` gives at once: no more than the policy would leave of them."""
    limit = script.policy.limit_for("read_result", MAX_OBSERVATION_CHARS)
    return min(MAX_OBSERVATION_CHARS, limit.value) if limit.unit == "characters" else MAX_OBSERVATION_CHARS


def record_harness(folder: Path, workspace: Path) -> None:
    """Run the harness, and write its session folder, those of its agents, and the log of its cycles."""
    clock, ids = Clock(), iter(range(1, 100))
    models = {name: ScriptedModel(steps, unique_ids=True) for name, steps in harness_actors().items()}
    settings: dict[str, Any] = {"clock": lambda: 0.0, "now": clock, "new_id": lambda: f"{next(ids):08d}"}
    with Harness(models["cog"], providers=models, workspace=workspace, folder=folder, **settings) as harness:
        harness.runner.sinks.insert(0, _Passing(clock))
        for prompt in HARNESS_PROMPTS:
            harness.send(prompt)
    for path in sorted(folder.rglob("*.jsonl")):
        if path.parent.name != STORE:
            _retime(path)


class _Passing:
    """A sink that moves a clock on, so that the lines of the cycle log are seconds apart."""

    hears = (MessageAppended,)

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def __call__(self, event: Event) -> None:
        if isinstance(event, MessageAppended):
            self.clock.pass_for(event.message)


def _retime(path: Path) -> None:
    """Put made-up times in the place of the machine's, in one file of a session folder or of a cycle log."""
    clock = Clock()
    made = []
    for line in path.read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        if "created" in value:
            value["created"] = clock()
        if "time" in value:
            value["time"] = clock.pass_for(value["message"]) if "message" in value else clock()
        if "started_at" in value:
            clock.time += READING
            value["started_at"] = iso(clock())
            clock.time += THINKING * value["iterations"]
            value["finished_at"] = iso(clock())
        if "seconds" in value:
            value["seconds"] = THINKING if value["type"] == "llm_response" else TOOL
        made.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    path.write_bytes(("\n".join(made) + "\n").encode())


def write(names: list[str], folder: Path) -> None:
    """Write sessions by name, each in a folder of its own; what was there before goes."""
    with tempfile.TemporaryDirectory() as made:
        workspace = Path(made)
        make_workspace.write(workspace)
        for name in names:
            shutil.rmtree(folder / name, ignore_errors=True)
            if name == HARNESS:
                record_harness(folder / name, workspace)
            else:
                record(SCRIPTS[name], folder / name, workspace)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by path."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def main(arguments: list[str] | None = None) -> int:
    known = [*SCRIPTS, HARNESS]
    parser = argparse.ArgumentParser(description="Write data/sessions/.")
    parser.add_argument("names", nargs="*", help="sessions (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing, say which folders differ")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the sessions are (default: %(default)s)")
    options = parser.parse_args(arguments)
    names = options.names or known
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no session is called {unknown[0]}: there are {', '.join(known)}")
    if options.check:
        with tempfile.TemporaryDirectory() as made:
            write(names, Path(made))
            wrong = [name for name in names if contents(Path(made, name)) != contents(options.folder / name)]
        for name in wrong:
            print(f"{options.folder / name} is not what the script writes: run python data/make_sessions.py {name}")
        return 1 if wrong else 0
    write(names, options.folder)
    for name in names:
        sizes = [len(data) for data in contents(options.folder / name).values()]
        print(f"{options.folder / name}: {len(sizes)} files, {sum(sizes):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
