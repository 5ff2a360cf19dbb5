"""nanobot's sessions: a line of metadata, then OpenAI-like messages with their times.

The file is written with results cut at their tail, so it holds less than the model saw. It has no usage. What was
consolidated into memory is counted in the metadata, but not when: the prompts count as if nothing had been left out.

Source: HKUDS/nanobot, `session/manager.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.chat import is_spoken, session_of
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.session import Session

NAME = "nanobot"
EXPECTS = 'nanobot\'s session: JSON lines of which the first is {"_type": "metadata", ...}'

_LOSSY = "cut at their tail when the file was written"


def recognises(peek: Peek) -> bool:
    """Whether one of the first lines is its metadata."""
    return not peek.is_folder and any(_is_metadata(value) for value in peek.first_values)


def read(peek: Peek) -> list[Session]:
    """The one session of a file."""
    metadata: dict[str, Any] = {}
    messages: list[tuple[int, str, Any]] = []
    for number, value in peek.lines():
        if _is_metadata(value):
            metadata = metadata or value
        elif isinstance(value, dict) and "_type" in value:
            continue  # state of the provider, which is sent to nobody
        elif is_spoken(value):
            messages.append((number, "", value))
        else:
            peek.problems.append(Problem(str(peek.path), number, "skipped: expected a message with a role"))
    labels = _labels(metadata)
    consolidated = metadata.get("last_consolidated")
    if isinstance(consolidated, int) and not isinstance(consolidated, bool) and consolidated > 0:
        reason = (
            f"the first {consolidated:,} messages were consolidated, and the log does not say when: prompts count as "
            "if nothing was left out"
        )
        peek.problems.append(Problem(str(peek.path), 1, reason))
        labels["last_consolidated"] = consolidated
    return [
        session_of(
            messages, peek.path, peek.problems, identity=peek.path.name.split(".jsonl")[0], format=NAME, labels=labels
        )
    ]


def _labels(metadata: dict[str, Any]) -> dict[str, Any]:
    named = {"key": "key", "created": "created_at", "updated": "updated_at"}
    labels = {label: metadata[field] for label, field in named.items() if isinstance(metadata.get(field), str)}
    return {**labels, "results": _LOSSY}


def _is_metadata(value: Any) -> bool:
    return isinstance(value, dict) and value.get("_type") == "metadata"
