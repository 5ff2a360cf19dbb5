"""Record what a model does in the tasks of `model_run_tasks.py`, both arms of all four claims, in `data/model_runs/`.

    python data/make_model_runs.py --model FILE.gguf                        a model file on this computer's CPU
    python data/make_model_runs.py --provider anthropic --model M --yes-spend   a hosted one: needs its key, costs money
    ... --claim marker --tasks 4 --out FOLDER                               one claim, four tasks, another folder
    python data/make_model_runs.py --check                                  no model: are the recorded outcomes those of
                                                                            the rules, on the tasks as they are?
    python data/make_model_runs.py --sort                                   no model: sort the recorded replies again

A file per claim and model: a header line, then a line per run. A run is one model call. It is written at once, and a
second start goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from model_run_tasks import ARMS, CLAIMS, SYSTEM, TASKS, Task

from agentlab.errors import AgentlabError, InputError
from agentlab.messages import Reply, ToolCall
from agentlab.providers.registry import PROVIDERS, announcement, is_hosted, open_provider

FOLDER = Path(__file__).parent / "model_runs"
MOST_TOKENS = 48
HELD_IN_SHAPE = "one call or one answer, by a grammar"


def main(arguments: list[str] | None = None) -> int:
    """Record, or check what is recorded; returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.check:
            wrong = [line for path in sorted(given.out.glob("*.jsonl")) for line in check(path)]
            say("\n".join(wrong) or "every outcome is what its rule says")
            return 1 if wrong else 0
        if given.sort:
            for path in sorted(given.out.glob("*.jsonl")):
                sort(path)
            return 0
        for claim in given.claim or CLAIMS:
            record(claim, given)
    except AgentlabError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def record(claim: str, given: argparse.Namespace) -> None:
    """Record the runs of one claim that are not there yet."""
    provider = opened(claim, given)
    name = given.name or provider.model
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"{claim}.{name.lower().removesuffix('.gguf')}.jsonl"
    if not path.exists():
        write(path, header(claim, given, provider, name))
    there = {(run["task"], run["arm"]) for run in runs_of(path)}
    for task in CLAIMS[claim].tasks(given.tasks):
        for arm in ARMS:
            if (task.number, arm) not in there:
                run = run_of(task, arm, ask(provider, task, arm))
                write(path, run)
                say(f"{claim} {task.number} {arm}: {run['outcome']}")


def opened(claim: str, given: argparse.Namespace) -> Any:
    """The provider that was asked for.

    Raises:
        InputError: No model, no key, or a hosted one without the flag that says that it may cost money.
    """
    if given.model is None:
        raise InputError("name a model: --model FILE.gguf, or --provider P --model M --yes-spend")
    options = {"any_name": CLAIMS[claim].any_name} if given.provider == "local" else {"base_url": given.base_url}
    provider = open_provider(given.provider, model=given.model, **options)
    if is_hosted(provider) and not given.yes_spend:
        raise InputError(f"{announcement(provider)}: this calls it {2 * given.tasks} times per claim; add --yes-spend")
    return provider


def ask(provider: Any, task: Task, arm: str) -> Reply:
    """One run: the next reply in one arm of a task."""
    reply: Reply = provider.call(
        task.messages(arm),
        system=SYSTEM,
        tools=task.tools,
        tool_choice=CLAIMS[task.claim].tool_choice,
        max_output_tokens=MOST_TOKENS,
    )
    return reply


def header(claim: str, given: argparse.Namespace, provider: Any, name: str) -> dict[str, Any]:
    """What the runs of a file have in common."""
    is_local = given.provider == "local"
    return {
        "kind": "header",
        "claim": claim,
        "model": name,
        "sha256": digest(Path(given.model)) if is_local else None,
        "date": datetime.now(UTC).date().isoformat(),
        "provider": given.provider,
        "runtime": runtime_version() if is_local else None,
        "temperature": 0 if is_local else None,
        "threads": provider.n_threads if is_local else None,
        "most_output_tokens": MOST_TOKENS,
        "tool_choice": CLAIMS[claim].tool_choice,
        "shape": HELD_IN_SHAPE if is_local else "the provider's own tool calls",
        "system": SYSTEM,
        "rule": CLAIMS[claim].rule,
    }


