"""`agentlab run --actor cog`: a session of the whole harness."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError

if TYPE_CHECKING:
    import argparse

    from agentlab.harness.cycle import CycleResult


def run_cog(arguments: argparse.Namespace) -> int:
    """Run prompts with the cog and its agents; without prompts and offline, the scripted scenario."""
    from agentlab.cli.folders import dated_folder, is_empty_folder, make_folder
    from agentlab.cli.given import prompts_of
    from agentlab.cli.models import close_model
    from agentlab.harness.scenario import PROMPTS

    scripted = not (arguments.prompt or arguments.script) and arguments.provider == "offline" and not arguments.cassette
    prompts = PROMPTS if scripted else prompts_of(arguments.prompt, arguments.script)
    named = Path(arguments.out) if arguments.out else None
    is_there = named is not None and is_empty_folder(named)
    settings = _scenario() if scripted else _session(arguments)
    out = dated_folder() if named is None else make_folder(named, exist_ok=is_there)
    try:
        results = _converse(settings, out, prompts, quiet=arguments.json)
    finally:
        close_model(settings["provider"])
    (_print_json if arguments.json else _print)(results, out, prompts, scripted=scripted)
    return {"cancelled": 130, "failed": 1}.get(results[-1].status, 0)


def _converse(settings: dict[str, Any], out: Path, prompts: list[str], *, quiet: bool) -> list[CycleResult]:
    """Send the prompts, until a cycle ends the run."""
    from agentlab.harness.session import Harness

    results: list[CycleResult] = []
    try:
        with Harness(**settings, folder=out, on_activity=None if quiet else _show) as harness:
            for prompt in prompts:
                results.append(harness.send(prompt))
                if results[-1].status in ("cancelled", "failed") or results[-1].reason in ("max_cost", "token_budget"):
                    break
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}): name another folder with --out", path=out
        ) from error
    return results


def _show(line: str) -> None:
    """Show a line of the activity while it goes on."""
    sys.stderr.write(f"  {line}\n")


def _scenario() -> dict[str, Any]:
    """What the harness of the scripted scenario is made of."""
    from agentlab.harness.scenario import providers, workspace

    actors = providers()
    return {"provider": actors["cog"], "providers": actors, "workspace": workspace()}


def _session(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the harness is made of, with the model that the arguments name; the model is opened last."""
    from msgspec.structs import replace

    from agentlab.builtin_tools import now, wordcount, workspace_tools
    from agentlab.cli.folders import existing_folder
    from agentlab.cli.given import policy_of
    from agentlab.cli.models import open_model
    from agentlab.harness.actors import ACTORS, COG
    from agentlab.harness.pages import Fetcher, fetch_url_tool

    workspace = existing_folder(arguments.workspace)
    cog = COG if arguments.max_iterations is None else replace(COG, turns=arguments.max_iterations)
    settings: dict[str, Any] = {
        "workspace": workspace,
        "actors": {**ACTORS, "cog": cog},
        "tools": {"cog": [now, wordcount, *workspace_tools(workspace, commands=arguments.commands)]},
        "pages": fetch_url_tool(Fetcher(allow_private=arguments.private_pages)) if arguments.pages else None,
        "policy": policy_of(arguments.policy),
    }
    settings["provider"], settings["budget"] = open_model(arguments)
    return settings


def _print(results: list[CycleResult], out: Path, prompts: list[str], *, scripted: bool) -> None:
    """Print what was asked and answered, and where to read more."""
    from agentlab.harness.scenario import LABEL

    if scripted:
        sys.stdout.write(f"{LABEL}\n")
    for prompt, result in zip(prompts, results, strict=False):
        why = f": {result.result.error}" if result.result.error else ""
        sys.stdout.write(
            f"\nyou: {prompt}\n\n{result.text}\n\n[{result.status} ({result.reason}{why}), {result.turns} of "
            f"{result.allowed} turns, cycle {result.cycle}]\n"
        )
    sys.stdout.write(f"\nwritten to {out}/; agentlab log {out} --cycle {results[0].cycle} shows the first as a tree\n")


def _print_json(results: list[CycleResult], out: Path, prompts: list[str], *, scripted: bool) -> None:
    """Print results and log as one JSON object."""
    import msgspec

    from agentlab.cli.log import cycle_as_dict
    from agentlab.harness.reading import read_cycles
    from agentlab.harness.scenario import LABEL

    cycles, problems = read_cycles(out)
    whole = {
        "folder": str(out),
        "scripted": scripted,
        "label": LABEL if scripted else "",
        "asked": len(prompts),
        "status": results[-1].status,
        "reason": results[-1].reason,
        "results": [
            {
                "prompt": prompt,
                "cycle": result.cycle,
                "status": result.status,
                "reason": result.reason,
                "turns": result.turns,
                "allowed": result.allowed,
                "extensions": result.extensions,
                "text": result.text,
            }
            for prompt, result in zip(prompts, results, strict=False)
        ],
        "cycles": [cycle_as_dict(view) for view in cycles],
        "problems": [str(problem) for problem in problems],
    }
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(whole)).decode() + "\n")
