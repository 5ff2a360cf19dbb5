"""Telling the time, and how much of it went by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.observing import STAMP, stamps
from agentlab.providers.offline.patterns import ELAPSED, TIME
from agentlab.providers.offline.roles import ROLES
from agentlab.providers.offline.text import STOP, name_words, shorten, stem
from agentlab.providers.offline.vocabulary import words

if TYPE_CHECKING:
    from datetime import datetime

    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.history import Turn
    from agentlab.providers.offline.needs import Need

HOURS = ["twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
NO_EARLIER = "what was sent to me holds no earlier time of a clock to subtract"
ROUGHLY = re.compile(r"o'clock|a quarter|half past")
TOLD = re.compile(rf"(?:\bit is|\bit's|\btime is|\bclock says:?|→) ({STAMP.pattern})", re.IGNORECASE)
ASKING = words("long since ask asked been elapsed passed ago much many question")


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
    """How long it has been since something earlier, by the times that a clock told."""
    result = desk.ask("clock", fresh=True)
    now = None if result.failed else next(iter(stamps(result.text)), None)
    if now is None:
        return f"The clock failed: {result.text}"
    then, lacking = earlier(desk, need)
    if then is not None:
        span = f"{tell(then, 'quote')} → {tell(now, 'quote')}"
        return f"About {duration((now - then).total_seconds())} ({span})."
    said = next((t.reply for t in reversed(desk.history.earlier) if ROUGHLY.search(t.reply)), "")
    words_only = shorten(said.rstrip("."))
    rough = f'; an earlier reply says only "{words_only}"' if said else ""
    return f"I cannot say: {lacking}{rough}. Now it is {tell(now, desk.wording)}."


def earlier(desk: Desk, need: Need) -> tuple[datetime | None, str]:
    """The time that the question refers to, and why there is none.

    It is the one that the user names, else that of the turn that the question speaks of, else the latest. Only a clock
    tells when something was asked: a file's or a log's timestamps are of other things.
    """
    named = stamps(desk.history.current.text)
    if named:
        return named[-1], ""
    turns = [(turn, _times(desk, turn)) for turn in desk.history.earlier]
    if not any(times for _, times in turns):
        rest = told(desk.system)
        return (rest[-1] if rest else None), NO_EARLIER
    bare = need.clause.bare
    if " first" in f" {bare}":
        turns = [item for item in turns if item[1]][:1]
    wanted = {stem(w.lower) for w in need.clause.words} - {stem(w) for w in STOP | ASKING}
    shares = [len(wanted & {stem(w.strip("?.,!").lower()) for w in turn.text.split()}) for turn, _ in turns]
    best = [item for item, share in zip(turns, shares, strict=True) if share == max(shares)]
    timed = [item for item in best if item[1]]
    if not timed:
        return None, "no clock was read in the turn that you speak of"
    first = [item for item in timed if not ELAPSED.search(item[0].text)] if "ask" in bare else []
    return (first or timed)[-1][1][-1], ""


def told(text: str) -> list[datetime]:
    """The times that a sentence tells as the time, not those that stand in a text.

    >>> [len(told(text)) for text in ("It is 2026-05-13T15:40:22Z (UTC).", "2026-05-13T15:40:22Z ERROR disk full")]
    [1, 0]
    """
    return [time for found in TOLD.finditer(text) for time in stamps(found[1])]


def _times(desk: Desk, turn: Turn) -> list[datetime]:
    """What a clock said in one turn, by its results, else by the reply that quotes it."""
    clock = desk.roles["clock"].tool.name if "clock" in desk.roles else ""
    seen = [o for o in turn.observations if not o.is_error and (o.name == clock or not o.arguments)]
    read = [o for o in seen if o.name == clock or set(name_words(o.name)) & ROLES["clock"].names]
    times = [time for o in read for time in stamps(o.text)[:1]]
    if not times and (read or not turn.observations):  # a reply that was made of other results quotes other times
        times = told(turn.reply)
    alone = stamps(turn.reply) if not times and TIME.search(turn.text) and not turn.observations else []
    return times or (alone if len(alone) == 1 else [])
