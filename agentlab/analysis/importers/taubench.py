"""tau-bench's historical trajectories: a JSON list of runs, each with its messages in `traj`.

No usage is recorded. Runs of one task are not independent: `labels` has `task_id`, `trial` and `reward`.

Source: sierra-research/tau-bench, `historical_trajectories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.chat import session_of
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.session import Session

NAME = "tau-bench"
EXPECTS = 'tau-bench\'s runs: [{"task_id": 0, "trial": 0, "reward": 1.0, "traj": [...]}, ...]'


def recognises(peek: Peek) -> bool:
    """Whether there is a run in it."""
    if peek.is_folder:
        return False
    document = peek.document
    return any(_is_run(item) for item in document) if isinstance(document, list) else _is_run(document)


def read(peek: Peek) -> list[Session]:
    """A session for each run."""
    runs = peek.document if isinstance(peek.document, list) else [peek.document]
    sessions = []
    for number, run in enumerate(runs):
        if not _is_run(run):
            peek.problems.append(Problem(str(peek.path), 1, f"[{number}]: skipped: there is no list 'traj' in it"))
            continue
        labels = {key: run[key] for key in ("task_id", "trial", "reward") if key in run}
        messages = [(1, f"[{number}].traj[{index}]", each) for index, each in enumerate(run["traj"])]
        identity = f"task-{run.get('task_id', number)}-trial-{run.get('trial', 0)}"
        sessions.append(session_of(messages, peek.path, peek.problems, identity=identity, format=NAME, labels=labels))
    return sessions


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("traj"), list)
