"""`agentlab cost`: what recorded sessions cost at list price, and where their cache broke."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, chosen, read_logs
from agentlab.cli.terminal import decoded, write_json
from agentlab.printable import printable

if TYPE_CHECKING:
    from agentlab.analysis.cost import Bill
    from agentlab.analysis.session import Session

EXAMPLES = """\
List price; a subscription is not billed so. Prices are dated data, and a log is billed at those of its day. --prices
FILE names others, which come before them, in US dollars per million tokens:
{"models": [{"name": "my-model", "provider": "anthropic", "as_of": "2026-11-30", "source": "https://...",
             "prices": {"input": 1.0, "output": 4.0, "cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2.0},
             "long_prompt": {"above": 200000, "prices": {"input": 2.0, "output": 6.0}}}]}
"long_prompt" and what concerns a cache may be left out. A model without a price is counted in tokens only.

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
    parser.add_argument("--prices", metavar="FILE", type=Path, help="prices by model, before those that agentlab ships")
    parser.add_argument("--plot", metavar="PNG", help="write the calls of one session as a picture")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    import msgspec

    from agentlab.analysis.cost import bill, cache_breaks, cost, sentences
    from agentlab.cli.tables import as_json

    logs = read_logs(arguments)
    given = {"prices": arguments.prices, "model": arguments.model}
    if arguments.plot:
        from agentlab import plots

        one = chosen(logs.sessions, None, arguments.paths)
        plots.save(plots.plot_cost(cost(one, **given), cache_breaks(one, **given)), arguments.plot)
    if arguments.json:
        sessions = [
            {
                "session": decoded(each.id),
                "bill": msgspec.to_builtins(found := bill(each, **given)),
                "calls": as_json(cost(each, **given)),
                "breaks": as_json(cache_breaks(each, **given)),
                "sentences": sentences(found),
            }
            for each in logs.sessions
        ]
        write_json({"sessions": sessions, "problems": [decoded(str(problem)) for problem in logs.problems]})
        return 0
    _print(logs.sessions, given)
    return 0


def _print(sessions: list[Session], given: dict[str, Any]) -> None:
    from agentlab.analysis.cost import bill, cache_breaks, sentences
    from agentlab.cli.tables import bills_table, breaks_table, print_table

    bills = [bill(session, **given) for session in sessions]
    print_table(*bills_table([session.id for session in sessions], bills))
    if len(sessions) == 1 and bills[0].breaks[0]:
        print_table(*breaks_table(cache_breaks(sessions[0], **given)))
    for line in sentences(bills[0]) if len(bills) == 1 else _together(bills):
        sys.stdout.write(printable(line) + "\n")


def _together(bills: list[Bill]) -> list[str]:
    """What holds for several bills."""
    from math import fsum, isnan

    from agentlab.analysis.cost import LIST_PRICE

    priced = [found.dollars for found in bills if not isnan(found.dollars)]
    said = [f"{len(priced):,} of {len(bills):,} sessions have a price and come to {fsum(priced):,.4f} dollars."]
    if not priced:
        said = [f"None of the {len(bills):,} sessions has a price."]
    names = dict.fromkeys(name for each in bills for name in each.unpriced)
    if named := ", ".join(filter(None, names)):
        said.append(f"There is no list price for {named}; a file with one can be named with --prices FILE.")
    if "" in names:
        said.append("A model that a log does not name can be named with --model M.")
    if guessed := sum(found.estimated for found in bills):
        calls = sum(found.calls for found in bills)
        said.append(f"The prompt or the output of {guessed:,} of {calls:,} calls is estimated.")
    return [*said, LIST_PRICE]
