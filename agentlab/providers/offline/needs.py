"""One thing that a text asks for, and the clause in which it is looked for."""

from __future__ import annotations

import msgspec

from agentlab.providers.offline.text import Clause


class Need(msgspec.Struct, frozen=True):
    """One thing that the text asks for.

    Attributes:
        kind: Which plan serves it: a key of `planner.PLANS`.
        clause: Where it stands.
        paths: The files or folders that it is about.
        pattern: What to search for, the name of a key or class, or the ending of the files that are meant.
        detail: Which part or property is asked for.
        lines: First and last line, where lines are named.
        fresh: Whether the user asks to look now, not to remember.
        silent: Whether another need of the same text answers with what this one fetches.
        exact: Whether the pattern stands as it was quoted, and not for a word in any case.
    """

    kind: str
    clause: Clause
    paths: tuple[str, ...] = ()
    pattern: str = ""
    detail: str = ""
    lines: tuple[int, int] | None = None
    fresh: bool = False
    silent: bool = False
    exact: bool = True


class Around(msgspec.Struct, frozen=True):
    """A clause, and what its words may point at.

    Attributes:
        clause: The clause.
        before: Needs of the clauses before it.
        topics: Files spoken of, the latest last.
        known: Names that listings showed; folders end in `/`.
    """

    clause: Clause
    before: tuple[Need, ...] = ()
    topics: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def bare(self) -> str:
        """The clause in lower case, without its quoted parts."""
        return self.clause.bare

    @property
    def about(self) -> tuple[str, ...]:
        """The files that it names, else the file last spoken of."""
        return self.clause.files or self.topics[-1:]
