"""Messages in lines, gathered as columns while they are read, and placed in turns and calls when all are there."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from agentlab.analysis.facts import ROLES, TURN_FACTS, Facts, SessionFacts, columns
from agentlab.analysis.importers.chat import NAME
from agentlab.analysis.importers.chat_messages import MOST_SECONDS, time_of
from agentlab.analysis.importers.placing import SYSTEM, chars_of_prompts, first_models, first_rows, placed, since

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from agentlab.analysis.importers.chat_lines import Counts, Line, Part, ToolCall

_ROLE = {**{role: number for number, role in enumerate(ROLES)}, "developer": 0}
_TYPES = {
    "session": "int32",
    "role": "int8",
    "chars": "int32",
    "call_chars": "int32",
    "tool_calls": "int32",
    "tool": "int32",
    "model": "int32",
    "time": "float64",
    "loop": "bool",
    "is_error": "bool",
}
_USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class _Codes(dict[Any, int]):
    """Numbers things in the order in which they come."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = number = len(self)
        return number


class NamesMissingError(Exception):
    """A result names no tool: the ids of calls, which take much memory, are needed."""


class Spoken:
    """Columns of the messages of a file.

    Args:
        name: The session of messages that name none.
        by_id: Keep the ids of calls, to name the tools of results that do not.
    """

    def __init__(self, name: str, *, by_id: bool = False) -> None:
        self.sessions = _Codes()
        self.names = _Codes({None: -1, "": -1})
        self._name = name
        self._called: dict[tuple[int, str], int] | None = {} if by_id else None
        self._columns = {name: bytearray() for name in _TYPES}  # they grow in place
        self._usages = bytearray(5 * 8)  # the first row stands for none
        self._count = 0

    def add(self, lines: Sequence[Line]) -> None:
        """Add messages in the order of the file.

        Raises:
            NamesMissingError: A result does not name its tool, and ids were not kept.
        """
        import numpy as np

        if not lines:
            return
        role = np.frombuffer(bytes(map(_ROLE.__getitem__, [line.role for line in lines])), "int8")
        block = {name: np.zeros(len(lines), dtype) for name, dtype in _TYPES.items()}
        block["role"] = role
        named = [line.session or self._name for line in lines]
        block["session"] = np.array(array("i", map(self.sessions.__getitem__, named)))
        contents: list[Any] = [line.content for line in lines]
        block["chars"] = np.array(array("i", map(len if set(map(type, contents)) == {str} else _length, contents)))
        block["time"] = _times(lines)
        block["tool"][:] = block["model"][:] = -1
        adds = (self._add_models, self._add_users, self._add_speaking, self._add_results)
        for number, add in enumerate(adds):  # in the order of ROLES
            rows = np.flatnonzero(role == number)
            add(block, rows, [lines[at] for at in rows.tolist()])
        if self._called is not None:
            self._name_results(block, lines, self._called)
        for name, dtype in _TYPES.items():
            self._columns[name] += block[name].astype(dtype, copy=False).data
        self._count += len(lines)

    def _add_users(self, block: dict[str, np.ndarray], rows: np.ndarray, lines: Sequence[Line]) -> None:
        if {line.origin for line in lines} != {""}:
            block["loop"][rows] = [line.origin == "loop" for line in lines]
        self._add_models(block, rows, lines)

    def _add_speaking(self, block: dict[str, np.ndarray], rows: np.ndarray, lines: Sequence[Line]) -> None:
        import numpy as np

        self._add_models(block, rows, lines)
        calling = [at for at, line in enumerate(lines) if line.tool_calls]
        if calling:
            self._add_calls(block, rows[calling], [lines[at].tool_calls or [] for at in calling])
        usages = [line.usage for line in lines]
        used = [usage for usage in usages if usage is not None]
        if used:
            at = rows if len(used) == len(lines) else rows[[usage is not None for usage in usages]]
            self._usages += np.column_stack([at + self._count, _counts(used)]).astype("int64", copy=False).tobytes()

    def _add_calls(self, block: dict[str, np.ndarray], rows: np.ndarray, calls: Sequence[Sequence[ToolCall]]) -> None:
        names = self.names
        block["tool_calls"][rows] = numbers = list(map(len, calls))
        if max(numbers) == 1:
            functions = [some[0].function for some in calls]
            block["tool"][rows] = [names[function.name] for function in functions]
            block["call_chars"][rows] = [len(function.name) + len(function.arguments) for function in functions]
            return
        block["tool"][rows] = [names[", ".join([call.function.name for call in some])] for some in calls]
        block["call_chars"][rows] = [
            sum(len(call.function.name) + len(call.function.arguments) for call in some) for some in calls
        ]

    def _add_results(self, block: dict[str, np.ndarray], rows: np.ndarray, lines: Sequence[Line]) -> None:
        names = self.names
        if any([line.is_error for line in lines]):  # noqa: C419 - a list is quicker here
            block["is_error"][rows] = [line.is_error for line in lines]
        block["tool"][rows] = found = [names[line.name] for line in lines]
        self._add_models(block, rows, lines)
        if self._called is None and -1 in found:
            raise NamesMissingError

    def _name_results(self, block: dict[str, np.ndarray], lines: Sequence[Line], called: dict[Any, int]) -> None:
        """Name the tools of results by the calls before them."""
        for row, (session, line) in enumerate(zip(block["session"].tolist(), lines, strict=True)):
            if line.role == "assistant":
                for call in line.tool_calls or ():
                    called[session, call.id or ""] = self.names[call.function.name]
            elif line.role == "tool" and not line.name:
                block["tool"][row] = called.get((session, line.tool_call_id or ""), -1)

    def _add_models(self, block: dict[str, np.ndarray], rows: np.ndarray, lines: Sequence[Line]) -> None:
        models = {line.model for line in lines}
        if len(models) == 1:
            block["model"][rows] = self.names[models.pop()]
        elif models:
            block["model"][rows] = [self.names[line.model] for line in lines]

    def facts(self, path: str) -> Facts:
        """What was added, as facts."""
        import numpy as np

        table = {name: np.frombuffer(column, _TYPES[name]) for name, column in self._columns.items()}
        order = np.arange(self._count, dtype="int32")
        if (np.diff(table["session"]) < 0).any():
            order = np.argsort(table["session"], kind="stable")
        session = table["session"][order]
        is_prompt = since(table["role"][order] != SYSTEM, first_rows(session)) == 0
        prompt_chars = chars_of_prompts(session[is_prompt], table["chars"][order][is_prompt], len(self.sessions))
        if is_prompt.any():
            order = order[~is_prompt]
        if len(order) < self._count or (np.diff(order) != 1).any():
            table = {name: column[order] for name, column in table.items()}
        usage = self._usage_rows(order)
        models = first_models(table, len(self.sessions))
        messages, calls = placed(table, usage, prompt_chars, models)
        names = ["" if name is None else name for name in self.names]
        heads = [
            SessionFacts(name, NAME, path, model=names[model] if model >= 0 else None)
            for name, model in zip(self.sessions, models, strict=True)
        ]
        return Facts(heads, messages, calls, columns([], TURN_FACTS), names)

    def _usage_rows(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each row the place of its usage, and all usages: prompt, output, read and written tokens; none at 0."""
        import numpy as np

        usages = np.frombuffer(self._usages, "int64").reshape(-1, 5)
        places = np.zeros(self._count, "int32")
        places[usages[1:, 0]] = np.arange(1, len(usages), dtype="int32")
        return places[order], usages[:, 1:]


def _counts(usages: Sequence[Counts]) -> np.ndarray:
    """Prompt, output, read and written tokens of usages; zeros for one that is not measured."""
    import numpy as np

    if {usage.prompt_tokens is None and usage.exact for usage in usages} == {True}:
        own = [
            array("q", [usage.input_tokens for usage in usages]),
            array("q", [usage.output_tokens for usage in usages]),
            array("q", [usage.cache_read_tokens for usage in usages]),
            array("q", [usage.cache_write_tokens for usage in usages]),
        ]
        counts = np.column_stack(own)
        counts[:, 0] += counts[:, 2] + counts[:, 3]
        return counts
    return np.array([_count(usage) for usage in usages], "int64")


def _count(usage: Counts) -> tuple[int, int, int, int]:
    if usage.prompt_tokens is not None:
        details = usage.prompt_tokens_details
        read = 0 if details is None else min(details.cached_tokens, usage.prompt_tokens)
        counts = (usage.prompt_tokens, usage.completion_tokens, read, 0)
    else:
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        counts = (usage.input_tokens + read + written, usage.output_tokens, read, written)
    measured = counts[0] > 0 and (usage.exact or usage.prompt_tokens is not None)
    return counts if measured else (0, 0, 0, 0)


def _length(content: str | Sequence[Part] | None) -> int:
    """Characters of a content of parts, joined by line breaks."""
    if isinstance(content, str):
        return len(content)
    return sum(len(part.text) + 1 for part in content) - 1 if content else 0


def _times(lines: Sequence[Line]) -> np.ndarray:
    """When each message was logged; NaN where it does not say."""
    import numpy as np

    stamps: Any = [line.ts for line in lines]
    try:
        times = np.array(array("d", stamps))
    except TypeError:  # some are texts, or missing
        return np.array([_time(line) for line in lines])
    if not (times.min() > 0 and times.max() < MOST_SECONDS):
        for at in np.flatnonzero((times <= 0) | (times >= MOST_SECONDS)).tolist():
            times[at] = _time(lines[at])
    return times


def _time(line: Line) -> float:
    if line.ts is None and line.time is None and line.timestamp is None:
        return float("nan")
    time = time_of({"ts": line.ts, "time": line.time, "timestamp": line.timestamp})
    return float("nan") if time is None else time
