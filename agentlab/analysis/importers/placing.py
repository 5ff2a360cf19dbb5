"""Messages in columns, placed in turns, iterations and calls as `shape.records_of` and `shape.calls_of` place them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.facts import CALL_FACTS, KINDS

if TYPE_CHECKING:
    import numpy as np

SYSTEM, USER, ASSISTANT, TOOL = range(4)
"""Places of the roles in `facts.ROLES`."""


def placed(
    table: dict[str, np.ndarray],
    usage: tuple[np.ndarray, np.ndarray],
    prompt_chars: np.ndarray,
    models: np.ndarray,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Messages in turns and iterations, and the calls that made them; rows of a session stand together."""
    import numpy as np

    session, role, first = table["session"], table["role"], first_rows(table["session"])
    speaks = role == ASSISTANT
    opens = (role == USER) & ~table["loop"]
    rows = np.arange(len(session), dtype="int32")
    turn = since(opens, first)
    opened = np.maximum.accumulate(np.where(opens, rows, first)) if len(rows) else rows
    iteration = since(speaks, opened)
    is_call = speaks & (turn > 0)
    sent = since(is_call, first)
    last = np.append(first[1:] == rows[1:], True)[: len(rows)]
    of_session = np.zeros(len(models), "int32")
    of_session[session[last]] = sent[last]
    nothing = np.broadcast_to(np.int64(0), len(session))
    messages = {
        "session": session,
        "turn": turn,
        "iteration": iteration,
        "role": role,
        "kind": _kinds(role, table),
        "tool": table["tool"],
        "chars": table["chars"],
        "call_chars": table["call_chars"],
        "tool_calls": table["tool_calls"],
        "thinking_chars": nothing,
        "original_chars": np.broadcast_to(np.int64(-1), len(session)),
        "image_tokens": nothing,
        "is_error": table["is_error"] & (role == TOOL),
        "carried": of_session[session] - sent,
        "time": table["time"],
    }
    tokens = -(-(table["chars"] + table["call_chars"]) // 4)
    before = np.cumsum(tokens, dtype="int64") - tokens
    at = np.flatnonzero(is_call)
    prompt = -(-prompt_chars[session[at]] // 4) + before[at] - before[first[at]]
    model = table["model"][at]
    used = usage[1][usage[0][at]]
    known = used[:, 0] > 0
    calls: dict[str, Any] = {
        name: messages[name][at] for name in ("session", "turn", "iteration", "tool_calls", "time")
    }
    calls |= {
        "messages": (rows - first)[at],
        "prompt_tokens": np.where(known, used[:, 0], prompt),
        "output_tokens": np.where(known, used[:, 1], tokens[at]),
        "cache_read_tokens": used[:, 2],
        "cache_write_tokens": used[:, 3],
        "cache_write_1h_tokens": np.broadcast_to(np.int64(0), len(at)),
        "prompt_measured": known,
        "output_measured": known,
        "model": np.where(model < 0, models[session[at]], model),
        "stop_reason": np.broadcast_to(np.int32(-1), len(at)),
        "cost": np.broadcast_to(np.nan, len(at)),
    }
    return messages, {name: calls[name] for name in CALL_FACTS}


def _kinds(role: np.ndarray, table: dict[str, np.ndarray]) -> np.ndarray:
    """What each message is, by its place in `KINDS`."""
    import numpy as np

    of_role = np.array([KINDS.index(kind) for kind in ("system", "user", "assistant", "result")], "int8")
    kinds: np.ndarray = of_role[role]
    kinds[(role == ASSISTANT) & (table["tool_calls"] > 0)] = KINDS.index("call")
    kinds[(role == USER) & table["loop"]] = KINDS.index("loop")
    return kinds


def first_rows(session: np.ndarray) -> np.ndarray:
    """For each row the first row of its session."""
    import numpy as np

    rows = np.arange(len(session), dtype="int32")
    begins = np.ones(len(session), bool)
    begins[1:] = session[1:] != session[:-1]
    first: np.ndarray = np.maximum.accumulate(np.where(begins, rows, 0)) if len(rows) else rows
    return first


def since(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Sums of values from a row on, to each row and with it."""
    import numpy as np

    sums = np.cumsum(values, dtype="int32" if values.dtype == bool else "int64")
    since: np.ndarray = sums - (sums - values)[start]
    return since


def chars_of_prompts(session: np.ndarray, chars: np.ndarray, sessions: int) -> np.ndarray:
    """Characters of each session's system prompt: its messages, joined by a blank line."""
    import numpy as np

    count = np.bincount(session, minlength=sessions)
    total = np.bincount(session, chars, minlength=sessions).astype("int64")
    chars_of: np.ndarray = total + 2 * np.maximum(count - 1, 0)
    return chars_of


def first_models(table: dict[str, np.ndarray], sessions: int) -> np.ndarray:
    """For each session the first model that a message of it names; -1 for none."""
    import numpy as np

    named = np.flatnonzero(table["model"] >= 0)
    models = np.full(sessions, -1, "int32")
    found, at = np.unique(table["session"][named], return_index=True)
    models[found] = table["model"][named][at]
    return models
