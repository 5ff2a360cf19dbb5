"""`agentlab replay`: what other policies would have sent, cost and lost on recorded sessions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, executor_of, read_logs
from agentlab.cli.terminal import decoded, tell, write_json
from agentlab.errors import InputError
from agentlab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentlab.analysis.replayed import Replayed
    from agentlab.policy import Policy

EXAMPLES = """\
The recorded policy is replayed first and fitted to what the log recorded; then each policy, with the same fit. The
agent makes the calls that it made, so what comes out is a range: from an agent that never misses what was taken away to
one that reads each cited name again.

examples:
  agentlab replay ~/.claude/projects/my-project
  agentlab replay session.jsonl --policy chapter --policy codex --plot frontier.png
  agentlab replay session.jsonl --limit Bash=10000 --limit 16000 --strategy tail_cut
"""

PRESETS = ("chapter", "claude-code", "codex", "anthropic-context-editing", "nanobot-2026-05")


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "replay",
        help="what other policies would have sent, cost and lost",
        description="Replay recorded sessions under other policies: tokens, dollars and evidence, each as a range.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, counts=False)
    add_policies(parser)
    parser.add_argument(
        "--prices", metavar="FILE", type=Path, help="prices by model, in place of the list that agentlab ships"
    )
    parser.add_argument("--plot", metavar="PNG", help="write the frontier as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def add_policies(parser: argparse.ArgumentParser) -> None:
    """Add what names policies."""
    parser.add_argument("--policy", metavar="P", action="append", help=f"a name or file; else {', '.join(PRESETS)}")
    parser.add_argument(
        "--limit", metavar="[TOOL=]N", action="append", help="cut a tool's results, or all, to N characters"
    )
    parser.add_argument("--strategy", metavar="S", help="how --limit cuts (middle_snip)")


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.analysis.replay import replay
    from agentlab.cli.tables import as_json

    policies = policies_of(arguments)
    logs = read_logs(arguments)
    with executor_of(arguments) as executor:
        found = replay(logs.sessions, policies, prices=arguments.prices, executor=executor)
    tell_unused(arguments, found.sessions)
    frame = found.by_policy()
    if arguments.plot:
        from agentlab import plots

        plots.save(plots.plot_frontier(frame), arguments.plot)
    if arguments.json:
        whole = {
            "sessions": len(logs.sessions),
            "policies": as_json(frame),
            "tools": as_json(found.by_tool()),
            "fits": as_json(found.fits()),
            "sentences": found.sentences(),
            "problems": [decoded(str(problem)) for problem in logs.problems],
        }
        write_json(whole)
        return 0
    _print(found)
    return 0


def policies_of(arguments: argparse.Namespace) -> list[Policy]:
    """The policies that were asked for.

    Raises:
        InputError: One of them is not known, or a limit is none.
    """
    from agentlab.policy import load_policy

    named = [load_policy(name) for name in arguments.policy or ()]
    if arguments.strategy is not None and not arguments.limit:
        raise InputError("--strategy says how --limit cuts: give --limit N or --limit TOOL=N too")
    limited = _limited(arguments.limit or (), arguments.strategy or "middle_snip")
    if not named and limited is None:
        named = [load_policy(name) for name in PRESETS]
    return named if limited is None else [*named, limited]


def tell_unused(arguments: argparse.Namespace, replays: Iterable[Replayed]) -> None:
    """Tell which `--limit TOOL=N` names a tool that no log has: it limits nothing."""
    named = [name for name in (each.rpartition("=")[0] for each in arguments.limit or ()) if name]
    tools = sorted({tool for each in replays for tool in each.runs[0].by_tool}) if named else []
    for name in named:
        if name not in tools:
            known = ", ".join(filter(None, tools)) or "none"
            tell(f"--limit {name}=...: no result in the logs is of a tool {name}; there are those of: {known}")


def _limited(given: Any, strategy: str) -> Policy | None:
    """The policy of the limits that were given: by tool, and for all others the one without a name."""
    from agentlab.analysis.shown import UNCUT, cut_policies
    from agentlab.policy import Limit, Policy

    limits: dict[str, Limit] = {}
    default = UNCUT
    for each in given:
        tool, _, value = each.rpartition("=")
        if not value.isascii() or not value.isdigit():
            raise InputError(f"--limit is a number of characters, or TOOL=N, and {each!r} is not")
        cut = cut_policies([strategy], [int(value)])[0].default
        if cut is not None and tool:
            limits[tool] = cut
        elif cut is not None:
            default = cut
    if not given:
        return None
    return Policy(f"{' '.join(given)} {strategy}", limits=limits, default=default, errors=default)


def _print(found: Any) -> None:
    import sys

    from agentlab.cli.tables import print_table, replay_table, savings_table

    print_table(*replay_table(found.by_policy()))
    savings = found.by_tool()
    if (savings["saved"] > 0).any():
        print_table(*savings_table(savings))
    for sentence in found.sentences():
        sys.stdout.write(printable(sentence) + "\n")
