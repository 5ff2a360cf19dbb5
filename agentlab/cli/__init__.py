"""The command `agentlab`.

Each command is a module with `add`, which describes its arguments, and `run`, which does it and returns an exit code:
0 done, 1 a turn failed, 2 bad input or output that is refused (one line that says what to do), 130 Ctrl-C. What is
heavy is imported when a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

from agentlab import __version__
from agentlab.errors import AgentlabError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """\
examples:
  agentlab demo                                  ten turns over Python's own library, offline
  agentlab run --workspace . --prompt "Which files are here?"
  agentlab run --script prompts.txt --provider anthropic --max-cost 0.20
  agentlab chat                                  talk in the terminal, no key needed
  agentlab curve runs/20260501-101500 --plot curve.png
  agentlab cost session.jsonl                    what it cost at list price, and where its cache broke
  agentlab evidence results.json --limit 4000    what a cut would have hidden of what later calls cite
  agentlab replay session.jsonl --policy codex   what another policy would have sent, cost and lost
  agentlab report ~/.claude/projects             one HTML page on all of it
  agentlab log runs/20260501-101500 --cycle last what the cog and its agents did, and why it ended
  agentlab grade submissions --roster class.csv  run what a class handed in, and mark it
  agentlab doctor                                what is installed, and what to do about the rest
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and end."""
        raise InputError(f"{message}; see {self.prog} --help")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    from agentlab.cli import (
        chat,
        cost,
        curve,
        demo,
        doctor,
        evidence,
        exercises,
        frames,
        grade,
        lab,
        log,
        policies,
        replay,
        report,
        run,
    )

    top = Parser(
        prog="agentlab",
        description="Learn and measure how an LLM agent observes and continues.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"agentlab {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    analysing = (curve, frames, cost, evidence, replay, report)
    for module in (demo, run, chat, *analysing, log, policies, lab, exercises, grade, doctor):
        module.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    from agentlab.cli.terminal import settle_output, tell

    try:
        code = _run(arguments)
    except AgentlabError as error:
        tell(_one_line(str(error)))
        code = 2
    except KeyboardInterrupt:
        tell("interrupted")
        code = 130
    except BrokenPipeError:
        code = 0  # the reader of our output is gone, as with `| head`: nobody to tell
    except OSError as error:
        what = "the output cannot be written" if error.filename is None else str(error.filename)
        tell(_one_line(f"{what}: {error.strerror or error}"))
        code = 2
    settle_output()
    return code


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command with streams that carry every text, and see that its output has arrived."""
    from agentlab.cli.terminal import prepare_streams

    prepare_streams()
    try:
        parsed = parser().parse_args(arguments)
        code = int(parsed.run(parsed))
    except SystemExit:  # so end --help and --version
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _one_line(text: str) -> str:
    from agentlab.providers.keys import redact

    return redact(" ".join(text.split()))
