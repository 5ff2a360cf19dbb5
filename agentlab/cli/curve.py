"""`agentlab curve`: the token curve of a recorded session."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from agentlab.cli.logs import add_arguments, chosen, read_logs
from agentlab.cli.terminal import decoded, write_json
from agentlab.errors import InputError

EXAMPLES = """\
reads: session folders of agentlab, OpenAI chat messages (JSON or JSONL), tau-bench results

examples:
  agentlab curve runs/demo
  agentlab curve results/gpt-4o-airline.json --run 17 --plot curve.png
  agentlab curve messages.json --json
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "curve",
        help="the token curve of a recorded session",
        description="Print the prompt tokens of each user turn of a recorded session, with and without continuation.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--plot", metavar="PNG", help="write the curve as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.analysis.curve import curve, summary
    from agentlab.cli.results import as_json, print_results

    logs = read_logs(arguments)
    session = chosen(logs.sessions, None, arguments.paths)
    turns = curve(session, model=arguments.model)
    if arguments.plot:
        from agentlab import plots

        try:
            plots.save(plots.plot_curve(turns), arguments.plot)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be written ({error})", path=arguments.plot) from None
    if arguments.json:
        whole = {
            "session": decoded(session.id),
            "sessions": logs.held,
            "curve": as_json(turns),
            "summary": summary(session, model=arguments.model),
            "problems": [decoded(str(problem)) for problem in logs.problems],
        }
        write_json(whole)
        return 0
    if logs.held > 1:
        sys.stdout.write(f"session {arguments.number or 1} of {logs.held}: {session.id}\n")
    print_results(session, turns, None)
    return 0
