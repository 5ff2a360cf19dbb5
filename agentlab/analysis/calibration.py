"""From the size of visible text to prompt tokens: a line fitted to what the log recorded, segment by segment.

A log has neither the agent's system prompt nor its tools, and no tokenizer is right for every model. What it has is the
prompt tokens of each call. So before anything is asked of another policy, the recorded calls are replayed as they were,
and a line from the size of their messages to their recorded prompt tokens is fitted: its intercept is what the log does
not show, its slope what a character costs. The residual says how far to trust what is predicted by it.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.sums import Sums
from agentlab.tokens.running import estimate_base, estimate_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentlab.analysis.session import Call, Record, Session

SHRUNK = 0.7
"""A prompt below this share of the one before begins a segment, where the log does not say so itself."""

FEWEST = 8
"""A segment with fewer measured calls takes its slope from the whole session."""

ROUGH = 0.10
"""Above this residual predicted tokens are rough, and no dollars are given."""


class Fit(msgspec.Struct, frozen=True):
    """A line of one segment: `intercept` tokens and `slope` tokens per estimated token of visible text.

    Attributes:
        first: Its first call, by index.
        stop: The call after its last one.
        intercept: Prompt tokens that do not come from the messages of the log.
        slope: Prompt tokens per token of an estimate by characters / 4.
        residual: Median over its measured calls of the error's share of what was recorded; NaN where none was.
        n: Measured calls.
    """

    first: int
    stop: int
    intercept: float
    slope: float
    residual: float
    n: int

    def predict(self, size: float) -> int:
        """Prompt tokens of messages of an estimated size."""
        return max(0, round(self.intercept + self.slope * size))


class Calibration(msgspec.Struct, frozen=True):
    """The fits of a session, in order; together they cover all of its calls.

    Attributes:
        fits: One per segment.
        residual: Median over all measured calls; NaN where none was.
        n: Measured calls.
    """

    fits: tuple[Fit, ...]
    residual: float
    n: int

    @property
    def rough(self) -> bool:
        """Whether predicted tokens are further off than `ROUGH`, or nothing was measured to hold them against."""
        return not self.residual <= ROUGH

    def fit_of(self, call: int) -> Fit:
        """The fit that holds for a call, by index."""
        return next(fit for fit in self.fits if fit.first <= call < fit.stop)


def estimated_sizes(records: Iterable[Record]) -> list[int]:
    """The size of each message by its lengths, images included, in estimated tokens."""
    return [estimate_message(record.message) + record.image_tokens for record in records]


def recorded_sizes(session: Session, sizes: Sequence[int] | None = None) -> list[int]:
    """The size of the messages that each call was sent, as the log has it, in estimated tokens."""
    sums = Sums(estimated_sizes(session.records) if sizes is None else sizes)
    changes = list(session.replaced[::-1])
    sent = []
    for number, call in enumerate(session.calls):
        while changes and changes[-1].call <= number:
            changed = changes.pop()
            message = {**session.records[changed.index].message, "content": changed.text}
            sums.change(changed.index, 0 if changed.text is None else estimate_message(message))
        sent.append(sums.between(call.start, call.stop))
    return sent


def calibrate(session: Session, sizes: Sequence[int] | None = None) -> Calibration:
    """Fit prompt tokens to the sizes of messages, for each segment between compactions.

    Args:
        session: Any. Without recorded usage each slope is 1 and each intercept the estimated size of the system prompt
            and the tools, and there is no residual.
        sizes: Of the messages that each call was sent, where they are counted otherwise than by `recorded_sizes`.

    Returns:
        A fit per segment. A segment of few calls shares its slope with the others; no slope and no intercept is
        negative.

    >>> from agentlab.analysis import read_messages
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> calibrate(read_messages(talk)).fits[0].slope
    1.0
    """
    sizes = recorded_sizes(session) if sizes is None else sizes
    measured = [
        call.usage.prompt_tokens if call.measured and call.usage is not None else None for call in session.calls
    ]
    segments = _segments(session.calls, measured)
    pooled = _slope([_points(sizes, measured, segment) for segment in segments])
    base = float(estimate_base(session.system) + sum(map(_tool_size, session.tools)))
    fits, errors = [], []
    for segment in segments:
        points = _points(sizes, measured, segment)
        slope = (_slope([points]) if len(points) >= FEWEST else None) or pooled or 1.0
        intercept = sum(y - slope * x for x, y in points) / len(points) if points else base
        if intercept < 0:
            slope, intercept = sum(x * y for x, y in points) / sum(x * x for x, _ in points), 0.0
        own = [abs(intercept + slope * x - y) / y for x, y in points]
        fits.append(Fit(*segment, intercept, slope, median(own) if own else float("nan"), len(points)))
        errors += own
    return Calibration(tuple(fits), median(errors) if errors else float("nan"), len(errors))


def _measured(call: Call) -> int | None:
    return call.usage.prompt_tokens if call.usage is not None and call.measured else None


def _segments(calls: Sequence[Call], measured: Sequence[int | None]) -> list[tuple[int, int]]:
    """Ranges of calls between which earlier messages were taken out."""
    firsts = [0] if calls else []
    for number, (before, call) in enumerate(pairwise(calls), 1):
        last, now = measured[number - 1], measured[number]
        shrunk = last is not None and now is not None and now < SHRUNK * last
        if call.start > before.start or shrunk:
            firsts.append(number)
    return list(pairwise([*firsts, len(calls)]))


def _points(sizes: Sequence[int], measured: Sequence[int | None], segment: tuple[int, int]) -> list[tuple[int, int]]:
    """Size and recorded prompt tokens of the measured calls of a segment."""
    return [(sizes[n], tokens) for n in range(*segment) if (tokens := measured[n]) is not None]


def _slope(groups: Iterable[Sequence[tuple[int, int]]]) -> float | None:
    """The common slope of groups that each have a level of their own; None where it cannot be told."""
    along = spread = 0.0
    for points in groups:
        if not points:
            continue
        x_mean, y_mean = (sum(axis) / len(points) for axis in zip(*points, strict=True))
        along += sum((x - x_mean) * (y - y_mean) for x, y in points)
        spread += sum((x - x_mean) ** 2 for x, _ in points)
    return along / spread if spread and along > 0 else None


def _tool_size(tool: dict[str, object]) -> int:
    return (len(msgspec.json.encode(tool)) + 3) // 4
