"""The names and ids that later calls take from observations: what a cut may lose.

A citation shows that the agent used something that it could have from nowhere else. That a cut hides it says what the
cut exposes to loss, not what the agent would have failed at: with a cut it might have read again. What is not cited was
perhaps needed all the same, and what was worked out from several places is not seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.key_lines import Span
from agentlab.observe import READ_BACK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentlab.analysis.session import Observed, Session

NOTE = re.compile(
    r"\[\.\.\.truncated: \d+ characters[^\]\n]*\]?"
    r"|\[(?:lines|characters) \d+-\d+ of \d+(?:; read_result\([^\n]*?\)[^\]\n]*)?\]"
)
"""What agentlab itself writes into an observation: markers, and how to read on. It was not observed."""

_TOKEN = re.compile(r"[\w./-]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_SHORTEST = 4

_WORD = re.compile(r"\w+")


class Citation(msgspec.Struct, frozen=True):
    """A name or id that a call took from an observation.

    Attributes:
        atom: The name or id.
        cited_at: Index of the message that makes the call.
        sources: For each observation that has it, by its index: where.
    """

    atom: str
    cited_at: int
    sources: dict[int, list[Span]]


def citations(session: Session, observations: Sequence[Observed], *, exclusive: bool = True) -> list[Citation]:
    """The names and ids that tool calls took from earlier observations, and from nowhere else.

    An atom is a token of a call's arguments, of at least 4 characters, with a digit, `_`, `/`, an inner dot or camel
    case. It is cited where it stands at a word boundary in an earlier observation, and in nothing else that the model
    had seen: system prompt, user, its own texts and arguments. So each atom counts once, at its first use. What
    agentlab's own notes say (`NOTE`) is not observed, and reading a cut result back (`read_result`) cites nothing.

    Args:
        session: Any.
        observations: Its observations, in full where they are.
        exclusive: False takes every use of a name that an observation has, wherever else it stands.
    """
    said, seen = _Texts(), _Texts()
    said.add(-1, session.system)
    pending = iter(observations)
    upcoming = next(pending, None)
    found = []
    for index, record in enumerate(session.records):
        while upcoming is not None and upcoming.index < index:
            seen.add(upcoming.index, _without_notes(upcoming.text))
            upcoming = next(pending, None)
        if record.role == "tool":
            continue
        said.add(index, record.text)
        for call in record.tool_calls:
            arguments = _strings(call["function"]["arguments"])
            cited = [] if call["function"]["name"] == READ_BACK else atoms(" ".join(arguments))
            for atom in dict.fromkeys(cited):
                if exclusive and any(spans_of(atom, text, 1) for _, text in said.that_may_have(atom)):
                    continue
                sources = {at: spans for at, text in seen.that_may_have(atom) if (spans := spans_of(atom, text))}
                if sources:
                    found.append(Citation(atom, index, sources))
            said.add(index, "\n".join(arguments))
    return found


class _Texts:
    """Texts by the words in them: where an atom stands at word boundaries, each of its words stands as one."""

    def __init__(self) -> None:
        self._texts: list[tuple[int, str]] = []
        self._having: dict[str, list[int]] = {}

    def add(self, key: int, text: str) -> None:
        """Take in a text."""
        for word in set(_WORD.findall(text)):
            self._having.setdefault(word, []).append(len(self._texts))
        self._texts.append((key, text))

    def that_may_have(self, atom: str) -> Iterator[tuple[int, str]]:
        """Key and text of those that have the atom's rarest word, in order."""
        lists = (self._having.get(word, []) for word in _WORD.findall(atom))
        return (self._texts[place] for place in min(lists, key=len, default=range(len(self._texts))))


def atoms(text: str) -> Iterator[str]:
    """The names and ids in a text.

    >>> list(atoms("read lib/json.py from 2024, as parseFile or json."))
    ['lib/json.py', '2024', 'parseFile']
    """
    for match in _TOKEN.finditer(text):
        token = match.group().strip("./-")
        if len(token) >= _SHORTEST and _is_name(token):
            yield token


def kept(span: Span, head: int, tail_start: int) -> bool:
    """Whether a span is shown whole by a cut that keeps the text before `head` and from `tail_start` on."""
    return span[1] <= head or span[0] >= tail_start


def _without_notes(text: str) -> str:
    """The text with blanks for our own notes, so that offsets stay."""
    return NOTE.sub(lambda note: " " * len(note[0]), text) if "[" in text else text


def _is_name(token: str) -> bool:
    return any(c.isdigit() or c in "_/." for c in token) or _CAMEL.search(token) is not None


def spans_of(atom: str, text: str, most: int = 1000) -> list[Span]:
    """Where an atom stands at word boundaries in a text, `most` places at most."""
    spans: list[Span] = []
    at = text.find(atom)
    while at >= 0 and len(spans) < most:
        end = at + len(atom)
        if not (at and _is_word(text[at - 1])) and not (end < len(text) and _is_word(text[end])):
            spans.append((at, end))
        at = text.find(atom, end)
    return spans


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _strings(arguments: str) -> list[str]:
    """The values in a call's arguments as texts; arguments that are no JSON as they are."""
    try:
        waiting: list[Any] = [msgspec.json.decode(arguments)]
    except (msgspec.DecodeError, RecursionError):
        return [arguments]
    texts = []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = value.values()
        elif isinstance(value, list):
            waiting[:0] = value
        elif value is not None and not isinstance(value, bool):
            texts.append(str(value))
    return texts
