"""Telling the time, and how much of it went by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.providers.offline.observing import stamps
from agentlab.providers.offline.roles import ROLES
from agentlab.providers.offline.text import STOP, name_words, stem

if TYPE_CHECKING:
    from datetime import datetime

    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.reading import Need

HOURS = ["twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
NO_EARLIER = "I cannot say: what was sent to me holds no earlier timestamp to subtract"


def tell(time: datetime, wording: str) -> str:
    """Say a time: as a timestamp, or rounded to a quarter of an hour in words.

    >>> from datetime import UTC, datetime
    >>> tell(datetime(2026, 5, 13, 15, 40, 22, tzinfo=UTC), "words")
    'about a quarter to four in the afternoon'
    """
    if wording != "words":
        return time.isoformat().replace("+00:00", "Z")
    quarter = (time.hour * 60 + time.minute + 7) // 15 % 96
    hour = quarter // 4
    this, following = HOURS[hour % 12], HOURS[(hour + 1) % 12]
    said = (f"{this} o'clock", f"a quarter past {this}", f"half past {this}", f"a quarter to {following}")[quarter % 4]
    parts = (
        (6, "at night"),
        (12, "in the morning"),
        (18, "in the afternoon"),
        (22, "in the evening"),
        (24, "at night"),
    )
    return f"about {said} {next(part for end, part in parts if hour < end)}"


def duration(seconds: float) -> str:
    """Say a span of time.

    >>> duration(41), duration(180), duration(3_725)
    ('41 seconds', '3 minutes', '1 hour 2 minutes 5 seconds')
    """
    left = round(abs(seconds))
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        n, left = divmod(left, size)
        if n:
            parts.append(f"{n} {unit}{'' if n == 1 else 's'}")
    return " ".join(parts) or "0 seconds"


def time(desk: Desk, _need: Need) -> str:
    """What time it is."""
    result = desk.ask("clock", fresh=True)
    if result.failed:
        return f"The clock failed: {result.text}"
    found = stamps(result.text)
    if not found:
        return f"The clock says: {result.text}"
    zone = " (UTC)" if desk.wording != "words" and not found[0].utcoffset() else ""
    return f"It is {tell(found[0], desk.wording)}{zone}."


def elapsed(desk: Desk, need: Need) -> str:
    """How long it has been since something earlier, by the timestamps that the request holds."""
    result = desk.ask("clock", fresh=True)
    now = None if result.failed else next(iter(stamps(result.text)), None)
    if now is None:
        return f"The clock failed: {result.text}"
    then = earlier(desk, need)
    if then is None:
        said = next(
            (
                t.reply
                for t in reversed(desk.history.earlier)
                if "o'clock" in t.reply or "quarter" in t.reply or "half past" in t.reply
            ),
            "",
        )
        rough = f'; an earlier reply says only "{said}"' if said else ""
        return f"{NO_EARLIER}{rough}. Now it is {tell(now, desk.wording)}."
    span = f"{tell(then, 'quote')} → {tell(now, 'quote')}"
    return f"About {duration((now - then).total_seconds())} ({span})."


def earlier(desk: Desk, need: Need) -> datetime | None:
    """The timestamp that the question refers to: of the turn that it speaks of, else the latest before this turn.

    Observations of a clock come first, then what was said, then a summary in the system prompt.
    """
    turns = [(t.text, _times(desk, t.index) or stamps(t.reply) or stamps(t.text)) for t in desk.history.earlier]
    timed = [(text, times) for text, times in turns if times]
    if not timed:
        rest = stamps(desk.history.current.text) or stamps(desk.system)
        return rest[-1] if rest else None
    bare = need.clause.bare
    if " first" in f" {bare}":
        return timed[0][1][0]
    wanted = {stem(w.lower) for w in need.clause.words} - {
        stem(w) for w in STOP | {"long", "since", "ask", "asked", "been", "elapsed", "passed"}
    }
    shares = [len(wanted & {stem(w.strip("?.,!").lower()) for w in text.split()}) for text, _ in timed]
    best = max(range(len(timed)), key=lambda i: (shares[i], i))
    return timed[best][1][-1]


def _times(desk: Desk, turn: int) -> list[datetime]:
    """What a clock said in one turn."""
    clock = desk.roles["clock"].tool.name if "clock" in desk.roles else ""
    seen = [o for o in desk.history.turns[turn].observations if not o.is_error]
    return [
        s for o in seen if o.name == clock or set(name_words(o.name)) & ROLES["clock"].names for s in stamps(o.text)[:1]
    ]
