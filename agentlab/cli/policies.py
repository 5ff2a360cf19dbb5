"""`agentlab policies`: the policies that come with agentlab."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentlab.policy import Compaction, Limit, Policy
    from agentlab.policy.specs import ResultRule

KEPT = {"tail_cut": "the head", "head_cut": "the tail"}


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "policies",
        help="the policies that run --policy knows by name",
        description="List the policies that come with agentlab: what each cuts and forgets, and from which source.",
        epilog="examples:\n  agentlab policies\n  agentlab policies --json\n"
        '  agentlab run --policy nanobot-now --prompt "Read the longest file."\n',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print them as JSON, each as a policy file would hold it")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    import msgspec

    from agentlab.policy import load_policy, preset_names

    policies = [load_policy(name) for name in preset_names()]
    if arguments.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(policies)).decode() + "\n")
        return 0
    sys.stdout.write("\n".join(described(policy) for policy in policies))
    return 0


def described(policy: Policy) -> str:
    """A policy in a few lines.

    >>> from agentlab.policy import CHAPTER
    >>> print(described(CHAPTER).splitlines()[1])
      cuts      each tool at its own limit
    """
    cuts = [f"{name} at {in_words(limit)}" for name, limit in policy.limits.items()]
    if policy.default is not None:
        cuts.append(f"{'others' if cuts else 'all'} at {in_words(policy.default)}")
    if policy.store_over is not None and policy.preview is not None:
        cuts.append(f"over {policy.store_over} characters stored, and shown by {in_words(policy.preview)}")
    lines = [policy.name, f"  cuts      {'; '.join(cuts) or 'each tool at its own limit'}"]
    if policy.compaction is not None:
        lines.append(f"  forgets   {'; '.join(forgotten(policy.compaction))}")
    lines += [f"  {label:<9} {value}" for label, value in (("source", policy.source), ("date", policy.date)) if value]
    lines += [f"  omits     {each}" for each in policy.omits]
    return "\n".join(lines) + "\n"


def in_words(limit: Limit) -> str:
    """A limit in words.

    >>> from agentlab.policy import Limit
    >>> in_words(Limit(1_200, strategy="tail_cut"))
    '1200 characters (keeps the head)'
    """
    return f"{limit.value} {limit.unit} (keeps {KEPT.get(limit.strategy, 'both ends')})"


def forgotten(compaction: Compaction) -> list[str]:
    """What is no longer sent later on, a phrase per rule."""
    said = [] if compaction.results is None else [_rule(compaction.results)]
    if compaction.consolidate is not None:
        said.append(f"old turns become a summary at {compaction.consolidate.trigger:.0%} of the room")
    if compaction.idle_minutes is not None:
        said.append(f"after {compaction.idle_minutes:g} idle minutes too")
    return said


def _rule(rule: ResultRule) -> str:
    from agentlab.policy import Batched, ClearAt, OnPressure

    if isinstance(rule, OnPressure):
        return f"the oldest results, down to {rule.target:.0%} of the room, when a request would overflow"
    kept = f"all results but the newest {rule.keep}"
    if isinstance(rule, ClearAt):
        return f"{kept} once the prompt is over {rule.threshold} tokens"
    return f"{kept}, {rule.every} at a time" if isinstance(rule, Batched) else f"{kept}, one by one"
