"""What the exercises look at: tokens per turn of sessions side by side, and what a cut keeps of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis import curve, read_messages
from agentlab.plots.figures import BLUE, GREEN, GREY, ORANGE, RED, finish, new_axes
from agentlab.truncate import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from agentlab.messages import ToolSpec
    from agentlab.truncate.units import Unit

COLOURS = (GREY, BLUE, ORANGE, GREEN, RED)


def turn_tokens(
    sessions: Mapping[str, Sequence[Any]], *, system: str = "", tools: Iterable[ToolSpec] = ()
) -> pd.DataFrame:
    """Prompt tokens per user turn of some sessions: a row per turn, a column per session.

    Args:
        sessions: Lists of messages by title.
        system: The system prompt of all of them.
        tools: What the model could call.

    Returns:
        Whole numbers, counted by o200k_base: an estimate for any other model.

    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> turn_tokens({"once": talk, "again": talk}).to_dict("list")
    {'once': [8], 'again': [8]}
    """
    import pandas as pd

    shown = list(tools)
    columns = {}
    for title, messages in sessions.items():
        frame = curve(read_messages(messages, system=system, tools=shown))
        columns[title] = frame.set_index("turn")["turn_tokens"]
    return pd.DataFrame(columns).rename_axis("user turn")


def plot_turns(frame: pd.DataFrame, title: str = "Prompt tokens per user turn", ax: Axes | None = None) -> Axes:
    """Draw what `turn_tokens` counted: a group of bars per turn, a colour per session.

    Args:
        frame: A column per session.
        title: Above the picture.
        ax: Where to draw; None makes a figure.

    >>> import pandas as pd
    >>> plot_turns(pd.DataFrame({"a": [1, 2]}, index=[1, 2])).get_ylabel()
    'prompt tokens per user turn (estimated)'
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax = new_axes((8.5, 3.6)) if ax is None else ax
    width = 0.8 / max(1, len(frame.columns))
    for number, (name, values) in enumerate(frame.items()):
        places = [turn - 0.4 + width * (number + 0.5) for turn in frame.index]
        ax.bar(places, values, width * 0.94, color=COLOURS[number % len(COLOURS)], label=str(name), zorder=2)
    ax.set_title(title, loc="left")
    ax.set_xlabel("user turn")
    ax.set_ylabel("prompt tokens per user turn (estimated)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if len(frame.columns) > 1:
        ax.legend(frameon=False, fontsize="small")
    finish(ax)
    return ax


def survivors(
    text: str,
    wanted: Mapping[str, str],
    limit: int,
    *,
    unit: Unit = "characters",
    strategies: Sequence[str] = ("middle_snip", "tail_cut"),
) -> pd.DataFrame:
    """What of a text each cut still shows: a row per wanted piece, a column per strategy.

    Args:
        text: The whole text.
        wanted: Pieces of it, by what they are.
        limit: Of the cut, in `unit`.
        unit: `characters`, `tokens`, `lines` or `bytes`.
        strategies: `middle_snip` keeps both ends, `tail_cut` the head.

    >>> survivors("a" * 500 + "code-7" + "z" * 500, {"middle": "code-7"}, 100).to_dict("list")
    {'middle_snip': ['lost'], 'tail_cut': ['lost']}
    """
    import pandas as pd

    shown = {name: cut(text, limit, name, unit=unit).text for name in strategies}
    rows = {what: ["kept" if piece in each else "lost" for each in shown.values()] for what, piece in wanted.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(shown))
