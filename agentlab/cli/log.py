"""`agentlab log`: what happened in the cycles of a harness."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentlab.harness.reading import CycleView
    from agentlab.harness.summary import Summary

EXAMPLES = """\
Without --cycle or --summary it lists the cycles, or prints the only one as a tree.

examples:
  agentlab log runs/first                     the cycles of a session that a harness ran
  agentlab log runs/first --cycle last        the newest as a tree: turns, calls, sizes, why it ended
  agentlab log runs/first/cycles --summary    turns per cycle, extensions, repeated calls, tools that fail
  agentlab log 2026-05-13.jsonl --json
"""
BAR = 40


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "log",
        help="what happened in the cycles of a harness",
        description="Print the cycle log: one cycle as a tree, or many at a glance.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", metavar="FILE", help="a log file, a folder of them, or a session folder")
    parser.add_argument("--cycle", metavar="ID", help="this cycle, by its id or the beginning of it, or: last")
    parser.add_argument("--summary", action="store_true", help="all cycles at a glance")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.harness.reading import find_cycle, read_cycles
    from agentlab.harness.tree import tree

    cycles, problems = read_cycles(arguments.path)
    for problem in problems:
        sys.stderr.write(f"agentlab: {problem}\n")
    roots = [view for view in cycles if view.parent is None or not any(o.id == view.parent for o in cycles)]
    chosen = None if arguments.cycle is None else find_cycle(cycles, arguments.cycle)
    if chosen is None and len(roots) == 1 and not arguments.summary:
        chosen = roots[0]
    if arguments.json:
        _print_json(cycles, chosen, [str(problem) for problem in problems], summary=arguments.summary)
    elif chosen is not None and not arguments.summary:
        sys.stdout.write("\n".join(tree(chosen, cycles)) + "\n")
    elif arguments.summary:
        _print_summary(cycles if chosen is None else _family(chosen, cycles))
    else:
        for view in roots:
            sys.stdout.write(_headline(view, cycles) + "\n")
    return 0


def _family(view: CycleView, cycles: Sequence[CycleView]) -> list[CycleView]:
    """A cycle and those that worked for it."""
    return [view, *(other for other in cycles if other.parent == view.id)]


def _headline(view: CycleView, cycles: Sequence[CycleView]) -> str:
    from agentlab.harness.records import clip
    from agentlab.harness.tree import ending
    from agentlab.printable import counted

    asked = clip(view.start.prompt, 60) if view.start is not None else "?"
    agents = len(_family(view, cycles)) - 1
    helped = f", {counted(agents, 'agent')}" if agents else ""
    return f'{view.id} {view.actor} "{asked}"{helped}: {ending(view)}'


def _print_json(cycles: Sequence[CycleView], chosen: CycleView | None, problems: list[str], *, summary: bool) -> None:
    """Print cycles, or their summary, as one JSON object."""
    import msgspec

    from agentlab.harness.summary import summarise

    shown = list(cycles) if chosen is None else _family(chosen, cycles)
    whole: dict[str, Any] = {"problems": problems}
    if summary:
        whole["summary"] = summarise(shown)
    else:
        whole["cycles"] = [cycle_as_dict(view) for view in shown]
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(whole)).decode() + "\n")


def cycle_as_dict(view: CycleView) -> dict[str, Any]:
    """A cycle as JSON shows it: how it ended, what was left, its events."""
    return {
        "cycle": view.id,
        "parent": view.parent,
        "actor": view.actor,
        "status": view.status,
        "reason": view.reason,
        "abandoned": view.end is None,
        "turns": view.turns,
        "allowed": view.allowed,
        "left": max(0, view.allowed - view.turns),
        "prompt_tokens": view.usage.prompt_tokens,
        "output_tokens": view.usage.output_tokens,
        "exact": view.usage.exact,
        "events": view.records,
    }


def _print_summary(cycles: Sequence[CycleView]) -> None:
    """Print many cycles at a glance."""
    from agentlab.harness.summary import summarise

    found = summarise(cycles)
    lines = [f"{found.cycles} cycles", "", "how they ended"]
    lines += [f"  {count:>5}  {what}" for what, count in found.endings.items()]
    for actor, turns in found.turns.items():
        lines += ["", f"turns per cycle of {actor}", *histogram(turns)]
    lines += ["", *_extensions(found), "", *_tools(found)]
    usage = found.usage
    counted = "measured" if usage.exact else "estimated in part"
    lines += ["", f"tokens: {usage.prompt_tokens:,} prompt + {usage.output_tokens:,} output ({counted})"]
    sys.stdout.write("\n".join(lines) + "\n")


def histogram(counts: Mapping[int, int]) -> list[str]:
    """A bar for each number from the smallest to the largest.

    >>> histogram({2: 1, 4: 2})
    ['   2  # 1', '   3  0', '   4  ## 2']
    """
    most = max(counts.values())
    scale = min(1.0, BAR / most)
    lines = []
    for number in range(min(counts), max(counts) + 1):
        count = counts.get(number, 0)
        bar = "#" * max(1, round(count * scale)) + " " if count else ""
        lines.append(f"{number:>4}  {bar}{count}")
    return lines


def _extensions(found: Summary) -> list[str]:
    share = f"{found.extended} of {found.extendable} cycles that could be ({found.extended_share:.0%})"
    lines = [f"extended: {share}; requests refused: {found.refusals}; ended by the watchdog: {found.watchdogs}"]
    return lines + [f"  {count:>5}  {reason}" for reason, count in found.extension_reasons.items()]


def _tools(found: Summary) -> list[str]:
    repeated = sum(found.repeats.values())
    lines = [f"failed calls that were repeated unchanged: {repeated}"]
    lines += [f"  {count:>5}  {name}" for name, count in found.repeats.items()]
    if not found.failures:
        return [*lines, "no tool call failed"]
    worst = next(iter(found.failures))
    lines.append(f"the tool that failed most: {worst}, {found.failures[worst]} of {found.calls[worst]} calls")
    return lines + [f"  {count:>5}  of {found.calls[name]} {name}" for name, count in found.failures.items()]
