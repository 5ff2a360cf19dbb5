"""What each way of cutting keeps and saves, on a session's own observations.

The observations are those of the session in full, where its store has them; a policy cuts them with the same code that
the loop runs. The agent is taken to behave as it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.analysis.citations import Citation, citations, kept
from agentlab.analysis.frames import Column, frame_of
from agentlab.analysis.key_lines import Lines, lines_of
from agentlab.analysis.session import Observed
from agentlab.analysis.shown import Shown, cut_policies, show
from agentlab.analysis.sizes import tokenizer_name
from agentlab.tokens import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from agentlab.analysis.session import Session
    from agentlab.policy import Policy
    from agentlab.tools import Tool
    from agentlab.truncate.units import Unit

COMPARE_COLUMNS = [
    Column("policy", "string", "", "its name"),
    Column("strategy", "string", "", "of its default limit; missing where it has none"),
    Column("limit", "Int64", "see unit", "value of its default limit; missing where it has none"),
    Column("unit", "string", "", "unit of the limit"),
    Column("observations", "int64", "observations", "in the session"),
    Column("only_cut", "int64", "observations", "of these, kept nowhere in full: compared on what is left of them"),
    Column("cut", "int64", "observations", "cut by this policy"),
    Column("first_lines", "int64", "lines", "observations that have a first line"),
    Column("first_lines_kept", "float64", "share", "of these, shown whole (200 characters of a longer one)"),
    Column("last_lines", "int64", "lines", "observations that have a last line"),
    Column("last_lines_kept", "float64", "share", "of these, shown whole (200 characters of a longer one)"),
    Column("error_lines", "int64", "lines", "lines that report an error, a failure or an exit code"),
    Column("error_lines_kept", "float64", "share", "of these, shown whole (100 characters around the word)"),
    Column("names", "int64", "names", "names and ids that later calls cite and that only observations had"),
    Column("names_kept", "float64", "share", "of these, still shown in at least one observation"),
    Column("tokens_first", "int64", "prompt tokens", "of the observations as shown, each sent once"),
    Column("full_first", "int64", "prompt tokens", "of the observations in full, each sent once"),
    Column("full_resent", "int64", "prompt tokens", "of the observations in full, sent again with every later call"),
    Column("saved_first", "int64", "prompt tokens", "less than full_first, by the cut"),
    Column("saved_resent", "int64", "prompt tokens", "less than full_resent, by the cut"),
    Column("saved_share", "float64", "share", "saved_first and saved_resent of full_first and full_resent"),
]

FEW = 5
"""Of fewer than this many lines or names a share says too little: they are counted."""


class _Evidence(msgspec.Struct, frozen=True):
    """What there is to keep in a session's observations."""

    observations: list[Observed]
    lines: list[Lines]
    citations: list[Citation]


def compare_cuts(
    session: Session,
    strategies: Sequence[str] = ("middle_snip", "tail_cut", "head_cut"),
    limits: Sequence[int] = (500, 1000, 2000, 4000, 16000),
    unit: Unit = "characters",
    *,
    model: str | None = None,
) -> pd.DataFrame:
    """Compare strategies at several limits, every observation cut to the same one, errors too.

    Args:
        session: Any.
        strategies: Names of `agentlab.truncate.STRATEGIES`.
        limits: At least 0, in `unit`.
        unit: `characters`, `tokens`, `lines` or `bytes`.
        model: Count tokens as for this model.

    Returns:
        A frame with `COMPARE_COLUMNS`, a row per strategy and limit; see `compare`.

    Raises:
        InputError: An unknown strategy or unit, or a negative limit.
    """
    return compare(session, cut_policies(strategies, limits, unit), model=model)


