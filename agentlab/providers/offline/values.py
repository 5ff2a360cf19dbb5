"""Plans that take a value out of a file: of a key, or the longest time that a line tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.printable import counted
from agentlab.providers.offline.files import complete, cut_note, fetch, name_of, sorry
from agentlab.providers.offline.schemas import as_json
from agentlab.providers.offline.text import joined, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.providers.offline.desk import Desk
    from agentlab.providers.offline.needs import Need
    from agentlab.providers.offline.observing import Document

SETTING = re.compile(r"""^\s*(?:-\s+|export\s+)?["']?(?P<key>[\w.-]+)["']?\s*[:=]\s*(?P<value>\S.*?),?\s*$""")
DURATION = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?) ?(µs|us|ms|millis\w*|s|secs?|seconds?|min|minutes?)\b"
    r"|\b\w*(?:took|duration|elapsed|latency|time)\w*[\"']? ?[=:] ?(\d+(?:\.\d+)?)(?![\d:.-])",
    re.IGNORECASE,
)
SECONDS = {"µ": 1e-6, "u": 1e-6, "ms": 1e-3, "mil": 1e-3, "min": 60.0, "s": 1.0}
MOST_DEPTH = 12


def value(desk: Desk, need: Need) -> str:
    """Tell the value of a key of a file: of JSON by its structure, else by lines `key = value`."""
    path = need.paths[0]
    result = fetch(desk, path)
    if result.failed:
        return sorry(path, result)
    doc, name = complete(desk, path, result), name_of(result, path)
    found = list(_in_json(doc)) or list(_in_lines(doc))
    chosen = [(key, told) for key, told in found if _same(key, need.pattern)]
    if not chosen:
        keys = ", ".join(dict.fromkeys(key for key, _ in found[:20]))
        return joined(f'{name} has no key "{need.pattern}"{f": it has {keys}" if keys else ""}.', cut_note(doc))
    return joined("; ".join(f"{key} in {name} is {told}" for key, told in chosen[:5]) + ".", cut_note(doc))


def _same(key: str, wanted: str) -> bool:
    """Whether a key, or the end of its path, is the one that is asked for, whatever joins its words."""
    plain = [re.sub(r"[\W_]", "", part).lower() for part in (key, key.rsplit(".", 1)[-1], wanted)]
    return plain[2] in plain[:2]


def _in_json(doc: Document) -> Iterator[tuple[str, str]]:
    """Every key of a JSON text with its value, by its path."""
    if doc.gap is not None or doc.head.lstrip()[:1] not in ("{", "["):
        return
    try:
        data = msgspec.json.decode(doc.head)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    pending: list[tuple[str, Any, int]] = [("", data, 0)]
    while pending:
        at, held, depth = pending.pop(0)
        pairs = held.items() if isinstance(held, dict) else enumerate(held[:100]) if isinstance(held, list) else ()
        for key, inner in pairs:
            path = f"{at}.{key}" if at else str(key)
            yield path, shorten(as_json(inner), 200)
            if depth < MOST_DEPTH:
                pending.append((path, inner, depth + 1))


def _in_lines(doc: Document) -> Iterator[tuple[str, str]]:
    for _, line in doc.numbered():
        found = SETTING.match(line[:1_000])
        if found:
            yield found["key"], shorten(found["value"], 200)


def slowest(desk: Desk, need: Need) -> str:
    """The line of a log that tells the longest or the shortest time."""
    path = need.paths[0]
    result = fetch(desk, path)
    if result.failed:
        return sorry(path, result)
    doc, name = complete(desk, path, result), name_of(result, path)
    timed = [(seconds, n, line) for n, line in doc.numbered() if (seconds := _seconds(line)) is not None]
    if not timed:
        return joined(f"I see no line in {name} that tells how long something took.", cut_note(doc))
    choose = min if need.detail == "shortest" else max
    best = choose(timed, key=lambda item: item[0])
    same = sum(1 for item in timed if item[0] == best[0])
    equal = f" ({counted(same - 1, 'other line')} with the same time)" if same > 1 else ""
    where = f"{name}:{best[1]}" if best[1] else name
    said = f"The {need.detail} of {counted(len(timed), 'line')} with a time{equal}:\n{where}: {shorten(best[2], 300)}"
    return said if doc.gap is None else f"{said}\n{cut_note(doc).strip()}"


def _seconds(line: str) -> float | None:
    """The longest time that a line tells, in seconds; a bare number counts as seconds.

    >>> _seconds("GET / took 500 ms"), _seconds("duration=2.5"), _seconds("08:15:00 started")
    (0.5, 2.5, None)
    """
    times = []
    for found in DURATION.finditer(line[:2_000]):
        unit = (found[2] or "s").lower()
        scale = next(n for start, n in SECONDS.items() if unit.startswith(start))
        times.append(float(found[1] or found[3]) * scale)
    return max(times, default=None)
