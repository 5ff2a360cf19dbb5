"""`agentlab curve`: the token curve of a recorded session, what its prompts are made of, and how they grow."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, chosen, read_logs
from agentlab.cli.terminal import decoded, write_json
from agentlab.printable import printable

if TYPE_CHECKING:
    import pandas as pd

    from agentlab.analysis.session import Session

EXAMPLES = """\
reads: session folders of agentlab, logs of Claude Code, Codex, pi and other agents, lists of messages

examples:
  agentlab curve runs/demo
  agentlab curve ~/.claude/projects/my-project/0a725fb5.jsonl --calls-plot calls.png
  agentlab curve results/gpt-4o-airline.json --run 17 --plot curve.png
  agentlab curve messages.json --json
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "curve",
        help="the token curve of a recorded session",
        description="Print the prompt tokens of each user turn of a recorded session, with and without continuation; "
        "what its prompts are made of, how they grow, and which calls made them jump.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--plot", metavar="PNG", help="write the curve as a picture")
    parser.add_argument(
        "--calls-plot", metavar="PNG", help="write what the prompt of each call is made of as a picture"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    import msgspec

    from agentlab.analysis.composition import composition
    from agentlab.analysis.curve import curve, summary
    from agentlab.analysis.growth import growth, jumps
    from agentlab.cli.results import print_growth, print_results
    from agentlab.cli.tables import as_json

    logs = read_logs(arguments)
    session = chosen(logs.sessions, None, arguments.paths)
    model = arguments.model
    turns = curve(session, model=model)
    _write_plots(arguments, session, turns)
    kinds, grown, jumped = composition(session, model=model), growth(session, model=model), jumps(session, model=model)
    if arguments.json:
        whole = {
            "session": decoded(session.id),
            "sessions": logs.held,
            "curve": as_json(turns),
            "composition": as_json(kinds),
            "growth": msgspec.to_builtins(grown),
            "jumps": as_json(jumped),
            "summary": [*summary(session, model=model), *grown.sentences],
            "problems": [decoded(str(problem)) for problem in logs.problems],
        }
        write_json(whole)
        return 0
    if logs.held > 1:
        sys.stdout.write(f"session {arguments.number or 1} of {logs.held}: {printable(session.id)}\n")
    print_results(session, turns, None)
    print_growth(kinds, grown, jumped)
    return 0


def _write_plots(arguments: argparse.Namespace, session: Session, turns: pd.DataFrame) -> None:
    """Write the pictures that were asked for."""
    if not (arguments.plot or arguments.calls_plot):
        return
    from agentlab import plots
    from agentlab.analysis.composition import composition_by_call
    from agentlab.analysis.growth import jumps

    if arguments.plot:
        plots.save(plots.plot_curve(turns), arguments.plot)
    if arguments.calls_plot:
        calls = composition_by_call(session, model=arguments.model)
        plots.save(plots.plot_composition(calls, jumps(session, model=arguments.model)), arguments.calls_plot)