def compare(
    session: Session,
    policies: Iterable[Policy],
    *,
    toolbox: Mapping[str, Tool] | None = None,
    model: str | None = None,
) -> pd.DataFrame:
    """Compare policies on the observations of a session.

    A limit per iteration, `store_over` and `preview` count as in the loop. Tokens are those of the observations' bare
    texts, an estimate. Saved is measured against sending each observation in full with every call that carries it: once
    when it is first sent, and once for each later call.

    Args:
        session: Any.
        policies: Each becomes a row.
        toolbox: The tools, for their own limits; a tool that is not in it has the chapter's 4,000 characters.
        model: Count tokens as for this model; None takes the session's own.

    Returns:
        A frame with `COMPARE_COLUMNS`. A share of nothing is NaN. Names and ids are defined in
        `agentlab.analysis.citations`; what is kept is exposure, no rate of success.

    Raises:
        MissingRanksError: The tokenizer's rank files are not there.

    >>> from agentlab.analysis import read_messages
    >>> from agentlab.policy import Limit, Policy
    >>> session = read_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])
    >>> compare(session, [Policy("small", default=Limit(500))]).loc[0, "observations"].item()
    0
    """
    observations = session.observations()
    evidence = _Evidence(observations, [lines_of(seen.text) for seen in observations], citations(session, observations))
    counter = _Counter(tokenizer_name(session, model))
    rows = [_row(policy, evidence, show(observations, policy, toolbox), counter) for policy in policies]
    return frame_of(rows, COMPARE_COLUMNS)


def nothing_cut(frame: pd.DataFrame) -> str:
    """Say that a comparison has nothing to compare, since no policy cut anything; "" where one did.

    Args:
        frame: As `compare` makes it.

    >>> from agentlab.analysis import read_messages
    >>> nothing_cut(compare_cuts(read_messages([])))
    'The session has no observations, so there is nothing to cut.'
    """
    if not len(frame):
        return "No policy was compared."
    if frame["cut"].any():
        return ""
    n = int(frame["observations"].max())
    if not n:
        return "The session has no observations, so there is nothing to cut."
    which = "The only observation fits" if n == 1 else f"All {n:,} observations fit"
    if frame["limit"].isna().any() or frame["unit"].nunique() > 1:
        return f"Nothing was cut. {which} whole into what each policy allows."
    return f"Nothing was cut. {which} whole into {frame['limit'].min():,} {frame['unit'].iloc[0]}, the smallest limit."


def share_kept(n: int, share: float) -> str:
    """A share as a text: of fewer than `FEW` as counts, of none as "-".

    >>> share_kept(14, 0.5), share_kept(2, 0.5), share_kept(0, float("nan"))
    ('50%', '1 of 2', '-')
    """
    if not n:
        return "-"
    return f"{share:.0%}" if n >= FEW else f"{round(share * n)} of {n}"


class _Counter:
    """Tokens of texts, each counted once."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = count_text(text, self._model).n
        return self._known[text]


def _row(policy: Policy, evidence: _Evidence, shown: list[Shown], count: _Counter) -> tuple[object, ...]:
    observations = evidence.observations
    first, last, errors = [], [], []
    for lines, each in zip(evidence.lines, shown, strict=True):
        first += [kept(span, each.head, each.tail_start) for span in (lines.first,) if span is not None]
        last += [kept(span, each.head, each.tail_start) for span in (lines.last,) if span is not None]
        errors += [kept(span, each.head, each.tail_start) for span in lines.errors]
    default = policy.default
    return (
        policy.name,
        None if default is None else default.strategy,
        None if default is None else default.value,
        None if default is None else default.unit,
        len(observations),
        sum(not seen.whole for seen in observations),
        sum(each.text != seen.text for seen, each in zip(observations, shown, strict=True)),
        *_share(first),
        *_share(last),
        *_share(errors),
        *_share(_names_kept(evidence, shown)),
        *_tokens(observations, shown, count),
    )


def _tokens(observations: list[Observed], shown: list[Shown], count: _Counter) -> tuple[float, ...]:
    """The columns from `tokens_first` to `saved_share`."""
    first = full_first = full_resent = saved_first = saved_resent = 0
    for seen, each in zip(observations, shown, strict=True):
        if not seen.carried:
            continue
        full, cut = count(seen.text), count(each.text)
        first += cut
        full_first += full
        full_resent += full * (seen.carried - 1)
        saved_first += full - cut
        saved_resent += (full - cut) * (seen.carried - 1)
    full = full_first + full_resent
    share = (saved_first + saved_resent) / full if full else float("nan")
    return first, full_first, full_resent, saved_first, saved_resent, share


def _names_kept(evidence: _Evidence, shown: list[Shown]) -> list[bool]:
    by_index = {seen.index: each for seen, each in zip(evidence.observations, shown, strict=True)}
    return [
        any(
            kept(span, by_index[index].head, by_index[index].tail_start)
            for index, spans in citation.sources.items()
            for span in spans
        )
        for citation in evidence.citations
    ]


def _share(flags: list[bool]) -> tuple[int, float]:
    return len(flags), sum(flags) / len(flags) if flags else float("nan")