def run_of(task: Task, arm: str, reply: Reply) -> dict[str, Any]:
    """One run as it is written: what was asked and seen, what came, what that is by the rule."""
    return {
        "kind": "run",
        "task": task.number,
        "arm": arm,
        "question": task.question,
        "observation": task.observations[arm],
        "messages_sha256": digest_of(task.messages(arm)),
        "text": reply.text,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls],
        "stop_reason": reply.stop_reason,
        "usage": None if reply.usage is None else msgspec.to_builtins(reply.usage),
        "outcome": CLAIMS[task.claim].outcome(task, reply),
    }


def check(path: Path) -> list[str]:
    """What is not right with a file: outcomes that the rule does not give, tasks that are not these, runs missing."""
    first, *runs = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    claim = CLAIMS[first["claim"]]
    count = max(run["task"] for run in runs)
    tasks = {task.number: task for task in claim.tasks(count)}
    wrong = []
    for run in runs:
        task, where = tasks[run["task"]], f"{path.name}: task {run['task']}, {run['arm']}"
        if run["messages_sha256"] != digest_of(task.messages(run["arm"])):
            wrong.append(f"{where}: the task is another one now")
        outcome = claim.outcome(task, reply_of(run))
        if outcome != run["outcome"]:
            wrong.append(f"{where}: recorded as {run['outcome']!r}, the rule says {outcome!r}")
    seen = sorted((run["task"], run["arm"]) for run in runs)
    if seen != sorted((number, arm) for number in range(1, count + 1) for arm in ARMS):
        wrong.append(f"{path.name}: not every task was run once in each arm")
    return wrong


def sort(path: Path) -> None:
    """Write the outcomes that the rules give now; what was asked and what came stay as they are."""
    first, *runs = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    claim = CLAIMS[first["claim"]]
    tasks = {task.number: task for task in claim.tasks(max(run["task"] for run in runs))}
    again = [run | {"outcome": claim.outcome(tasks[run["task"]], reply_of(run))} for run in runs]
    path.write_bytes(msgspec.json.encode(first | {"rule": claim.rule}) + b"\n")
    for run in again:
        write(path, run)


def reply_of(run: dict[str, Any]) -> Reply:
    """The reply of a recorded run."""
    calls = tuple(ToolCall(f"call_{at}", call["name"], call["arguments"]) for at, call in enumerate(run["calls"], 2))
    return Reply(run["text"], calls, stop_reason=run["stop_reason"])


def runs_of(path: Path) -> list[dict[str, Any]]:
    """The runs in a file, without its header."""
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    return [line for line in lines if line["kind"] == "run"]


def digest_of(messages: Any) -> str:
    """Sha256 of a conversation as JSON."""
    return hashlib.sha256(msgspec.json.encode(messages)).hexdigest()


def digest(path: Path) -> str:
    """Sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def runtime_version() -> str:
    """The runtime of model files, with its version."""
    from importlib.metadata import version

    return f"xllamacpp {version('xllamacpp')}"


def write(path: Path, line: dict[str, Any]) -> None:
    """Add a line."""
    with path.open("ab") as file:
        file.write(msgspec.json.encode(line) + b"\n")


def say(line: str) -> None:
    """Tell the person who runs it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Record what a model does, in two arms of four claims.")
    parser.add_argument("--model", help="a model file (GGUF), or the name of a hosted model")
    known = [name for name, entry in PROVIDERS.items() if entry.from_terminal]
    parser.add_argument("--provider", default="local", choices=known, help="default: local")
    parser.add_argument("--base-url", help="another server that speaks the provider's protocol")
    parser.add_argument("--yes-spend", action="store_true", help="a hosted model may be called, which costs money")
    parser.add_argument("--name", help="what to call the model in the files; default: its file or its name")
    parser.add_argument("--claim", action="append", choices=list(CLAIMS), help="only this one; may be given again")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"tasks per arm (default {TASKS})")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the files")
    parser.add_argument("--sort", action="store_true", help="call nothing; sort the recorded replies by the rules")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where a file is not right")
    return parser


if __name__ == "__main__":
    sys.exit(main())
