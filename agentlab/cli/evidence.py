"""`agentlab evidence`: how much of what later calls cite a cut would still have shown."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, executor_of, read_logs
from agentlab.cli.terminal import decoded, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.analysis.evidence import Evidence
    from agentlab.policy import Policy

EXAMPLES = """\
A name or id in a call's arguments is cited where an earlier observation had it and nothing else that the model could
see. It is kept where the cut still shows it. That is exposure to loss, no rate of success: with a cut the agent might
have read again, and what it read without citing it is not seen.

examples:
  agentlab evidence results/gpt-4o-airline.json
  agentlab evidence ~/.claude/projects/my-project --limit 4000 --limit 16000 --by-tool
  agentlab evidence runs/demo --policy chapter --policy codex --plot evidence.png
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "evidence",
        help="what cuts would have hidden of what later calls cite",
        description="Say which share of the names and ids that later calls cite a cut would still have shown.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, counts=False)
    parser.add_argument("--strategy", metavar="S", action="append", help="cut so: tail_cut, head_cut, middle_snip, ...")
    parser.add_argument("--limit", metavar="N", type=int, action="append", help="cut to so many characters")
    parser.add_argument("--policy", metavar="P", action="append", help="a policy's name or file, in place of these")
    parser.add_argument("--by-tool", action="store_true", help="a row for each tool too")
    parser.add_argument("--plot", metavar="PNG", help="write it as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.analysis.evidence import evidence
    from agentlab.cli.tables import as_json

    policies = _policies(arguments)
    logs = read_logs(arguments)
    with executor_of(arguments) as executor:
        found = evidence(logs.sessions, policies, executor=executor)
    if arguments.plot:
        from agentlab import plots

        plots.save(plots.plot_evidence(found.by_policy()), arguments.plot)
    if arguments.json:
        whole = {
            "sessions": len(logs.sessions),
            "names": len(found.cited),
            "chance": None if found.chance != found.chance else found.chance,
            "observations": found.observations,
            "only_cut": found.only_cut,
            "policies": as_json(found.by_policy()),
            "tools": as_json(found.by_policy(by_tool=True)),
            "differences": as_json(found.differences()),
            "positions": as_json(found.positions()),
            "problems": [decoded(str(problem)) for problem in logs.problems],
        }
        write_json(whole)
    else:
        _print(found, by_tool=arguments.by_tool)
    return 0


def _policies(arguments: argparse.Namespace) -> list[Policy]:
    """The policies that were asked for.

    Raises:
        InputError: Policies and cuts were both asked for, or one of them is not known.
    """
    from agentlab.analysis.evidence import LIMITS, STRATEGIES
    from agentlab.analysis.shown import cut_policies
    from agentlab.policy import load_policy

    if arguments.policy is None:
        return cut_policies(arguments.strategy or STRATEGIES, arguments.limit or LIMITS)
    if arguments.strategy or arguments.limit:
        raise InputError("--policy names whole policies: leave --strategy and --limit out, or --policy")
    return [load_policy(name) for name in arguments.policy]


def _print(found: Evidence, *, by_tool: bool) -> None:
    from agentlab.cli.tables import evidence_table, positions_line, print_table

    if not found.cited:
        sys.stdout.write("No call cites a name that only an observation had, so there is nothing to lose by a cut.\n")
        return
    print_table(*evidence_table(found.by_policy()))
    if by_tool:
        print_table(*evidence_table(found.by_policy(by_tool=True)))
    for line in positions_line(found):
        sys.stdout.write(line + "\n")
