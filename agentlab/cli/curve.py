"""`agentlab curve`: the token curve of a recorded session."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from agentlab.cli.terminal import decoded, tell, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.analysis.session import Session

EXAMPLES = """\
reads: session folders of agentlab, OpenAI chat messages (JSON or JSONL), tau-bench results

examples:
  agentlab curve runs/demo
  agentlab curve results/gpt-4o-airline.json --run 17 --plot curve.png
  agentlab curve messages.json --json
"""
LISTED = 20


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "curve",
        help="the token curve of a recorded session",
        description="Print the prompt tokens of each user turn of a recorded session, with and without continuation.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", metavar="PATH", help="a session folder, or a file of messages")
    parser.add_argument("--run", metavar="N", type=int, dest="number", help="which session of the file, from 1")
    parser.add_argument("--model", metavar="M", help="count as for this model, where the log names none")
    parser.add_argument("--plot", metavar="PNG", help="write the curve as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.analysis import load
    from agentlab.analysis.curve import curve, summary
    from agentlab.cli.results import as_json, print_results

    sessions, problems = load(arguments.path)
    for problem in problems:
        tell(str(problem))
    session = chosen(sessions, arguments.number, arguments.path)
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
            "sessions": len(sessions),
            "curve": as_json(turns),
            "summary": summary(session, model=arguments.model),
            "problems": [decoded(str(problem)) for problem in problems],
        }
        write_json(whole)
        return 0
    if len(sessions) > 1:
        sys.stdout.write(f"session {sessions.index(session) + 1} of {len(sessions)}: {session.id}\n")
    print_results(session, turns, None)
    return 0


def chosen(sessions: list[Session], number: int | None, path: str) -> Session:
    """The session that was asked for.

    Raises:
        InputError: There is no such number, or there are several and none was named.
    """
    if not sessions:
        raise InputError("there is no session in it that can be read", path=path)
    if number is None:
        number = 1
        if len(sessions) > 1:
            tell(f"{path} holds {len(sessions)} sessions; this is the first, --run N takes another")
    if not 1 <= number <= len(sessions):
        raise InputError(f"--run is 1 to {len(sessions)}, and {number} is not", path=path)
    return sessions[number - 1]
