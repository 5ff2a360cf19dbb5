"""Axes that show as a picture in a notebook, the colours on them, and the file that they are written to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError
from agentlab.printable import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, SKY, ORANGE, GREEN, RED, PURPLE, GREY = (
    "#0072B2",
    "#56B4E9",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#A6A6A6",
)


def new_axes(size: tuple[float, float]) -> Axes:
    """Axes in a figure of their own, which pyplot does not know; the size is in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot(axes_class=_shown_axes())


def text_colour() -> str:
    """The colour of texts in matplotlib's style."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def literal(name: str, most: int = 40) -> str:
    r"""A name from a log as a plot can show it: dollar signs begin no formula, and the middle of a long one goes.

    >>> literal("$HOME"), len(literal("x" * 300))
    ('\\$HOME', 40)
    """
    return shortened(printable(name), most).replace("$", r"\$")


def how_counted(measured: Iterable[bool]) -> str:
    """Whether totals were measured, in a word or two.

    >>> how_counted([True, True]), how_counted([True, False])
    ('measured', 'partly estimated')
    """
    flags = list(measured)
    return "measured" if all(flags) else "partly estimated" if any(flags) else "estimated"


def finish(ax: Axes) -> None:
    """Leave two spines and a light grid behind everything."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis="y", lw=0.5, alpha=0.4)
    ax.set_axisbelow(True)


def say(ax: Axes, sentence: str) -> None:
    """Write a sentence in place of a plot."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, transform=ax.transAxes)


def save(ax: Axes, path: str | Path, *, dpi: int = 150) -> None:
    """Write the figure of some axes; the ending of the path names the format.

    Args:
        ax: Of the figure.
        path: Such as `curve.png` or `curve.svg`.
        dpi: Dots per inch, for PNG.

    Raises:
        InputError: The file cannot be written, or the format is not known.
    """
    try:
        _figure(ax).savefig(path, dpi=dpi, bbox_inches="tight")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None
    except ValueError as error:
        raise InputError(f"{str(error).splitlines()[0]}: name a .png, .svg or .pdf", path=path) from None


@cache
def _shown_axes() -> type[Axes]:
    """Axes that a notebook shows as a picture, as it does with pyplot's figures."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        """Axes of a figure that pyplot does not know."""

        def _repr_png_(self) -> bytes:
            from io import BytesIO

            picture = BytesIO()
            _figure(self).savefig(picture, format="png", dpi=100, bbox_inches="tight")
            return picture.getvalue()

    return ShownAxes


def _figure(ax: Axes) -> Figure:
    figure: Any = ax.get_figure(root=True)
    return figure  # type: ignore[no-any-return]
