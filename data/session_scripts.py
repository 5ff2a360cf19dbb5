"""What the sessions in `data/sessions/` are made of: what was asked, under which policy, by which stand-in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from make_observations import SUBJECTS, Draw

from agentlab.policy import CHAPTER, Compaction, Consolidate, Limit, Policy, Room, load_policy
from agentlab.providers.scripted import call, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.messages import Message

SHORT = """What time is it?
List the files in the folder warehouse.
Read the biggest file in warehouse.
Which functions does it define?
Are there any errors in logs/server.log?
How long has it been since I asked for the time?""".splitlines()

TWENTY = """List the files.
List the files in the folder warehouse.
Read the biggest file in warehouse.
Which functions does it define?
Read docs/handbook.md.
Find 'SH-' in docs/handbook.md.
Read logs/server.log. What is at its end?
Are there any errors in logs/server.log?
Read the smallest file in warehouse.
Are there any errors in build.log?
Read lines 195 to 225 of build.log.
How many lines mention 'error' in build.log?
Find where 'def merge_kettles' is defined.
Compare warehouse/kettles.py with warehouse/ladders.py: which is longer?
Read orders.json. How does it end?
Find 'code-middle' in orders.json.
Read the biggest file in tests.
Read lines 2400 to 2440 of services.yaml.
Read warehouse/anchors.py, warehouse/gardens.py and warehouse/islands.py.
Which of the files that you read was the largest?""".splitlines()

ERRORS = """Read warehouse/kettels.py. What is at its end?
Read logs/sever.log. What is at its end?
Read lines 900 to 950 of logs/server.log.
List the files in the folder warehose.
How many words are in docs/handbook.md?
How many words are in logs/server.log?
Read docs/manual.md.
Find 'SH-' in docs/handbok.md.
Which of the files that you read was the largest?""".splitlines()
MISBEHAVING = {5: "unknown_tool", 6: "wrong_arguments"}  # by user turn: what the stand-in is told to get wrong first

PARALLEL = """Read warehouse/anchors.py, warehouse/baskets.py and warehouse/candles.py.
How many words are in tests/test_anchors.py, in tests/test_baskets.py and in tests/test_candles.py?
Read tests/test_drawers.py, tests/test_engines.py, tests/test_filters.py and tests/test_gardens.py.
Compare warehouse/hammers.py with warehouse/jackets.py: which is longer?
Read source.py, response.http and orders.json.
Which of the files that you read was the largest?""".splitlines()

UNCUT = """What can you do?
Read docs/handbook.md.
Read services.yaml. How does it end?
What time is it?
Read build.log. How does it end?
Read orders.json. How does it end?
Read response.http. How does it end?
Read source.py. How does it end?
Read logs/server.log. How does it end?
Read warehouse/candles.py. How does it end?
Read warehouse/islands.py. How does it end?""".splitlines()


def _long() -> list[str]:
    """Sixty turns: five about each subject, and no file twice as a whole."""
    turns = []
    for number, subject in enumerate(SUBJECTS):
        first = 60 + 150 * number
        other = f"Read lines {first} to {first + 40} of services.yaml.", f"Read tests/test_{subject}s.py."
        small = "Are there any errors in logs/server.log?", "What time is it?", f"Find '{subject}' in docs/handbook.md."
        turns += [
            f"Read warehouse/{subject}s.py.",
            f"Which functions does warehouse/{subject}s.py define?",
            f"Find where 'price_{subject}s' is defined.",
            other[number % len(other)],
            small[number % len(small)],
        ]
    return turns


LONG = _long()
PAUSES = {31: 1_800.0}  # by user turn: nobody asked for half an hour, so a cached prompt would be gone


class Script(msgspec.Struct, frozen=True):
    """How one session is made: its user turns, who answers, and the policy.

    Attributes:
        about: What it shows, in one sentence.
        prompts: The user turns.
        policy: How observations are cut, and what is no longer sent.
        misbehaving: By user turn, what the offline model is told to get wrong.
        pauses: By user turn, seconds before it.
        steps: Replies of a scripted model, or none for the offline model.
    """

    about: str
    prompts: list[str]
    policy: Policy = CHAPTER
    misbehaving: dict[int, str] = {}
    pauses: dict[int, float] = {}
    steps: list[Any] | None = None


def _preset(name: str) -> Policy:
    """A preset's rules, without the words about where they are from: other words make no other session."""
    return msgspec.structs.replace(load_policy(name), source="", date="", omits=[])


def _sooner(threshold: int) -> Policy:
    """Anthropic's context editing with a threshold that a short session meets."""
    preset = _preset("anthropic-context-editing")
    rule = msgspec.structs.replace(preset.compaction.results, threshold=threshold)
    compaction = msgspec.structs.replace(preset.compaction, results=rule)
    return msgspec.structs.replace(preset, name=f"context-editing-{threshold}", compaction=compaction)


