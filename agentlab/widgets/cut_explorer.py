"""`CutExplorer`: cut a text with a slider, and see both ends, the gap and what is lost in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentlab.analysis.key_lines import lines_of
from agentlab.errors import InputError
from agentlab.truncate import MAX_OBSERVATION_CHARS, STRATEGIES, measure
from agentlab.widgets.cut_view import CutView, cut_view, side_by_side_html
from agentlab.widgets.shown import Shown, amount, canvas, choice, column, numbered, row, slider, whenever

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentlab.truncate.units import Unit

UNITS: Final[tuple[Unit, ...]] = ("characters", "tokens")


class CutExplorer(Shown):
    r"""Two strategies on one text, side by side, at a limit that a slider sets.

    Args:
        source: A text; a `Path` of a file, or of a folder whose texts can be chosen; or texts by name.
        limit: To begin with, in `unit`; None takes the chapter's 4,000 characters, or half of a shorter text.
        strategies: The two to begin with.
        unit: `characters` or `tokens`.

    Attributes:
        file, strategy, other, unit, limit, ratio: The controls; each has a `value`.

    Raises:
        InputError: A file cannot be read as text, a folder holds none, or an unknown strategy or unit.

    >>> explorer = CutExplorer("\n".join(f"line {n}" for n in range(1, 1001)), limit=170)
    >>> explorer.limit.value = 400
    >>> explorer.views[0].lost()[1]
    'The gap is lines 22 to 983 of 1,000.'
    """

    def __init__(
        self,
        source: str | Path | Mapping[str, str],
        *,
        limit: int | None = None,
        strategies: tuple[str, str] = ("middle_snip", "tail_cut"),
        unit: Unit = "characters",
    ) -> None:
        self.texts = texts_of(source)
        _check(strategies, unit)
        self._sizes: dict[tuple[str, str], int] = {}
        self._errors: dict[str, list[tuple[int, int]]] = {}
        self._moving = False
        first = next(iter(self.texts))
        self.file = choice("Text", self.texts, first)
        self.unit = choice("Unit", UNITS, unit, width="170px")
        self.strategy = choice("Left", STRATEGIES, strategies[0], width="200px")
        self.other = choice("Right", STRATEGIES, strategies[1], width="200px")
        self.ratio = amount("Head's share", 0.5, 0.0, 1.0, 0.05, tip="For head_tail: the share of the head")
        self.limit = slider("Limit", 0, 0, 1, tip="The size allowed to the observation, marker included")
        self._limit = numbered(self.limit)
        self._place_limit(limit)
        self._shown = canvas()
        self.box = column(
            row(self.file, self.unit, self.strategy, self.other),
            row(self._limit, numbered(self.ratio)),
            self._shown,
        )
        self._text, self._unit = first, unit
        whenever((self.file, self.unit), self._rescale)
        whenever((self.strategy, self.other, self.limit, self.ratio), self._follow)
        self._follow()

    @property
    def text(self) -> str:
        """The text that is cut."""
        return self.texts[self.file.value]

    @property
    def size(self) -> int:
        """Its size in the unit; measured once."""
        return self._size(self.file.value, self.unit.value)

    def html(self) -> str:
        """Both cuts as they stand."""
        return side_by_side_html(*self.views)

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join([f"{view.strategy}, {view.limit:,} {view.unit}", *view.lost(), "", view.cut.text])
            for view in self.views
        )

    def _view(self, strategy: str) -> CutView:
        name = self.file.value
        if name not in self._errors:
            self._errors[name] = list(lines_of(self.text).errors)
        return cut_view(
            self.text,
            self.limit.value,
            strategy,
            unit=self.unit.value,
            ratio=self.ratio.value,
            size=self.size,
            errors=self._errors[name],
        )

    def _follow(self) -> None:
        if self._moving:
            return
        self.ratio.disabled = "head_tail" not in (self.strategy.value, self.other.value)
        self.views = (self._view(self.strategy.value), self._view(self.other.value))
        self._shown.value = side_by_side_html(*self.views)

    def _rescale(self) -> None:
        """Keep the limit with another text, and its share of the text with another unit."""
        limit = self.limit.value
        if self.unit.value != self._unit:
            limit = round(limit * self.size / max(1, self._size(self._text, self._unit)))
        self._text, self._unit = self.file.value, self.unit.value
        self._place_limit(limit)
        self._follow()

    def _place_limit(self, limit: int | None) -> None:
        """Set the slider's end to the size of the text, and its value inside it."""
        size = self.size
        if limit is None:
            usual = MAX_OBSERVATION_CHARS if self.unit.value == "characters" else MAX_OBSERVATION_CHARS // 4
            limit = usual if size > usual else size // 2
        self._moving = True
        self.limit.max = max(1, size)
        self._limit.children[0].step = max(1, size // 400)
        self.limit.value = min(limit, self.limit.max)
        self._moving = False

    def _size(self, name: str, unit: Unit) -> int:
        if (name, unit) not in self._sizes:
            self._sizes[name, unit] = measure(self.texts[name], unit)
        return self._sizes[name, unit]


def texts_of(source: str | Path | Mapping[str, str]) -> dict[str, str]:
    """The texts that a source holds, by name.

    Args:
        source: As `CutExplorer` takes it.

    Raises:
        InputError: A file cannot be read as text, or there is none.

    >>> texts_of("a text")
    {'text': 'a text'}
    """
    if isinstance(source, str):
        return {"text": source}
    if not isinstance(source, Path):
        texts = {str(name): str(text) for name, text in source.items()}
        if not texts:
            raise InputError("expected at least one text, found none", field="source")
        return texts
    if not source.is_dir():
        return {source.name: _read(source)}
    texts = {}
    for file in sorted(source.iterdir()):
        if file.is_file():
            try:
                texts[file.name] = _read(file)
            except InputError:  # pictures and the like stand beside texts
                continue
    if not texts:
        raise InputError("there is no text in this folder: name another one, or a file", path=source)
    return texts


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from None
    except UnicodeDecodeError:
        raise InputError("is no text in UTF-8: name a text file", path=file) from None


def _check(strategies: tuple[str, str], unit: str) -> None:
    for name in strategies:
        if name not in STRATEGIES:
            raise InputError(f"unknown strategy {name!r}: one of {', '.join(STRATEGIES)}", field="strategies")
    if unit not in UNITS:
        raise InputError(f"unknown unit {unit!r}: one of {', '.join(UNITS)}", field="unit")
