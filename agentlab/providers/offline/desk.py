"""Where a plan asks for what it needs: what was observed is at hand, what was not becomes a call.

A plan is ordinary code that asks one thing after the other. What the request does not hold yet ends it with `Waiting`;
when the observation is there, the same plan runs again and comes further. So nothing is remembered between two calls
of the model but the messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agentlab.providers.offline import recovering
from agentlab.providers.offline.observing import Document, Gap, document, placeholder
from agentlab.providers.offline.roles import Fit, find
from agentlab.providers.offline.schemas import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agentlab.messages import ToolSpec
    from agentlab.providers.offline.history import History, Observation

T = TypeVar("T")
R = TypeVar("R")
RETRIES = 2


class Planned(msgspec.Struct, frozen=True):
    """A call that a plan wants made."""

    name: str
    arguments: dict[str, Any]

    @property
    def key(self) -> str:
        """The same for the same call."""
        return f"{self.name} {as_json(dict(sorted(self.arguments.items())))}"


class Waiting(Exception):
    """The plan cannot go on before these calls were made."""

    def __init__(self, calls: list[Planned], because: str = "") -> None:
        super().__init__(", ".join(call.name for call in calls))
        self.calls = calls
        self.because = because


class NoTool(Exception):
    """No tool at hand can do what is needed."""


class Result(msgspec.Struct, frozen=True):
    """What a plan gets for what it asked: the call in its last form, the observation, and its text as a document."""

    call: Planned
    seen: Any
    doc: Document

    @property
    def failed(self) -> bool:
        """Whether the call failed for good."""
        return bool(self.seen.is_error)

    @property
    def text(self) -> str:
        """What can be read of it."""
        return self.doc.seen


class Desk:
    """The tools and the history of one request.

    Args:
        history: The request's turns.
        tools: The tools at hand.
        system: The system prompt.
        wording: How the time is told: `"quote"` or `"words"`.
        max_pages: How many further pages of one cut result are worth a call.

    Attributes:
        corrections: Sentences on calls that failed and were made otherwise, for the answer to say.
    """

    def __init__(
        self,
        history: History,
        tools: Sequence[ToolSpec],
        *,
        system: str = "",
        wording: str = "quote",
        max_pages: int = 8,
    ) -> None:
        self.history = history
        self.system = system
        self.wording = wording
        self.tools = {tool.name: tool for tool in tools if tool.name}
        self.roles = find(list(self.tools.values()))
        self.max_pages = max_pages
        self.corrections: list[str] = []
        self._by_tool: dict[str, list[Observation]] = {}
        for seen in history.observations:
            self._by_tool.setdefault(seen.name, []).append(seen)

    def before(self, planned: Planned) -> Observation | None:
        """What the same call returned in an earlier turn, if the request still has it."""
        now = self.history.current.index
        return next((o for o in self._same(planned) if o.turn < now and not o.is_error), None)

    def _same(self, planned: Planned) -> Iterator[Observation]:
        """What the same call returned, the latest first."""
        return (o for o in reversed(self._by_tool.get(planned.name, ())) if o.arguments == planned.arguments)

    def last_of(self, role: str) -> Observation | None:
        """The latest result of the tool of a role, if the request has one."""
        name = self.role(role).tool.name
        return next((o for o in reversed(self._by_tool.get(name, ())) if not o.is_error), None)

    def role(self, name: str) -> Fit:
        """The tool of a role.

        Raises:
            NoTool: There is none.
        """
        if name not in self.roles:
            raise NoTool(name)
        return self.roles[name]

    def ask(self, role: str, *, fresh: bool = False, **wanted: Any) -> Result:
        """Ask the tool of a role, in the role's own words.

        Args:
            role: See `roles.ROLES`.
            fresh: Make the call even if an earlier turn made it.
            **wanted: Arguments; what the tool cannot take is left out.

        Raises:
            NoTool: There is no such tool.
            Waiting: The call has not been made.
        """
        fit = self.role(role)
        return self.call(Planned(fit.tool.name, fit.arguments(wanted)), fresh=fresh)

    def call(self, planned: Planned, *, fresh: bool = True) -> Result:
        """Ask for one call by its tool's own name; a failed one is corrected and tried again, twice at most."""
        reason = ""
        tried: set[str] = set()
        while True:
            seen = self._look(planned, fresh=fresh)
            if seen is None:
                raise Waiting([planned], reason)
            tried.add(planned.key)
            better = recovering.correct(self, planned, seen.text) if seen.is_error and len(tried) <= RETRIES else None
            if better is None or better[0].key in tried:
                break
            planned, reason = better
        if reason and not seen.is_error and reason not in self.corrections:
            self.corrections.append(reason)
        return self._unfold(planned, seen)

    def _look(self, planned: Planned, *, fresh: bool) -> Observation | None:
        now = self.history.current.index
        done = next((o for o in self._same(planned) if o.turn == now), None)
        return done if done is not None or fresh else self.before(planned)

    def _unfold(self, planned: Planned, seen: Observation) -> Result:
        """A result that was taken out of the request is fetched again by its id."""
        key = None if seen.is_error or seen.turn == self.history.current.index else placeholder(seen.text)
        if key is not None and "pager" in self.roles:
            again = self.ask("pager", id=key)
            return Result(planned, again.seen, again.doc)
        if key is not None:
            return self.call(planned)
        return Result(planned, seen, document(seen.text))

    def each(self, ask: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Ask several things that do not depend on each other; what is missing becomes calls of one reply.

        Raises:
            Waiting: With the calls of all of them.
        """
        results: list[R] = []
        calls: list[Planned] = []
        reasons: list[str] = []
        for item in items:
            try:
                results.append(ask(item))
            except Waiting as waiting:
                calls += waiting.calls
                reasons.append(waiting.because)
        if calls:
            raise Waiting(calls, " ".join(dict.fromkeys(r for r in reasons if r)))
        return results

    def whole(self, result: Result) -> Document:
        """Fetch what a cut left out, as far as it can be had with a few more calls.

        Returns:
            The document without a gap, or with the gap that stays.
        """
        doc, gap = result.doc, result.doc.gap
        if gap is None or gap.start is None or gap.end is None or not gap.id or "pager" not in self.roles:
            return doc
        pager = self.roles["pager"]
        rest = Planned(pager.tool.name, pager.arguments({"id": gap.id, "start": gap.start, "end": gap.end}))
        if self._page_size(gap.id) is None or self._look(rest, fresh=False) is not None:
            doc = _put(doc, self.call(rest, fresh=False))
            gap = doc.gap
        size = self._page_size(gap.id) if gap is not None else None
        if gap is None or size is None or gap.start is None or gap.end is None:
            return doc
        if gap.end - gap.start > size * self.max_pages:
            return doc
        return self._paged(doc, gap, gap.start, gap.end, size)

    def _paged(self, doc: Document, gap: Gap, start: int, end: int, size: int) -> Document:
        """Fetch all pages between two offsets in one reply."""
        spans = [(at, min(at + size, end)) for at in range(start, end, size)]
        pages = self.each(lambda span: self.ask("pager", id=gap.id, start=span[0], end=span[1]), spans)
        if any(page.failed or page.doc.gap is not None for page in pages):
            return doc
        return Document(doc.head + "".join(page.doc.head for page in pages) + doc.tail)

    def _page_size(self, key: str) -> int | None:
        """How many characters a page of a stored result holds; None while no page was read."""
        pager = self.roles["pager"]
        sizes = []
        for seen in self.history.observations:
            if seen.name == pager.tool.name and seen.arguments.get(pager.parameters["id"]) == key and not seen.is_error:
                doc = document(seen.text)
                if doc.gap is not None:
                    sizes.append(len(doc.head) + len(doc.tail))
        return max(sizes) or 1 if sizes else None


def _put(doc: Document, page: Result) -> Document:
    """Fill the gap of a document with a page, which may have a gap of its own."""
    gap = doc.gap
    if page.failed or gap is None or gap.start is None or gap.end is None:
        return doc
    inner = page.doc.gap
    if inner is None:
        return Document(doc.head + page.doc.head + doc.tail)
    start, end = gap.start + len(page.doc.head), gap.end - len(page.doc.tail)
    if inner.place == "end" and inner.start is not None:
        start = max(gap.start, inner.start)  # the page says where it goes on
    left = msgspec.structs.replace(gap, omitted=max(0, end - start), start=start, end=end)
    return Document(doc.head + page.doc.head, page.doc.tail + doc.tail, left)