UNLIMITED = Limit(1_000_000)  # characters
ROOM = Room(window=18_000, reserve=1_000, margin=1_000)
POLICIES = {
    "chapter": CHAPTER,
    "small-limits": Policy("small-limits", default=Limit(1_000)),
    "tail-cuts": Policy("tail-cuts", default=Limit(4_000, strategy="tail_cut")),
    "codex": _preset("codex"),
    "claude-code": _preset("claude-code"),
    "context-editing": _sooner(12_000),
    "nanobot-workspace": _preset("nanobot-2026-05"),
    "nanobot-no-workspace": _preset("nanobot-2026-05-no-workspace"),
    "consolidation": Policy(
        "consolidation", default=Limit(4_000), compaction=Compaction(consolidate=Consolidate(keep_turns=3), room=ROOM)
    ),
}


def _last(messages: Sequence[Message], tool: str) -> str:
    """The newest result of a tool."""
    return next(str(m["content"]) for m in reversed(messages) if m["role"] == "tool" and m["name"] == tool)


def _trace(draw: Draw) -> tuple[list[str], list[Any]]:
    """Four turns that follow names: a request in the log, the function it named, its file, and what that imports.

    Which of the names in a result is followed is drawn evenly, so where they stand says nothing about agents.
    """
    prompts: list[str] = []
    steps: list[Any] = []

    def follow(tool: str, pattern: str, make: Callable[[str], Any]) -> Callable[..., Any]:
        at = draw.below(1_000_000)

        def step(messages: Sequence[Message]) -> Any:
            names = re.findall(pattern, _last(messages, tool))
            return make(names[at % len(names)]) if names else say("Nothing to follow here.")

        return step

    for _ in range(4):
        first = 1 + draw.below(190)
        prompts.append(f"Take a request of lines {first} to {first + 50} of logs/server.log, and say what it ran.")
        steps += [
            call("read_file", path="logs/server.log", start_line=first, end_line=first + 50),
            follow("read_file", r"req-[0-9a-f]{8}", lambda name: call("grep", pattern=name, path="logs")),
            follow("grep", r"[a-z]+_[a-z]+s\b", lambda name: call("grep", pattern=f"def {name}", path="warehouse")),
            follow("grep", r"warehouse/[a-z]+\.py", lambda name: call("read_file", path=name)),
            follow("read_file", r"SH-[0-9a-f]{4}", lambda name: call("grep", pattern=name, path="docs")),
            follow("grep", r"warehouse/[a-z]+\.py", lambda name: say(f"It ran what {name} defines.")),
        ]
    return prompts, steps


def _trace_script(number: int) -> Script:
    prompts, steps = _trace(Draw(f"trace/{number}"))
    about = "scripted calls, each with a name that an earlier result had; which one was drawn evenly"
    return Script(about, prompts, Policy("uncut", default=UNLIMITED), steps=steps)


SCRIPTS = {
    "short": Script("six turns, as a first look", SHORT),
    "errors": Script("wrong names, ranges that are not there, malformed calls", ERRORS, misbehaving=MISBEHAVING),
    "parallel": Script("several calls in one iteration", PARALLEL),
    "uncut": Script("no limit, until the window is full and a turn fails", UNCUT, Policy("uncut", default=UNLIMITED)),
    "long": Script("sixty turns, with a pause of half an hour before turn 31", LONG, pauses=PAUSES),
    **{f"twenty-{name}": Script(f"the same twenty turns: {name}", TWENTY, p) for name, p in POLICIES.items()},
    **{f"trace-{number}": _trace_script(number) for number in range(1, 6)},
}

HARNESS = "harness"
HARNESS_PROMPTS = ["Which shelf did the first failing request ask for, and whose is it?", "How did that go?"]


def harness_actors() -> dict[str, list[Any]]:
    """What the cog and its agents say: a delegation, an error, an extension, and a question to the observer."""
    cog = [
        say(
            "Somebody has to look.",
            call("agent_researcher", instruction="Which shelf was not found first?"),
        ),
        say("I check that.", call("read_file", path="docs/handbok.md")),
        say("The error names the file.", call("grep", pattern="SH-", path="docs/handbook.md")),
        call("request_more_turns", additional=2, reason="The module is still to be read."),
        lambda messages: call("read_file", path=re.findall(r"warehouse/[a-z]+\.py", _last(messages, "grep"))[-2]),
        "It is the shelf of the kettles.",
        call("agent_observer", instruction="How did the last cycle go?"),
        lambda messages: say(_last(messages, "agent_observer")),
    ]
    researcher = [
        call("list_dir", path="logs"),
        call("grep", pattern="ERROR", path="logs/server.log"),
        lambda messages: say("The first error: " + _last(messages, "grep").splitlines()[0]),
    ]
    observer = [
        call("list_cycles"),
        call("read_cycle"),
        lambda messages: say("By the log:\n" + _last(messages, "read_cycle")),
    ]
    return {"cog": cog, "researcher": researcher, "observer": observer}
