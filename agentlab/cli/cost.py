"""`agentlab cost`: what recorded sessions cost at list price, and where their cache broke."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, chosen, read_logs
from agentlab.cli.terminal import decoded, write_json

if TYPE_CHECKING:
    from agentlab.analysis.session import Session

EXAMPLES = """\
List price; a subscription is not billed so. Prices are dated data; --prices FILE takes another table of the same shape:
{"models": [{"name": "my-model", "provider": "openai", "as_of": "2026-11-30", "source": "...",
             "prices": {"input": 1.0, "output": 4.0, "cache_read": 0.1}}]}
in US dollars per million tokens.

examples:
  agentlab cost ~/.claude/projects/my-project
  agentlab cost session.jsonl --plot cost.png
  agentlab cost session.jsonl --prices prices.json --json
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "cost",
        help="what recorded sessions cost at list price",
        description="Price the calls of recorded sessions, say what the cache saved, and where it broke.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--prices", metavar="FILE", type=Path, help="prices by model, not those that agentlab ships")
    parser.add_argument("--plot", metavar="PNG", help="write the calls of one session as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    import msgspec

    from agentlab.analysis.cost import bill, cache_breaks, cost
    from agentlab.cli.tables import as_json

    logs = read_logs(arguments)
    prices = arguments.prices
    if arguments.plot:
        from agentlab import plots

        one = chosen(logs.sessions, None, arguments.paths)
        plots.save(plots.plot_cost(cost(one, prices=prices), cache_breaks(one, prices=prices)), arguments.plot)
    if arguments.json:
        sessions = [
            {
                "session": decoded(each.id),
                "bill": msgspec.to_builtins(bill(each, prices=prices)),
                "calls": as_json(cost(each, prices=prices)),
                "breaks": as_json(cache_breaks(each, prices=prices)),
            }
            for each in logs.sessions
        ]
        write_json({"sessions": sessions, "problems": [decoded(str(problem)) for problem in logs.problems]})
        return 0
    _print(logs.sessions, prices)
    return 0


def _print(sessions: list[Session], prices: Path | None) -> None:
    from agentlab.analysis.cost import bill, cache_breaks, sentences
    from agentlab.cli.tables import bills_table, breaks_table, print_table

    bills = [bill(session, prices=prices) for session in sessions]
    print_table(*bills_table([session.id for session in sessions], bills))
    if len(sessions) == 1:
        breaks = cache_breaks(sessions[0], prices=prices)
        if len(breaks):
            print_table(*breaks_table(breaks))
    said = dict.fromkeys(line for found in bills for line in sentences(found)) if len(bills) == 1 else {}
    for line in said or unpriced(bills):
        sys.stdout.write(line + "\n")


def unpriced(bills: list[Any]) -> list[str]:
    """What holds for several bills together."""
    from agentlab.analysis.cost import LIST_PRICE

    names = dict.fromkeys(name for found in bills for name in found.unpriced)
    missing = [f"There is no list price for {', '.join(names)}: name a table with --prices FILE."] if names else []
    return [*missing, LIST_PRICE]
