"""An extractive summary of a conversation: sentences and names are taken from it, none is made up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentlab.providers.offline.observing import STAMP
from agentlab.providers.offline.text import is_file, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

ASKED = re.compile(r"\b(?:summar\w+|condense|consolidat\w+|compress|recap|notes? on)\b", re.IGNORECASE)
LINE = re.compile(
    r'^\W{0,4}(?:\d+[.:)]\s*)?"?(?:role"?\s*:\s*"?)?(user|assistant|tool|you|human|model|agent)\b"?[^:\n]{0,60}[:\]>]\s*(.*)$',
    re.IGNORECASE,
)
IDENTIFIER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{4,}\b|#\w+")
NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?%?(?![\w-])")
NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)+\b|\b[a-z]+_[a-z_]+\b|\b[A-Z]\w*[a-z][A-Z]\w*\b")
MOST_LINES = 60
MOST_FACTS = 40


def wanted(system: str, text: str, *, tools: bool) -> bool:
    r"""Whether a request is one message with a whole conversation in it, to be summarised.

    >>> wanted("Summarise the conversation.", "user: hi\nassistant: hello", tools=False)
    True
    """
    if tools or not (ASKED.search(system) or ASKED.search(text[:1_000]) or ASKED.search(text[-500:])):
        return False
    return sum(1 for line in text.splitlines() if LINE.match(line)) >= 2 or len(text) > 1_500


def summarise(text: str, most: int = 6_000) -> str:
    """Sum up a conversation.

    Args:
        text: A transcript, its lines marked by who speaks.
        most: Longest summary in characters.
    """
    said: list[str] = []
    for line in text.splitlines():
        found = LINE.match(line)
        if found and found[2].strip(' "{}[],'):
            who = {"you": "user", "human": "user", "model": "assistant", "agent": "assistant"}.get(
                found[1].lower(), found[1].lower()
            )
            said.append(f"- {who}: {shorten(found[2], 160 if who != 'tool' else 100)}")
    if not said:
        said = [f"- {shorten(sentence, 160)}" for sentence in re.split(r"(?<=[.!?])\s+|\n+", text) if sentence.strip()]
    if len(said) > MOST_LINES:
        said = [*said[:10], f"- ({len(said) - MOST_LINES} lines left out)", *said[10 - MOST_LINES :]]
    facts = "\n".join(f"{label}: {', '.join(found)}" for label, found in _facts(text) if found)
    room = max(200, most - len(facts) - 80)
    body = "\n".join(said)
    if len(body) > room:
        body = body[: room - 1].rsplit("\n", 1)[0] + "\n- …"
    return f"Summary of the conversation (extractive, rule-based):\n{body}\n{facts}".rstrip()


def _facts(text: str) -> list[tuple[str, list[str]]]:
    """What later turns may refer to: paths, ids, times, names, numbers; each once, in order."""
    words = [w.strip(".,;:!?()[]{}<>\"'`*").rstrip(".") for w in text.split()]
    paths = _some(w for w in words if is_file(w))
    times = _some(m[0] for m in STAMP.finditer(text))
    known = {part for path in paths for part in (path, *re.split(r"[./]", path))}
    ids = _some(
        m[0]
        for m in IDENTIFIER.finditer(text)
        if m[0] not in known and not STAMP.match(m[0]) and not re.match(r"\d{4}-\d\d-\d\dT?", m[0])
    )
    names = _some(m[0] for m in NAME.finditer(text) if m[0] not in known)
    numbers = _some(m[0] for m in NUMBER.finditer(STAMP.sub(" ", text)))
    return [("Paths", paths), ("Ids", ids), ("Times", times), ("Names", names), ("Numbers", numbers)]


def _some(found: Iterable[str]) -> list[str]:
    """The first and, where there are too many, more of the latest."""
    facts = list(dict.fromkeys(found))
    return facts if len(facts) <= MOST_FACTS else [*facts[: MOST_FACTS // 4], *facts[-3 * MOST_FACTS // 4 :]]
