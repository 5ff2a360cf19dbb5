"""`agentlab report`: one HTML page on session logs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, executor_of, progress_bar, read_logs, tell_problems
from agentlab.cli.replay import add_policies, policies_of, tell_unused
from agentlab.cli.terminal import tell, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.report import Found, Wanted
    from agentlab.transcript import Problem

EXAMPLES = """\
One page that stands for itself: where the tokens went, what changed the curve, what would have saved most and what it
would have cost. No text of any message is in it unless --with-text.

examples:
  agentlab report ~/.claude/projects
  agentlab report ~/.claude/projects --project my-app --since 2026-11-01 --out november.html
  agentlab report session.jsonl --limit Bash=10000
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "report",
        help="one HTML page on session logs",
        description="Write one HTML page: where the tokens of session logs went, and what would have saved most.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, counts=False)
    add_policies(parser)
    parser.add_argument("--since", metavar="DATE", help="only sessions that went on after this day, such as 2026-11-01")
    parser.add_argument("--project", metavar="P", help="only sessions whose project or log has this in its name")
    parser.add_argument("--prices", metavar="FILE", type=Path, help="prices by model, not those that agentlab ships")
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("report.html"), help="(report.html)")
    parser.add_argument("--with-text", action="store_true", help="show the messages that made prompts jump")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON; write no page")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    import msgspec

    from agentlab.report import Wanted, page, together

    policies = policies_of(arguments)
    wanted = Wanted(
        policies=tuple(policies),
        format=arguments.format,
        since=None if arguments.since is None else _seconds(arguments.since),
        project=arguments.project,
        prices=arguments.prices,
        with_text=arguments.with_text,
    )
    found, problems = _one(arguments, wanted) if arguments.number is not None else _all(arguments, wanted)
    if not found:
        chosen = arguments.since is not None or arguments.project is not None
        left = "is left: look at --since and --project, or" if chosen else "was found:"
        raise InputError(f"no session with a model call {left} name another log")
    tell_unused(arguments, [each.replayed for each in found])
    whole = together(found, [policy.name for policy in policies])
    if arguments.json:
        write_json(msgspec.to_builtins({"sentences": whole.sentences(), "sessions": whole.found}))
        return 0
    text = page(whole, problems, wanted=wanted, with_text=arguments.with_text)
    try:
        arguments.out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=arguments.out) from None
    for sentence in whole.sentences():
        sys.stdout.write(f"{sentence}\n")
    tell(f"written: {arguments.out}")
    return 0


def _all(arguments: argparse.Namespace, wanted: Wanted) -> tuple[list[Found], list[Problem]]:
    """All sessions that are wanted; a log is let go once it is looked at."""
    from agentlab.report import find

    with executor_of(arguments) as executor, progress_bar("reading") as progress:
        found, problems = find(arguments.paths, wanted, executor=executor, progress=progress)
    if not found and len(problems) == 1 and arguments.since is None and arguments.project is None:
        raise InputError(problems[0].reason, path=problems[0].path)
    tell_problems(problems, every=arguments.problems)
    return found, problems


def _one(arguments: argparse.Namespace, wanted: Wanted) -> tuple[list[Found], list[Problem]]:
    """The session that `--run` names, if it is wanted."""
    from agentlab.report import of_sessions

    logs = read_logs(arguments)
    return of_sessions(logs.sessions, wanted), logs.problems


def _seconds(day: str) -> float:
    """A day as seconds since 1970.

    Raises:
        InputError: It is none.
    """
    from datetime import UTC, datetime

    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise InputError(f"--since is a day such as 2026-11-01, and {day!r} is not") from None
