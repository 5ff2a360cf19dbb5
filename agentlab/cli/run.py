"""`agentlab run`: a session from prompts, with its curve and its comparison of cuts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.cli.folders import OTHER, dated_folder, existing_folder, is_empty_folder, make_folder
from agentlab.cli.given import policy_of, prompts_of
from agentlab.cli.models import add_model_arguments, close_model, open_model
from agentlab.cli.terminal import decoded, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.endings import TurnResult
    from agentlab.runner import Runner

EXAMPLES = """\
A script is a text file with one prompt per line; empty lines and lines that begin with # are passed over.

examples:
  agentlab run --workspace . --prompt "List the files." --prompt "Read the longest one."
  agentlab run --workspace . --script prompts.txt --out runs/first
  agentlab run --script prompts.txt --record tape.jsonl        then   --cassette tape.jsonl
  agentlab run --actor cog                       then   agentlab log runs/...
  agentlab run --prompt "Hello" --provider openai --model llama3 --base-url http://127.0.0.1:8080/v1
  agentlab run --prompt "What time is it?" --provider local --model FILE.gguf
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "run",
        help="run a session and measure it",
        description="Run a session, write its folder, plot its token curve and compare cuts on its own observations.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--workspace", metavar="DIR", default=".", help="folder whose files the tools read (default .)")
    parser.add_argument("--prompt", metavar="TEXT", action="append", help="a user turn; may be given several times")
    parser.add_argument("--script", metavar="FILE", help="a text file with a prompt per line")
    parser.add_argument("--out", metavar="DIR", help="session folder to write (default runs/DATE-TIME)")
    parser.add_argument("--policy", metavar="NAME|FILE", help="a policy: see agentlab policies, or a JSON file")
    parser.add_argument("--commands", action="store_true", help="let the model run shell commands, unconfined")
    parser.add_argument("--max-iterations", type=int, metavar="N", help="cap of model calls per turn (default 10)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    harness = parser.add_argument_group("harness")
    harness.add_argument(
        "--actor",
        choices=("cog",),
        help="run the whole harness: a cog with budgets, agents and a cycle log; offline and without a prompt, a "
        "scripted scenario",
    )
    harness.add_argument("--pages", action="store_true", help="with --actor: the researcher may fetch pages")
    harness.add_argument("--private-pages", action="store_true", help="... of private networks and this machine too")
    add_model_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command: everything is looked at first, and the folder made last."""
    if arguments.actor is not None:
        from agentlab.cli.actors import run_cog

        return run_cog(arguments)
    prompts = prompts_of(arguments.prompt, arguments.script)
    workspace = existing_folder(arguments.workspace)
    if arguments.max_iterations is not None and arguments.max_iterations < 1:
        raise InputError(f"--max-iterations is at least 1, and {arguments.max_iterations} is not")
    policy = policy_of(arguments.policy)
    named = Path(arguments.out) if arguments.out else None
    is_there = named is not None and is_empty_folder(named)
    provider, budget = open_model(arguments)
    try:
        return run_prompts(
            prompts,
            dated_folder() if named is None else make_folder(named, exist_ok=is_there),
            as_json=arguments.json,
            provider=provider,
            workspace=workspace,
            commands=arguments.commands,
            policy=policy,
            budget=budget,
            max_iterations=arguments.max_iterations,
            settings={"caching": getattr(provider, "caching", "none"), "workspace": decoded(str(workspace))},
        )
    finally:
        close_model(provider)


def run_prompts(prompts: list[str], out: Path, *, as_json: bool, **settings: Any) -> int:
    """Run prompts as one session, write and print what it comes to; returns the exit code."""
    from agentlab.cli.progress import Progress
    from agentlab.runner import Runner

    progress = Progress(len(prompts), quiet=as_json)
    caching = (settings.get("settings") or {}).get("caching", "none")
    try:
        with Runner(settings.pop("provider"), folder=out, sinks=[progress], **settings) as session:
            result = send_all(session, prompts)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error}): {OTHER}", path=out) from error
    finally:
        progress.stop()
    report(out, prompts, result, caching=caching, as_json=as_json)
    return {"cancelled": 130, "failed": 1}.get(result.status, 0)


def send_all(session: Runner, prompts: list[str]) -> TurnResult:
    """Send prompts until a turn fails, is cancelled, or has used up the budget.

    Returns:
        How the session ended: as its last turn did, or as partial where the budget left prompts without an answer.
    """
    for number, prompt in enumerate(prompts, 1):
        result = session.send(prompt)
        spent = None if session.budget is None else session.budget.reached()
        if spent is not None and result.status == "complete" and number < len(prompts):
            return msgspec.structs.replace(result, status="partial", reason=spent)
        if spent is not None or result.status in ("cancelled", "failed"):
            break
    return result


def report(out: Path, prompts: list[str], last: TurnResult, *, caching: str, as_json: bool) -> None:
    """Measure the session that was written; print it as tables or as JSON."""
    from agentlab.analysis import load
    from agentlab.cli.results import print_results, write_results
    from agentlab.cli.tables import as_json as rows

    if not (out / "messages.jsonl").exists():
        raise InputError(f"nothing was written: {last.error or last.text}", path=out)
    session = load(out)[0][0]
    turns, cuts, files = write_results(session, out)
    if as_json:
        whole = {
            "folder": decoded(str(out)),
            "status": last.status,
            "reason": last.reason,
            "turns": len(turns),
            "asked": len(prompts),
            "caching": caching,
            "curve": rows(turns),
            "cuts": rows(cuts),
            "files": [decoded(str(file)) for file in files],
        }
        write_json(whole)
        return
    print_results(session, turns, cuts)
    sys.stdout.write(f"Prompt caching: {caching}.\n" if caching != "none" else "")
    if last.status != "complete":
        why = f"{last.reason}: {last.error}" if last.error else last.reason
        sys.stdout.write(f"The session ended in turn {len(turns)} of {len(prompts)}: {last.status} ({why}).\n")
    sys.stdout.write(
        f"\nwritten to {out}/: messages.jsonl, transcript.jsonl, {', '.join(file.name for file in files)}\n"
    )
