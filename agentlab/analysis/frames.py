"""Frames with declared columns: name, type, unit and meaning of each stand in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.printable import printable

MOST = 2**63 - 1

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd


class Column(msgspec.Struct, frozen=True):
    """A column of a frame.

    Attributes:
        name: Its name.
        dtype: Its pandas type.
        unit: What a value counts; "" for names and flags.
        meaning: What it says.
    """

    name: str
    dtype: str
    unit: str
    meaning: str


def frame_of(rows: Iterable[Sequence[Any]], columns: Sequence[Column]) -> pd.DataFrame:
    """Make a frame of rows whose values stand in the order of the columns; without rows the types still hold.

    Raises:
        InputError: A number of a column of type int64 is larger than that; no reader of ours lets one in.

    >>> frame_of([(1, "a")], [Column("n", "int64", "tokens", ""), Column("of", "string", "", "")]).dtypes["n"].name
    'int64'
    """
    import pandas as pd

    names, held = [column.name for column in columns], list(rows)
    try:
        frame = pd.DataFrame(held, columns=names)
    except UnicodeEncodeError:  # the name of a file that is no UTF-8 is no text for a frame
        shown = [[printable(each) if isinstance(each, str) else each for each in row] for row in held]
        frame = pd.DataFrame(shown, columns=names)
    try:
        return frame.astype({column.name: column.dtype for column in columns})
    except OverflowError:
        raise _too_large(frame, columns) from None


def _too_large(frame: pd.DataFrame, columns: Sequence[Column]) -> InputError:
    """Which column holds a number that no frame can."""
    for column in columns:
        values = frame[column.name]
        if column.dtype.lower() == "int64" and values.dtype == object:
            largest = max((value for value in values if isinstance(value, int)), key=abs, default=0)
            if abs(largest) > MOST:
                return InputError(f"{largest} is no count: expected at most {MOST} in a frame", field=column.name)
    return InputError("a number is too large for a frame")


def describe(columns: Sequence[Column]) -> pd.DataFrame:
    """The columns of a frame as a frame, to look them up in a notebook."""
    import pandas as pd

    return pd.DataFrame([msgspec.structs.asdict(column) for column in columns])
